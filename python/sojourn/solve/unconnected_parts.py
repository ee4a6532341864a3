"""Unconnected parts of a network: where one has no stationary distribution, the others have theirs nevertheless."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sojourn.errors import MethodRefused, SolverError
from sojourn.model.network_arrays import Limit, Network
from sojourn.model.routes import Routes
from sojourn.solve.solution import PartialSolution, Solution

Solved = Callable[[Sequence[Network]], tuple[Solution, str] | None]  # an answer and the name of its method


def tell_stable_parts(networks: Sequence[Network], solution: Solution, solved: Solved) -> None:
    """Adds the stable parts of unstable points to `solution`; a part that `solved` refuses stays as the whole is."""
    late = [p for p, name in enumerate(solution.status) if name == "unstable"]
    split: dict[tuple[tuple[int, ...], ...], list[int]] = {}
    for p in late:
        split.setdefault(unconnected(networks[p]), []).append(p)
    for groups, points in split.items():
        for classes in groups if len(groups) > 1 else ():
            own = [restricted(networks[p], classes) for p in points]
            try:
                found = solved(own)
            except (MethodRefused, SolverError):
                continue
            if found and set(found[0].status) != {"unstable"}:
                solution.parts.append(PartialSolution(points, own, found[0]))
                where = " and ".join(own[0].stations) or "what is outside"
                words = f"{where}: not connected with what is unstable, solved alone by {found[1]}"
                solution.message = "\n".join(filter(None, (solution.message, words)))


def unconnected(network: Network) -> tuple[tuple[int, ...], ...]:
    """Groups of classes (indices) that share no station, chain, pool or region; one group where routes depend on the state."""
    count = len(network.classes)
    if network.choices or count == 1:
        return (tuple(range(count)),)
    from scipy.sparse.csgraph import connected_components

    uses = [*_used(network), *(_used(network)[list(limit.stations)].any(axis=0) for limit in network.limits)]
    linked = network.same_chain | np.any([np.outer(row, row) for row in uses], axis=0)
    groups, group = connected_components(linked, directed=False)
    return tuple(tuple(np.flatnonzero(group == g).tolist()) for g in range(groups))


def _used(network: Network) -> np.ndarray:
    """K x C, whether a class ever comes to a station."""
    return np.asarray((network.visits > 0) | network.routes.entered[:-1])


def restricted(network: Network, classes: Sequence[int]) -> Network:
    """The network of some classes alone, with the stations that they come to; the model stays that of the whole."""
    own, outside = np.array(classes), len(network.stations)
    stations = np.flatnonzero(_used(network)[:, own].any(axis=1))
    place = {int(k): i for i, k in enumerate(stations)}
    states = (np.r_[stations, outside][:, None] * len(network.classes) + own).ravel()
    limits = [limit for limit in network.limits if set(limit.stations) & place.keys()]
    fields: dict[str, Any] = {}
    for name in ("stations", "kind", "discipline", "on_full"):
        fields[name] = tuple(getattr(network, name)[k] for k in stations)
    for name in ("classes", "think", "arrivals"):
        fields[name] = tuple(getattr(network, name)[c] for c in own)
    for name in ("population", "think_s", "rate_per_s", "priority", "passes"):
        fields[name] = getattr(network, name)[own]
    return network.altered(
        **fields,
        visits=network.visits[np.ix_(stations, own)],
        service_s=network.service_s[np.ix_(stations, own)],
        service=tuple(tuple(network.service[k][c] for c in own) for k in stations),
        servers=network.servers[stations],
        capacity=network.capacity[stations],
        rates={place[k]: rates for k, rates in network.rates.items() if k in place},
        hosts={place[k]: host for k, host in network.hosts.items() if k in place},
        chain=np.unique(network.chain[own], return_inverse=True)[1],
        routes=Routes(len(stations), len(own), network.routes.matrix[states][:, states], {}),
        limits=tuple(Limit(x.name, x.size, tuple(place[k] for k in x.stations), x.on_full) for x in limits),
    )
