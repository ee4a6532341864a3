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
from typing import Any

import numpy as np

from sojourn.model.network_arrays import Array, Network, stacked
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.open import overtake_free
from sojourn.solve.open.traffic_equations import TrafficSolution, only_open, speeds
from sojourn.solve.population_distribution import PopulationDistribution, poisson
from sojourn.solve.product_form import product_form
from sojourn.solve.single.mmm import response_quantile, waiting_quantile
from sojourn.solve.solution import Solution


def refuses(network: Network) -> str | None:
    return only_open(network) or product_form(network)


def refuses_classes(network: Network) -> str | None:
    if len(network.classes) > 1:
        return f"it has {len(network.classes)} classes"
    return refuses(network)


def run(networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
    """All points at once, those with one set of servers together."""
    traffic = TrafficSolution.of(networks)
    solution = traffic.unstable()
    good = np.flatnonzero(traffic.stable)
    solution.throughput[good] = traffic.passes[good]
    for k in range(len(networks[0].stations)):
        for points, speed in _groups(networks, good, k):
            _station(traffic, solution, k, points, speed, wanted)
    solution.residence_s = _residence(traffic, solution)
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
    found: dict[bytes, list[int]] = {}
    for p in points.tolist():
        found.setdefault(speeds(networks[p], k).tobytes(), []).append(p)
    return [(np.array(own), np.frombuffer(key)) for key, own in found.items()]


def _station(
    traffic: TrafficSolution,
    solution: Solution,
    k: int,
    points: np.ndarray,
    speed: Array | None,
    wanted: RequestedOutputs,
) -> None:
    own = traffic.load[points, k]
    load = own.sum(axis=1)
    assert solution.waiting_s is not None, "Traffic.unstable makes it"
    if speed is None:
        solution.queue_length[points, k], solution.waiting_s[points, k] = own, 0.0
        spread, numbers = load, poisson(load, -1 if wanted.probabilities is None else wanted.probabilities)
    else:
        levels = PopulationDistribution.of(load, speed)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(load[:, None] > 0, own / load[:, None], 0.0)
        solution.queue_length[points, k] = share * levels.mean[:, None]
        solution.waiting_s[points, k] = service_of(traffic, points)[:, k] * levels.stretch[:, None]
        dependent = traffic.networks[0].kind[k] == "load_dependent"
        busy = levels.busy if dependent else load / len(speed)
        solution.utilisation[points, k] = share * busy[:, None]
        spread = levels.variance
        numbers = levels.probabilities(-1 if wanted.probabilities is None else wanted.probabilities)
        if not dependent:
            _times(traffic, solution, k, points, levels, wanted)
    _put(traffic, solution, k, points, "queue_length_variance", spread)
    for n, column in enumerate(numbers.T):
        _put(traffic, solution, k, points, "queue_length_probability", column, n=n)


def service_of(traffic: TrafficSolution, points: np.ndarray) -> Array:
    """P x K x C, mean service times."""
    return stacked([traffic.networks[p] for p in points], "service_s")


def _times(
    traffic: TrafficSolution,
    solution: Solution,
    k: int,
    points: np.ndarray,
    levels: PopulationDistribution,
    wanted: RequestedOutputs,
) -> None:
    """First come first served: a visit waits as in M/M/m, whatever the rest of the network."""
    network = traffic.networks[0]
    if network.discipline[k] not in ("fcfs", "siro"):
        return
    _put(traffic, solution, k, points, "waiting_probability", levels.beyond)
    service = service_of(traffic, points)[:, k].max(axis=1)
    if network.discipline[k] != "fcfs":
        return
    with np.errstate(divide="ignore"):
        drain = (levels.speed[-1] - levels.load) / service
    for q in wanted.quantiles:
        waits, responses = (
            waiting_quantile(levels.beyond, drain, q),
            response_quantile(levels.beyond, drain, service, q),
        )
        _put(traffic, solution, k, points, "waiting_time_quantile", waits, q=q)
        _put(traffic, solution, k, points, "response_time_quantile", responses, q=q)


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
    return 1e-4 * len(network.stations) + 2e-7 * float(network.servers.sum())


JACKSON = Method(
    name="jackson",
    title="open network of one class, product form",
    exact=True,
    sources=("J. R. Jackson: Operations Research 5(4), 1957, pp. 518-521",),
    refuses=refuses_classes,
    run=run,
    cost_s=_cost_s,
)
MULTICLASS = Method(
    name="open-multiclass",
    title="open network of several classes, product form",
    exact=True,
    sources=("F. Baskett, K. M. Chandy, R. R. Muntz, F. G. Palacios: J. ACM 22(2), 1975, pp. 248-260",),
    refuses=refuses,
    run=run,
    cost_s=lambda n: 1.1 * _cost_s(n),
)
