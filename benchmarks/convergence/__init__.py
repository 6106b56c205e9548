"""The promise of convergence, counted: every data set, raw, every loss and penalty, C from 0.001 to 1000."""
