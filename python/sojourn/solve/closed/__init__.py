"""Closed and mixed networks: exact MVA, convolution, and their approximations."""

from sojourn.solve.closed import mva

METHODS = (mva.METHOD,)
