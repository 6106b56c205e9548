"""What goes in: matrices and files."""
