"""How many open customers at once a chain must know, so that what lies beyond does not count."""

from __future__ import annotations

import numpy as np

from sojourn.model.network_arrays import Network
from sojourn.solve.markov.stability import load

MOST_CUSTOMERS = 60_000  # a state counts in 16 bits
TAIL, LEAST = 1e-11, 1e-8  # probability beyond the bound: wanted, and at most


def wanted_bound(network: Network, tail: float = TAIL) -> int:
    """Open customers at once: what delays and servers hold, and the geometric tail of the busiest station or limit.

    The load must be below 1. Finite rooms bound it, where nobody waits outside them.
    """
    visited = [k for k in range(len(network.stations)) if network.visits[k, ~network.closed].any()]
    most = int(np.clip(np.log(tail) / np.log(np.clip(load(network), 1e-3, 1 - 1e-9)), 4, 1e12))
    most += int(sum(network.servers[k] for k in visited if network.kind[k] == "queue")) + _delayed(network)
    waits_outside = any(limit.on_full == "wait" for limit in network.limits)
    rooms = network.capacity[visited]
    room = np.inf if waits_outside else rooms.sum() + 1
    return int(min(most + rooms[np.isfinite(rooms)].sum(), room))


def _delayed(network: Network) -> int:
    """A number of customers in delays that is hardly ever exceeded: Poisson, mean and eight deviations."""
    passes = network.rate_per_s @ network.same_chain
    delays = np.array([kind == "delay" for kind in network.kind])
    mean = float((network.demands_s * passes)[delays].sum())
    return int(np.ceil(mean + 8 * np.sqrt(mean))) if np.isfinite(mean) else 10**12
