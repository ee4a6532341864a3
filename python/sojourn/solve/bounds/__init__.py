"""Bounds of closed networks: asymptotic, balanced job, geometric. Rows have low and high, and no value."""

from sojourn.solve.bounds import asymptotic, balanced, geometric

METHODS = (asymptotic.METHOD, balanced.METHOD, geometric.METHOD)
