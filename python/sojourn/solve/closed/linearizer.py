"""Linearizer: Schweitzer's step with a correction, found from the model with one customer less of each class.

Source: K. M. Chandy, D. Neuse: Linearizer: A Heuristic Algorithm for Queueing Network Models of Computing Systems.
Commun. ACM 25(2), 1982, pp. 126-134; Bolch et al., Queueing Networks and Markov Chains, 2nd ed. (2006), 9.1.2.

    paper       here                                                  unit
    F_mk(N)     share of class k's customers who are at station m      1
    D_mkj       F_mk(N - e_j) - F_mk(N), held during a solution         1

An arriving customer of class j finds (N - e_j)_k (F_mk(N) + D_mkj) of class k. Three passes over solutions at N and at
N - e_j for all j, as in the paper; the kernel is `crates/solve/src/closed/linearizer.rs`. Several servers by Seidmann's
transformation (`amva`). Errors of single-server models are mostly under 1 %; time grows with the square of the number of
classes, not with populations.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sojourn.model.network_arrays import Network
from sojourn.solve.closed import approximate_mva, chain_arrays
from sojourn.solve.closed.closed_refusals import roughly
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.solution import Solution


def run(networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
    from sojourn._native import closed_linearizer

    c = chain_arrays.of(networks)
    s = approximate_mva.single(c)
    demands, think, population = (np.ascontiguousarray(a, float) for a in (s.demands_s, s.think_s, s.population))
    stop = approximate_mva.TOLERANCE, approximate_mva.ROUNDS
    queue, residence, settled = closed_linearizer(demands, think, population, *stop)
    x = approximate_mva.throughput(residence, s.think_s, s.population)
    return approximate_mva.answer(c, s, x, queue, settled)


def _cost_s(network: Network) -> float:
    """Of one point of many: some hundred steps, of each class's customer at each population less one."""
    classes = len(network.classes)
    return 1e-4 * classes**2 + 5e-7 * len(network.stations) * classes**3


METHOD = Method(
    name="linearizer",
    title="Linearizer, approximate mean value analysis",
    exact=False,
    sources=(
        "K. M. Chandy, D. Neuse: Linearizer: A Heuristic Algorithm for Queueing Network Models of Computing Systems. "
        "Commun. ACM 25(2), 1982, pp. 126-134",
        "A. Seidmann, P. J. Schweitzer, S. Shalev-Oren: Large Scale Systems 12, 1987, pp. 91-107",
    ),
    refuses=roughly,
    run=run,
    cost_s=_cost_s,
    memory_bytes=lambda n: 50.0 * len(n.stations) * len(n.classes) * (len(n.classes) + 1),
    rank=10,
)
