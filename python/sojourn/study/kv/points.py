"""The points of the study: which configuration with how many clients, how often, in which order."""

from __future__ import annotations

from dataclasses import dataclass

from sojourn.study.points import Factors, shuffled


@dataclass(frozen=True)
class Point(Factors):
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
    def name(self) -> str:
        """Its folder: all that makes it what it is."""
        split = "-sharded" if self.sharded else ""
        return (
            f"{self.section}-{self.design}-{self.servers}s{self.proxies}p{self.workers}w-{self.workload}{split}"
            f"-{self.clients}c-r{self.repetition}"
        )


__all__ = ["Point", "shuffled"]
