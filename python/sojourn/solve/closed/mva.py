"""Exact mean value analysis, one closed class (or chain) over single servers and delays, with or without open classes.

Source: M. Reiser, S. S. Lavenberg: Mean-Value Analysis of Closed Multichain Queuing Networks. J. ACM 27(2), 1980,
pp. 313-322; Lazowska et al., Quantitative System Performance (1984), Algorithm 6.2, p. 118; open classes: 7.4.3.

    paper   here                           unit
    D_k     demands_s                      s a pass, divided by 1 - load of open classes
    Z       think_s, delays included       s
    Q_k     queue_length                   1
    X       throughput                     passes/s

R_k(n) = D_k (1 + Q_k(n-1)), X(n) = n/(Z + sum R_k(n)), Q_k(n) = X(n) R_k(n). All terms are positive, so each step adds
a few roundings and none is magnified: any population. Limits: time grows with population times stations (10 million
customers at 10 stations take about 0.2 s). One recursion answers a whole sweep over the population. p(n) and the variance of
the number at each station, where p(n) is asked for, are those of the convolution.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sojourn import _native
from sojourn.model.network_arrays import Network
from sojourn.solve.closed import chain_arrays
from sojourn.solve.closed.closed_refusals import closed_chains, single_servers
from sojourn.solve.closed.convolution import numbers_told
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.solution import Solution

Array = NDArray[np.float64]
MOST_S = 2.0


def refuses(network: Network) -> str | None:
    reason = single_servers(network)
    if reason is None and closed_chains(network) > 1:
        reason = f"the model has {closed_chains(network)} closed chains of classes, but this method needs exactly one"
    if reason is None and cost_s(network) > MOST_S:
        reason = f"a population of {network.population.max()} would take about {cost_s(network):.0f} s"
    return reason


def run(networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
    c = chain_arrays.of(networks)
    demand, think = chain_arrays.slowed(c)
    if not c.population.all():  # nobody is there: any times do
        think = np.where(c.population > 0, think, 1.0)
    demand = np.nan_to_num(demand[:, :, 0]) if c.unstable.any() else demand[:, :, 0]
    x, q, line = _recursion(demand, think[:, 0], c.population[:, 0])
    return numbers_told(networks, wanted, chain_arrays.solution(c, x[:, None], q[:, :, None], line=line[:, :, None]))


def exact_mva(demands_s: ArrayLike, think_s: ArrayLike, population: ArrayLike) -> tuple[Array, Array]:
    """One closed class at many points at once, where a `Model` for each would take too long: throughput, a value a point, and the number
    at each station, points × stations. `demands_s` points × stations; `think_s`, above 0 where nobody is there, and `population` a value
    a point."""
    x, q, _ = _recursion(np.asarray(demands_s), np.asarray(think_s), np.asarray(population))
    return np.asarray(x), np.asarray(q)


def _recursion(demands_s: Array, think_s: Array, population: NDArray[Any]) -> tuple[Array, Array, Array]:
    return _native.closed_single(
        np.ascontiguousarray(demands_s, dtype=float),
        np.ascontiguousarray(think_s, dtype=float),
        np.ascontiguousarray(population, dtype=np.int64),
    )


def cost_s(network: Network) -> float:
    most = float(np.where(network.closed, network.population, 0).sum())
    return 2e-5 + most * (4e-9 + 1.2e-9 * len(network.stations))


METHOD = Method(
    name="mva",
    title="exact mean value analysis, one closed class",
    exact=True,
    sources=(
        "M. Reiser, S. S. Lavenberg: Mean-Value Analysis of Closed Multichain Queuing Networks. "
        "J. ACM 27(2), 1980, pp. 313-322",
        "E. D. Lazowska, J. Zahorjan, G. S. Graham, K. C. Sevcik: Quantitative System Performance (1984), p. 118",
    ),
    refuses=refuses,
    run=run,
    cost_s=cost_s,
)
