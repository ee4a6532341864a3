"""Laws of what was recorded in time, with intervals by batch means: times of requests, passages, state functions over time.

Source: batch means as in `sojourn.batch_means`; a quantile's interval by inverting that of the distribution function there, after
Woodruff, J. Amer. Stat. Assoc. 47 (1952), p. 635. Shares also by Clopper and Pearson, Biometrika 26 (1934), p. 404: batches without
a single failure say nothing of how rare it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sojourn.batch_means import IntervalEstimate, ratio, variance_of
from sojourn.errors import SourceRefused
from sojourn.query.values import Array, Estimate, Span, Whole

BATCHES, LEAST = 32, 30
GRID, REACH = 61, 3.0  # times at which a quantile's interval is looked for, and how far, in half-widths
LEVEL = 0.95


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

    def probability(self, span: Span) -> Estimate:
        """P(X in the range): of the weight, the share within."""
        self._enough()
        inside = self._below(span.high.value, span.closed[1]) - self._below(span.low.value, not span.closed[0])
        above, below = (self._sums(x)[None, :, None] for x in (inside, np.ones(len(self.low))))
        return share_of(ratio(above, below, LEVEL), self._count(), self.spent_s)

    def quantile(self, q: float) -> Estimate:
        """With an interval; without a value where it lies among what never happened."""
        self._enough()
        value = self._inverse(q)
        if not math.isfinite(value):
            return Estimate(math.inf, self._lower(q), math.inf, self.spent_s)
        low, high = self._bounds(q)
        return Estimate(value, min(low, value), max(high, value), self.spent_s)

    def _bounds(self, q: float) -> tuple[float, float]:
        """The times whose probability may be q: where the interval of the distribution function holds it."""
        first = self._shares(np.array([self._inverse(q)]))
        reach = REACH * max(first[1][0] - q, q - first[0][0], 1 / self._count())
        levels = np.linspace(max(q - reach, 0.0), min(q + reach, 1.0), GRID)
        times = np.array([self._inverse(x) for x in levels])
        times = np.unique(times[np.isfinite(times)])
        if not len(times):
            return -math.inf, math.inf
        low, high = self._shares(times)
        from_, to = np.flatnonzero(high >= q), np.flatnonzero(low >= q)
        known = len(from_) and (q > reach or share_widened(Estimate.exact(0.0), self._count(), 0.0).high < q)
        begin = float(times[from_[0]]) if known else -math.inf
        return begin, float(times[to[0]]) if len(to) else math.inf

    def _shares(self, times: Array) -> tuple[Array, Array]:
        """The interval of P(X <= t) at each of the times."""
        above = np.stack([self._sums(self._below(float(t), True)) for t in times], axis=1)
        below = np.broadcast_to(self._sums(np.ones(len(self.low)))[:, None], above.shape)
        found = ratio(above[None], below[None], LEVEL)
        each = zip(*(x.tolist() for x in (found.value, found.low, found.high, found.variance)), strict=True)
        wide = [
            share_widened(Estimate.known(v, lo, hi), self._count(), min(max(v, 0.0), 1.0), var)
            for v, lo, hi, var in each
        ]
        return np.array([x.low for x in wide]), np.array([x.high for x in wide])

    def moment(self, order: int) -> Estimate:
        """Raw moment; E[U^k] of a uniform observation."""
        self._enough()
        keep = np.isfinite(self.high)
        if not self.of_finite and not keep.all():
            raise SourceRefused(f"moment of {self.name}: it does not always happen", "query", "ask for a probability")
        a, b = np.where(keep, self.low, 0.0), np.where(keep, self.high, 0.0)
        powers = sum(a**j * b ** (order - j) for j in range(order + 1)) / (order + 1)
        return self._ratio(np.where(keep, powers, 0.0), keep.astype(float))

    def deviation(self) -> Estimate:
        """By the delta method on batches."""
        self._enough()
        keep = np.isfinite(self.high)
        a, b = np.where(keep, self.low, 0.0), np.where(keep, self.high, 0.0)
        squares, sums = (self._sums(x)[None, :, None] for x in ((a * a + a * b + b * b) / 3, (a + b) / 2 * keep))
        found = variance_of(squares, sums, self._sums(keep.astype(float))[None, :, None], LEVEL)
        value, low, high = (float(np.sqrt(max(x[0], 0.0))) for x in (found.value, found.low, found.high))
        return Estimate.known(value, low, high, self.spent_s)

    def _enough(self) -> None:
        if len(self.low) < LEAST:
            raise SourceRefused(f"{self.name}: seen {len(self.low)} times", "query", f"{LEAST} are needed: run longer")
        if self.dropped > 0.1:
            seen = f"{self.dropped:.0%} of its starts did not end within the record"
            raise SourceRefused(f"{self.name}: {seen}", "query", "run longer, or ask for a shorter passage")

    def _count(self) -> int:
        return len(self.low)

    def _below(self, x: float, closed: bool) -> Array:
        """Of each observation the share at or below x (below it, where not `closed`)."""
        if math.isinf(x):
            return np.where(np.isfinite(self.high), 1.0, 0.0) if x > 0 else np.zeros(len(self.low))
        point = (self.high <= x) if closed else (self.high < x)
        if not np.any(self.high > self.low):
            return point.astype(float)
        with np.errstate(invalid="ignore", divide="ignore"):
            width = self.high - self.low
            part = np.clip((x - self.low) / width, 0.0, 1.0)
        return np.where(width > 0, part, point.astype(float))

    def _sums(self, values: Array) -> Array:
        return np.bincount(self.batch, self.weight * values, self.batches).astype(float)

    def _ratio(self, above: Array, below: Array | None = None) -> Estimate:
        down = self._sums(np.ones(len(self.low)) if below is None else below)
        found = ratio(self._sums(above)[None, :, None], down[None, :, None], LEVEL)
        return Estimate.known(float(found.value[0]), float(found.low[0]), float(found.high[0]), self.spent_s)

    def _inverse(self, q: float) -> float:
        """The quantile q: of points linear between neighbours (Hyndman and Fan's 7th), of weighted ones the smallest that has q."""
        q = min(max(q, 0.0), 1.0)
        if not np.any(self.high > self.low) and not self.discrete:
            ranked = np.sort(self.high)
            at = q * (len(ranked) - 1)
            low, high = ranked[math.floor(at)], ranked[math.ceil(at)]
            return float(low + (high - low) * (at - math.floor(at))) if math.isfinite(high) else math.inf
        if self.discrete:
            order = np.argsort(self.high)
            reached = np.cumsum(self.weight[order])
            return float(self.high[order][min(int(np.searchsorted(reached, q * reached[-1])), len(order) - 1)])
        total, ends = self.weight.sum(), self.high[np.isfinite(self.high)]
        low, high = 0.0, float(ends.max(initial=0.0))
        if (self.weight * self._below(high, True)).sum() < q * total:
            return math.inf
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if (self.weight * self._below(middle, True)).sum() < q * total else (low, middle)
        return high

    def _lower(self, q: float) -> float:
        ends = self.high[np.isfinite(self.high)]
        return float(ends.max(initial=0.0))


def share_of(found: IntervalEstimate, count: int, spent_s: float) -> Estimate:
    """A share, by batches, of `count` observations."""
    value, low, high, variance = (float(x[0]) for x in (found.value, found.low, found.high, found.variance))
    return share_widened(Estimate.known(value, low, high, spent_s), count, min(max(value, 0.0), 1.0), variance)


def share_widened(found: Estimate, count: int, share: float, variance: float = 0.0) -> Estimate:
    """An interval of a share that lies in [0, 1] and is no narrower than that of as many independent observations as have its
    `variance` (at most `count`): of rare events in clusters there are few, and the interval is as skewed as theirs."""
    from scipy.special import betaincinv

    known = math.isfinite(variance) and variance > 0 and 0 < share < 1
    size = min(count, max(share * (1 - share) / variance, 1.0)) if known else count
    k, out = share * size, (1 - LEVEL) / 2
    low = float(betaincinv(k, size - k + 1, out)) if k > 0 else 0.0
    high = float(betaincinv(k + 1, size - k, 1 - out)) if k < size else 1.0
    own = (found.low if math.isfinite(found.low) else 0.0, found.high if math.isfinite(found.high) else 1.0)
    return Estimate(found.value, max(0.0, min(low, own[0])), min(1.0, max(high, own[1])), found.spent_s)
