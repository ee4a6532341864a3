"""Asymptotic bounds of one closed chain: what a station's capacity and an empty system allow.

Source: R. R. Muntz, J. W. Wong: Asymptotic Properties of Closed Queueing Network Models. 8th Princeton Conf. Information
Sciences and Systems, 1974, pp. 348-352; P. J. Denning, J. P. Buzen: The Operational Analysis of Queueing Network Models.
ACM Comput. Surv. 10(3), 1978, pp. 225-261; Lazowska et al. (1984), 5.2, Table 5.1, p. 76.

    N/(Z + N D) <= X <= min(N/(Z + D), 1/D_max)

With m servers, or speeds s(n): D_max is the largest D_k/s_max, and a station of falling speed counts with its slowest.
Only means enter: the bounds hold for any distribution, class of customer and order of service.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sojourn.model.network_arrays import Array, Network
from sojourn.solve.bounds import one_chain
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.solution import Solution


def run(networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
    b = one_chain.of(networks)
    return one_chain.solution(b, *between(b, networks))


def between(b: one_chain.ClosedChain, networks: Sequence[Network]) -> tuple[Array, Array]:
    """Throughput at least and at most, P."""
    fastest, slowest, alone = _speeds(networks)
    with np.errstate(divide="ignore"):
        capacity = 1 / (b.demands_s / fastest).max(axis=1, initial=0.0)
        light = b.population / (b.think_s + (b.demands_s / alone).sum(axis=1))
        heavy = b.population / (b.think_s + b.population * (b.demands_s / slowest).sum(axis=1))
    return heavy, np.minimum(light, capacity)


def _speeds(networks: Sequence[Network]) -> tuple[Array, Array, Array]:
    """Largest and smallest relative speed P x K, and the largest s(n)/n (more than 1 only if speeds rise faster)."""
    shape = (len(networks), len(networks[0].stations))
    fastest, slowest, alone = np.ones(shape), np.ones(shape), np.ones(shape)
    for p, n in enumerate(networks):
        for k in range(shape[1]):
            if n.kind[k] == "load_dependent":
                speed = n.rates[k] / n.rates[k][0]
                fastest[p, k], slowest[p, k] = speed.max(), speed.min()
                alone[p, k] = (speed / np.arange(1, len(speed) + 1)).max()
            elif n.kind[k] == "queue":
                fastest[p, k] = n.servers[k]
    return fastest, slowest, alone


METHOD = Method(
    name="asymptotic-bounds",
    title="asymptotic bounds of throughput and response",
    exact=False,
    sources=(
        "R. R. Muntz, J. W. Wong: Asymptotic Properties of Closed Queueing Network Models, 1974, pp. 348-352",
        "E. D. Lazowska, J. Zahorjan, G. S. Graham, K. C. Sevcik: Quantitative System Performance (1984), p. 76",
    ),
    refuses=one_chain.one_closed,
    run=run,
    on_request_only=True,
)
