"""Linear least squares within bounds, of many data sets at a time.

An unknown that would go beyond its bound is held there, and the others are fitted with it held. To cut off what lies beyond is something
else: the others then stay where they would be if the unknown were beyond its bound. Where a hand-over takes no less than 0 s, for
example, each data set that asks for less than 0 s of it would have all other work too long.

All unknowns that are beyond a bound are held at once, and all that are held and have fewer squares inside are let go at once; after some
rounds only the last of them, which ends where slopes have full rank. Source, of lower bounds (upper ones are taken in the same way):
L. F. Portugal, J. J. Júdice, L. N. Vicente: A Comparison of Block Pivoting and Interior-Point Algorithms for Linear Least Squares
Problems with Nonnegative Variables. Mathematics of Computation 63(208), 1994, pp. 625-643, section 2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Held = NDArray[np.int8]  # of each unknown: -1 at `low`, 1 at `high`, 0 free
AT_ONCE = 4  # rounds in which all are exchanged
EACH = 8  # rounds an unknown in all, after which what was found is cut off
CLOSE = 1e-10  # of the squares of a data set, what an unknown that is let go has to bring
ROUNDED = 1e-9  # of an unknown, by which it is not beyond its bound but rounded


def bounded_steps(slopes: Array, gaps: Array, low: Array, high: Array) -> Array:
    """Of each of B data sets the unknowns, p, from `low` to `high` (B x p), with the least squares of `gaps` (B x n) less `slopes` (n x p
    of all, or B x n x p) times them: B x p."""
    held = np.zeros(low.shape, np.int8)
    found = _with_held(slopes, gaps, held, low, high)
    todo = np.arange(len(low))
    for number in range(EACH * low.shape[1]):
        own = slopes if slopes.ndim == 2 else slopes[todo]
        change = _wrong(own, gaps[todo], found[todo], held[todo], low[todo], high[todo])
        some = change.any(axis=1)
        todo, change = todo[some], change[some]
        if not len(todo):
            return found
        if number >= AT_ONCE:
            change &= np.cumsum(change[:, ::-1], axis=1)[:, ::-1] == 1  # the last of them
        side = np.where(found[todo] < low[todo], -1, 1)
        held[todo] = np.where(change, np.where(held[todo] == 0, side, 0), held[todo])
        own = slopes if slopes.ndim == 2 else slopes[todo]
        found[todo] = _with_held(own, gaps[todo], held[todo], low[todo], high[todo])
    return np.asarray(np.clip(found, low, high))


def nearest_within(points: Array, slopes: Array, low: Array, high: Array) -> Array:
    """Of each of `points` that lies outside of `low` to `high` (all B x p) the one inside whose numbers differ least from its own, by
    `slopes` (n x p, of numbers in units of their errors); the others as they are: B x p."""
    outside = ((points < low - ROUNDED) | (points > high + ROUNDED)).any(axis=1)
    found = np.clip(points, low, high)
    if outside.any():
        inside = found[outside]
        gaps = (points[outside] - inside) @ slopes.T
        found[outside] = inside + bounded_steps(slopes, gaps, low[outside] - inside, high[outside] - inside)
    return np.clip(found, low, high)


def _times(matrix: Array, vectors: Array) -> Array:
    """Of each of B vectors (B x q) the product of `matrix` (r x q of all, or B x r x q) and it: B x r."""
    return np.asarray(vectors @ matrix.T if matrix.ndim == 2 else np.einsum("brq,bq->br", matrix, vectors))


def _with_held(slopes: Array, gaps: Array, held: Held, low: Array, high: Array) -> Array:
    """The least squares of the unknowns that are free."""
    found = np.where(held < 0, low, np.where(held > 0, high, 0.0))
    patterns, which = np.unique(held != 0, axis=0, return_inverse=True)
    for number, fixed in enumerate(patterns):
        own = np.flatnonzero(which.ravel() == number)
        free = np.flatnonzero(~fixed)
        if not len(free):
            continue
        its = slopes if slopes.ndim == 2 else slopes[own]
        gap = gaps[own]
        back: Array = np.asarray(np.linalg.pinv(its[..., free]), np.float64)
        if fixed.any():
            gap = gap - _times(its[..., fixed], found[own][:, fixed])
        found[np.ix_(own, free)] = _times(back, gap)
    return found


def _wrong(slopes: Array, gaps: Array, found: Array, held: Held, low: Array, high: Array) -> NDArray[np.bool_]:
    """Free and beyond a bound, or held at one with fewer squares inside: B x p."""
    beyond = (held == 0) & ((found < low) | (found > high))
    if not (held != 0).any():
        return np.asarray(beyond)
    better = _times(np.swapaxes(slopes, -1, -2), gaps - _times(slopes, found))
    # an unknown alone brings better² / |slopes|² of the squares
    size = (slopes**2).sum(axis=-2) * (gaps**2).sum(axis=1)[:, None]
    return np.asarray(beyond | (better * held < -np.sqrt(CLOSE * size)) & (held != 0))
