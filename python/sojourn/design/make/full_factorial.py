"""Full factorial designs: every combination of the levels, 2^k r where each factor has two.

Source: Jain (1991), ch. 17 (2^k) and 18 (2^k r).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import polars as pl

from sojourn.design.factors import Factor, distinct
from sojourn.design.make.randomised_order import ordered
from sojourn.errors import DesignError

MOST_RUNS = 1_000_000


def full_factorial(
    factors: Iterable[Factor], repetitions: int = 1, *, seed: int = 1, block: str = "repetition", randomise: bool = True
) -> pl.DataFrame:
    """Columns run (the order), block, repetition, and one a factor. DesignError beyond a million runs."""
    found = distinct(factors)
    count = repetitions
    for factor in found:
        count *= len(factor.levels)
    if count > MOST_RUNS:
        raise DesignError(f"{count} runs", "full factorial", "use fewer levels, or a fractional or sampled design")
    points = [dict(zip((f.name for f in found), levels, strict=True)) for levels in product(*(f.levels for f in found))]
    return ordered(points, repetitions, seed, block, randomise)
