"""Exact mean value analysis of several closed classes over single servers and delays, with or without open classes.

Source: M. Reiser, S. S. Lavenberg: Mean-Value Analysis of Closed Multichain Queuing Networks. J. ACM 27(2), 1980,
pp. 313-322; Lazowska et al., Quantitative System Performance (1984), Algorithm 7.2, p. 141; open classes: 7.4.3,
Algorithm 7.4, p. 149.

    paper   here                           unit
    D_ck    demands_s                      s a pass, divided by 1 - load of open classes
    Z_c     think_s, delays included       s
    N       population                     a vector; the recursion visits all vectors 0 <= n <= N
    Q_k     queue_length                   1

R_ck(n) = D_ck (1 + Q_k(n - e_c)), X_c(n) = n_c/(Z_c + sum R_ck(n)), Q_k(n) = sum_c X_c R_ck. All terms are positive.
p(n) and the variance of the number at each station, where p(n) is asked for, are those of the convolution.
Limits: time and memory grow with the product of the populations. Up to a million states the lattice is kept, and one
answers all points of a sweep; above, two diagonals of it are kept and worked on in parallel (1e8 states of four
classes: some 30 MB). What would take more than a few gigabytes or minutes is refused before it starts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sojourn import _native
from sojourn.model.network_arrays import Array, Network
from sojourn.solve.closed import chain_arrays
from sojourn.solve.closed.closed_refusals import customers, single_servers, states
from sojourn.solve.closed.convolution import numbers_told
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.solution import Solution

KEPT_STATES = 1_000_000
MOST_BYTES = 4e9
MOST_S = 600.0


def refuses(network: Network) -> str | None:
    reason = single_servers(network)
    if reason:
        return reason
    if states(network) > KEPT_STATES and len(customers(network)) < 2:
        return f"one class of {network.population.max()} customers needs no lattice: use mva"
    if memory_bytes(network) > MOST_BYTES:
        return f"{states(network):.3g} vectors of populations need {memory_bytes(network) / 1e9:.3g} GB"
    if cost_s(network) > MOST_S:
        return f"{states(network):.3g} vectors of populations take about {cost_s(network):.3g} s"
    return None


def run(networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
    return numbers_told(networks, wanted, _means(networks))


def _means(networks: Sequence[Network]) -> Solution:
    c = chain_arrays.of(networks)
    demand, think = chain_arrays.slowed(c)
    if c.unstable.any():
        demand = np.nan_to_num(demand)
    if len(networks) == 1 and c.population.all():
        x, q, line = _solve(demand[0], think[0], c.population)
        return chain_arrays.solution(c, x, q, line=line)
    x, q, line = np.zeros(c.population.shape), np.zeros(demand.shape), np.zeros(demand.shape)
    for points in groups(demand, think, c.population):
        used = c.population[points].any(axis=0)
        if used.any():
            p = points[0]
            found = _solve(demand[p][:, used], think[p, used], c.population[np.ix_(points, used)])
            own = np.flatnonzero(used)
            x[np.ix_(points, own)] = found[0]
            for table, values in ((q, found[1]), (line, found[2])):
                here = table[points]
                here[:, :, own] = values
                table[points] = here
    return chain_arrays.solution(c, x, q, line=line)


def _solve(demand: Array, think: Array, population: NDArray[np.int64]) -> tuple[Array, Array, Array]:
    size = np.prod(population.max(axis=0) + 1.0)
    kernel = _native.closed_multi if size <= KEPT_STATES or len(think) == 1 else _native.closed_diagonal
    if kernel is _native.closed_multi or population.all():
        return kernel(np.ascontiguousarray(demand), think.copy(), np.ascontiguousarray(population))
    rows = [_one(demand, think, row) for row in population]
    x, q, line = (np.stack(tables) for tables in zip(*rows, strict=True))
    return x, q, line


def _one(demand: Array, think: Array, population: NDArray[np.int64]) -> tuple[Array, Array, Array]:
    """A point at which some classes are empty."""
    x, q, line, used = np.zeros(len(think)), np.zeros(demand.shape), np.zeros(demand.shape), population > 0
    if used.any():
        found = _solve(demand[:, used], think[used], population[None, used])
        x[used], q[:, used], line[:, used] = found[0][0], found[1][0], found[2][0]
    return x, q, line


def groups(demand: Array, think: Array, population: NDArray[np.int64]) -> list[NDArray[np.intp]]:
    """Points that one lattice answers: the same times, and together not much more than each by itself."""
    if len(think) == 1:
        return [np.zeros(1, np.intp)]
    keys: dict[bytes, list[int]] = {}
    for p in range(len(think)):
        keys.setdefault(demand[p].tobytes() + think[p].tobytes(), []).append(p)
    found = []
    for own in keys.values():
        together = np.prod(population[own].max(axis=0) + 1.0)
        apart = np.prod(population[own] + 1.0, axis=1).sum()
        found += [np.array(own)] if together <= min(apart, KEPT_STATES) else [np.array([p]) for p in own]
    return found


def memory_bytes(network: Network) -> float:
    numbers = customers(network)
    if states(network) <= KEPT_STATES or len(numbers) < 2:
        return 8 * len(network.stations) * states(network)
    kept = 2 * (numbers[0] + 1) * np.prod([n + 1.0 for n in numbers[2:]])
    return float(8 * len(network.stations) * kept)


def cost_s(network: Network) -> float:
    return 3e-5 + 2e-9 * states(network) * (4 + len(network.stations)) * max(len(customers(network)), 1)


METHOD = Method(
    name="mva-multiclass",
    title="exact mean value analysis, several closed classes",
    exact=True,
    sources=(
        "M. Reiser, S. S. Lavenberg: Mean-Value Analysis of Closed Multichain Queuing Networks. "
        "J. ACM 27(2), 1980, pp. 313-322",
        "E. D. Lazowska, J. Zahorjan, G. S. Graham, K. C. Sevcik: Quantitative System Performance (1984), pp. 141, 149",
    ),
    refuses=refuses,
    run=run,
    cost_s=cost_s,
    memory_bytes=memory_bytes,
)
