"""Laws of what was recorded in time, with intervals by batch means: times of requests, passages, state functions over time.

Source: batch means as in `sojourn.stats.batch_means`; shares as in `share_interval`; a quantile's interval by inverting that of the
distribution function, after Woodruff, J. Amer. Stat. Assoc. 47 (1952), p. 635.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sojourn.errors import SourceRefused
from sojourn.query.sources.share_interval import RARE, Wider, each_of, jeffreys, needed, share_of, wider_share
from sojourn.query.values import Array, Estimate, Span, Whole
from sojourn.stats.batch_means import IntervalEstimate, ratio, variance_of
from sojourn.units import USUAL_LEVEL

BATCHES, LEAST = 32, 30
ROUNDED = 1e-9  # of a weight
GRID, REACH = 61, 3.0  # times at which a quantile's interval is looked for, and how far, in half-widths


@dataclass(frozen=True)
class BatchedLaw:
    """Observations uniform between `low` and `high` (the same number: a point), each with a weight, in one of `batches` batches
    of time. Infinite ones never happened. `of_finite`: moments are of those that did; else refused where one did not."""

    low: Array
    high: Array
    weight: Array
    batch: Whole  # whole numbers from 0
    spent_s: float
    name: str
    of_finite: bool = False
    discrete: bool = False
    batches: int = BATCHES
    dropped: float = 0.0  # share of starts whose end was not seen
    seen: int | None = None  # observations, where one of the above stands for several

    def probability(self, span: Span) -> Estimate:
        """P(X in the range): of the weight, the share within."""
        self.enough()
        to, from_ = self._below(span.high.value, span.closed[1]), self._below(span.low.value, not span.closed[0])
        ends = [float((self.weight * x).sum() / self.weight.sum()) for x in (from_, to)]
        return share_of(self._ratio_of(to - from_), self._count(), self.spent_s, self._beside(*ends))

    def _beside(self, first: float, last: float) -> Wider | None:
        """Of a range between these shares: where it, or what is outside of it, lies on one side of the median, the tails there."""
        inside = last - first < RARE
        if inside and first < 0.5 < last:
            return None
        upper = first >= 0.5 if inside else 1 - last >= first
        return lambda share: self._each(share, upper)

    def _ratio_of(self, inside: Array) -> IntervalEstimate:
        above, below = (self._sums(x)[None, :, None] for x in (inside, np.ones(len(self.low))))
        return ratio(above, below, USUAL_LEVEL)

    def _each(self, share: float, upper: bool) -> float:
        """What a cluster counts for in a tail."""
        share = max(share, wider_share(1 / self._count()))
        return each_of(self._ratio_of(self._below(self._inverse(1 - share if upper else share), True)))

    def quantile(self, q: float) -> Estimate:
        """With an interval; without a value where it lies among what never happened."""
        self.enough()
        value = self._inverse(q)
        if not math.isfinite(value):
            return Estimate(math.inf, self._lower(q), math.inf, self.spent_s)
        rare = min(q, 1 - q)
        each = self._each(wider_share(rare), q > 0.5) if rare < RARE else 0.0
        low, high = self._bounds(q, each)
        needs = 0.0 if math.isfinite(high) else needed(q, self._count(), each)
        return Estimate(value, min(low, value), max(high, value), self.spent_s, needs)

    def _bounds(self, q: float, each: float) -> tuple[float, float]:
        """The times whose probability may be q: where the interval of the distribution function holds it."""
        first = self._shares(np.array([self._inverse(q)]), each)
        reach = REACH * max(first[1][0] - q, q - first[0][0], 1 / self._count())
        levels = np.linspace(max(q - reach, 0.0), min(q + reach, 1.0), GRID)
        times = np.array([self._inverse(x) for x in levels])
        times = np.unique(times[np.isfinite(times)])
        if not len(times):
            return -math.inf, math.inf
        low, high = self._shares(times, each)
        from_, to = np.flatnonzero(high >= q), np.flatnonzero(low >= q)
        known = len(from_) and (q > reach or jeffreys(0.0, max(each, 1 / self._count()))[1] < q)
        begin = float(times[from_[0]]) if known else -math.inf
        return begin, float(times[to[0]]) if len(to) else math.inf

    def _shares(self, times: Array, least: float) -> tuple[Array, Array]:
        """The interval of P(X <= t) at each of the times."""
        above = self._sums_below(times)
        below = np.broadcast_to(self._sums(np.ones(len(self.low)))[:, None], above.shape)
        found = ratio(above[None], below[None], USUAL_LEVEL)
        columns = zip(*(x.tolist() for x in (found.value, found.low, found.high, found.variance)), strict=True)
        told = [IntervalEstimate(*(np.array([x]) for x in column)) for column in columns]
        wide = [share_of(x, self._count(), wider=lambda _: least) for x in told]
        return np.array([x.low for x in wide]), np.array([x.high for x in wide])

    def moment(self, order: int) -> Estimate:
        """Raw moment; E[U^k] of a uniform observation."""
        self.enough()
        keep = np.isfinite(self.high)
        if not self.of_finite and not keep.all():
            raise SourceRefused(
                f"moment of {self.name}: it happens only with a probability below 1", "query", "ask for a probability"
            )
        a, b = np.where(keep, self.low, 0.0), np.where(keep, self.high, 0.0)
        powers = sum(a**j * b ** (order - j) for j in range(order + 1)) / (order + 1)
        return self._ratio(np.where(keep, powers, 0.0), keep.astype(float))

    def deviation(self) -> Estimate:
        """By the delta method on batches."""
        self.enough()
        keep = np.isfinite(self.high)
        a, b = np.where(keep, self.low, 0.0), np.where(keep, self.high, 0.0)
        squares, sums = (self._sums(x)[None, :, None] for x in ((a * a + a * b + b * b) / 3, (a + b) / 2 * keep))
        found = variance_of(squares, sums, self._sums(keep.astype(float))[None, :, None], USUAL_LEVEL)
        value, low, high = (float(np.sqrt(max(x[0], 0.0))) for x in (found.value, found.low, found.high))
        return Estimate.known(value, low, high, self.spent_s)

    def enough(self) -> None:
        if self._count() < LEAST:
            remedy = f"{LEAST} are needed: run longer" + ("" if len(self.low) else ", or use states that occur")
            raise SourceRefused(f"{self.name}: seen {self._count()} times", "query", remedy)
        if self.dropped > 0.1:
            seen = f"{self.dropped:.0%} of its passages did not end within the record"
            raise SourceRefused(f"{self.name}: {seen}", "query", "run longer, or use a shorter passage")

    def _count(self) -> int:
        return len(self.low) if self.seen is None else self.seen

    def _below(self, x: float, closed: bool) -> Array:
        """Of each observation the share at or below x (below it, where not `closed`)."""
        if math.isinf(x):
            return np.where(np.isfinite(self.high), 1.0, 0.0) if x > 0 else np.zeros(len(self.low))
        point = (self.high <= x) if closed else (self.high < x)
        if self._points:
            return point.astype(float)
        with np.errstate(invalid="ignore", divide="ignore"):
            width = self.high - self.low
            part = np.clip((x - self.low) / width, 0.0, 1.0)
        return np.where(width > 0, part, point.astype(float))

    def _sums_below(self, times: Array) -> Array:
        """Batches x times (in ascending order): the weight at or below each."""
        if not self._points:
            return np.stack([self._sums(self._below(float(t), True)) for t in times], axis=1)
        columns = len(times) + 1  # the last: above all of them
        cell = self.batch * columns + np.searchsorted(times, self.high, side="left")
        each = np.bincount(cell, self.weight, self.batches * columns).reshape(self.batches, columns)
        return np.cumsum(each, axis=1)[:, :-1].astype(float)

    def _sums(self, values: Array) -> Array:
        return np.bincount(self.batch, self.weight * values, self.batches).astype(float)

    def _ratio(self, above: Array, below: Array | None = None) -> Estimate:
        down = self._sums(np.ones(len(self.low)) if below is None else below)
        found = ratio(self._sums(above)[None, :, None], down[None, :, None], USUAL_LEVEL)
        return Estimate.known(float(found.value[0]), float(found.low[0]), float(found.high[0]), self.spent_s)

    def _inverse(self, q: float) -> float:
        """The quantile q: of points linear between neighbours (Hyndman and Fan's 7th), of weighted ones the smallest that has q."""
        q = min(max(q, 0.0), 1.0)
        if self._points and not self.discrete:
            at = q * (len(self._ranked) - 1)
            low, high = self._ranked[math.floor(at)], self._ranked[math.ceil(at)]
            return float(low + (high - low) * (at - math.floor(at))) if math.isfinite(high) else math.inf
        if self.discrete:
            values, reached = self._reached
            return float(values[min(int(np.searchsorted(reached, q * reached[-1])), len(values) - 1)])
        times, reached = self._pieces
        wanted = q * float(self.weight.sum())
        if not len(times) or reached[-1] < wanted * (1 - ROUNDED):
            return math.inf
        return float(np.interp(wanted, reached, times))

    @cached_property
    def _points(self) -> bool:
        """Whether no observation is spread over a range."""
        return not np.any(self.high > self.low)

    @cached_property
    def _ranked(self) -> Array:
        return np.sort(self.high)

    @cached_property
    def _reached(self) -> tuple[Array, Array]:
        """The observations in ascending order, and the weight up to each."""
        order = np.argsort(self.high)
        return self.high[order], np.cumsum(self.weight[order])

    @cached_property
    def _pieces(self) -> tuple[Array, Array]:
        """The distribution function of uniform observations and points: times (twice where it jumps) and the weight reached."""
        finite = np.isfinite(self.high)
        a, b, w = self.low[finite], self.high[finite], self.weight[finite]
        point = b <= a
        rate = w[~point] / (b - a)[~point]
        at = np.concatenate([a[~point], b[~point], a[point]])
        slope = np.concatenate([rate, -rate, np.zeros(point.sum())])
        jump = np.concatenate([np.zeros(2 * len(rate)), w[point]])
        times, which = np.unique(at, return_inverse=True)
        slopes, jumps = (np.bincount(which, x, len(times)) for x in (slope, jump))
        grown = np.cumsum(slopes)[:-1] * np.diff(times)
        before = np.concatenate([[0.0], np.cumsum(grown)]) + np.cumsum(jumps) - jumps
        return np.repeat(times, 2), np.maximum.accumulate(np.stack([before, before + jumps], axis=1).ravel())

    def _lower(self, q: float) -> float:
        ends = self.high[np.isfinite(self.high)]
        return float(ends.max(initial=0.0))
