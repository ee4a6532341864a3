"""The sum of two times of which samples are known, supposed to be independent.

On requests of one run they may not be: `response_time` of a request has its own waiting and service time in it, and the sum of two
parts of one request is in the record.

    F(t) = sum over pairs of p_i q_j [x_i + y_j <= t]                 p, q: weights of the observations x, y, which add up to 1
    d_b  = sum of (p_i - P_b p_i) G(t - x_i) + the same of y          what batch b adds to its error: linear in both samples

with G the distribution function of the other; so for moments. Source: the first-order projection of a two-sample U-statistic
(Hoeffding, Ann. Math. Stat. 19 (1948), pp. 293-325) over batches, as `sojourn.stats.batch_means` takes that of a ratio. Both of one
record: their batches are the same stretches of time, and their errors are added before they are squared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sojourn.errors import SourceRefused
from sojourn.query.sources.batch_means_law import BatchMeansLaw
from sojourn.query.sources.batched import BatchedLaw
from sojourn.query.sources.share_interval import RARE, each_of, needed, share_of, wider_share
from sojourn.query.values import Array, Estimate, Law, Span, Whole
from sojourn.stats.batch_means import IntervalEstimate, around
from sojourn.units import USUAL_LEVEL

POINTS = 10_000  # of each sample; of longer ones neighbours are one
HALVINGS = 50


@dataclass(frozen=True)
class Sample:
    """Times (K) in order, and their weight in each batch (batches, K)."""

    times: Array
    weights: Array

    @cached_property
    def shares(self) -> Array:
        """Weight of each time over all batches, adding up to 1."""
        total: Array = self.weights.sum(axis=0)
        return total / total.sum()

    @cached_property
    def reached(self) -> Array:
        """Shares (K + 1) of the first k times."""
        return np.append(0.0, np.cumsum(self.shares))

    def at_most(self, t: Array, closed: bool = True) -> Array:
        """Share at or below each time (below it, where not `closed`)."""
        found: Array = self.reached[np.searchsorted(self.times, t, "right" if closed else "left")]
        return found

    def errors(self, values: Array) -> Array:
        """Of the mean of a value of each time, what each batch adds (batches)."""
        mean = float(self.shares @ values)
        sizes = self.weights.sum(axis=1)
        found: Array = (self.weights @ values - mean * sizes) / sizes.mean()
        return found


@dataclass(frozen=True)
class ConvolvedLaw:
    """Of a time of `first` and one of `second`; `count`: of the observations of the smaller."""

    first: Sample
    second: Sample
    count: int
    spent_s: float

    def probability(self, span: Span) -> Estimate:
        values = [
            a.at_most(span.high.value - b.times, span.closed[1])
            - a.at_most(span.low.value - b.times, not span.closed[0])
            for a, b in ((self.second, self.first), (self.first, self.second))
        ]
        found = self._found(values)
        first, last = (self._below(t) for t in (span.low.value, span.high.value))
        upper = first >= 0.5 if last - first < RARE else 1 - last >= first
        return share_of(found, self.count, self.spent_s, lambda share: self._each(share, upper))

    def quantile(self, q: float) -> Estimate:
        value, rare = self._inverse(q), min(q, 1 - q)
        each = self._each(wider_share(rare), q > 0.5) if rare < RARE else 0.0
        least, most = self._ends()

        def bound(t: float) -> Estimate:
            return share_of(self._at(t), self.count, self.spent_s, lambda _: each)

        low = -math.inf if bound(least).high >= q else _first(lambda t: bound(t).high >= q, least, value)
        high = math.inf if bound(most).low < q else _first(lambda t: bound(t).low >= q, value, most)
        needs = 0.0 if math.isfinite(high) else needed(q, self.count, each)
        return Estimate(value, low, high, self.spent_s, needs)

    def moment(self, order: int) -> Estimate:
        terms = [math.comb(order, k) for k in range(order + 1)]
        means = [[float(x.shares @ x.times**k) for k in range(order + 1)] for x in (self.first, self.second)]
        values = [
            np.sum([c * means[1 - side][order - k] * x.times**k for k, c in enumerate(terms)], axis=0)
            for side, x in enumerate((self.first, self.second))
        ]
        return self._estimate(self._found(values))

    def deviation(self) -> Estimate:
        """Variances add up."""
        squares = [(x.times - float(x.shares @ x.times)) ** 2 for x in (self.first, self.second)]
        value = sum(float(x.shares @ v) for x, v in zip((self.first, self.second), squares, strict=True))
        found = self._estimate(self._found(squares, value))
        value, low, high = (math.sqrt(max(x, 0.0)) for x in (found.value, found.low, found.high))
        return Estimate(value, low, high, self.spent_s)

    def _found(self, values: Sequence[Array], value: float | None = None) -> IntervalEstimate:
        """From what a time of each adds, in the mean over the other; `value`: the mean of the first unless given."""
        errors = self.first.errors(values[0]) + self.second.errors(values[1])
        mean = float(self.first.shares @ values[0]) if value is None else value
        return around(np.array([mean]), errors[None, :, None], USUAL_LEVEL)

    def _estimate(self, found: IntervalEstimate) -> Estimate:
        return Estimate.known(float(found.value[0]), float(found.low[0]), float(found.high[0]), self.spent_s)

    def _at(self, t: float) -> IntervalEstimate:
        """The share at or below t."""
        return self._found([self.second.at_most(t - self.first.times), self.first.at_most(t - self.second.times)])

    def _below(self, t: float) -> float:
        return float(self.first.shares @ self.second.at_most(t - self.first.times))

    def _ends(self) -> tuple[float, float]:
        return tuple(float(self.first.times[k] + self.second.times[k]) for k in (0, -1))  # type: ignore[return-value]

    def _inverse(self, q: float) -> float:
        return _first(lambda t: self._below(t) >= q, *self._ends())

    def _each(self, share: float, upper: bool) -> float:
        """As of `BatchedLaw`."""
        share = max(share, wider_share(1 / self.count))
        return each_of(self._at(self._inverse(1 - share if upper else share)))


def convolved(a: Law, b: Law) -> Law:
    """Raises SourceRefused for anything but two records of times that always ended."""
    for one in (a, b):
        if not isinstance(one, BatchMeansLaw) or (isinstance(one, BatchedLaw) and one.discrete):
            raise SourceRefused("convolve of more than two times", "query", "convolve two times that were recorded")
        if not one.always() or not one.count():
            raise SourceRefused(
                f"convolve of {one.name}: it happens only with a probability below 1",
                "query",
                "ask for a probability of each",
            )
        one.enough()
    assert isinstance(a, BatchMeansLaw) and isinstance(b, BatchMeansLaw)
    seen = [one.observations() for one in (a, b)]
    first, second = (_sample(*own, len(one.totals())) for own, one in zip(seen, (a, b), strict=True))
    return ConvolvedLaw(first, second, min(len(own[0]) for own in seen), max(a.spent_s, b.spent_s))


def _sample(middle: Array, weights: Array, batch: Whole, batches: int) -> Sample:
    """Neighbours in the order of time as one, where there are more than POINTS: at their mean."""
    order = np.argsort(middle, kind="stable")
    of = np.arange(len(order)) * min(POINTS, len(order)) // len(order)
    size = int(of[-1]) + 1
    weight, times = weights[order], middle[order]
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(of, weight * times, size) / np.bincount(of, weight, size)
    known = np.bincount(of, weight, size) > 0
    table = np.bincount(batch[order] * size + of, weight, batches * size).reshape(batches, size)
    return Sample(mean[known], table[:, known].astype(float))


def _first(reached: Callable[[float], bool], low: float, high: float) -> float:
    """The first time at which it is, between these."""
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high
