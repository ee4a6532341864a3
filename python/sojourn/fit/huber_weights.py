"""Weights of residuals by Huber's rule (P. J. Huber, Robust Statistics (1981), chapter 7): far ones count linearly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

HUBER = 1.0  # in robust standard deviations
NORMAL = 1.4826  # of the median of absolute values to a standard deviation
LEAST_SPREAD = 5e-3


def robust_spread(off: NDArray[np.float64]) -> float:
    """A standard deviation of absolute residuals `off` of logarithms by their median, no less than LEAST_SPREAD."""
    return NORMAL * float(np.median(off)) + LEAST_SPREAD


def huber_weights(off: NDArray[np.float64], spread: float) -> NDArray[np.float64]:
    """Of squares: 1 up to HUBER spreads, then falling as 1/off; a value each."""
    return np.asarray(1 / np.maximum(1.0, off / (HUBER * spread)))
