"""Designs that fill a box of numbers: Latin hypercube and Sobol's sequence, from `scipy.stats.qmc`.

Levels of a factor are its least and greatest value; a factor whose two levels are whole numbers gets whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import polars as pl

from sojourn.design.factors import Factor, distinct
from sojourn.design.make.randomised_order import ordered
from sojourn.errors import DesignError


def latin_hypercube(factors: Iterable[Factor], runs: int, *, seed: int = 1) -> pl.DataFrame:
    """`runs` points: each factor's range in as many slices, one point in each slice of every factor."""
    from scipy.stats import qmc  # half a second to import

    found = _box(factors, runs)
    return _scaled(found, qmc.LatinHypercube(d=len(found), rng=np.random.default_rng(seed)).random(runs), seed)


def sobol(factors: Iterable[Factor], runs: int, *, seed: int = 1) -> pl.DataFrame:
    """`runs` points of a scrambled Sobol sequence; DesignError unless `runs` is a power of two (else it is unbalanced)."""
    from scipy.stats import qmc  # half a second to import

    found = _box(factors, runs)
    if runs & (runs - 1):
        raise DesignError(runs, "runs", "give a power of two")
    return _scaled(found, qmc.Sobol(d=len(found), rng=np.random.default_rng(seed)).random(runs), seed)


def _box(factors: Iterable[Factor], runs: int) -> Sequence[Factor]:
    found = distinct(factors)
    for factor in found:
        if len(factor.levels) != 2 or any(isinstance(level, str) for level in factor.levels):
            raise DesignError(list(factor.levels), f"factor {factor.name}", "give the smallest and the largest number")
    if not (isinstance(runs, int) and runs >= 2):
        raise DesignError(runs, "runs", "give a whole number >= 2")
    return found


def _scaled(factors: Sequence[Factor], unit: np.ndarray, seed: int) -> pl.DataFrame:
    points = []
    for row in unit:
        point: dict[str, float | int] = {}
        for factor, u in zip(factors, row, strict=True):
            low, high = sorted(float(level) for level in factor.levels)
            whole = all(isinstance(level, int) for level in factor.levels)
            point[factor.name] = min(int(low + u * (high - low + 1)), int(high)) if whole else low + u * (high - low)
        points.append(point)
    return ordered(points, 1, seed)
