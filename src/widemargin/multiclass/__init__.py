"""More than two classes: one file per way of putting them together."""
