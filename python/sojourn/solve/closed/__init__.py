"""Closed and mixed networks: exact mean value analysis, convolution, and their approximations.

mva, mva_multi, convolution          exact: one class; several classes; stations of any speed
linearizer, aql, schweitzer, fcfs_approximation    approximations, best first; the last one for networks without a product form
chain_arrays, open_load_weights, closed_refusals, approximate_mva: arrays by chain, open load, whom a method refuses, what
approximations share
"""

from sojourn.solve.closed import aql, convolution, fcfs_approximation, linearizer, mva, mva_multi, schweitzer

METHODS = (
    mva.METHOD,
    mva_multi.METHOD,
    convolution.METHOD,
    linearizer.METHOD,
    aql.METHOD,
    schweitzer.METHOD,
    fcfs_approximation.METHOD,
)
