"""The only station of a model, as far as the begins and ends of requests tell of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sojourn.model import Network
from sojourn.query.values import Array


@dataclass(frozen=True)
class Station:
    """`fcfs`: customers are served in order of arrival, so that it is known when each is."""

    name: str
    servers: int
    fcfs: bool


def only_station(network: Network) -> Station | None:
    """None where there are several, or one that somebody passes twice or waits outside of."""
    once = len(network.stations) == 1 and network.kind[0] == "queue" and bool(np.all(network.visits[0] <= 1))
    if not once or network.limits:
        return None
    return Station(network.stations[0], int(network.servers[0]), network.discipline[0] == "fcfs")


def begins(came: Array, left: Array, servers: int) -> Array:
    """When each is served first, in order of arrival `came`: when he has come, and fewer than `servers` of those before him are
    there: number k when k - m + 1 have left."""
    gone = np.sort(left)
    free = np.concatenate([np.full(servers, -np.inf), gone])[: len(came)]
    return np.maximum(came, free)
