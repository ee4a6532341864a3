"""G and R of a quasi-birth-death process, by logarithmic reduction without a subtraction.

Source: G. Latouche, V. Ramaswami: A Logarithmic Reduction Algorithm for Quasi-Birth-Death Processes. J. Appl. Prob.
30(3), 1993, pp. 650-674; M. F. Neuts, Matrix-Geometric Solutions in Stochastic Models (1981), ch. 3; elimination from
off-diagonal entries and row sums: W. K. Grassmann et al., Operations Research 33(5), 1985, pp. 1107-1116.

| letters       | here                                     | unit |
|---------------|------------------------------------------|------|
| A0, A1, A2    | `up`, `local`, `down`: rates by level    | 1/s  |
| G             | phase when the level below is reached    | 1    |
| R             | mean visits above, per visit (rates)     | 1    |
| N             | (-(A1 + A0 G))^-1                        | s    |

How it stays stable: each inverse is of an M-matrix given by its off-diagonal entries and its row sums, all of which are
sums of positive numbers (the row sums of I - U are those of H² + L²), so that every entry keeps its relative precision
however near the load is to 1. Number of steps: about log2 of the number of levels that matter, 15 at a load of 0.999.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sojourn.model.network_arrays import Array

STEPS = 64


class MatrixGeometric(NamedTuple):
    g: Array
    r: Array
    n: Array


def solve(up: Array, local: Array, down: Array) -> MatrixGeometric:
    """G, R and N of a process that is positive recurrent (the caller checks the load); n x n, rates in 1/s."""
    size = len(up)
    both = np.hstack([up, down])
    first = solve_m_matrix(local, both.sum(axis=1), both)
    high, low = first[:, :size], first[:, size:]
    g, above = low.copy(), high.copy()
    for _ in range(STEPS):
        inner = high @ low + low @ high
        squares = np.hstack([high @ high, low @ low])
        both = solve_m_matrix(inner, squares.sum(axis=1), squares)
        high, low = both[:, :size], both[:, size:]
        step = above @ low
        g += step
        above = above @ high
        if np.abs(step).max() <= 1e-17 or above.max() <= 1e-300:
            break
    g /= g.sum(axis=1, keepdims=True)
    n = solve_m_matrix(local + up @ g, down.sum(axis=1), np.eye(size))
    return MatrixGeometric(g, up @ n, n)


def solve_m_matrix(off: Array, sums: Array, right: Array) -> Array:
    """A^-1 · right, for A with off-diagonal entries `-off` and row sums `sums`; all given numbers are at least 0.

    The diagonal of `off` is passed over. Elimination from the last row; each pivot is a sum, never a difference.
    """
    a, s, x = np.array(off, float), np.array(sums, float), np.array(right, float)
    size = len(a)
    np.fill_diagonal(a, 0.0)
    pivots = np.empty(size)
    for k in range(size - 1, -1, -1):
        pivots[k] = s[k] + a[k, :k].sum()
        share = a[:k, k] / pivots[k]
        a[:k, :k] += np.outer(share, a[k, :k])
        s[:k] += share * s[k]
        x[:k] += np.outer(share, x[k])
        np.fill_diagonal(a[:k, :k], 0.0)
    for k in range(size):
        x[k] = (x[k] + a[k, :k] @ x[:k]) / pivots[k]
    return x
