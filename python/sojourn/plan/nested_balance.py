"""Balance in levels: items are dealt to centres, and within each of these pieces of them to further centres, and so on.

Source: the recursion that the fourth source document names ("a theoretical model of (a) should be applicable to (b) and so on"), with the
expected maximum of `sojourn.solve.expected_maximum` in place of its bound; errata of that document, section 5.

    here              meaning
    M_1 ... M_L       centres within each centre of the level before
    k_l               pieces of level l that a piece of the level before consists of; k_1 of an item
    s_l               standard deviation of a piece of level l
    n_l               pieces at a centre of level l: N k_1 ... k_l / (M_1 ... M_l)

All centres below a centre share what its pieces have in common. In the load of a last centre, that is at level l a normal variable of
variance n_l (s_l^2 - k_(l+1) s_(l+1)^2) / (M_(l+1) ... M_L)^2, at the last level n_L s_L^2, and all of them are independent of each other.
The distribution of the maximum below a centre follows from the last level upwards: F_l(x) = [integral of F_(l+1)(x - g) over g]^M_l.
Limits: sums are taken as normal; s_l^2 >= k_(l+1) s_(l+1)^2: pieces of one piece do not make up for each other. Numbers are good to 1e-4
of the busiest's excess.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr

from sojourn.errors import InputError

Array = NDArray[np.float64]
POINTS = 2001
REACH = 9.0  # standard deviations; beyond are 1e-19 of a normal variable


@dataclass(frozen=True)
class NestedLevel:
    """`centres` within each centre of the level before; `pieces_per_piece` of what is dealt out there, each of standard deviation
    `piece_deviation`."""

    centres: int
    pieces_per_piece: float = 1.0
    piece_deviation: float = 0.0


@dataclass(frozen=True)
class BusiestOnLevel:
    """Of one level: all `centres` on it, the mean load of one, and the busiest of them; loads in the unit of an item."""

    centres: int
    pieces_per_item: float
    piece_deviation: float
    mean_load: float
    busiest: float
    busiest_over_mean: float


def nested_balance(levels: Sequence[NestedLevel], items: float, item_mean: float) -> tuple[BusiestOnLevel, ...]:
    """The busiest of each level, from the first to the last. Raises InputError where pieces differ more than what they are pieces of."""
    for before, one in pairwise(levels):
        if one.pieces_per_piece * one.piece_deviation**2 > before.piece_deviation**2 * (1 + 1e-9):
            most = before.piece_deviation / math.sqrt(one.pieces_per_piece)
            why = (
                f"{one.pieces_per_piece:g} pieces that vary more vary together by more than {before.piece_deviation:g}"
            )
            raise InputError(
                f"{one.piece_deviation:g}", "standard deviation of a piece", f"give {most:.4g} at most: {why}"
            )
    return tuple(_level(levels[: k + 1], items, item_mean) for k in range(len(levels)))


def _level(levels: Sequence[NestedLevel], items: float, item_mean: float) -> BusiestOnLevel:
    """Of the last of these levels."""
    centres = math.prod(one.centres for one in levels)
    mean = items * item_mean / centres
    excess = _expected_maximum(deviations(levels, items), [one.centres for one in levels])
    pieces = math.prod(one.pieces_per_piece for one in levels)
    return BusiestOnLevel(centres, pieces, levels[-1].piece_deviation, mean, mean + excess, excess / mean)


def deviations(levels: Sequence[NestedLevel], items: float) -> list[float]:
    """Of what the centres below a centre of each level share, in the load of a last one."""
    found, pieces, above = [], 1.0, 1
    for one, below in zip(levels, [*levels[1:], None], strict=True):
        pieces *= one.pieces_per_piece
        above *= one.centres
        within = 0.0 if below is None else below.pieces_per_piece * below.piece_deviation**2
        own = items * pieces / above * max(0.0, one.piece_deviation**2 - within)
        rest = math.prod(other.centres for other in levels) // above
        found.append(math.sqrt(own) / rest)
    return found


def _expected_maximum(deviation: Sequence[float], centres: Sequence[int]) -> float:
    """Of all last centres, each of which is the sum of one normal variable a level that those below a centre share."""
    x, below = np.zeros(1), np.ones(1)  # the distribution of nothing: 0
    for s, m in zip(reversed(deviation), reversed(centres), strict=True):
        if s > 0:
            x, below = _plus_normal(x, below, s, m)
        else:
            below = below**m
    return 0.0 if len(x) == 1 else float(x[-1] - np.trapezoid(below, x))


def _plus_normal(x: Array, distribution: Array, s: float, m: int) -> tuple[Array, Array]:
    """The maximum of `m` variables, each a normal one of deviation s and one with this distribution."""
    wide = np.linspace(x[0] - REACH * s, x[-1] + REACH * s, POINTS)
    if len(x) == 1:
        return wide, np.exp(m * log_ndtr((wide - x[0]) / s))
    weights, middle = np.diff(distribution), (x[1:] + x[:-1]) / 2
    summed = ndtr((wide[:, None] - middle) / s) @ weights
    return wide, np.clip(summed, 0.0, 1.0) ** m
