"""The two-class CPU 0 model, as methods on a multicore station."""

from sojourn.solve.method import Method

METHODS: tuple[Method, ...] = ()
