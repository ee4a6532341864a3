"""Where customers block each other for ever, or do not fit at all: stations, numbers and what to change, in words.

Source: H. G. Perros, Queueing Networks with Blocking (1994), ch. 1: a closed network is free of deadlock if and only if
each cycle of its routes has room for more than its population.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sojourn.model.network_arrays import Network


def deadlock(network: Network) -> tuple[str, str]:
    """What is wrong and what to do, where a state was found that nobody can leave."""
    cycle = _cycle(network)
    total = int(network.population[network.closed].sum())
    if not cycle:
        return "customers can block each other forever", "give a station that blocks more room, or on_full = 'lose'"
    room = int(network.capacity[cycle].sum())
    where = " and ".join(network.stations[k] for k in cycle)
    value = f"customers at {where} can block each other for ever: all are full (room for {room}), and each waits for another"
    now = _rooms(network, cycle)
    if network.closed.all():
        return (
            value,
            f"lower the population of {total}, or give {where} room for more than all customers together (now {now})",
        )
    return value, f"give one of them room without a limit (now {now}), or on_full = 'lose'"


def no_room(network: Network) -> tuple[str, str]:
    """The same where the closed customers cannot all be placed."""
    own = network.closed & ~np.isin(network.chain, network.chain[network.think_s > 0])
    names = " and ".join(np.array(network.classes)[own])
    total = int(network.population[own].sum())
    there = np.flatnonzero((network.visits[:, own] > 0).any(axis=1)).tolist()
    room = network.capacity[there].sum()
    limits = [f"{x.name} lets {x.size} in" for x in network.limits]
    told = ", ".join([_rooms(network, there), *limits]) if there else "no station"
    short = f", which have room for {int(room)}" if np.isfinite(room) else ""
    value = f"the {total} closed customers of {names} do not fit into the stations{short} ({told})"
    return value, "raise a capacity, lower the population, or give a think time"


def _rooms(network: Network, stations: list[int]) -> str:
    size = [f"{network.capacity[k]:.0f}" if np.isfinite(network.capacity[k]) else "any number" for k in stations]
    return ", ".join(f"{network.stations[k]} {n}" for k, n in zip(stations, size, strict=True))


def _cycle(network: Network) -> list[int]:
    """Stations that block and can be reached from each other by routes through such stations: the smallest such set."""
    count, classes = len(network.stations), len(network.classes)
    blocks = np.isfinite(network.capacity) & (np.array(network.on_full) == "block")
    route = network.route.reshape(count + 1, classes, count + 1, classes).sum(axis=(1, 3))
    ahead: NDArray[np.bool_] = (route[:count, :count] + _instantly(network, route) > 0) & blocks & blocks[:, None]
    np.fill_diagonal(ahead, False)
    reach = ahead.copy()
    for _ in range(count):
        reach |= (reach.astype(int) @ ahead.astype(int)) > 0
    found = [np.flatnonzero(reach[k] & reach[:, k]).tolist() for k in range(count) if reach[k, k]]
    return min(found, key=len, default=[])


def _instantly(network: Network, route: NDArray[np.float64]) -> NDArray[np.float64]:
    """Routes through outside, where nobody stays who does not think."""
    closed = network.closed.all() and not network.think_s.any()
    return np.outer(route[:-1, -1], route[-1, :-1]) * closed
