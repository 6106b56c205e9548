"""How it is minimised: one file per algorithm, one driver for all."""
