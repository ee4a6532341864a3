"""Markov chains: general networks state by state, MAP and PH by matrix-geometric methods, software resources.

ctmc (network_spec, state_count, chain_applicability, chain_solution, transient_means): a network's states, its steady state, its
course over time
random_order (fitted_phases)                          an approximation by a smaller chain
chain_analysis                                        steady, transient, first passage of a chain of your own
qbd (matrix_geometric, map_ph_1, phase_type)          MAP/PH/1
software_resources                                    pools and regions by flow-equivalent aggregation
"""

from sojourn.solve.markov import ctmc, qbd, random_order, software_resources

METHODS = (qbd.METHOD, ctmc.METHOD, random_order.METHOD, software_resources.METHOD)
