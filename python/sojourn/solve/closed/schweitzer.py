"""Schweitzer-Bard: an arriving customer finds the mean number, less an N_r-th of its own class.

Source: P. J. Schweitzer: Approximate Analysis of Multiclass Closed Networks of Queues. Int. Conf. Stochastic Control
and Optimization, Amsterdam 1979; Y. Bard: Some Extensions to Multiclass Queueing Network Analysis. 4th Int. Symp.
Modelling and Performance Evaluation of Computer Systems, 1979, pp. 51-62; Lazowska et al. (1984), Algorithm 6.3, p. 120
and 7.3, p. 143.

Q_k(N - e_r) is taken as Q_k - Q_kr/N_r. Several servers by Seidmann's transformation (`amva`). Errors of throughput
are a few per cent, of queue lengths up to about 20 %, largest with few customers and equal demands; one customer is
exact. Cost does not depend on the population.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sojourn.model.network_arrays import Array, Network
from sojourn.solve.closed import approximate_mva, chain_arrays
from sojourn.solve.closed.closed_refusals import roughly
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.solution import Solution


def run(networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
    c = chain_arrays.of(networks)
    s = approximate_mva.single(c)
    queue, settled = approximate_mva.iterate(lambda q: _step(s, q), approximate_mva.start(s))
    x = approximate_mva.throughput(_residence(s, queue), s.think_s, s.population)
    return approximate_mva.answer(c, s, x, queue, settled)


def _residence(s: approximate_mva.SingleServers, queue: Array) -> Array:
    share = np.where(s.population > 0, 1 / np.maximum(s.population, 1), 0.0)
    return np.asarray(s.demands_s * (1 + queue.sum(axis=2, keepdims=True) - queue * share[:, None, :]))


def _step(s: approximate_mva.SingleServers, queue: Array) -> Array:
    residence = _residence(s, queue)
    return np.asarray(residence * approximate_mva.throughput(residence, s.think_s, s.population)[:, None, :])


METHOD = Method(
    name="schweitzer",
    title="Schweitzer-Bard approximate mean value analysis",
    exact=False,
    sources=(
        "P. J. Schweitzer: Approximate Analysis of Multiclass Closed Networks of Queues. Amsterdam 1979",
        "Y. Bard: Some Extensions to Multiclass Queueing Network Analysis, 1979, pp. 51-62",
        "A. Seidmann, P. J. Schweitzer, S. Shalev-Oren: Large Scale Systems 12, 1987, pp. 91-107",
    ),
    refuses=roughly,
    run=run,
    rank=30,
)
