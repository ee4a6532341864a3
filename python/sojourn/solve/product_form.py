"""Whether a network has a product form, and if not why: one helper for closed, mixed and open methods.

Source: F. Baskett, K. M. Chandy, R. R. Muntz, F. G. Palacios: Open, Closed, and Mixed Networks of Queues with Different
Classes of Customers. J. ACM 22(2), 1975, pp. 248-260 (the four types of station); random order: J. R. Spirn: Queuing
Networks with Random Selection for Service. IEEE Trans. Softw. Eng. SE-5(3), 1979, pp. 287-289.

A reason is in words and names the station: "the station `cpu` has the discipline `fcfs`, and …". Answers
are cached by the parts of a network that they depend on, because `auto` asks once a method, and a sweep once a point.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sojourn.model.distribution_registry import Distribution, Erlang, Exponential
from sojourn.model.network_arrays import Network

SAME = 1e-9
SHARED = ("ps", "lcfs_pr")
KEPT = 256
PARTS = (
    "kind",
    "servers",
    "population",
    "think_s",
    "discipline",
    "capacity",
    "limits",
    "choices",
    "visits",
    "service",
    "service_s",
    "priority",
    "arrivals",
)

Reason = Callable[[Network], str | None]


def _once(reason: Reason) -> Reason:
    """Keeps the last answers. A part is known by its identity, so the parts are kept alive with the answer."""
    known: dict[tuple[int, ...], tuple[tuple[Any, ...], str | None]] = {}

    def ask(network: Network) -> str | None:
        parts = (network.model.stations, *(getattr(network, name) for name in PARTS))
        key = tuple(map(id, parts))
        if key not in known:
            if len(known) >= KEPT:
                known.clear()
            known[key] = parts, reason(network)
        return known[key][1]

    ask.__doc__ = reason.__doc__
    return ask


@_once
def structure(network: Network) -> str | None:
    """Parts that mean-value and product-form methods do not know: limits, blocking, forks, schedules, state in routes."""
    for name, kind, capacity in zip(network.stations, network.kind, network.capacity.tolist(), strict=True):
        if kind in ("fork_join", "multicore"):
            return f"the station `{name}` is of kind `{kind}`, which this method does not support"
        if np.isfinite(capacity):
            return f"the station `{name}` has room for only {capacity:g} customers"
    for station in network.model.stations:
        if getattr(station, "server_schedule", ()):
            return f"the number of servers of the station `{station.name}` follows a schedule"
        if getattr(station, "breakdowns", None) is not None:
            return f"the station `{station.name}` breaks down"
    if reason := served_for_ever(network):
        return reason
    if network.limits:
        return f"{network.limits[0].name} limits how many are inside {_names(network, network.limits[0].stations)}"
    for (node, c), choice in network.choices.items():
        if choice.policy != "random":
            place = f"`{network.stations[node]}`" if node < len(network.stations) else "outside"
            return f"the class `{network.classes[c]}` chooses its route after {place} by the policy `{choice.policy}`"
    return None


def served_for_ever(network: Network) -> str | None:
    """Closed customers that never leave one last-come station: who is served first is always the last to come, so that
    the answer depends on the beginning."""
    for k in _last_come(network):
        stay = _staying(network, k)
        if network.population[stay].sum() > network.servers[k] and not network.switches:
            names = " and ".join(np.array(network.classes)[stay])
            return (
                f"customers of {names} never leave {network.stations[k]}, which serves the last arrival first: some "
                f"customers are never served"
            )
    return None


def _last_come(network: Network) -> list[int]:
    return [k for k, d in enumerate(network.discipline) if d == "lcfs_pr" and network.kind[k] != "delay"]


def _staying(network: Network, k: int) -> np.ndarray:
    """C, closed classes with customers that spend time nowhere but at station k."""
    elsewhere = np.delete(network.demands_s, k, axis=0).sum(axis=0) + network.think_s
    return network.closed & (network.population > 0) & (network.visits[k] > 0) & (elsewhere == 0)


def _at_once(network: Network) -> str | None:
    """Who returns at once to the top of the stack that it left goes on being served, which no product form says."""
    for k in _last_come(network):
        stay = _staying(network, k)
        if stay.any() and ((network.visits[k] > 0) & ~stay).any():
            name = network.classes[int(np.argmax(stay))]
            return (
                f"class {name} spends time at {network.stations[k]} only, which serves the last arrival first: the "
                f"customer returns at once"
            )
    return None


@_once
def product_form(network: Network) -> str | None:
    """None where the network is of BCMP's kind, so that exact methods apply; else the first reason why not."""
    reason = structure(network) or arrivals(network) or _at_once(network)
    if reason:
        return reason
    return next(filter(None, (station(network, k) for k in range(len(network.stations)))), None)


def arrivals(network: Network) -> str | None:
    """Open classes must arrive as Poisson streams."""
    for c, process in enumerate(network.arrivals):
        if not network.closed[c] and process is not None and not exponential(process):
            kind = getattr(process, "kind", type(process).__name__)
            return f"the arrivals of class `{network.classes[c]}` are of kind `{kind}`, but this method needs Poisson arrivals"
    return None


def station(network: Network, k: int) -> str | None:
    """Why station k is none of the four types: delay; fcfs or siro, exponential, one mean; ps; lcfs_pr."""
    name, kind, discipline = network.stations[k], network.kind[k], network.discipline[k]
    one = (
        discipline == "lcfs_pr" and network.servers[k] == 1
    )  # with more servers only where all times are exponential, of one mean
    if kind in ("delay", "load_dependent") or discipline == "ps" or one:
        return None
    there = [c for c, visits in enumerate(network.visits[k].tolist()) if visits > 0]
    if discipline.startswith("priority") and len({int(network.priority[c]) for c in there}) > 1:
        return f"the station `{name}` serves by priority, which this method does not support"
    for c in there:
        if not exponential(network.service[k][c]):
            kind = getattr(network.service[k][c], "kind", "?")
            law = f"the service time of class `{network.classes[c]}` is `{kind}`"
            return f"the station `{name}` has the discipline `{discipline}`, and {law} instead of exponential"
    means = [float(network.service_s[k, c]) for c in there]
    if len(there) > 1 and max(means) - min(means) > SAME * max(means):
        text = ", ".join(f"{network.classes[c]} {mean:g} s" for c, mean in zip(there, means, strict=True))
        return (
            f"the station `{name}` has the discipline `{discipline}`, and its mean service times differ between classes "
            f"({text}); use `ps` for unequal means"
        )
    return None


def exponential(service: object) -> bool:
    """Whether a distribution is an exponential, or is always 0 (then its shape does not matter)."""
    if service is None or isinstance(service, Exponential):
        return True
    if isinstance(service, Erlang) and service.shape == 1:
        return True
    return isinstance(service, Distribution) and service.first == 0


def _names(network: Network, stations: tuple[int, ...]) -> str:
    return ", ".join(network.stations[k] for k in stations)
