"""CPU 0 with room for N jobs of two classes: pi_00, E(k), P_N and n_a^0 to nearly full double precision, for any load.

Source: Chen et al., ICPE 2014, Props. 1 and 2, eqs. (1)-(4) and Appendix A; errata: those closed forms are 0/0 at
alpha = 1, beta = 1 and alpha = beta, cancel near them, and overflow beyond.

| letters                            | here           | unit |
|------------------------------------|----------------|------|
| alpha = lambda/mu1                 | `alpha`        | 1    |
| beta = p lambda/mu2                | `beta`         | 1    |
| N                                  | `capacity`     | jobs |
| pi_00                              | `empty`, its logarithm `log_empty` | 1 |
| E(k)                               | `mean_jobs`    | jobs |
| P_N, 1 - P_N                       | `loss`, `carried` | 1 |
| n_a^0                              | `no_interrupt` | 1    |

How it stays stable: every quantity is a ratio of sums over i + j <= N of x^i y^j (some weighted by i or j), and each
such sum is built by doubling N, with recurrences that only add and multiply positive numbers: about log2 N steps, no
special case for equal or unit loads. With h_m = sum over i+j=m of x^i y^j, the step is
h_(n+r) = y^n h_r + x^(r+1) h_(n-1). Loads above 1 are reflected, x^i y^j = x^N (1/x)^l (y/x)^j with l = N-i-j, so no
power ever exceeds 1; the rounding of 1/x and y/x is carried as a correction of the powers. Error against 50 digits:
below 1e-13 for N to 1e6 (tests/property). P_N itself is as sensitive to the input as alpha^N is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


class InterruptCore(NamedTuple):
    """Each an array of the broadcast shape; probabilities in [0, 1], `mean_jobs` in [0, N], `log_empty` <= 0."""

    mean_jobs: Array
    loss: Array
    carried: Array
    no_interrupt: Array
    empty: Array
    log_empty: Array


class _ScaledNumber(NamedTuple):
    """A number whose powers are wanted: value·(1 + relative), the second part below rounding."""

    value: Array
    relative: Array

    def power(self, n: int) -> Array:
        return np.power(self.value, n) * np.exp(n * self.relative)


class _WeightedSums(NamedTuple):
    """Over i + j < n: `total` of x^i y^j, `weighted` by (wx i + wy j), the same on the edge i + j = n - 1, and
    one-variable sums `gx` of x^i, `gy` of y^j, `lx` of i x^i over i, j < n."""

    total: Array
    weighted: Array
    edge: Array
    edge_weighted: Array
    gx: Array
    gy: Array
    lx: Array


def tandem(alpha: ArrayLike, beta: ArrayLike, capacity: int) -> InterruptCore:
    """The paper's CPU 0: pi_ij = alpha^i beta^j pi_00 on i + j <= N. Loads >= 0 (finite), capacity >= 1; broadcasts."""
    a, b = np.broadcast_arrays(np.asarray(alpha, float), np.asarray(beta, float))
    most = np.maximum(a, b)
    over = most > 1
    x = _where(over, _quotient(np.ones_like(a), most), a)
    y = _where(over, _quotient(np.minimum(a, b), most), b)
    inner, outer = _sums(x, y, np.ones_like(a), np.where(over, 0.0, 1.0), capacity)
    weighted = outer.weighted / outer.total
    loss = np.where(over, outer.gy, outer.edge) / outer.total
    carried = np.where(over, x.value, 1.0) * inner.total / outer.total
    # no class a present: sum of beta^j; after reflection its place depends on which load was the larger
    free = np.where(over, np.where(a >= b, outer.edge, outer.gx), outer.gy) / outer.total
    log_empty = np.where(over, -capacity * np.log(np.maximum(most, 1.0)), 0.0) - np.log(outer.total)
    empty = np.where(over, x.power(capacity), 1.0) / outer.total
    return InterruptCore(np.where(over, capacity - weighted, weighted), loss, carried, free, empty, log_empty)


def shared(alpha: ArrayLike, beta: ArrayLike, capacity: int) -> InterruptCore:
    """Both classes share one processor: pi_ij = C(i+j, i) alpha^i beta^j pi_00, total jobs truncated geometric in
    rho = alpha + beta. Here `no_interrupt` = sum of beta^j pi_00. Arguments as `tandem`."""
    a, b = np.broadcast_arrays(np.asarray(alpha, float), np.asarray(beta, float))
    rho = _sum(a, b)
    over = rho.value > 1
    x = _where(over, _reciprocal(rho), rho)
    inner, outer = _sums(x, _plain(np.zeros_like(a)), np.ones_like(a), np.ones_like(a), capacity)
    weighted = outer.lx / outer.gx
    edge = x.power(capacity)
    loss = np.where(over, 1.0, edge) / outer.gx
    carried = np.where(over, x.value, 1.0) * inner.gx / outer.gx
    shift = np.where(over, -capacity * (np.log(np.maximum(rho.value, 1.0)) + rho.relative), 0.0)
    log_empty = shift - np.log(outer.gx)
    mean = np.where(over, capacity - weighted, weighted)
    empty = np.where(over, edge, 1.0) / outer.gx
    free = np.exp(log_empty + _log_geometric(b, capacity))
    return InterruptCore(mean, loss, carried, free, empty, log_empty)


