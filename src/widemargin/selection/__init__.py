"""Choosing C: warm-started paths, cross-validated searches, and the folds and scores behind them."""
