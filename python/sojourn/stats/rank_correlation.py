"""Spearman's rank correlation, without `scipy.stats`, which takes half a second to import.

Source: M. Kendall, J. D. Gibbons: Rank Correlation Methods, 5th ed. (1990), 1.14 (ties have their mean rank), and 4.14:
t = r·sqrt((n-2)/(1-r²)) has Student's law with n - 2 degrees of freedom where nothing correlates.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sojourn.stats.student import student_distribution


class RankCorrelation(NamedTuple):
    """In [-1, 1], and the two-sided p-value."""

    value: float
    p_value: float


def rank_correlation(one: NDArray[np.float64], other: NDArray[np.float64]) -> RankCorrelation:
    """Of two columns of one length, 3 or more; NaN where one of them does not vary."""
    ranks = [pl.Series(values).rank("average").to_numpy() for values in (one, other)]
    if any(np.ptp(rank) == 0 for rank in ranks):
        return RankCorrelation(float("nan"), float("nan"))
    r = float(np.clip(np.corrcoef(ranks[0], ranks[1])[0, 1], -1.0, 1.0))
    free = len(one) - 2
    with np.errstate(divide="ignore"):
        t = abs(r) * np.sqrt(free / (np.float64(1.0) - r * r))
    return RankCorrelation(r, 2 * student_distribution(-float(t), free))
