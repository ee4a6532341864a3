"""Markov chains: general networks state by state, MAP and PH by matrix-geometric methods, software resources."""

from sojourn.solve.markov import ctmc, qbd

METHODS = (qbd.METHOD, ctmc.METHOD)
