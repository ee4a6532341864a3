"""One station: exact queues and named approximations."""

from sojourn.solve.method import Method

METHODS: tuple[Method, ...] = ()
