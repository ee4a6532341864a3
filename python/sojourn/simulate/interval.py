"""Intervals of ratios and of quantiles from correlated batches.

Source: the Student interval adjusted for skewness and autocorrelation of Tafazzoli, Wilson, Lada and Steiger,
Performance of Skart, INFORMS J. Computing 23(2) (2011), pp. 297-314; skewness by Willink, Communications in Statistics -
Theory and Methods 34 (2005), pp. 753-766. Ratio by the delta method: Law, Simulation Modeling and Analysis, 5th ed.,
section 9.3.1. Quantile from an interval of the distribution function: Woodruff, J. Amer. Stat. Assoc. 47 (1952), p. 635.

    k      number of macro-batches      `MACRO` over all runs, of neighbouring fine batches each
    phi    their lag-1 correlation      the variance grows by (1 + phi)/(1 - phi) where phi > 0
    beta   skewness/(6 sqrt k)          G(t) = (cbrt(1 + 6 beta (t - beta)) - 1)/(2 beta) in place of t

Limits: a batch must be long against the correlation of the process; `stopping` asks for 4000 independent observations
before it trusts an interval. Runs are independent; with many of them a run is one batch and phi is taken as 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Array = NDArray[np.float64]
MACRO = 64


@dataclass(frozen=True)
class Estimate:
    """Arrays of one shape M: value, low, high, and `variance` of the estimate (correlation included)."""

    value: Array
    low: Array
    high: Array
    variance: Array

    def relative(self) -> Array:
        """Half-width (the wider side) by the value; 0 where an interval has no width, infinite where there is none."""
        with np.errstate(divide="ignore", invalid="ignore"):
            half = np.maximum(self.high - self.value, self.value - self.low)
            found = np.where(half == 0, 0.0, half / np.abs(self.value))
        return np.where(np.isfinite(found), found, np.inf)


def macro(series: Array, most: int = MACRO) -> Array:
    """(R, B, M) fine batches → (R, k, M) sums of neighbours, R k at most about `most`; the oldest that do not fit go."""
    runs, fine = series.shape[:2]
    count = max(1, min(fine, most // runs))
    length = fine // count
    count = fine // length if length else 0
    return series[:, fine - count * length :].reshape(runs, count, length, -1).sum(axis=2)


def ratio(above: Array, below: Array, level: float) -> Estimate:
    """sum(above)/sum(below) over all runs and batches; both (R, B, M). NaN where nothing was below."""
    y, x = macro(above), macro(below)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = y.sum(axis=(0, 1)) / x.sum(axis=(0, 1))
        influence = (y - value * x) / x.mean(axis=(0, 1))
    return around(value, influence, level)


def variance_of(squares: Array, sums: Array, counts: Array, level: float) -> Estimate:
    """Variance of observations from batches (R, B, M) of their sums of squares, sums and counts; by the delta method."""
    q, s, n = macro(squares), macro(sums), macro(counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = n.sum(axis=(0, 1))
        mean, second = s.sum(axis=(0, 1)) / size, q.sum(axis=(0, 1)) / size
        influence = ((q - second * n) - 2 * mean * (s - mean * n)) / n.mean(axis=(0, 1))
    return around(second - mean**2, influence, level)


def around(value: Array, influence: Array, level: float) -> Estimate:
    """The interval of `value` (M) whose error is the mean of `influence` (R, k, M)."""
    runs, count = influence.shape[:2]
    k = runs * count
    if k < 3:
        nothing = np.full_like(value, np.nan)
        return Estimate(value, nothing, nothing, nothing)
    deviation = influence - influence.mean(axis=(0, 1))
    spread = (deviation**2).sum(axis=(0, 1))
    variance = spread / (k - 1) / k * _correlation_factor(deviation, spread)
    low, high = _skewed(deviation, spread, k, level)
    error = np.sqrt(variance)
    return Estimate(value, value + low * error, value + high * error, variance)


def _correlation_factor(deviation: Array, spread: Array) -> Array:
    """(1 + phi)/(1 - phi), not below 1; neighbours within a run only."""
    if deviation.shape[1] < 4:
        return np.ones_like(spread)
    lagged = (deviation[:, 1:] * deviation[:, :-1]).sum(axis=(0, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        phi = np.clip(np.where(spread > 0, lagged / spread, 0.0), 0.0, 0.95)
    return (1 + phi) / (1 - phi)


def _skewed(deviation: Array, spread: Array, k: int, level: float) -> tuple[Array, Array]:
    """Student's quantiles bent by the batches' skewness: (low, high) in standard errors."""
    t = float(stats.t.ppf(0.5 + level / 2, k - 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        skew = (deviation**3).sum(axis=(0, 1)) / k / (spread / k) ** 1.5
    skew = np.nan_to_num(skew) * np.sqrt(k * (k - 1)) / (k - 2)
    beta = skew / (6 * np.sqrt(k))
    safe = np.where(np.abs(beta) < 1e-6, 1.0, beta)

    def bent(at: float) -> Array:
        return np.where(np.abs(beta) < 1e-6, at, (np.cbrt(1 + 6 * safe * (at - safe)) - 1) / (2 * safe))

    return -bent(t), -bent(-t)


def quantile(edges: Array, counts: Array, q: float, level: float) -> tuple[float, float, float]:
    """Quantile q from histograms (R, G, n) over bins between `edges` (n + 1) by groups of batches: value, low, high.

    NaN where there is nothing; a bound is NaN where the interval of the distribution function leaves (0, 1).
    """
    total = counts.sum(axis=(0, 1))
    if not total.sum():
        return (np.nan,) * 3
    share = np.r_[0.0, np.cumsum(total)] / total.sum()
    value = _inverse(edges, share, q)
    within = _below(edges, counts, value)
    found = ratio(within[..., None], counts.sum(axis=2, dtype=float)[..., None], level)
    # the distribution function at `value` may be as low as `low`: then the quantile lies higher
    low, high = 2 * q - float(found.high[0]), 2 * q - float(found.low[0])
    return value, _inverse(edges, share, low), _inverse(edges, share, high)


def _inverse(edges: Array, share: Array, p: float) -> float:
    """Where the distribution function reaches p, linear within a bin."""
    if not 0 < p < 1:
        return np.nan
    at = int(np.searchsorted(share, p, side="left"))
    inside = (p - share[at - 1]) / (share[at] - share[at - 1])
    return float(edges[at - 1] + inside * (edges[at] - edges[at - 1]))


def _below(edges: Array, counts: Array, value: float) -> Array:
    """How many of each group (R, G) lie at or below `value`, linear within its bin."""
    at = min(int(np.searchsorted(edges, value, side="right")), len(edges) - 1) - 1
    inside = (value - edges[at]) / (edges[at + 1] - edges[at])
    return counts[..., :at].sum(axis=-1) + inside * counts[..., at]
