"""Intervals by batch means: of what was measured, and of ratios and quantiles of what was simulated.

A measured run is short: 20 batches of it, Student's interval (`batch_interval`, `rate_interval`). A simulated one has fine batches
by the hundred, whose correlation and skewness are estimated as well (`ratio`, `variance_of`, `quantiles`).

Source: the Student interval adjusted for skewness and autocorrelation of Tafazzoli, Wilson, Lada and Steiger,
Performance of Skart, INFORMS J. Computing 23(2) (2011), pp. 297-314; skewness by Willink, Communications in Statistics -
Theory and Methods 34 (2005), pp. 753-766. Ratio by the delta method: Law, Simulation Modeling and Analysis, 5th ed.,
section 9.3.1. Quantile by inverting intervals of the distribution function, after Woodruff, J. Amer. Stat. Assoc. 47 (1952), p. 635.

    k      number of macro-batches      `MACRO` over all runs, of neighbouring fine batches each
    phi    their lag-1 correlation      the variance grows by (1 + phi)/(1 - phi) where phi > 0
    beta   skewness/(6 sqrt k)          G(t) = (cbrt(1 + 6 beta (t - beta)) - 1)/(2 beta) in place of t

A symmetric interval of a skewed figure may reach below 0 where the figure cannot: means of times, counts and shares, and variances.
It is cut off at 0 then (`of_no_negatives`). That loses no coverage, because the truth is not there, and says as much as is known.

Limits: a batch must be long against the correlation of the process; `stopping` asks for 4000 independent observations
before it trusts an interval. Runs are independent; with many of them a run is one batch and phi is taken as 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sojourn.stats.student import student_quantile
from sojourn.units import USUAL_LEVEL

Array = NDArray[np.float64]
BATCHES = 20  # of a measured run
MACRO = 64
LEAST_BEYOND = 3  # observations that a bound of a quantile must leave on either side
STRETCH = 64  # bins of a histogram that are added up beforehand
GRID, REACH = 121, 3.0  # times at which a quantile's interval is looked for, and how far, in half-widths


@dataclass(frozen=True)
class IntervalEstimate:
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

    def of_no_negatives(self, cannot: NDArray[np.bool_] | np.bool_ | bool = True) -> IntervalEstimate:
        """The intervals without what lies below 0, of those that cannot be negative (M)."""
        return IntervalEstimate(
            self.value, np.where(cannot, np.maximum(self.low, 0.0), self.low), self.high, self.variance
        )


def standard_error(low: float, high: float, level: float = USUAL_LEVEL, batches: int = BATCHES) -> float:
    """Of a mean whose Student's interval of so many batches at `level` is (low, high); in its unit."""
    return (high - low) / 2 / student_quantile(0.5 + level / 2, batches - 1)


def batch_interval(values: Array, level: float = USUAL_LEVEL, batches: int = BATCHES) -> tuple[float, float, float]:
    """Mean of a correlated series (n,) with its interval by batch means (Law, Simulation Modeling and Analysis,
    5th ed., section 9.5.3): mean, low, high; NaN bounds for fewer than two values a batch. Times, counts and shares: the
    interval of values of which none is negative ends at 0."""
    mean = float(values.mean()) if values.size else float("nan")
    if values.size < 2 * batches:
        return mean, float("nan"), float("nan")
    means = np.array([chunk.mean() for chunk in np.array_split(values, batches)])
    half = _student_half(means, level)
    return mean, _low_end(mean - half, values), mean + half


def _low_end(low: float, values: Array) -> float:
    return max(low, 0.0) if values.min() >= 0 else low


def rate_interval(
    times: Array, start: float, end: float, level: float = USUAL_LEVEL, batches: int = BATCHES
) -> tuple[float, float, float]:
    """Events per unit of time in [start, end] with their interval by batch means: counts of equally long slices of it. It
    supposes no law of the events (a closed loop's answers are no Poisson process), only that slices are long enough to
    hardly be correlated. NaN bounds for fewer than two events a slice; NaN of no time at all. `times` (n,)."""
    length = end - start
    if not length > 0:
        return float("nan"), float("nan"), float("nan")
    counts, _ = np.histogram(times, np.linspace(start, end, batches + 1))
    rate = float(counts.sum() / length)
    if counts.sum() < 2 * batches:
        return rate, float("nan"), float("nan")
    half = _student_half(counts * (batches / length), level)
    return rate, max(rate - half, 0.0), rate + half


def _student_half(means: Array, level: float) -> float:
    """Half the width of the interval of the mean of so many independent ones."""
    return float(student_quantile(0.5 + level / 2, means.size - 1) * means.std(ddof=1) / np.sqrt(means.size))


