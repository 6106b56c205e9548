"""scikit-learn classes, thin over Problem and solve."""
