"""A mean of repeated runs with its interval; for every kind of study."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import t


@dataclass(frozen=True)
class Estimate:
    """A mean and its interval (the same three where there is one run, or nothing varies)."""

    value: float
    low: float
    high: float

    def covers(self, truth: float) -> bool:
        return self.low <= truth <= self.high


def estimate(values: np.ndarray, level: float = 0.95) -> Estimate:
    """Mean of the finite values with a t interval."""
    values = values[np.isfinite(values)]
    mean = float(values.mean())
    if len(values) < 2:
        return Estimate(mean, mean, mean)
    half = float(t.ppf((1 + level) / 2, len(values) - 1) * values.std(ddof=1) / math.sqrt(len(values)))
    return Estimate(mean, mean - half, mean + half)