def _sums(
    x: _ScaledNumber, y: _ScaledNumber, wx: Array, wy: Array, capacity: int
) -> tuple[_WeightedSums, _WeightedSums]:
    """The sums for n = N and n = N + 1."""
    one, zero = np.ones_like(wx), np.zeros_like(wx)
    sums, n = _WeightedSums(one, zero, one, zero, one, one, zero), 1
    for bit in bin(capacity)[3:]:
        sums, n = _double(sums, n, x, y, wx, wy), 2 * n
        if bit == "1":
            sums, n = _extend(sums, n, x, y, wx, wy), n + 1
    return sums, _extend(sums, n, x, y, wx, wy)


def _double(s: _WeightedSums, n: int, x: _ScaledNumber, y: _ScaledNumber, wx: Array, wy: Array) -> _WeightedSums:
    xn, yn = x.power(n), y.power(n)
    rest = x.value * s.gx
    return _WeightedSums(
        s.total + yn * s.total + rest * s.edge,
        s.weighted
        + yn * (s.weighted + wy * n * s.total)
        + rest * s.edge_weighted
        + wx * x.value * (s.lx + s.gx) * s.edge,
        (xn + yn) * s.edge,
        yn * (s.edge_weighted + wy * n * s.edge) + xn * (s.edge_weighted + wx * n * s.edge),
        s.gx + xn * s.gx,
        s.gy + yn * s.gy,
        s.lx + xn * (n * s.gx + s.lx),
    )


def _extend(s: _WeightedSums, n: int, x: _ScaledNumber, y: _ScaledNumber, wx: Array, wy: Array) -> _WeightedSums:
    xn, yn = x.power(n), y.power(n)
    edge = y.value * s.edge + xn
    edge_weighted = y.value * (s.edge_weighted + wy * s.edge) + wx * n * xn
    return _WeightedSums(
        s.total + edge, s.weighted + edge_weighted, edge, edge_weighted, s.gx + xn, s.gy + yn, s.lx + n * xn
    )


def _log_geometric(b: Array, capacity: int) -> Array:
    """log of the sum of b^j for j = 0..N."""
    over = b > 1
    base = _where(over, _quotient(np.ones_like(b), np.maximum(b, 1.0)), b)
    zero = _plain(np.zeros_like(b))
    outer = _sums(base, zero, np.ones_like(b), np.ones_like(b), capacity)[1]
    return np.asarray(np.log(outer.gx) + np.where(over, capacity * np.log(np.maximum(b, 1.0)), 0.0))


def _plain(value: Array) -> _ScaledNumber:
    return _ScaledNumber(value, np.zeros_like(value))


def _where(condition: Array | NDArray[np.bool_], there: _ScaledNumber, here: Array | _ScaledNumber) -> _ScaledNumber:
    other = here if isinstance(here, _ScaledNumber) else _plain(here)
    return _ScaledNumber(
        np.where(condition, there.value, other.value), np.where(condition, there.relative, other.relative)
    )


def _quotient(top: Array, bottom: Array) -> _ScaledNumber:
    """top/bottom with what rounding lost; bottom 0 gives 0 (not used then)."""
    safe = np.where(bottom > 0, bottom, 1.0)
    value = top / safe
    high, low = _product(value, safe)
    lost = ((top - high) - low) / np.where(top > 0, top, 1.0)
    return _ScaledNumber(value, lost)


def _reciprocal(base: _ScaledNumber) -> _ScaledNumber:
    inverse = _quotient(np.ones_like(base.value), base.value)
    return _ScaledNumber(inverse.value, inverse.relative - base.relative)


def _sum(a: Array, b: Array) -> _ScaledNumber:
    """a + b with what rounding lost (Knuth's two-sum)."""
    total = a + b
    part = total - a
    lost = (a - (total - part)) + (b - part)
    return _ScaledNumber(total, lost / np.where(total > 0, total, 1.0))


def _product(a: Array, b: Array) -> tuple[Array, Array]:
    """a·b exactly as high + low (Dekker; loads here are far from overflow)."""
    a_high, b_high = _upper(a), _upper(b)
    a_low, b_low = a - a_high, b - b_high
    high = a * b
    return high, a_low * b_low - (((high - a_high * b_high) - a_low * b_high) - a_high * b_low)


def _upper(a: Array) -> Array:
    shifted = 134217729.0 * a
    return np.asarray(shifted - (shifted - a))
