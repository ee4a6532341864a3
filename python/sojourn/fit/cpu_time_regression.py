"""A CPU time as a sum of parts: coefficients that are no less than 0, times terms of the configuration.

Source: iterated least squares with Huber's weights (P. J. Huber, Robust Statistics (1981), chapter 7) on relative errors,
non-negative (C. L. Lawson, R. J. Hanson, Solving Least Squares Problems (1974), chapter 23). Errors are relative to the
prediction, not to the measured value, which would pull all coefficients down. Runs of a machine that is slow for a minute lie on
one side, hence the weights; a part that the runs do not tell apart from others is 0 rather than negative: the shrinkage.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

ROUNDS = 12
HUBER = 1.0  # in robust standard deviations
NORMAL = 1.4826  # of the median of absolute values to a standard deviation
LEAST_SPREAD = 5e-3


def fit_parts(terms: np.ndarray, seconds: np.ndarray) -> np.ndarray:
    """Coefficients, s: `terms` runs × parts, `seconds` a value a run, positive."""
    scale = float(np.median(seconds))
    wanted = seconds / scale
    found, _ = nnls(terms / wanted[:, None], np.ones(len(wanted)))
    for _ in range(ROUNDS):
        predicted = np.maximum(terms @ found, 1e-6)
        off = np.abs(np.log(wanted / predicted))
        spread = NORMAL * float(np.median(off)) + LEAST_SPREAD
        weight = np.sqrt(1 / np.maximum(1.0, off / (HUBER * spread)))  # far runs count linearly
        found, _ = nnls(terms * (weight / predicted)[:, None], wanted / predicted * weight)
    return np.asarray(found * scale)
