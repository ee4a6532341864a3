"""The points of the study: which configuration with how many clients, how often, in which order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from sojourn.design.make.order import ordered


@dataclass(frozen=True)
class Point:
    """One run. `clients` are connections over all proxies (or servers, where there is no proxy)."""

    section: str
    design: str
    servers: int
    proxies: int
    workers: int
    workload: str
    sharded: bool
    clients: int
    repetition: int = 1
    seconds: float = 1.0

    @property
    def factors(self) -> dict[str, Any]:
        found = asdict(self)
        found.pop("seconds")
        return found

    @property
    def name(self) -> str:
        """Its folder: all that makes it what it is."""
        split = "-sharded" if self.sharded else ""
        return (
            f"{self.section}-{self.design}-{self.servers}s{self.proxies}p{self.workers}w-{self.workload}{split}"
            f"-{self.clients}c-r{self.repetition}"
        )


def shuffled(points: Iterable[Point], repetitions: int, seed: int) -> list[Point]:
    """Each point `repetitions` times, one block a repetition, at random within."""
    found = list(points)
    if not found:
        return []
    order = ordered([{"at": k} for k in range(len(found))], repetitions, seed)
    return [replace(found[row["at"]], repetition=row["repetition"]) for row in order.to_dicts()]
