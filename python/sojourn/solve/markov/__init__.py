"""Markov chains: general networks state by state, MAP and PH by matrix-geometric methods, software resources.

ctmc (spec, estimate, applies, answer, over_time)     a network's states, its steady state, its course over time
chain                                                 steady, transient, first passage of a chain of your own
qbd (matrix_geometric, map_ph_1, phases)              MAP/PH/1
layered                                               pools and regions by flow-equivalent aggregation
"""

from sojourn.solve.markov import ctmc, layered, qbd

METHODS = (qbd.METHOD, ctmc.METHOD, layered.METHOD)
