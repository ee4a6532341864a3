"""Markov chains: general networks state by state, MAP and PH by matrix-geometric methods, software resources."""

from sojourn.solve.method import Method

METHODS: tuple[Method, ...] = ()