def macro(series: Array, most: int = MACRO) -> Array:
    """(R, B, M) fine batches → (R, k, M) sums of neighbours, R k at most about `most`; the oldest that do not fit go."""
    runs, fine = series.shape[:2]
    count = max(1, min(fine, most // runs))
    length = fine // count
    count = fine // length if length else 0
    return series[:, fine - count * length :].reshape(runs, count, length, -1).sum(axis=2)


def ratio(above: Array, below: Array, level: float) -> IntervalEstimate:
    """sum(above)/sum(below) over all runs and batches; both (R, B, M). NaN where nothing was below. Where no batch of `above` is
    negative, no bound is."""
    y, x = macro(above), macro(below)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = y.sum(axis=(0, 1)) / x.sum(axis=(0, 1))
        influence = (y - value * x) / x.mean(axis=(0, 1))
    return around(value, influence, level).of_no_negatives((y >= 0).all(axis=(0, 1)))


def variance_of(squares: Array, sums: Array, counts: Array, level: float) -> IntervalEstimate:
    """Variance of observations from batches (R, B, M) of their sums of squares, sums and counts; by the delta method."""
    q, s, n = macro(squares), macro(sums), macro(counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = n.sum(axis=(0, 1))
        mean, second = s.sum(axis=(0, 1)) / size, q.sum(axis=(0, 1)) / size
        influence = ((q - second * n) - 2 * mean * (s - mean * n)) / n.mean(axis=(0, 1))
    return around(second - mean**2, influence, level).of_no_negatives()


def around(value: Array, influence: Array, level: float) -> IntervalEstimate:
    """The interval of `value` (M) whose error is the mean of `influence` (R, k, M)."""
    runs, count = influence.shape[:2]
    k = runs * count
    if k < 3:
        nothing = np.full_like(value, np.nan)
        return IntervalEstimate(value, nothing, nothing, nothing)
    deviation = influence - influence.mean(axis=(0, 1))
    spread = (deviation**2).sum(axis=(0, 1))
    variance = spread / (k - 1) / k * _correlation_factor(deviation, spread)
    low, high = _skewed(deviation, spread, k, level)
    error = np.sqrt(variance)
    return IntervalEstimate(value, value + low * error, value + high * error, variance)


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
    t = student_quantile(0.5 + level / 2, k - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        skew = (deviation**3).sum(axis=(0, 1)) / k / (spread / k) ** 1.5
    skew = np.nan_to_num(skew) * np.sqrt(k * (k - 1)) / (k - 2)
    beta = skew / (6 * np.sqrt(k))
    safe = np.where(np.abs(beta) < 1e-6, 1.0, beta)

    def bent(at: float) -> Array:
        return np.where(np.abs(beta) < 1e-6, at, (np.cbrt(1 + 6 * safe * (at - safe)) - 1) / (2 * safe))

    return -bent(t), -bent(-t)


def quantiles(edges: Array, counts: Array, asked: Sequence[float], level: float) -> list[tuple[float, float, float]]:
    """Quantiles from histograms (R, G, n) over bins between `edges` (n + 1) by groups of batches: value, low, high of each.

    A time lies within the interval where the interval of the distribution function at that time encloses q. NaN where
    there is nothing; a bound is NaN where fewer than `LEAST_BEYOND` observations lie beyond it.
    """
    groups = _GroupedCounts(edges, counts)
    return [_quantile(groups, q, level) for q in asked]


def _quantile(groups: _GroupedCounts, q: float, level: float) -> tuple[float, float, float]:
    edges, number, share, total = groups.edges, groups.number, groups.share, groups.total
    if not total:
        return (np.nan,) * 3
    value = _inverse(edges, share, np.array([q]))
    first = ratio(groups.below(value), number, level)
    reach = REACH * float(np.nanmax([first.high[0] - q, q - first.low[0], 1 / total]))
    levels = q + reach * np.linspace(-1, 1, GRID)
    levels = levels[(levels > LEAST_BEYOND / total) & (levels < 1 - LEAST_BEYOND / total)]
    times = _inverse(edges, share, levels)
    if not times.size:  # too few for an interval
        return float(value[0]), np.nan, np.nan
    found = ratio(groups.below(times), np.broadcast_to(number, (*number.shape[:2], times.size)), level)
    return float(value[0]), _crossing(times, found.high, q), _crossing(times, found.low, q)


class _GroupedCounts:
    """Histograms (R, G, n): their counts are tens of millions, so they are gone through twice, not once a quantile."""

    def __init__(self, edges: Array, counts: Array) -> None:
        self.edges, self.counts = edges, counts
        stretches = np.add.reduceat(counts, np.arange(0, counts.shape[2], STRETCH), axis=2, dtype=float)
        self.before = np.zeros((*counts.shape[:2], stretches.shape[2] + 1))  # a stretch: how many lie before it
        np.cumsum(stretches, axis=2, out=self.before[..., 1:])
        self.number = self.before[..., -1:]
        self.total = float(self.number.sum())
        cumulative = np.cumsum(counts.reshape(-1, counts.shape[2]).sum(axis=0, dtype=float))
        self.share = np.concatenate([[0.0], cumulative / (self.total or 1.0)])

    def below(self, times: Array) -> Array:
        """How many of each group lie at or below each time (R, G, times), linear within a bin."""
        edges = self.edges
        at = np.clip(np.searchsorted(edges, times, side="right") - 1, 0, len(edges) - 2)
        inside = (times - edges[at]) / (edges[at + 1] - edges[at])
        first = int(at.min()) // STRETCH
        low, high = first * STRETCH, int(at.max()) + 1
        before = self.before[..., first : first + 1]
        below = before + np.cumsum(self.counts[..., low:high], axis=2, dtype=float)
        below = np.concatenate([before, below], axis=2)
        found: Array = below[..., at - low] + inside * (below[..., at + 1 - low] - below[..., at - low])
        return found


def _inverse(edges: Array, share: Array, p: Array) -> Array:
    """Where the distribution function `share` (at the edges) reaches each p in (0, 1), linear within a bin."""
    at = np.searchsorted(share, p, side="left")
    inside = (p - share[at - 1]) / (share[at] - share[at - 1])
    found: Array = edges[at - 1] + inside * (edges[at] - edges[at - 1])
    return found


def _crossing(times: Array, bound: Array, q: float) -> float:
    """The first time at which a bound of the distribution function reaches q; NaN if it does not, or did before."""
    reached = np.flatnonzero(bound >= q)
    if not reached.size or reached[0] == 0:
        return np.nan
    i = int(reached[0])
    share = (q - bound[i - 1]) / (bound[i] - bound[i - 1])
    return float(times[i - 1] + share * (times[i] - times[i - 1]))
