"""Speed, measured: objective, datasets, solvers; only the solve is timed."""
