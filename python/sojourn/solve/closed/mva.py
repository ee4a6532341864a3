"""Exact mean value analysis, one closed class.

Source: M. Reiser, S. S. Lavenberg: Mean-Value Analysis of Closed Multichain Queuing Networks. J. ACM 27(2), 1980,
pp. 313-322; Lazowska et al. (1984), Algorithm 6.2, p. 118. R_k(n) = D_k (1 + Q_k(n-1)), X = n/(Z + sum R), Q = X R.
All terms are positive, so the recurrence is stable for any population. Limits: single servers and delays.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sojourn.model.network import Network
from sojourn.solve.method import Method, Wanted
from sojourn.solve.solution import Solution


def refuses(network: Network) -> str | None:
    if not network.closed.all() or len(network.classes) != 1:
        return f"it has {len(network.classes)} classes, open {int((~network.closed).sum())}; it needs one closed class"
    return next((f"station {s} is a {k} with {m} servers"
                 for s, k, m in zip(network.stations, network.kind, network.servers, strict=True)
                 if k not in ("queue", "delay") or m != 1), None)  # fmt: skip


def run(networks: Sequence[Network], wanted: Wanted) -> Solution:
    demand = np.stack([n.demands_s[:, 0] for n in networks])
    think = np.array([n.think_s[0] for n in networks])
    population = np.array([n.population[0] for n in networks])
    waits = np.array([kind == "queue" for kind in networks[0].kind])
    queue, x = np.zeros_like(demand), np.zeros(len(networks))
    for n in range(1, int(population.max(initial=0)) + 1):
        go = n <= population
        residence = demand[go] * (1 + queue[go] * waits)
        x[go] = n / (think[go] + residence.sum(axis=1))
        queue[go] = x[go, None] * residence
    busy = np.where(waits, x[:, None] * demand, np.nan)
    return Solution(x[:, None], queue[:, :, None], busy[:, :, None])


METHOD = Method(
    name="mva",
    title="exact mean value analysis, one class",
    exact=True,
    sources=("M. Reiser, S. S. Lavenberg: J. ACM 27(2), 1980, pp. 313-322",),
    refuses=refuses,
    run=run,
    cost_s=lambda n: 2e-5 * float(n.population[0]),
)
