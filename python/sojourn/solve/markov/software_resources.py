"""Software resources (pools held while other stations are visited) and regions with a limit: one layer in another.

Sources: K. M. Chandy, U. Herzog, L. Woo: Parametric Analysis of Queuing Networks. IBM J. Res. Dev. 19(1), 1975,
pp. 36-42 (flow-equivalent aggregation); E. D. Lazowska et al., Quantitative System Performance (1984), section 9.3
(memory constraints, one class), pp. 184-188; P. J. Courtois, Decomposability (1977), on the error.

The stations under a limit are solved as a closed network with 1 … size customers, exactly; outside they are one station
that completes X(n) passes a second with n present, waiting or inside, and X(size) from there on. That is exact without a
limit; with one it supposes that the inside comes to balance faster than the number inside changes. Against the exact
chain (`ctmc`) throughput is within 1 % in all instances of tests/cross/test_layered.py.

| letters     | here                                    | unit |
|-------------|-----------------------------------------|------|
| X(n)        | `InnerStations.rates_per_s[n - 1]`              | 1/s  |
| Q_k(n)      | `InnerStations.number[n - 1]`                   | 1    |
| p(n)        | `numbers`: waiting or inside            | 1    |

Limits: one class; pools and regions that share no station; stations with a product form (`productform`), and nobody is
lost. The status is `approximate`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sojourn.model import Closed, LoadDependent, Model, Open
from sojourn.model.components import Pool, Station
from sojourn.model.network_arrays import Array, Limit, Network
from sojourn.solve.closed import convolution
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.open import jackson_bcmp
from sojourn.solve.population_distribution import PopulationDistribution
from sojourn.solve.product_form import product_form
from sojourn.solve.solution import Solution

MOST_SIZE = 5000
MOST_CUSTOMERS = 5000


def refuses(network: Network) -> str | None:
    if not network.limits:
        return "this method needs a pool or a region, but the model has none"
    if len(network.classes) > 1:
        return f"the model has {len(network.classes)} classes, but this method needs exactly one"
    used = [k for limit in network.limits for k in limit.stations]
    if len(used) > len(set(used)):
        return "its pools or regions share stations"
    for limit in network.limits:
        if limit.on_full == "lose":
            return f"customers who find {limit.name} full are lost"
        if network.demands_s[list(limit.stations), 0].sum() <= 0:
            return f"nobody spends time inside {limit.name}"
    if network.population[0] > MOST_CUSTOMERS:
        return f"the model has {network.population[0]} customers, which is more than the limit of {MOST_CUSTOMERS}"
    if (most := max(_size(network, limit) for limit in network.limits)) > MOST_SIZE:
        return f"the inside would be solved for each number up to {most}, and at most {MOST_SIZE} are taken"
    free = replace(network, limits=())
    return convolution.refuses(free) if network.closed[0] else product_form(free)


def run(networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
    shape = (len(networks), len(networks[0].stations), 1)
    solution = Solution(
        np.full((shape[0], 1), np.nan), np.full(shape, np.nan), np.full(shape, np.nan), ["approximate"] * shape[0],
        outside=np.zeros((shape[0], 1)),
    )  # fmt: skip
    for p, network in enumerate(networks):
        _point(network, solution, p)
    return solution


def _size(network: Network, limit: Limit) -> int:
    """How many there can be inside."""
    return min(limit.size, int(network.population[0])) if network.closed[0] else limit.size


@dataclass(frozen=True)
class InnerStations:
    """The stations under a limit with 1 … size customers."""

    limit: Limit
    rates_per_s: Array  # size
    number: Array  # size x stations inside
    busy: Array  # size x stations inside


def _point(network: Network, solution: Solution, p: int) -> None:
    inners = [_inner(network, limit) for limit in network.limits]
    free = [k for k in range(len(network.stations)) if all(k not in x.stations for x in network.limits)]
    layers = [LoadDependent(i.limit.name, tuple(i.rates_per_s.tolist())) for i in inners]
    visits = {s.name: {network.classes[0]: 1.0} for s in layers}
    customers = next(c for c in network.model.classes if c.name == network.classes[0])
    outer = _model(network, free, layers, visits, customers)
    closed = bool(network.closed[0])
    most = int(network.population[0]) if closed else 0
    method = convolution.METHOD if closed else jackson_bcmp.JACKSON
    found = method.run([outer.network], RequestedOutputs((), most))
    solution.throughput[p] = x = float(found.throughput[0, 0])
    if found.status and found.status[0] != "ok":
        solution.status[p], solution.message = found.status[0], found.message
        return
    solution.queue_length[p, free], solution.utilisation[p, free] = (
        found.queue_length[0, : len(free)], found.utilisation[0, : len(free)],
    )  # fmt: skip
    assert solution.outside is not None
    for inner in inners:
        weight, beyond, above = _closed_numbers(found, inner, most) if closed else _open_numbers(inner, x)
        own = list(inner.limit.stations)
        solution.queue_length[p, own, 0] = weight @ inner.number
        solution.utilisation[p, own, 0] = weight @ inner.busy
        solution.outside[p, 0] += beyond
        size = np.arange(1, len(weight) + 1)
        solution.more += _rows(network, inner, p, x, float(weight @ size) / inner.limit.size, beyond, above)


def _inner(network: Network, limit: Limit) -> InnerStations:
    """Each population from 1 to the size of the limit, or to all customers there are, whichever is less."""
    own, size = list(limit.stations), _size(network, limit)
    whole = _model(network, own, [], {}, Closed(network.classes[0], size)).network
    parts = [whole.altered(population=np.array([n])) for n in range(1, size + 1)]
    found = convolution.METHOD.run(parts, RequestedOutputs(()))
    return InnerStations(limit, found.throughput[:, 0], found.queue_length[:, :, 0], found.utilisation[:, :, 0])


def _model(
    network: Network, stations: Sequence[int], more: Sequence[Station], visits: dict[str, dict[str, float]],
    customers: Closed | Open,
) -> Model:  # fmt: skip
    """A part of the network, with the demands that it has there, and further stations."""
    name = network.classes[0]
    parts = [network.model.station(network.stations[k]) for k in stations]
    assert not any(isinstance(s, Pool) for s in parts)
    demands: dict[str, dict[str, Any]] = {}
    for k in stations:
        if k in network.rates:
            visits[network.stations[k]] = {name: float(network.visits[k, 0])}
        else:
            demands[network.stations[k]] = {name: float(network.demands_s[k, 0])}
    if isinstance(customers, Closed):
        customers = replace(customers, reference_station="")
    return Model([*parts, *more], [customers], demands_s=demands, visits=visits)


def _closed_numbers(found: Solution, inner: InnerStations, population: int) -> tuple[Array, float, float]:
    """Weights of 1 … size inside, the mean number waiting, and the chance that one who comes has to wait."""
    p = np.zeros(population + 1)
    for row in found.more:
        if row["metric"] == "queue_length_probability" and row["station"] == inner.limit.name:
            p[row["n"]] = row["value"]
    size = len(inner.rates_per_s)
    late = p[size + 1 :]
    weight = p[1 : size + 1].copy()
    weight[-1] += late.sum()
    rates = inner.rates_per_s[np.minimum(np.arange(population), size - 1)]
    arrivals = p[1:] * rates
    return weight, float(late @ np.arange(1, len(late) + 1)), float(arrivals[size:].sum() / arrivals.sum())


def _open_numbers(inner: InnerStations, rate: float) -> tuple[Array, float, float]:
    """The same for Poisson arrivals of passes."""
    rates = inner.rates_per_s
    levels = PopulationDistribution.of(np.array([rate / rates[0]]), rates / rates[0])
    p, ratio = levels.probabilities(len(rates))[0], float(levels.ratio[0])
    weight = p[1:].copy()
    weight[-1] /= 1 - ratio
    return weight, float(p[-1] * ratio / (1 - ratio) ** 2), float(levels.beyond[0])


def _rows(
    network: Network, inner: InnerStations, point: int, passes: float, used: float, waiting: float, above: float
) -> list[dict[str, Any]]:
    stations = len(network.stations)
    own = np.isin(np.arange(stations + 1), inner.limit.stations)
    flow = network.route * np.append(network.visits[:, 0], 1.0)[:, None]
    rate = passes * float(flow[np.ix_(~own, own)].sum())
    values = {"utilisation": used, "throughput": rate, "queue_length": waiting + used * inner.limit.size,
              "waiting_time": waiting / rate if rate > 0 else 0.0, "waiting_probability": above}  # fmt: skip
    return [
        {"point": point, "station": inner.limit.name, "class": "", "metric": metric, "value": float(value)}
        for metric, value in values.items()
    ]


METHOD = Method(
    name="layered",
    title="pools and regions by flow-equivalent aggregation, one class",
    exact=False,
    sources=(
        "K. M. Chandy, U. Herzog, L. Woo: IBM J. Res. Dev. 19(1), 1975, pp. 36-42",
        "E. D. Lazowska et al.: Quantitative System Performance (1984), section 9.3",
    ),
    refuses=refuses,
    run=run,
    cost_s=lambda n: 2e-3 * sum(_size(n, limit) for limit in n.limits),
    rank=1,
)
