"""One run: the driver with its clock, its trace and its solution, and runs that follow or accompany one another."""
