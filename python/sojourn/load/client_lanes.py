"""Lanes of clients that have a connection each: what loads on memcached and on the message service have in common."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from sojourn.errors import InputError
from sojourn.load.load_options import MOST_USERS, RECORD_LIMIT, ClosedLoad, SlackLoad, option

MOST_THREADS = 255
USUAL_CLIENTS = 16


@dataclass(frozen=True, kw_only=True)
class ClientsLoad(SlackLoad, ClosedLoad):
    """A load of clients with a connection each, over `threads`; thread k is pinned to core k of `cores`, in turn."""

    threads: int = option(1, "threads of the generator", "--generator-threads", int, shown="1")
    record_limit: int = RECORD_LIMIT
    cores: list[int] | None = None

    def lanes(self, urls: list[str], number: int | None, place: str) -> list[dict[str, Any]]:
        """Those of `number` clients, which `place` gave, or of as many as users: over all threads, dealt out over `urls` in turn.

        Raises:
            InputError: users beside a rate, or beside another number of clients; a value out of range.
        """
        self.check_rate()
        if self.users is not None and (self.rate_per_s is not None or number not in (None, self.users)):
            raise InputError(f"users = {self.users}", "load", f"give {place} alone: each client has a connection")
        clients = next(given for given in (number, self.users, USUAL_CLIENTS) if given is not None)
        if not 1 <= self.threads <= MOST_THREADS:
            raise InputError(str(self.threads), "--generator-threads", f"give 1 to {MOST_THREADS}")
        if not len(urls) <= clients <= MOST_USERS:
            raise InputError(str(clients), place, f"give {len(urls)} (one per target) to {MOST_USERS}")
        lanes = min(self.threads, clients)
        rate_per_s = None if self.rate_per_s is None else self.rate_per_s / lanes
        return [
            self._lane(urls, clients // lanes + (k < clients % lanes), rate_per_s)
            | {"cpu": self.cores[k % len(self.cores)] if self.cores else None}
            for k in range(lanes)
        ]

    def generator(self, lanes: list[dict[str, Any]], **work: dict[str, Any]) -> dict[str, Any]:
        """The generator's configuration; `work`: the protocol's name → what the clients do."""
        return {
            "lanes": lanes,
            "duration_s": self.duration_s,
            "seed": self.seed,
            "timeout_s": self.timeout_s,
            **self.slack(),
            "record_limit": self.record_limit,
            **work,
        }

    def _lane(self, urls: list[str], clients: int, rate_per_s: float | None) -> dict[str, Any]:
        """One thread: `clients` connections dealt out over `urls`. User k of a lane stays with target k modulo targets."""
        connections = math.ceil(clients / len(urls))
        lane: dict[str, Any] = {
            "targets": [{"url": url} for url in urls],
            "connections": connections,
            "connections_max": connections if rate_per_s is None else max(connections, 4096),
        }
        if rate_per_s is not None:
            return lane | {"arrivals": {"kind": self.arrivals, "rate_per_s": rate_per_s}}
        kind = "exponential" if self.think_s > 0 else "deterministic"
        return lane | {"closed": {"users": clients, "think": {"kind": kind, "mean": self.think_s}}}
