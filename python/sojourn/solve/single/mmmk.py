"""M/M/m/K: m servers, room for K, the rest is lost. K = m is Erlang's loss system, m = 1 is M/M/1/K.

Source: Kleinrock, Queueing Systems vol. 1 (1975), pp. 103-109; Gross et al., Fundamentals of Queueing Theory, 4th ed.
(2008), pp. 76-84; for K = m any distribution of service has the same p(n): Kelly, Reversibility and Stochastic
Networks (1979), Section 3.3.

    source   here
    c, m     servers
    K        capacity, those in service included
    p_K      loss_probability

Stable: products from the mode outward (`birth_death`), to m = K = 100 000 and beyond; no load is too high. Limits:
Poisson arrivals; exponential service with one mean, unless K = m. Times are those of customers that get in.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sojourn.model.network_arrays import Network
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.single.birth_death import BirthDeathDistribution, FcfsWaitingTime, stationary
from sojourn.solve.single.finite_queues import FiniteQueuePoint, rows
from sojourn.solve.single.station_arrays import StationArrays, refusal
from sojourn.solve.solution import Solution


def law(offered: float, servers: int, capacity: int) -> BirthDeathDistribution:
    """Law of the number present, for `offered` = lambda/mu erlangs >= 0."""
    return stationary(lambda n: offered / np.minimum(n, servers), capacity)[0]


def entering(present: BirthDeathDistribution, capacity: int) -> BirthDeathDistribution:
    """What those who get in find before them."""
    keep = present.n < capacity
    total = present.p[keep].sum()
    return (
        BirthDeathDistribution(present.first, present.p[keep] / total)
        if total > 0
        else BirthDeathDistribution(0, np.array([1.0]))
    )


def refuses(n: Network) -> str | None:
    reason = refusal(n, limited=True)
    if reason is None and n.capacity[0] < n.servers[0]:
        return f"the station `{n.stations[0]}` has more servers than places"
    if reason is None and n.capacity[0] == n.servers[0]:
        return None
    return reason or refusal(n, limited=True, exponential=True, one_service=True)


def run(networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
    read = StationArrays(networks)
    room = [int(n.capacity[0]) for n in networks]
    points = []
    for p, capacity in enumerate(room):
        m, mean = int(read.servers[p]), float(read.mean_s[p])
        found = law(float(read.total[p]) * mean, m, capacity)
        timed = read.fcfs and m < capacity
        points.append(FiniteQueuePoint(found, FcfsWaitingTime(entering(found, capacity), m, mean) if timed else None))
    made = rows(networks, points, wanted)
    lost = np.array([float(x.law.at(k)) for x, k in zip(points, room, strict=True)])
    # from who is served: far above saturation 1 - p(K) has lost its digits
    working = np.array([x.law.mean(lambda n, m=m: np.minimum(n, m)) for x, m in zip(points, read.servers, strict=True)])  # type: ignore[misc]
    served = np.where(read.mean_s > 0, working / np.where(read.mean_s > 0, read.mean_s, 1.0), read.total * (1 - lost))
    through = read.share * np.where(read.total > 0, served, 0.0)[:, None]
    in_line = np.array([_in_line(x.law, m) for x, m in zip(points, read.servers, strict=True)])
    with np.errstate(divide="ignore", invalid="ignore"):
        wait = np.where(read.total > 0, in_line / through.sum(axis=1), 0.0)[:, None]
    response = wait + read.service_s
    busy = through * read.service_s / read.servers[:, None]
    loss = np.repeat(lost[:, None], read.rate.shape[1], axis=1)
    return Solution(
        through, (through * response)[:, None, :], busy[:, None, :], residence_s=response[:, None, :],
        waiting_s=np.repeat(wait[:, None, :], read.rate.shape[1], axis=2),
        loss=loss[:, None, :], more=made.made,
    )  # fmt: skip


def _in_line(present: BirthDeathDistribution, servers: float) -> float:
    return present.mean(lambda n: np.maximum(n - servers, 0))


METHOD = Method(
    name="mmmk",
    title="M/M/m/K with losses; Erlang B where K = m",
    exact=True,
    sources=("L. Kleinrock: Queueing Systems, vol. 1. Wiley 1975, pp. 103-109",),
    refuses=refuses,
    run=run,
    cost_s=lambda n: 2e-3,
)
