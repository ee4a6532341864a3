"""Whether a network has a product form, and if not why: one helper for closed, mixed and open methods.

Source: F. Baskett, K. M. Chandy, R. R. Muntz, F. G. Palacios: Open, Closed, and Mixed Networks of Queues with Different
Classes of Customers. J. ACM 22(2), 1975, pp. 248-260 (the four types of station); random order: J. R. Spirn: Queuing
Networks with Random Selection for Service. IEEE Trans. Softw. Eng. SE-5(3), 1979, pp. 287-289.

A reason is in words and names the station: "station cpu is fcfs with means that differ between classes (…)". The
functions remember the last networks they were asked about, because `auto` asks once a method.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from sojourn.model.distributions import Deterministic, Distribution, Empirical, Erlang, Exponential, Trace, Uniform
from sojourn.model.network import Network

SAME = 1e-9
SHARED = ("ps", "lcfs_pr")


@lru_cache(maxsize=64)
def structure(network: Network) -> str | None:
    """Parts that mean-value and product-form methods do not know: limits, blocking, forks, schedules, state in routes."""
    for k, (name, kind) in enumerate(zip(network.stations, network.kind, strict=True)):
        if kind in ("fork_join", "multicore"):
            return f"station {name} is a {kind}"
        if np.isfinite(network.capacity[k]):
            return f"station {name} has room for {network.capacity[k]:g} only"
        station = network.model.station(name)
        if getattr(station, "schedule", ()):
            return f"the number of servers of station {name} follows a schedule"
        if getattr(station, "breakdowns", None) is not None:
            return f"station {name} breaks down"
    if network.limits:
        return f"{network.limits[0].name} limits how many are inside {_names(network, network.limits[0].stations)}"
    for (node, c), choice in network.choices.items():
        if choice.policy != "random":
            place = network.stations[node] if node < len(network.stations) else "outside"
            return f"class {network.classes[c]} chooses its route after {place} by {choice.policy}"
    return None


@lru_cache(maxsize=64)
def product_form(network: Network) -> str | None:
    """None where the network is of BCMP's kind, so that exact methods apply; else the first reason why not."""
    reason = structure(network) or arrivals(network)
    if reason:
        return reason
    return next(filter(None, (station(network, k) for k in range(len(network.stations)))), None)


def arrivals(network: Network) -> str | None:
    """Open classes must arrive as Poisson streams."""
    for c, process in enumerate(network.arrivals):
        if not network.closed[c] and process is not None and not exponential(process):
            kind = getattr(process, "kind", type(process).__name__)
            return f"class {network.classes[c]} arrives as {kind}, not as a Poisson stream"
    return None


def station(network: Network, k: int) -> str | None:
    """Why station k is none of the four types: delay; fcfs or siro, exponential, one mean; ps; lcfs_pr."""
    name, kind, discipline = network.stations[k], network.kind[k], network.discipline[k]
    if kind in ("delay", "load_dependent") or discipline in SHARED:
        return None
    there = np.flatnonzero(network.visits[k] > 0)
    if discipline.startswith("priority") and len(set(network.priority[there].tolist())) > 1:
        return f"station {name} serves by priority"
    for c in there:
        if not exponential(network.service[k][c]):
            kind = getattr(network.service[k][c], "kind", "?")
            return f"station {name} is {discipline} and its service of class {network.classes[c]} is {kind}"
    means = network.service_s[k, there]
    if len(there) > 1 and means.max() - means.min() > SAME * means.max():
        text = ", ".join(f"{network.classes[c]} {network.service_s[k, c]:g} s" for c in there)
        return f"station {name} is {discipline} with means that differ between classes ({text}); with ps it would do"
    return None


def exponential(service: object) -> bool:
    """Whether a distribution is an exponential, or has the mean 0 (then its shape does not matter)."""
    if service is None or isinstance(service, Exponential):
        return True
    if isinstance(service, Erlang):
        return service.shape == 1 or service.mean == 0
    if isinstance(service, Distribution) and not isinstance(service, Empirical | Uniform | Trace):
        return isinstance(service, Deterministic) and service.mean == 0
    return False


def _names(network: Network, stations: tuple[int, ...]) -> str:
    return ", ".join(network.stations[k] for k in stations)
