"""Newton-type methods for smooth problems, and L-BFGS."""
