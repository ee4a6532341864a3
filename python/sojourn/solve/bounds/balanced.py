"""Balanced job bounds of one closed chain: between the balanced systems with the mean and with the largest demand.

Source: J. Zahorjan, K. C. Sevcik, D. L. Eager, B. Galler: Balanced Job Bound Analysis of Queueing Networks. Commun. ACM
25(2), 1982, pp. 134-141; Lazowska et al. (1984), 5.4, Table 5.2, p. 91.

    N/(D + Z + (N-1) D_max/(1 + Z/(N D))) <= X <= min(1/D_max, N/(D + Z + (N-1) D_avg/(1 + Z/D)))

D_avg is D over the number of single servers that are visited. Product form, single servers and delays.
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
    return one_chain.solution(b, *between(b))


def between(b: one_chain.ClosedChain) -> tuple[Array, Array]:
    """Throughput at least and at most, P."""
    n, z, total, longest = b.population, b.think_s, b.total_s, b.longest_s
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = total / np.maximum((b.demands_s > 0).sum(axis=1), 1)
        others = np.maximum(n - 1, 0)
        low = n / (total + z + others * np.where(total > 0, longest / (1 + z / (n * total)), 0.0))
        high = n / (total + z + others * np.where(total > 0, mean / (1 + z / total), 0.0))
    return np.where(n > 0, low, 0.0), np.where(n > 0, np.minimum(high, 1 / np.maximum(longest, 1e-300)), 0.0)


METHOD = Method(
    name="balanced-job-bounds",
    title="balanced job bounds of throughput and response",
    exact=False,
    sources=(
        "J. Zahorjan, K. C. Sevcik, D. L. Eager, B. Galler: Balanced Job Bound Analysis of Queueing Networks. "
        "Commun. ACM 25(2), 1982, pp. 134-141",
        "E. D. Lazowska, J. Zahorjan, G. S. Graham, K. C. Sevcik: Quantitative System Performance (1984), p. 91",
    ),
    refuses=one_chain.single_servers,
    run=run,
    on_request_only=True,
)
