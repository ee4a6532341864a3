"""The points of the message study: one run each."""

from __future__ import annotations

from dataclasses import dataclass

from sojourn.study.points import Factors


@dataclass(frozen=True)
class Point(Factors):
    """One run. `workers` and `connections` of each of `middlewares`; `clients` over all of them; `retry_s` after an
    empty take."""

    section: str
    workers: int
    connections: int
    clients: int
    retry_s: float
    middlewares: int = 1
    repetition: int = 1
    seconds: float = 1.0

    @property
    def name(self) -> str:
        """Its folder: all that makes it what it is."""
        return (
            f"{self.section}-{self.middlewares}m{self.workers}w{self.connections}d-{self.clients}c"
            f"-{1e3 * self.retry_s:g}ms-r{self.repetition}"
        )
