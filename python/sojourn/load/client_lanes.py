"""Lanes of clients that have a connection each: what loads on memcached and on the message service have in common."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from sojourn.errors import InputError
from sojourn.load.load_options import MOST_PER_S, MOST_USERS, ClosedLoad, OpenLoad, option

MOST_THREADS = 255
USUAL_CLIENTS = 16


@dataclass(frozen=True, kw_only=True)
class ClientsLoad(OpenLoad, ClosedLoad):
    """A load of clients with a connection each, over `threads`; thread k is pinned to core k of `cores`, in turn."""

    threads: int = option(1, "threads of the generator", "--threads", int, shown="1")
    record_limit: int = 2_000_000
    cores: list[int] | None = None

    def lanes(self, urls: list[str], number: int | None, place: str) -> list[dict[str, Any]]:
        """Those of `number` clients, which `place` gave, or of as many as users.

        Raises:
            InputError: users beside a rate, or beside another number of clients; a value out of range.
        """
        if self.users is not None and (self.rate_per_s is not None or number not in (None, self.users)):
            raise InputError(f"users = {self.users}", "load", f"give {place} alone: each client has a connection")
        clients = next(given for given in (number, self.users, USUAL_CLIENTS) if given is not None)
        return client_lanes(
            urls, clients, place=place, threads=self.threads, think_s=self.think_s, rate_per_s=self.rate_per_s,
            arrivals=self.arrivals, cores=self.cores,
        )  # fmt: skip


def client_lanes(
    urls: list[str],
    clients: int,
    *,
    place: str,
    threads: int = 1,
    think_s: float = 0.0,
    rate_per_s: float | None = None,
    arrivals: str = "poisson",
    cores: list[int] | None = None,
) -> list[dict[str, Any]]:
    """Lanes of clients that have a connection each: `clients` over all threads, dealt out over `urls` in turn.

    Closed loop, unless `rate_per_s` (over all threads) is given. Thread k is pinned to core k of `cores`, in turn.

    Raises:
        InputError: a value out of range; that of `clients` names `place`.
    """
    if not 1 <= threads <= MOST_THREADS:
        raise InputError(str(threads), "--threads", f"give 1 to {MOST_THREADS}")
    if not len(urls) <= clients <= MOST_USERS:
        raise InputError(str(clients), place, f"give {len(urls)} (one per target) to {MOST_USERS}")
    if rate_per_s is not None and not 0 < rate_per_s <= MOST_PER_S:
        raise InputError(f"{rate_per_s:g}", "--rate", f"give requests per second above 0, at most {MOST_PER_S:.0f}")
    if arrivals not in ("poisson", "constant"):
        raise InputError(repr(arrivals), "--arrivals", "use poisson or constant")
    lanes = [
        _lane(
            urls, clients // threads + (k < clients % threads), think_s, rate_per_s and rate_per_s / threads, arrivals
        )
        for k in range(min(threads, clients))
    ]
    for number, lane in enumerate(lanes):
        lane["cpu"] = cores[number % len(cores)] if cores else None
    return lanes


def _lane(urls: list[str], clients: int, think_s: float, rate_per_s: float | None, arrivals: str) -> dict[str, Any]:
    """One thread: `clients` connections dealt out over `urls`. User k of a lane stays with target k modulo targets."""
    connections = math.ceil(clients / len(urls))
    lane: dict[str, Any] = {
        "targets": [{"url": url} for url in urls],
        "connections": connections,
        "connections_max": connections if rate_per_s is None else max(connections, 4096),
    }
    if rate_per_s is not None:
        return lane | {"arrivals": {"kind": arrivals, "rate_per_s": rate_per_s}}
    kind = "exponential" if think_s > 0 else "deterministic"
    return lane | {"closed": {"users": clients, "think": {"kind": kind, "mean": think_s}}}
