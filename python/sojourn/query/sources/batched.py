"""Laws of observations in time that may be spread over a range and may have weights: passages, state functions over time, histograms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sojourn.query.sources.batch_means_law import BATCHES, BatchMeansLaw
from sojourn.query.values import Array, Span, Whole

ROUNDED = 1e-9  # of a weight


@dataclass(frozen=True)
class BatchedLaw(BatchMeansLaw):
    """Observations uniform between `low` and `high` (the same number: a point), each with a weight, in one of `batches` batches
    of time. Infinite ones never happened."""

    low: Array
    high: Array
    weight: Array
    batch: Whole  # whole numbers from 0
    spent_s: float
    name: str
    of_finite: bool = False
    discrete: bool = False
    batches: int = BATCHES
    dropped: float = 0.0
    seen: int | None = None  # observations, where one of the above stands for several

    def count(self) -> int:
        return len(self.low) if self.seen is None else self.seen

    def totals(self) -> Array:
        return self._sums(np.ones(len(self.low)))

    def within(self, span: Span) -> Array:
        return self._sums(
            self._below(span.high.value, span.closed[1]) - self._below(span.low.value, not span.closed[0])
        )

    def powers(self, order: int) -> tuple[Array, Array]:
        keep = np.isfinite(self.high)
        a, b = np.where(keep, self.low, 0.0), np.where(keep, self.high, 0.0)
        each = sum(a**j * b ** (order - j) for j in range(order + 1)) / (order + 1)
        return self._sums(np.where(keep, each, 0.0)), self._sums(keep.astype(float))

    def always(self) -> bool:
        return bool(np.isfinite(self.high).all())

    def largest(self) -> float:
        return float(self.high[np.isfinite(self.high)].max(initial=0.0))

    def observations(self) -> tuple[Array, Array, Whole]:
        return (self.low + self.high) / 2, self.weight, self.batch

    def inverses(self, levels: Array) -> Array:
        return np.array([self._at(min(max(float(q), 0.0), 1.0)) for q in levels])

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

    def at_most(self, times: Array) -> Array:
        if not self._points:
            return np.stack([self._sums(self._below(float(t), True)) for t in times], axis=1)
        columns = len(times) + 1  # the last: above all of them
        cell = self.batch * columns + np.searchsorted(times, self.high, side="left")
        each = np.bincount(cell, self.weight, self.batches * columns).reshape(self.batches, columns)
        return np.cumsum(each, axis=1)[:, :-1].astype(float)

    def _sums(self, values: Array) -> Array:
        return np.bincount(self.batch, self.weight * values, self.batches).astype(float)

    def _at(self, q: float) -> float:
        """The quantile q: of points linear between neighbours (Hyndman and Fan's 7th), of weighted ones the smallest that has q."""
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
