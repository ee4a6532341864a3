"""The rate of arrivals lately, and its upper bound: what feed-forward policies size for."""

from __future__ import annotations

import math

import numpy as np

from sojourn.control.decision import Seen

RateWindows = tuple[tuple[float, float, float], ...]  # at_s, length_s, rate (1/s), the last window last


def lately(rates: RateWindows, seen: Seen, span_s: float) -> RateWindows:
    """With the window that was seen; without those that ended `span_s` before it or earlier."""
    kept = tuple(one for one in rates if seen.window_end_s - one[0] < span_s - 1e-9)
    return (*kept, (seen.window_end_s, seen.window_s, float(seen.rate_per_s or 0)))


def upper_rate(rates: RateWindows, spread: float, falls: bool) -> float:
    """`spread` standard deviations of a Poisson count above the rate of all windows, 1/s; of the last window alone where it lies 3 of its
    own above that or, where `falls`, below."""
    length = np.array([one[1] for one in rates])
    each = np.array([one[2] for one in rates])
    span = float(length.sum())
    mean = float(each @ length) / span
    last, window = float(each[-1]), float(length[-1])
    off = abs(last - mean) if falls else last - mean
    base, over = (last, window) if off > 3 * math.sqrt(max(mean, 1 / span) / window) else (mean, span)
    return base + spread * math.sqrt(base / over)
