"""A mean of repeated runs with its interval; for every kind of study."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import stdtrit

from sojourn.fit.parameter_estimate import ParameterEstimate
from sojourn.units import USUAL_LEVEL

__all__ = ["ParameterEstimate", "mean_with_interval"]


def mean_with_interval(values: np.ndarray, level: float = USUAL_LEVEL) -> ParameterEstimate:
    """Mean of the finite values with a t interval; its ends are NaN where there is one value, or none differs: that tells no interval."""
    values = values[np.isfinite(values)]
    mean = float(values.mean())
    if len(values) < 2:
        return ParameterEstimate(mean, math.nan, math.nan)
    if np.ptp(values) == 0:
        return ParameterEstimate(mean, math.nan, math.nan)
    half = float(stdtrit(len(values) - 1, (1 + level) / 2) * values.std(ddof=1) / math.sqrt(len(values)))
    return ParameterEstimate(mean, mean - half, mean + half)
