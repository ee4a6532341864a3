"""Whether open classes find a steady state, before anything is solved: station by station, and through what holds back.

Sources: S. S. Lavenberg: Stability and Maximum Departure Rate of Certain Open Queueing Networks Having Finite Capacity
Constraints. R.A.I.R.O. Informatique 12(4), 1978, pp. 353-370 (the saturated network); M. F. Neuts, Matrix-Geometric
Solutions in Stochastic Models (1981), section 1.7 (mean drift).

Where pools, regions or blocking hold customers back, no station tells what the network can do. Its capacity is the
throughput of the saturated network: whoever leaves is replaced at once by an arrival (its class drawn by the rates), so
that there is always somebody to come in. That is a closed chain; with N customers, and one place where they can pile up,
its throughput is the same from some N on, which is looked for by doubling N. Where there are several such places it
grows towards the capacity: then it is a lower bound.

| letters | here                                               | unit |
|---------|----------------------------------------------------|------|
| rho_k   | `Excess.load`: work offered by what k can do       | 1    |
| X(N)    | `SaturationThroughput.rate_per_s`: passes of all open classes | 1/s  |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sojourn.errors import MethodRefused
from sojourn.model.network_arrays import OPEN, Array, Network
from sojourn.model.routes import Routes
from sojourn.solve.markov.network_chain import CYCLES, TOLERANCE, network_chain
from sojourn.solve.markov.state_count import states
from sojourn.solve.multicore_load import saturation_rates
from sojourn.solve.open.open_rates import full_speed

MOST_STATES = 6_000  # of the saturated network: some ten milliseconds
SAME, ROUNDING = 1e-9, 1e-13


@dataclass(frozen=True)
class SaturationThroughput:
    """Passes/s of all open classes, in the proportions of the model; `exact`, or a lower bound."""

    rate_per_s: float
    exact: bool


@lru_cache(maxsize=64)
def unstable(network: Network) -> str:
    """Why there is no steady state, in words that give the rate from which on; empty where none was found."""
    if network.closed.all() or not network.rate_per_s.any():
        return ""
    total = float(network.rate_per_s.sum())
    for k, load in enumerate(station_loads(network)):
        if load >= 1 - ROUNDING:
            name = network.stations[k]
            return f"station {name} is offered {load:.6g} of its capacity; unstable from {total / load:.6g}/s on"
    found = saturation(network)
    if found is None or not found.exact or total < found.rate_per_s * (1 - SAME):
        return ""
    held = ", ".join([*(limit.name for limit in network.limits), *_blocking(network)])
    return (
        f"with the limits of {held} at most {found.rate_per_s:.9g}/s get through, all open classes together, and "
        f"{total:.9g}/s arrive; unstable from {found.rate_per_s:.9g}/s on"
    )


def load(network: Network) -> float:
    """The largest share of what a station, or the whole network, can do that is asked for; 0 without open arrivals."""
    found = saturation(network) if network.rate_per_s.any() else None
    whole = float(network.rate_per_s.sum()) / found.rate_per_s if found and found.rate_per_s > 0 else 0.0
    return max(float(station_loads(network).max(initial=0.0)), min(whole, 1.0) if found and found.exact else whole)


def station_loads(network: Network) -> Array:
    """K, the open work offered by what a station can do; 0 for delays and stations with a bound.

    Counted is what surely comes: passes that may be lost on the way are left out, so that 1 or more proves instability.
    """
    stations = len(network.stations)
    flow = _flow(network, losing(network))
    busy = (flow * network.service_s).sum(axis=1)
    free = np.isinf(network.capacity) & np.array([kind != "delay" for kind in network.kind])
    found = busy / np.array([full_speed(network, k) for k in range(stations)])
    for k in network.hosts:
        found[k] = flow[k].sum() / saturation_rates([network], k)[0]
    return np.where(free, found, 0.0)


def _flow(network: Network, losing: Sequence[int]) -> Array:
    """K x C, 1/s, of open classes that come without passing a station at which they may be lost."""
    classes, size = len(network.classes), len(network.stations) * len(network.classes)
    if not losing:
        return np.asarray(network.visits * (network.rate_per_s @ network.same_chain))
    inside = network.route[:size, :size].copy()
    begin = network.route[size:, :size] * network.rate_per_s[:, None]
    for node in losing:
        inside[:, node * classes : (node + 1) * classes] = 0.0
        begin[:, node * classes : (node + 1) * classes] = 0.0
    return np.linalg.solve(np.eye(size) - inside.T, begin.sum(axis=0)).reshape(-1, classes)


def losing(network: Network) -> list[int]:
    """Stations at which an open customer may be lost: full, behind a limit that loses, or full and entered from outside."""
    stations = len(network.stations)
    if not network.limits and np.isinf(network.capacity).all():
        return []
    first = {node for c in np.flatnonzero(network.rate_per_s) for node, _, _ in network.routes.row(stations, int(c))}
    found = set()
    for k in range(stations):
        entered = k in first
        if np.isfinite(network.capacity[k]) and (network.on_full[k] == "lose" or entered):
            found.add(k)
        if any(limit.on_full == "lose" and k in limit.stations for limit in network.limits):
            found.add(k)
    return sorted(found)


def _blocking(network: Network) -> list[str]:
    finite = np.flatnonzero(np.isfinite(network.capacity))
    return [network.stations[k] for k in finite if network.on_full[k] == "block"]


@lru_cache(maxsize=64)
def saturation(network: Network) -> SaturationThroughput | None:
    """What gets through the saturated network; None where nothing holds customers back, or where they may be lost."""
    if not (network.limits or _blocking(network)) or losing(network):
        return None
    sizes = [limit.size for limit in network.limits] + network.capacity[np.isfinite(network.capacity)].tolist()
    queues = [int(m) for m, kind in zip(network.servers, network.kind, strict=True) if kind == "queue"]
    customers, last = int(sum(sizes) + sum(queues)) + 2, 0.0
    while states(closed := closed_up(network, customers)) <= MOST_STATES:
        try:
            rate = _throughput(closed, ~network.closed)
        except MethodRefused:
            return None
        if abs(rate - last) <= SAME / 10 * rate:
            return SaturationThroughput(rate, True)
        last, customers = rate, 2 * customers
    return SaturationThroughput(last, False) if last > 0 else None


def closed_up(network: Network, customers: int) -> Network:
    """The network with `customers` of its open classes always inside: whoever leaves begins anew as a class drawn by rate."""
    classes, own = len(network.classes), np.flatnonzero(~network.closed)
    route = network.route.copy()
    rows = len(network.stations) * classes + own
    share = network.rate_per_s[own] / network.rate_per_s[own].sum()
    route[rows] = share @ network.route[rows]
    population, chain = network.population.copy(), network.chain.copy()
    population[own] = 0
    population[own[0]] = customers
    chain[own] = chain[own].min()
    routes = Routes.of(route, classes)
    return network.altered(
        routes=routes, population=population, chain=chain, rate_per_s=np.zeros(classes), arrivals=(None,) * classes
    )


def _throughput(closed: Network, own: np.ndarray) -> float:
    """Passes/s of the classes `own`."""
    assert not (closed.population == OPEN).any(), "closed_up leaves nobody open"
    chain = network_chain(closed)
    p, _, _ = chain.steady(TOLERANCE, CYCLES)
    return float(np.array(chain.measure(p)["exit"])[own].sum())
