"""Markov chains: general networks state by state, MAP and PH by matrix-geometric methods, software resources."""

from sojourn.solve.markov import ctmc

METHODS = (ctmc.METHOD,)
