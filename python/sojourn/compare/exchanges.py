"""How often A and B would be as far apart if their names had been drawn by lot: a test without an assumption on the distribution.

Source: R. A. Fisher, The Design of Experiments (1935), 21; E. J. G. Pitman, Suppl. J. R. Stat. Soc. 4 (1937), 119-130. Within a stratum
(a pair, or a condition) any a of the a + b runs could have been those of A. The chance is the share of these exchanges whose difference
is at least as far out as that of the runs, which is one of them. Where there is no difference and runs can be exchanged, a chance of p or
less comes with a probability of p at most.

Limits: of more than 2^16 exchanges 10 000 are drawn, always the same, and up to a million at levels beyond 0.99; that of the runs counts
as one of them, so that the level holds all the same (B. Phipson and G. K. Smyth, Stat. Appl. Genet. Mol. Biol. 9 (2010), 39). So a
chance is never less than 1e-6 then. Sides whose spreads differ can be exchanged only nearly, which is the worse the less equal they are in
number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Stratum = tuple[tuple[float, ...], tuple[float, ...]]  # logarithms of A and of B
MOST_COUNTED = 2**16
MOST_DRAWS = 1_000_000
BLOCK = 2**20  # numbers at once
ZERO = 1e-9  # relative: what equal differences differ by
SEED = 1935


def exchanges(sizes: Sequence[tuple[int, int]]) -> int:
    """In how many ways runs could have fallen to A and B."""
    return math.prod(math.comb(a + b, a) for a, b in sizes)


def chance(strata: Sequence[Stratum], shift: float = 0.0, side: int = 0, least: float = 0.01) -> float:
    """Share of the exchanges whose difference, B less A less `shift`, is as far out as that of the runs.

    `side`: out on both (0), or only above (1), or below (-1). `least`: the smallest share that must be told from 0.
    """
    moved = [(np.asarray(a), np.asarray(b) - shift) for a, b in strata]
    seen = float(np.mean([b.mean() - a.mean() for a, b in moved])) * len(moved)
    edge = ZERO * (abs(seen) + sum(float(np.abs(np.concatenate(one)).max()) for one in moved))
    if exchanges([(len(a), len(b)) for a, b in moved]) <= MOST_COUNTED:
        found = np.zeros(1)
        for a, b in moved:
            found = (found[:, None] + _all(a, b)[None, :]).ravel()
        return float(_out(found, seen, side, edge).mean())
    draws = min(math.ceil(100 / min(least, 0.01)), MOST_DRAWS)
    random = np.random.default_rng(SEED)
    at_once = max(BLOCK // max(len(a) + len(b) for a, b in moved), 1)
    hits = 1
    for first in range(1, draws, at_once):
        count = min(at_once, draws - first)
        drawn = np.zeros(count)
        for a, b in moved:
            drawn += _some(a, b, count, random)
        hits += int(_out(drawn, seen, side, edge).sum())
    return hits / draws


def _out(found: Array, seen: float, side: int, edge: float) -> NDArray[np.bool_]:
    if side:
        return np.asarray(side * found >= side * seen - edge)
    return np.asarray(np.abs(found) >= abs(seen) - edge)


def _all(a: Array, b: Array) -> Array:
    """The difference of means in each exchange."""
    both = np.concatenate([a, b])
    of_a = np.array(list(combinations(range(len(both)), len(a))))
    return _apart(both, both[of_a].sum(axis=1), len(a))


def _some(a: Array, b: Array, count: int, random: np.random.Generator) -> Array:
    """The same in `count` exchanges that are drawn."""
    both = np.concatenate([a, b])
    if len(both) == 2:  # a pair, of which there may be hundreds
        return np.asarray((b - a) * random.choice([-1.0, 1.0], count))
    of_a = np.argsort(random.random((count, len(both))), axis=1)[:, : len(a)]
    return _apart(both, both[of_a].sum(axis=1), len(a))


def _apart(both: Array, sum_a: Array, count_a: int) -> Array:
    return np.asarray((both.sum() - sum_a) / (len(both) - count_a) - sum_a / count_a)
