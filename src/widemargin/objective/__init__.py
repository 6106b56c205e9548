"""What is minimised: losses, penalties, the problem and its certificate."""
