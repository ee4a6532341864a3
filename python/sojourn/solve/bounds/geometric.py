"""Geometric bounds of one closed chain: queue lengths between sums of geometric series.

Source: G. Casale, R. R. Muntz, G. Serazzi: Geometric Bounds: A Noniterative Analysis Technique for Closed Queueing
Networks. IEEE Trans. Comput. 57(6), 2008, pp. 780-794.

    paper      here                                       unit
    L_i        demands_s                                  s
    Q_i^+-     `_most`, `_least`, with N - 1 customers    customers
    X^+-       throughput                                 1/s

With b = Z + L + L_max (N-1) - sum_i (L_max - L_i) Q_i(N-1), mean value analysis says N/X(N) = b - L_max Z X(N-1).
X(N-1) <= X(N) and X(N-1) >= (N-1)/N X(N) make it quadratic: X^+ = 2N/(b + sqrt(b^2 - 4 Z L_max N)) with Q^+, and X^- the
same with N - 1 below the root and Q^-. The paper bounds the utilisations in Q_i(n) = U_i(n) (1 + Q_i(n-1)) by one number,
which makes Q_i a geometric sum; we let U_i(n) fall with n and stop when terms no longer count, which is sharper.
Product form, single servers and delays; error of throughput mostly below 2 %.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from sojourn.model.network_arrays import Array, Network
from sojourn.solve.bounds import balanced, one_chain
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.solution import Solution

NEGLIGIBLE = 1e-17
MOST_TERMS = 100_000


def run(networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
    b = one_chain.of(networks)
    return one_chain.solution(b, *between(b))


def between(b: one_chain.ClosedChain) -> tuple[Array, Array]:
    """Throughput at least and at most, P."""
    n, z, longest = b.population, b.think_s, b.longest_s
    base = z + b.total_s + longest * np.maximum(n - 1, 0)
    gap = longest[:, None] - b.demands_s
    at_least = base - (gap * _least(b)).sum(axis=1)
    at_most = base - (gap * _most(b)).sum(axis=1)
    low = 2 * n / (at_least + np.sqrt(np.maximum(at_least**2 - 4 * z * longest * np.maximum(n - 1, 0), 0.0)))
    high = 2 * n / (at_most + np.sqrt(np.maximum(at_most**2 - 4 * z * longest * n, 0.0)))
    return low, np.minimum(high, _ceiling(b, n))


def _ceiling(b: one_chain.ClosedChain, n: Array) -> Array:
    """Throughput of n at most: balanced job bound, and the stations of the largest demand by themselves."""
    slowest = (b.demands_s == b.longest_s[:, None]).sum(axis=1)
    with np.errstate(divide="ignore"):
        alone = n / (b.longest_s * np.maximum(n + slowest - 1, 1))
    return np.minimum(balanced.between(replace(b, population=n))[1], np.where(n > 0, alone, 0.0))


def _most(b: one_chain.ClosedChain) -> Array:
    """Mean numbers at most with N - 1 customers, P x K."""
    return np.minimum(_series(b, lambda n: _ceiling(b, n)), b.population[:, None])


def _least(b: one_chain.ClosedChain) -> Array:
    """Mean numbers at least with N - 1 customers, P x K: everybody else is at the slowest station."""
    return _series(b, lambda n: n / (b.think_s + b.total_s + b.longest_s * np.maximum(n - 1, 0)))


def _series(b: one_chain.ClosedChain, throughput: Callable[[Array], Array]) -> Array:
    """U(N-1) (1 + U(N-2) (1 + …)) with U_i(n) = L_i X(n), until the terms no longer count."""
    total, term = np.zeros_like(b.demands_s), np.ones_like(b.demands_s)
    for taken in range(1, min(int(b.population.max(initial=0)), MOST_TERMS) + 1):
        n = np.maximum(b.population - taken, 0)
        term = term * b.demands_s * np.where(n > 0, throughput(n), 0.0)[:, None]
        total += term
        slow = b.demands_s < b.longest_s[:, None]  # the others are multiplied by 0
        if (term[slow] <= NEGLIGIBLE * total[slow]).all():
            break
    return total


METHOD = Method(
    name="geometric-bounds",
    title="geometric bounds of throughput and response",
    exact=False,
    sources=(
        "G. Casale, R. R. Muntz, G. Serazzi: Geometric Bounds: A Noniterative Analysis Technique for Closed Queueing "
        "Networks. IEEE Trans. Comput. 57(6), 2008, pp. 780-794",
    ),
    refuses=one_chain.single_servers,
    run=run,
    on_request_only=True,
)
