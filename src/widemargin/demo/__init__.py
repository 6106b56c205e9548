"""The demonstration: real text that every machine with Python has, and its hashed n-grams."""
