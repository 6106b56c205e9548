"""Learning from a stream: one row after the other, each seen once."""
