"""The interior-point and Newton method for problems that know several classes at once."""
