"""AQL, aggregate queue length: as accurate as Linearizer, with totals of stations instead of numbers by class.

Source: J. Zahorjan, D. L. Eager, H. M. Sweillam: Accuracy, Speed, and Convergence of Approximate Mean Value Analysis.
Performance Evaluation 8(4), 1988, pp. 255-270.

    paper       here                                                    unit
    gamma_mk    Q_m(N - e_k)/(|N| - 1) - Q_m(N)/|N|, kept between passes    1

An arriving customer of class k finds (|N| - 1)(Q_m(N)/|N| + gamma_mk), at N and at each N - e_j. Several servers by
Seidmann's transformation (`amva`). Errors as of Linearizer; one customer is exact.
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

PASSES = 100


def run(networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
    c = chain_arrays.of(networks)
    s = approximate_mva.single(c)
    less = _less_one(s.population)  # P x (R + 1) x R: N - e_0 … N - e_(R-1), N
    gamma = np.zeros_like(s.demands_s)
    total = np.repeat(approximate_mva.start(s).sum(axis=2)[:, None], less.shape[1], axis=1)  # P x (R + 1) x K
    for _ in range(PASSES):
        total, settled = approximate_mva.iterate(partial(_totals, s, less, gamma), total)
        new = _gamma(less, total)
        moved = np.abs(new - gamma).max(initial=0.0)
        gamma = new
        if moved < 1e-11:
            break
    _, queue, x = _step(s, less, total, gamma)
    return approximate_mva.answer(c, s, x[:, -1], queue[:, -1], settled & (moved < 1e-8))


def _less_one(population: Array) -> Array:
    rows = np.maximum(population[:, None, :] - np.eye(population.shape[1])[None], 0)
    return np.concatenate([rows, population[:, None, :]], axis=1)


def _totals(s: approximate_mva.SingleServers, less: Array, gamma: Array, total: Array) -> Array:
    return _step(s, less, total, gamma)[0]


def _step(s: approximate_mva.SingleServers, less: Array, total: Array, gamma: Array) -> tuple[Array, Array, Array]:
    """Totals P x V x K, numbers P x V x K x R, throughputs P x V x R at the populations `less`."""
    many = less.sum(axis=2)[:, :, None]
    mean = total / np.where(many > 0, many, 1.0)
    found = np.maximum(many - 1, 0)[..., None] * (mean[..., None] + gamma[:, None])
    residence = s.demands_s[:, None] * (1 + np.maximum(found, 0.0))
    x = approximate_mva.throughput(residence, s.think_s[:, None], less)
    queue = residence * x[:, :, None, :]
    return queue.sum(axis=3), queue, x


def _gamma(less: Array, total: Array) -> Array:
    many = less.sum(axis=2)
    mean = total / np.where(many > 0, many, 1.0)[:, :, None]
    # nobody is left at N - e_k: what is found there is multiplied by 0
    mean = np.where(many[:, :, None] > 0, mean, mean[:, -1:])
    return np.moveaxis(mean[:, :-1] - mean[:, -1:], 1, 2)


def _cost_s(network: Network) -> float:
    """Of one point of many: some hundred steps, at each population less one."""
    classes = len(network.classes)
    return 1e-4 * classes + 1e-6 * len(network.stations) * classes**2


METHOD = Method(
    name="aql",
    title="aggregate queue length, approximate mean value analysis",
    exact=False,
    sources=(
        "J. Zahorjan, D. L. Eager, H. M. Sweillam: Accuracy, Speed, and Convergence of Approximate Mean Value "
        "Analysis. Performance Evaluation 8(4), 1988, pp. 255-270",
        "A. Seidmann, P. J. Schweitzer, S. Shalev-Oren: Large Scale Systems 12, 1987, pp. 91-107",
    ),
    refuses=roughly,
    run=run,
    cost_s=_cost_s,
    memory_bytes=lambda n: 50.0 * len(n.stations) * len(n.classes) * (len(n.classes) + 1),
    rank=20,
)
