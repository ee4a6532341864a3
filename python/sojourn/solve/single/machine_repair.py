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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn.model.network_arrays import Array, Network
from sojourn.model.network_points import stacked
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.single.birth_death import BirthDeathDistributions, FcfsWaitingTime, stationary
from sojourn.solve.single.finite_queues import FiniteQueuePoint, rows
from sojourn.solve.single.station_arrays import refusal
from sojourn.solve.solution import Solution

STATES = 2_000_000  # of all laws that are made at once, at most


def laws(
    population: NDArray[np.int64], think_s: Array, service_s: Array, servers: NDArray[np.int64]
) -> BirthDeathDistributions:
    """Laws of the number at the queue, P each; think_s >= 0, service_s > 0."""
    size, think, service, m = (a[:, None] for a in (population, think_s, service_s, servers))
    return stationary(lambda n: (size - n + 1) * service / (think * np.minimum(n, m)), population)


def refuses(n: Network) -> str | None:
    reason = refusal(n, exponential=True, one_class=True, closed=True)
    return reason or ("its mean service time is 0" if n.service_s[0, 0] == 0 else None)


def run(networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
    from sojourn.parallel import blocks  # slow to import

    size, m = (stacked(networks, name)[:, 0] for name in ("population", "servers"))
    think, mean = stacked(networks, "think_s")[:, 0], stacked(networks, "service_s")[:, 0, 0]
    parts = []
    for block in blocks(len(size), max(1, STATES // max(int(size.max()), 1))):
        at = slice(block.start, block.stop)
        parts.append(_means(laws(size[at], think[at], mean[at], m[at]), m[at, None]))
    number, line, busy = np.concatenate(parts, axis=1)
    through = busy / mean
    with np.errstate(divide="ignore", invalid="ignore"):
        response, wait = number / through, line / through
    return Solution(
        through[:, None], number[:, None, None], (busy / m)[:, None, None], residence_s=response[:, None, None],
        waiting_s=wait[:, None, None], more=_more(networks, wanted) if wanted.further else [],
    )  # fmt: skip


def _means(found: BirthDeathDistributions, m: Array) -> Array:
    """Numbers present, waiting and in service, 3 x P."""
    of = (lambda n: n), (lambda n: np.maximum(n - m, 0)), (lambda n: np.minimum(n, m))
    return np.stack([found.mean(each) for each in of])


def _more(networks: Sequence[Network], wanted: RequestedOutputs) -> list[dict[str, Any]]:
    """Rows beside the means, point by point."""
    points = []
    for n in networks:
        size, m, think, mean = n.population[:1], n.servers[:1], n.think_s[:1], n.service_s[0, :1]
        waiting = None
        if n.discipline[0] == "fcfs":
            waiting = FcfsWaitingTime(laws(np.maximum(size - 1, 0), think, mean, m)[0], int(m[0]), float(mean[0]))
        points.append(FiniteQueuePoint(laws(size, think, mean, m)[0], waiting))
    return rows(networks, points, wanted).made


METHOD = Method(
    name="machine-repair",
    title="M/M/m//N: machine repair, one queue and a think time",
    exact=True,
    sources=("L. Kleinrock: Queueing Systems, vol. 1. Wiley 1975, pp. 106-109",),
    refuses=refuses,
    run=run,
    cost_s=lambda n: 2e-3,
)
