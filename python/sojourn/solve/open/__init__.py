"""Open networks: Jackson, open multiclass, QNA."""

from sojourn.solve.method import Method

METHODS: tuple[Method, ...] = ()
