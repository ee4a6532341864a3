"""M/M/m//N, machine repair: N customers that think, one queue with m servers.

Source: Kleinrock, Queueing Systems vol. 1 (1975), pp. 106-109; Gross et al., Fundamentals of Queueing Theory, 4th ed.
(2008), Section 2.8; what an arrival finds is the law with one customer less: S. S. Lavenberg, M. Reiser, J. Appl.
Prob. 17(4), 1980, pp. 1048-1061.

    source          here
    M, K, N         population
    1/lambda        think_s, mean time up
    1/mu            service_s, mean repair
    c, m            servers, repairmen

Stable: products from the mode outward (`birth_death`); work grows with the root of N, so N = 10 million is quick.
Limits: one closed class, exponential service; think times of any distribution (product form), but quantiles need FCFS.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sojourn.model.network_arrays import Network
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.single.birth_death import BirthDeathDistribution, FcfsWaitingTime, stationary
from sojourn.solve.single.finite_queues import FiniteQueuePoint, rows
from sojourn.solve.single.station_arrays import refusal
from sojourn.solve.solution import Solution


def law(population: int, think_s: float, service_s: float, servers: int) -> BirthDeathDistribution:
    """Law of the number at the queue; think_s >= 0, service_s > 0."""

    def ratio(n: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return (population - n + 1) * service_s / (np.float64(think_s) * np.minimum(n, servers))

    return stationary(ratio, population)


def refuses(n: Network) -> str | None:
    reason = refusal(n, exponential=True, one_class=True, closed=True)
    return reason or ("its mean service time is 0" if n.service_s[0, 0] == 0 else None)


def run(networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
    points, x, line = [], [], []
    for n in networks:
        size, m, think, mean = int(n.population[0]), int(n.servers[0]), float(n.think_s[0]), float(n.service_s[0, 0])
        found, waiting = law(size, think, mean, m), None
        if n.discipline[0] == "fcfs":
            waiting = FcfsWaitingTime(law(max(size - 1, 0), think, mean, m), m, mean)
        points.append(FiniteQueuePoint(found, waiting))
        line.append(found.mean(lambda k, m=m: np.maximum(k - m, 0)))  # type: ignore[misc]
        x.append(found.mean(lambda k, m=m: np.minimum(k, m)) / mean)  # type: ignore[misc]
    made = rows(networks, points, wanted)
    through, number = np.array(x), np.array([p.law.mean() for p in points])
    busy = through * np.array([n.service_s[0, 0] / n.servers[0] for n in networks])
    with np.errstate(divide="ignore", invalid="ignore"):
        response, wait = number / through, np.array(line) / through
    return Solution(
        through[:, None], number[:, None, None], busy[:, None, None], residence_s=response[:, None, None],
        waiting_s=wait[:, None, None],
        more=made.made,
    )  # fmt: skip


METHOD = Method(
    name="machine-repair",
    title="M/M/m//N: machine repair, one queue and a think time",
    exact=True,
    sources=("L. Kleinrock: Queueing Systems, vol. 1. Wiley 1975, pp. 106-109",),
    refuses=refuses,
    run=run,
    cost_s=lambda n: 2e-3,
)
