"""Bounds: asymptotic, balanced job, geometric."""

from sojourn.solve.method import Method

METHODS: tuple[Method, ...] = ()
