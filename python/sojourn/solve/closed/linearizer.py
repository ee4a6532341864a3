"""Linearizer: Schweitzer's step with a correction, found from the model with one customer less of each class.

Source: K. M. Chandy, D. Neuse: Linearizer: A Heuristic Algorithm for Queueing Network Models of Computing Systems.
Commun. ACM 25(2), 1982, pp. 126-134; Bolch et al., Queueing Networks and Markov Chains, 2nd ed. (2006), 9.1.2.

    paper       here                                                  unit
    F_mk(N)     share of class k's customers who are at station m      1
    D_mkj       F_mk(N - e_j) - F_mk(N), held during a solution         1

An arriving customer of class j finds (N - e_j)_k (F_mk(N) + D_mkj) of class k. Three passes over solutions at N and at
N - e_j for all j, as in the paper. Several servers by Seidmann's transformation (`amva`). Errors of single-server models
are mostly under 1 %; time grows with the square of the number of classes, not with populations.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from sojourn.model.network_arrays import Array, Network
from sojourn.solve.closed import approximate_mva, chain_arrays
from sojourn.solve.closed.closed_refusals import roughly
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.solution import Solution

PASSES = 3


def run(networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
    c = chain_arrays.of(networks)
    s = approximate_mva.single(c)
    queue, settled = solve(s)
    x = approximate_mva.throughput(queue[1], s.think_s, s.population)
    return approximate_mva.answer(c, s, x, queue[0], settled)


def solve(s: approximate_mva.SingleServers) -> tuple[tuple[Array, Array], Array]:
    """Mean numbers and residence times P x K x R, and which points settled."""
    classes = s.population.shape[1]
    less = less_one(s.population)  # P x (R + 1) x R: N - e_0 … N - e_(R-1), N
    first = np.repeat(approximate_mva.start(s)[:, None], classes + 1, axis=1)
    queue = first * _ratio(less, s.population)[:, :, None, :]
    change = np.zeros((*s.demands_s.shape, classes))  # P x K x R x j
    for _ in range(PASSES - 1):
        queue, _ = approximate_mva.iterate(partial(_numbers, s, less, change), queue)
        share = queue / np.where(less > 0, less, 1.0)[:, :, None, :]
        change = np.moveaxis(share[:, :classes] - share[:, classes:], 1, 3)
        change *= (less[:, :classes].transpose(0, 2, 1) > 0)[:, None]
    full = less[:, classes:]
    queue, settled = approximate_mva.iterate(partial(_numbers, s, full, change), queue[:, classes:])
    queue, residence = _core(s, full, queue, change)
    return (queue[:, 0], residence[:, 0]), settled


def _numbers(s: approximate_mva.SingleServers, numbers: Array, change: Array, queue: Array) -> Array:
    return _core(s, numbers, queue, change)[0]


def less_one(population: Array) -> Array:
    classes = population.shape[1]
    rows = np.maximum(population[:, None, :] - np.eye(classes)[None], 0)
    return np.concatenate([rows, population[:, None, :]], axis=1)


def _ratio(less: Array, population: Array) -> Array:
    return np.asarray(less / np.maximum(population, 1)[:, None, :])


def _core(s: approximate_mva.SingleServers, numbers: Array, queue: Array, change: Array) -> tuple[Array, Array]:
    """One step at each of the populations `numbers` (P x V x R); queue P x V x K x R."""
    share = queue / np.where(numbers > 0, numbers, 1.0)[:, :, None, :]
    classes = numbers.shape[2]
    found = np.empty_like(queue)
    for j in range(classes):
        met = numbers.copy()
        met[:, :, j] = np.maximum(met[:, :, j] - 1, 0)
        found[..., j] = (met[:, :, None, :] * (share + change[:, None, :, :, j])).sum(axis=3)
    residence = s.demands_s[:, None] * (1 + np.maximum(found, 0.0))
    x = approximate_mva.throughput(residence, s.think_s[:, None], numbers)
    return residence * x[:, :, None, :], residence


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
