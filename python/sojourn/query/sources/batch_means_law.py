"""Laws of which so much is known in each of some batches of time, and so their intervals by batch means.

Source: batch means as in `sojourn.stats.batch_means`; shares as in `share_interval`; a quantile's interval by inverting that of the
distribution function, after Woodruff, J. Amer. Stat. Assoc. 47 (1952), p. 635.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np

from sojourn.errors import SourceRefused
from sojourn.query.sources.share_interval import (
    RARE,
    Wider,
    cluster_size,
    each_of,
    jeffreys,
    needed,
    share_of,
    wider_share,
)
from sojourn.query.values import Array, Estimate, Span, Whole
from sojourn.stats.batch_means import IntervalEstimate, ratio, variance_of
from sojourn.units import USUAL_LEVEL

BATCHES, LEAST = 32, 30
# the share of answers whose clusters stand for one of failures, and how many these are at least
SLOW, ENOUGH_SLOW = 0.01, 1000
GRID, REACH = 61, 3.0  # times at which a quantile's interval is looked for, and how far, in half-widths


class BatchMeansLaw(ABC):
    """What is known of a time or number by batches (B). `of_finite`: moments are of those that happened; else refused where one did not.
    `dropped`: share of starts whose end was not seen."""

    spent_s: float
    name: str
    of_finite: bool
    dropped: float

    @abstractmethod
    def count(self) -> int:
        """Observations."""

    @abstractmethod
    def totals(self) -> Array:
        """The weight of each batch (B)."""

    @abstractmethod
    def within(self, span: Span) -> Array:
        """The weight within a range, of each batch (B)."""

    @abstractmethod
    def at_most(self, times: Array) -> Array:
        """Batches x times (in ascending order): the weight at or below each."""

    @abstractmethod
    def powers(self, order: int) -> tuple[Array, Array]:
        """Of those that happened the sums of X^order, and their weight, of each batch (B)."""

    @abstractmethod
    def always(self) -> bool:
        """Whether each of them happened."""

    @abstractmethod
    def inverses(self, levels: Array) -> Array:
        """The quantile at each level; infinite where it lies among what never happened."""

    @abstractmethod
    def largest(self) -> float:
        """Of those that happened; 0 where none did."""

    @abstractmethod
    def observations(self) -> tuple[Array, Array, Whole]:
        """Of each observation its value (the middle of its range), weight and batch."""

    def probability(self, span: Span) -> Estimate:
        """P(X in the range): of the weight, the share within."""
        self.enough()
        below = [self.within(Span(NEVER, end, (False, closed)))
                 for end, closed in ((span.low, not span.closed[0]), (span.high, span.closed[1]))]  # fmt: skip
        ends = [float(x.sum() / self.totals().sum()) for x in below]
        return share_of(self._share(self.within(span)), self.count(), self.spent_s, self._beside(*ends))

    def _beside(self, first: float, last: float) -> Wider | None:
        """Of a range between these shares: where it, or what is outside of it, lies on one side of the median, the tails there."""
        inside = last - first < RARE
        if inside and first < 0.5 < last:
            return None
        upper = first >= 0.5 if inside else 1 - last >= first
        return lambda share: self._each(share, upper)

    def _share(self, above: Array) -> IntervalEstimate:
        return ratio(above[None, :, None], self.totals()[None, :, None], USUAL_LEVEL)

    def _each(self, share: float, upper: bool) -> float:
        """What a cluster counts for in a tail."""
        share = max(share, wider_share(1 / self.count()))
        time = self._inverse(1 - share if upper else share)
        return each_of(self._share(self.within(Span(NEVER, Estimate.exact(time), (False, True)))))

    def quantile(self, q: float) -> Estimate:
        """With an interval; without a value where it lies among what never happened."""
        self.enough()
        value = self._inverse(q)
        if not math.isfinite(value):
            return Estimate(math.inf, self.largest(), math.inf, self.spent_s)
        rare = min(q, 1 - q)
        each = self._each(wider_share(rare), q > 0.5) if rare < RARE else 0.0
        low, high = self._bounds(q, value, each)
        needs = 0.0 if math.isfinite(high) else needed(q, self.count(), each)
        return Estimate(value, min(low, value), max(high, value), self.spent_s, needs)

    def _inverse(self, q: float) -> float:
        return float(self.inverses(np.array([q]))[0])

    def _bounds(self, q: float, value: float, each: float) -> tuple[float, float]:
        """The times whose probability may be q: where the interval of the distribution function holds it."""
        first = self._shares(np.array([value]), each)
        reach = REACH * max(first[1][0] - q, q - first[0][0], 1 / self.count())
        times = self.inverses(np.linspace(max(q - reach, 0.0), min(q + reach, 1.0), GRID))
        times = np.unique(times[np.isfinite(times)])
        if not len(times):
            return -math.inf, math.inf
        low, high = self._shares(times, each)
        from_, to = np.flatnonzero(high >= q), np.flatnonzero(low >= q)
        known = len(from_) and (q > reach or jeffreys(0.0, max(each, 1 / self.count()))[1] < q)
        begin = float(times[from_[0]]) if known else -math.inf
        return begin, float(times[to[0]]) if len(to) else math.inf

    def _shares(self, times: Array, least: float) -> tuple[Array, Array]:
        """The interval of P(X <= t) at each of the times."""
        above = self.at_most(times)
        below = np.broadcast_to(self.totals()[:, None], above.shape)
        found = ratio(above[None], below[None], USUAL_LEVEL)
        columns = zip(*(x.tolist() for x in (found.value, found.low, found.high, found.variance)), strict=True)
        told = [IntervalEstimate(*(np.array([x]) for x in column)) for column in columns]
        wide = [share_of(x, self.count(), wider=lambda _: least) for x in told]
        return np.array([x.low for x in wide]), np.array([x.high for x in wide])

    def moment(self, order: int) -> Estimate:
        """Raw moment; E[U^k] of a uniform observation."""
        self.enough()
        if not self.of_finite and not self.always():
            raise SourceRefused(
                f"moment of {self.name}: it happens only with a probability below 1", "query", "ask for a probability"
            )
        sums, weight = self.powers(order)
        found = ratio(sums[None, :, None], weight[None, :, None], USUAL_LEVEL)
        return Estimate.known(float(found.value[0]), float(found.low[0]), float(found.high[0]), self.spent_s)

    def deviation(self) -> Estimate:
        """By the delta method on batches."""
        self.enough()
        (squares, _), (sums, weight) = self.powers(2), self.powers(1)
        found = variance_of(squares[None, :, None], sums[None, :, None], weight[None, :, None], USUAL_LEVEL)
        value, low, high = (float(np.sqrt(max(x[0], 0.0))) for x in (found.value, found.low, found.high))
        return Estimate.known(value, low, high, self.spent_s)

    def slow_cluster(self) -> float:
        """In how many the slowest 1 % come at a time; of few the slowest 1000, at most 10 %."""
        if not self.count():
            return 1.0
        slowest = self.inverses(np.array([1 - min(max(SLOW, ENOUGH_SLOW / self.count()), RARE)]))
        with np.errstate(invalid="ignore", divide="ignore"):
            return cluster_size(each_of(self._share(self.totals() - self.at_most(slowest)[:, 0])), self.count())

    def enough(self) -> None:
        """Raises SourceRefused where an interval would say nothing."""
        if self.count() < LEAST:
            remedy = f"{LEAST} are needed: run longer" + ("" if self.count() else ", or use states that occur")
            raise SourceRefused(f"{self.name}: seen {self.count()} times", "query", remedy)
        if self.dropped > 0.1:
            seen = f"{self.dropped:.0%} of its passages did not end within the record"
            raise SourceRefused(f"{self.name}: {seen}", "query", "run longer, or use a shorter passage")


NEVER = Estimate.exact(-math.inf)
