"""Which networks have a chain of the kernel's kind, and which of them have no stationary distribution."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from sojourn.model.network_arrays import Network
from sojourn.solve.markov.network_spec import rule
from sojourn.solve.markov.open_truncation import LEAST, MOST_CUSTOMERS, wanted_bound
from sojourn.solve.markov.phase_type import arrivals, phases
from sojourn.solve.markov.stability import load, unstable
from sojourn.solve.markov.state_count import FEW_OPEN, MOST_STATES, fewest, states
from sojourn.solve.product_form import served_for_ever

POLICIES = ("random", "jsq")


@lru_cache(maxsize=64)
def refuses(network: Network) -> str | None:
    """Why the chain does not apply, in words; None where it does. Quick where the answer is that it is too large."""
    if (least := fewest(network)) > MOST_STATES:
        return f"the chain of this model has at least {least:.2g} states, which is more than the limit of {MOST_STATES}"
    if (customers := network.population[network.closed].sum()) > MOST_CUSTOMERS:
        return f"the model has {customers} customers, which is more than the limit of {MOST_CUSTOMERS}"
    found = _stations(network) or _times(network) or _routes(network) or _room(network)
    if found:
        return found
    return _size(network)


def too_large(network: Network) -> str | None:
    """Why the chain is too large, where that is the only thing against it."""
    fits = fewest(network) <= MOST_STATES and not (
        _stations(network) or _times(network) or _routes(network) or _room(network)
    )
    return _size(network) if fits else None


def _size(network: Network) -> str | None:
    """Whether all states that count fit; quick answers first, because a bound on open customers may need small chains."""
    some_open = bool((~network.closed).any())
    if (least := states(network, FEW_OPEN if some_open else 0)) > MOST_STATES:
        return f"the chain of this model has about {least:.2g} states, which is more than the limit of {MOST_STATES}"
    if not some_open or unstable(network):
        return None
    most = wanted_bound(network, LEAST)
    if most > MOST_CUSTOMERS:
        # stations with a bound have no load that could be said
        at = f"at a load of {share:.9g} " if (share := load(network)) > 0 else ""
        return f"{at}it would have to count open customers up to {most:.9g}, and counts at most {MOST_CUSTOMERS}"
    if (least := states(network, most)) > MOST_STATES:
        chain = f"with up to {most} open customers, the chain has about {least:.2g} states"
        return f"{chain}, which is more than the limit of {MOST_STATES}"
    return None


def _stations(network: Network) -> str | None:
    if reason := served_for_ever(network):
        return reason
    for k, name in enumerate(network.stations):
        station = network.model.station(name)
        if network.kind[k] == "multicore":
            return f"the station `{name}` is of kind `multicore`"
        if getattr(station, "server_schedule", ()) or getattr(station, "breakdowns", None):
            return f"the number of servers of the station `{name}` changes over time"
    return None


def _times(network: Network) -> str | None:
    for k, name in enumerate(network.stations):
        for c in np.flatnonzero(network.visits[k]):
            law = network.service[k][c]
            if (found := phases(law)) is None:
                what = "is 0" if law is None or law.first == 0 else "is not phase-type, or has too many phases"
                return f"the service time of class `{network.classes[c]}` at the station `{name}` {what}"
            if network.kind[k] == "fork_join" and len(found.start) > 1:
                return f"the service at the fork-join station `{name}` is not exponential"
    for j, name in enumerate(network.classes):
        if network.think_s[j] > 0 and phases(network.think[j]) is None:
            return f"the think time of class `{name}` is not phase-type"
        if network.arrivals[j] is not None and arrivals(network.arrivals[j]) is None:
            return f"the arrivals of class `{name}` are not Markovian"
    return None


def _routes(network: Network) -> str | None:
    for (k, c), choice in network.choices.items():
        if choice.policy not in POLICIES:
            where = network.stations[k] if k < len(network.stations) else "outside"
            return f"class {network.classes[c]} leaves {where} by {choice.policy}"
    out = len(network.stations)
    for c in range(len(network.classes)):
        if any(node == out for node, _, _ in network.routes.row(out, c)):
            return f"class {network.classes[c]} visits no station on some passes"
    return None


def _room(network: Network) -> str | None:
    """Who may be lost or blocked, and whether the chain says what becomes of them."""
    classes = len(network.classes)
    for k in np.flatnonzero(np.isfinite(network.capacity)):
        name = network.stations[k]
        closed = network.closed & (network.visits[k] > 0)
        own = np.isin(network.chain, network.chain[closed])
        if network.on_full[k] == "lose" and network.population[own].sum() > network.capacity[k]:
            return (
                f"closed customers may find the station `{name}` full and be lost, which this method does not support"
            )
        if network.on_full[k] != "block":
            continue
        if network.limits:
            return f"station {name} blocks, and there are pools or regions"
        feeders = np.unique(network.routes.matrix[:, k * classes : (k + 1) * classes].nonzero()[0] // classes)
        for j in feeders[feeders < len(network.stations)]:
            if j != k and rule(network, int(j)) not in ("ordered", "random", "delay"):
                return f"station {name} blocks {network.stations[j]}, where servers are shared or preempted"
    for limit in network.limits:
        inside = network.closed & (network.visits[list(limit.stations)] > 0).any(axis=0)
        if limit.on_full == "lose" and inside.any():
            return f"closed customers may find `{limit.name}` full and be lost, which this method does not support"
    return None
