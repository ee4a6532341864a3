"""Open networks with a product form: Jackson's (one class), and BCMP's (several).

Sources: J. R. Jackson: Networks of Waiting Lines. Operations Research 5(4), 1957, pp. 518-521; F. Baskett et al.: J. ACM
22(2), 1975, pp. 248-260; G. Bolch et al., Queueing Networks and Markov Chains, 2nd ed. (2006), 7.3.1 and 7.3.4; traffic
equations: `model/lower`.

| letters      | here                          | unit |
|--------------|-------------------------------|------|
| lambda_ir    | `TrafficSolution.rate`                | 1/s  |
| rho_ir m_i   | `TrafficSolution.load`: busy servers  | 1    |
| pi_i(k)      | queue_length_probability      | 1    |

Each station is as if alone (`levels`): the numbers of a class there are its share of the load. Limits: Poisson arrivals;
delays, PS and LCFS-PR with any service, FCFS and random order with one exponential mean for all classes; a load of a
delay may exceed 1, it is a number and no utilisation. At or above saturation the status is `unstable`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sojourn.model.network_arrays import Array, Network
from sojourn.model.network_points import stacked
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.open import overtake_free
from sojourn.solve.open.open_rates import TrafficSolution, only_open, speeds
from sojourn.solve.population_distribution import PopulationDistribution, poisson
from sojourn.solve.product_form import product_form
from sojourn.solve.single.mmm import response_quantile, waiting_quantile
from sojourn.solve.solution import Solution


def refuses(network: Network) -> str | None:
    return only_open(network) or product_form(network)


def refuses_classes(network: Network) -> str | None:
    if len(network.classes) > 1:
        return f"the model has {len(network.classes)} classes, but this method needs exactly one"
    return refuses(network)


def run(networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
    """All points at once, those with one set of servers together."""
    traffic = TrafficSolution.of(networks)
    solution = traffic.unstable(wanted.further)
    good = np.flatnonzero(traffic.stable)
    solution.throughput[good] = traffic.passes[good]
    groups = [
        _StationPoints.of(traffic, k, points, speed)
        for k in range(len(networks[0].stations))
        for points, speed in _groups(networks, good, k)
        if len(points)
    ]
    for group in groups:
        _station(traffic, solution, group)
    solution.residence_s = _residence(traffic, solution)
    if wanted.further:
        told = _quantiles([group for group in groups if group.ordered], wanted)
        for group in groups:
            _rows(traffic, solution, group, told.get(group.station, []), wanted)
        overtake_free.tell(traffic, solution, good, wanted)
    if len(good) == len(networks):
        solution.status = []
    return solution


def _residence(traffic: TrafficSolution, solution: Solution) -> Array:
    """P x K x C, by Little's law; of a class that never comes what one that came would find, as Poisson arrivals do."""
    rate = traffic.passes @ traffic.networks[0].same_chain
    service, visits = stacked(traffic.networks, "service_s"), stacked(traffic.networks, "visits")
    assert solution.waiting_s is not None, "Traffic.unstable makes it"
    alone = np.array([kind != "load_dependent" for kind in traffic.networks[0].kind])[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        would = np.where(alone, visits * (service + solution.waiting_s), np.nan)
        return np.where(rate[:, None, :] > 0, solution.queue_length / rate[:, None, :], would)


def _groups(networks: Sequence[Network], points: np.ndarray, k: int) -> list[tuple[np.ndarray, Array | None]]:
    """Points whose station k has the same speeds; None for a delay."""
    if networks[0].kind[k] == "delay":
        return [(points, None)]
    if k not in networks[0].rates:
        servers = stacked(networks, "servers")[points, k]
        each = {int(m): points[servers == m] for m in np.unique(servers)}
        return [(own, speeds(networks[int(own[0])], k)) for own in each.values()]
    found: dict[bytes, list[int]] = {}
    for p in points.tolist():
        found.setdefault(speeds(networks[p], k).tobytes(), []).append(p)
    return [(np.array(own), np.frombuffer(key)) for key, own in found.items()]


@dataclass(frozen=True, eq=False)
class _StationPoints:
    """A station at those points where it has the same speeds; None for a delay."""

    station: int
    points: np.ndarray
    speed: Array | None
    levels: PopulationDistribution | None
    service_s: Array  # of FCFS, points: the one mean of all classes
    ordered: bool  # FCFS: a visit waits as in M/M/m, whatever the rest of the network

    @staticmethod
    def of(traffic: TrafficSolution, k: int, points: np.ndarray, speed: Array | None) -> _StationPoints:
        n = traffic.networks[0]
        levels = None if speed is None else PopulationDistribution.of(traffic.load[points, k].sum(axis=1), speed)
        service = service_of(traffic, points)[:, k].max(axis=1, initial=0.0)
        ordered = levels is not None and n.kind[k] != "load_dependent" and n.discipline[k] == "fcfs"
        return _StationPoints(k, points, speed, levels, service, ordered)


Times = tuple[float, np.ndarray, Array, Array]  # quantile, points, waiting time and response time there


def _quantiles(groups: Sequence[_StationPoints], wanted: RequestedOutputs) -> dict[int, list[Times]]:
    """By station; of all stations at once: one search for thousands of roots costs as much as one for a few."""
    found: dict[int, list[Times]] = {}
    if not groups:
        return found
    waits = np.concatenate([g.levels.beyond for g in groups if g.levels is not None])
    service = np.concatenate([g.service_s for g in groups])
    free = np.concatenate([g.levels.speed[-1] - g.levels.load for g in groups if g.levels is not None])
    drain = np.divide(free, service, out=np.full_like(free, np.inf), where=service > 0)
    ends = np.cumsum([len(g.points) for g in groups])[:-1]
    for q in wanted.quantiles:
        each = (waiting_quantile(waits, drain, q), response_quantile(waits, drain, service, q))
        for g, wait, response in zip(groups, *(np.split(values, ends) for values in each), strict=True):
            found.setdefault(g.station, []).append((q, g.points, wait, response))
    return found


def _station(traffic: TrafficSolution, solution: Solution, own: _StationPoints) -> None:
    """Means."""
    k, points, levels = own.station, own.points, own.levels
    loads = traffic.load[points, k]
    load = loads.sum(axis=1)
    assert solution.waiting_s is not None, "Traffic.unstable makes it"
    if own.speed is None or levels is None:
        solution.queue_length[points, k], solution.waiting_s[points, k] = loads, 0.0
        return
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(load[:, None] > 0, loads / load[:, None], 0.0)
    solution.queue_length[points, k] = share * levels.mean[:, None]
    solution.waiting_s[points, k] = service_of(traffic, points)[:, k] * levels.stretch[:, None]
    dependent = traffic.networks[0].kind[k] == "load_dependent"
    busy = levels.busy if dependent else load / len(own.speed)
    solution.utilisation[points, k] = share * busy[:, None]


def _rows(
    traffic: TrafficSolution, solution: Solution, own: _StationPoints, times: Sequence[Times], wanted: RequestedOutputs
) -> None:
    """What is told beside means."""
    k, points, levels, n = own.station, own.points, own.levels, traffic.networks[0]
    load, most = (
        traffic.load[points, k].sum(axis=1),
        -1 if wanted.state_probabilities is None else wanted.state_probabilities,
    )
    spread, numbers = (load, poisson(load, most)) if levels is None else (levels.variance, levels.probabilities(most))
    if levels is not None and n.kind[k] != "load_dependent" and n.discipline[k] in ("fcfs", "siro"):
        _put(traffic, solution, k, points, "waiting_probability", levels.beyond)
    for q, at, wait, response in times:
        if at is points:
            _put(traffic, solution, k, points, "waiting_time_quantile", wait, q=q)
            _put(traffic, solution, k, points, "response_time_quantile", response, q=q)
    _put(traffic, solution, k, points, "queue_length_variance", spread)
    for number, column in enumerate(numbers.T):
        _put(traffic, solution, k, points, "queue_length_probability", column, n=number)


def service_of(traffic: TrafficSolution, points: np.ndarray) -> Array:
    """P x K x C, mean service times."""
    return np.asarray(stacked(traffic.networks, "service_s")[points])


def _put(
    traffic: TrafficSolution, solution: Solution, k: int, points: np.ndarray, metric: str, values: Array, **key: Any
) -> None:
    """A row a point for the station, and for the class where only one visits it."""
    n = traffic.networks[0]
    visits = np.flatnonzero(n.visits[k])
    names = ["", n.classes[visits[0]]] if len(visits) == 1 else [""] if len(visits) else []
    for name in names:
        solution.more += [
            {"point": int(p), "station": n.stations[k], "class": name, "metric": metric, "value": float(v), **key}
            for p, v in zip(points, values, strict=True)
        ]


def _cost_s(network: Network) -> float:
    return 2e-4 * len(network.stations) + 2e-7 * float(network.servers.sum())


def memory_bytes(network: Network) -> float:
    """Of probabilities up to the number of servers."""
    return 100.0 * float(network.servers.sum())


JACKSON = Method(
    name="jackson",
    title="open network of one class, product form",
    exact=True,
    sources=("J. R. Jackson: Operations Research 5(4), 1957, pp. 518-521",),
    refuses=refuses_classes,
    run=run,
    cost_s=_cost_s,
    memory_bytes=memory_bytes,
)
MULTICLASS = Method(
    name="open-multiclass",
    title="open network of several classes, product form",
    exact=True,
    sources=("F. Baskett, K. M. Chandy, R. R. Muntz, F. G. Palacios: J. ACM 22(2), 1975, pp. 248-260",),
    refuses=refuses,
    run=run,
    cost_s=lambda n: 1.1 * _cost_s(n),
    memory_bytes=memory_bytes,
)
