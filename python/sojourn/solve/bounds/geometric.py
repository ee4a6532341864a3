"""Geometric bounds of one closed chain: queue lengths between sums of geometric series.

Source: G. Casale, R. R. Muntz, G. Serazzi: Geometric Bounds: A Noniterative Analysis Technique for Closed Queueing
Networks. IEEE Trans. Comput. 57(6), 2008, pp. 780-794.

    paper      here                                       unit
    L_i        demands_s                                  s
    Q_i^+      `_most`: (Y - Y^N)/(1 - Y), Y = L_i X^+     customers, with N - 1 in the system
    Q_i^-      `_least`                                   the same
    X^+-       throughput                                 1/s

With b = Z + L + L_max (N-1) - sum_i (L_max - L_i) Q_i(N-1), mean value analysis says N/X(N) = b - L_max Z X(N-1).
X(N-1) <= X(N) and X(N-1) >= (N-1)/N X(N) make it quadratic: X^+ = 2N/(b + sqrt(b^2 - 4 Z L_max N)) with Q^+, and X^- the
same with N - 1 below the root and Q^-. For Q^- we take the product of the least utilisations U_i(n) = L_i n/(Z + L +
L_max (n-1)) for n = N-1, N-2, … as mean value analysis does, which is a little sharper than the paper's closed form and
stops when the terms no longer count. Product form, single servers and delays; error of throughput mostly below 2 %.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sojourn.model.network import Array, Network
from sojourn.solve.bounds import single
from sojourn.solve.method import Method, Wanted
from sojourn.solve.solution import Solution

NEGLIGIBLE = 1e-17
MOST_TERMS = 100_000


def run(networks: Sequence[Network], wanted: Wanted) -> Solution:
    b = single.of(networks)
    return single.solution(b, *between(b))


def between(b: single.Closed) -> tuple[Array, Array]:
    """Throughput at least and at most, P."""
    n, z, longest = b.population, b.think_s, b.longest_s
    base = z + b.total_s + longest * np.maximum(n - 1, 0)
    gap = longest[:, None] - b.demands_s
    at_least = base - (gap * _least(b)).sum(axis=1)
    at_most = base - (gap * _most(b)).sum(axis=1)
    low = 2 * n / (at_least + np.sqrt(np.maximum(at_least**2 - 4 * z * longest * np.maximum(n - 1, 0), 0.0)))
    high = 2 * n / (at_most + np.sqrt(np.maximum(at_most**2 - 4 * z * longest * n, 0.0)))
    with np.errstate(divide="ignore"):
        return low, np.minimum(np.minimum(high, 1 / longest), n / (z + b.total_s))


def _most(b: single.Closed) -> Array:
    """Mean numbers at most with N - 1 customers, P x K: Y + Y^2 + … + Y^(N-1)."""
    n = np.maximum(b.population - 1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        x = np.minimum(1 / b.longest_s, n / (b.think_s + b.total_s))
        y = np.where(b.demands_s > 0, b.demands_s * x[:, None], 0.0)
        series = np.where(y < 1, (y - y ** (n[:, None] + 1)) / (1 - np.where(y < 1, y, 0.0)), n[:, None])
    return np.minimum(series, n[:, None])


def _least(b: single.Closed) -> Array:
    """Mean numbers at least with N - 1 customers, P x K: U(N-1) (1 + U(N-2) (1 + …))."""
    total, term = np.zeros_like(b.demands_s), np.ones_like(b.demands_s)
    n = b.population - 1
    for _ in range(min(int(n.max(initial=0)), MOST_TERMS)):
        rate = np.where(n > 0, n / (b.think_s + b.total_s + b.longest_s * np.maximum(n - 1, 0)), 0.0)
        term = term * b.demands_s * rate[:, None]
        total += term
        n = n - 1
        if (term < NEGLIGIBLE).all():
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
    refuses=single.single_servers,
    run=run,
    special=True,
)
