"""Random models on which the methods of `sojourn.solve` must agree: see README.md."""
