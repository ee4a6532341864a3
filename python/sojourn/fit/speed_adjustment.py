"""How times grow with what the recorder's piece of work takes on the cores that they are spent on (`reference_work_time`).

A core whose caches or execution units another guest uses, or whose clock is low, takes longer for everything, but not for everything
alike. So a time at a piece of work of w seconds is
(w/w0)^e of what it is at the usual w0, and the exponent e is the slope of a straight line through the logarithms of measured over
predicted times, by least squares with Huber's weights (P. J. Huber, Robust Statistics (1981), chapter 7), drawn towards 1 (all
alike) where the cores were as fast in all runs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sojourn.fit.huber_weights import huber_weights, robust_spread

Array = NDArray[np.float64]
ALIKE, DOUBT = 1.0, 0.5  # the exponent where nothing is known, and its standard deviation
LEAST, MOST = 0.0, 4.0
ROUNDS = 5


@dataclass(frozen=True)
class CoreSpeed:
    """`usual_s`: w0 above, s; `exponent`: e."""

    usual_s: float
    exponent: float = ALIKE

    def slower(self, work_s: Array) -> Array:
        """By which factor times are longer, a value each; 1 where `work_s` is NaN: a run as usual."""
        known = np.isfinite(work_s) & (work_s > 0)
        return np.where(known, np.where(known, work_s, self.usual_s) / self.usual_s, 1.0) ** self.exponent

    def logs(self, work_s: Array) -> Array:
        """ln(w/w0), 0 where `work_s` is NaN."""
        return np.log(CoreSpeed(self.usual_s).slower(work_s))


def usual(work_s: Array) -> float | None:
    """The median of what is known; None where nothing is."""
    known = work_s[np.isfinite(work_s) & (work_s > 0)]
    return float(np.median(known)) if len(known) else None


def exponent(logs: Array, off: Array, groups: NDArray[np.int64] | None = None) -> float:
    """The slope of `off`, ln(measured over predicted time at the usual speed), over `logs`, ln(w/w0); with a constant of its own for
    each of `groups` (whole numbers) where they are given."""
    known = np.isfinite(logs) & np.isfinite(off)
    x, y = logs[known], off[known]
    g = np.zeros(len(x), int) if groups is None else np.unique(groups[known], return_inverse=True)[1]
    if not len(x):
        return ALIKE
    weight, slope = np.ones(len(x)), ALIKE
    for _ in range(ROUNDS):
        many = np.maximum(np.bincount(g, weight), 1e-12)
        dx = x - (np.bincount(g, weight * x) / many)[g]
        dy = y - (np.bincount(g, weight * y) / many)[g]
        spread = robust_spread(np.abs(dy - slope * dx))
        drawn = spread**2 / DOUBT**2
        slope = float(((weight * dx * dy).sum() + drawn * ALIKE) / ((weight * dx**2).sum() + drawn))
        weight = huber_weights(np.abs(dy - slope * dx), spread)
    return float(np.clip(slope, LEAST, MOST))
