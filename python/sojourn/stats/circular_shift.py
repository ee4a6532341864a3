"""Whether two series in time go together faster than a second or so, tested against themselves shifted in time.

Pearson's correlation r of the two, each less its own moving mean, beside the r of the same two with one of them shifted
around its end by every number of samples from `LEAST_SHIFT_S` on. A shift keeps what each series is by itself (its
autocorrelation, its share at either end) and takes away only what they have to do with each other. Shuffled samples lose
the autocorrelation too, and call independent series related far more often than was asked for (benches/oscillation).
Source of the idea: K. D. Harris, A shift test for independence in generic time series (arXiv:2012.06862, 2020).

Two series of one strict period go together again at each multiple of it, so that their p-value is no smaller than the
sampling interval over the period: whether their phases have to do with each other cannot be told from them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
WINDOW_S = 1.1  # of the moving mean that is taken out
LEAST_SHIFT_S = 2.0  # beyond this what is left of a series by the moving mean has forgotten itself
_EQUAL = 1e-9  # two correlations, computed by a Fourier transform


class ShiftTest(NamedTuple):
    """r in [-1, 1] without a shift; the one-sided p-value, the share of shifts (with none) whose r is as low, None where the
    series are too short for any; r by shift, of every number of samples from 0 on, shape (n,)."""

    correlation: float
    p_value: float | None
    by_shift: Array


def shift_test(one: Array, other: Array, interval_s: float) -> ShiftTest:
    """Of two series of one length n, sampled every `interval_s`: how likely independent ones are as much against each other."""
    high = [high_passed(series, interval_s) for series in (one, other)]
    by_shift = correlations(*high)
    least = int(np.ceil(LEAST_SHIFT_S / interval_s - 1e-9))
    shifted = by_shift[least : one.size - least + 1]
    p_value = float((1 + (shifted <= by_shift[0] + _EQUAL).sum()) / (1 + shifted.size)) if shifted.size else None
    return ShiftTest(float(by_shift[0]), p_value, by_shift)


def high_passed(series: Array, interval_s: float) -> Array:
    """`series` (n,) less its mean over `WINDOW_S` around each sample; at the ends over what of that there is."""
    half = max(1, round((WINDOW_S / interval_s - 1) / 2))
    sums = np.concatenate([[0.0], np.cumsum(series)])
    first = np.maximum(np.arange(series.size) - half, 0)
    end = np.minimum(np.arange(series.size) + half + 1, series.size)
    mean: Array = (sums[end] - sums[first]) / (end - first)
    return series - mean


def correlations(one: Array, other: Array) -> Array:
    """Pearson's r of `one` and `other` (n,) shifted around its end by 0, 1, … n - 1; all 0 where one of them does not vary."""
    centred = [series - series.mean() for series in (one, other)]
    size = float(np.sqrt(np.prod([np.square(series).sum() for series in centred])))
    if size < _EQUAL * one.size:
        return np.zeros(one.size)
    first, second = (np.fft.rfft(series) for series in centred)
    products: Array = np.fft.irfft(first * np.conj(second), n=one.size)
    return products / size
