"""The sum of two times of which samples are known, supposed to be independent.

On requests of one run they may not be: `response_time` of a request has its own waiting and service time in it, and the sum of two
parts of one request is in the record. The interval is that of resampled batches (Efron and Tibshirani, An Introduction to the
Bootstrap (1993), ch. 13): batches of each drawn again with replacement. It is somewhat too narrow (benches/query).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sojourn.errors import SourceRefused
from sojourn.query.sources.batched import LEVEL, BatchedLaw
from sojourn.query.values import Array, Estimate, Law, Span, Whole

POINTS, DRAWS, SEED = 200, 200, 1


@dataclass(frozen=True)
class ConvolvedLaw:
    """Quantiles (POINTS) of each of the two, and of draws of their batches (DRAWS, POINTS)."""

    first: Array
    second: Array
    drawn: tuple[Array, Array]
    spent_s: float

    def _estimate(self, of: Callable[[Array], float]) -> Estimate:
        value = of(_sums(self.first, self.second))
        again = [of(_sums(a, b)) for a, b in zip(*self.drawn, strict=True)]
        low, high = np.quantile(again, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        return Estimate.known(value, float(low), float(high), self.spent_s)

    def probability(self, span: Span) -> Estimate:
        return self._estimate(lambda x: float(span.holds(x).mean()))

    def quantile(self, q: float) -> Estimate:
        return self._estimate(lambda x: float(np.quantile(x, q)))

    def moment(self, order: int) -> Estimate:
        return self._estimate(lambda x: float((x**order).mean()))

    def deviation(self) -> Estimate:
        return self._estimate(lambda x: float(x.std()))


def convolved(a: Law, b: Law) -> Law:
    """Raises SourceRefused for anything but two records of times that always ended."""
    for one in (a, b):
        if not isinstance(one, BatchedLaw) or one.discrete:
            raise SourceRefused("convolve of more than two times", "query", "convolve two times that were recorded")
        if np.isinf(one.high).any() or not len(one.high):
            raise SourceRefused(
                f"convolve of {one.name}: it does not always happen", "query", "ask for a probability of each"
            )
    assert isinstance(a, BatchedLaw) and isinstance(b, BatchedLaw)
    # one draw for both: what one batch adds to the one it adds to the other, where both are of one record
    often = np.random.default_rng(SEED).multinomial(a.batches, np.full(a.batches, 1 / a.batches), size=DRAWS)
    first, second = _points(a, often), _points(b, often)
    return ConvolvedLaw(first[0], second[0], (first[1], second[1]), max(a.spent_s, b.spent_s))


def _points(law: BatchedLaw, often: Whole) -> tuple[Array, Array]:
    """Quantiles of all observations, and of each batch as `often` as it was drawn (DRAWS, batches)."""
    middle = (law.low + law.high) / 2
    order = np.argsort(middle)
    x, w, batch = middle[order], law.weight[order], law.batch[order]
    levels = (np.arange(POINTS) + 0.5) / POINTS
    found = [_weighted(x, w, levels), *(_weighted(x, w * draw[batch], levels) for draw in often)]
    return found[0], np.stack(found[1:])


def _weighted(x: Array, w: Array, levels: Array) -> Array:
    reached = np.cumsum(w)
    if reached[-1] <= 0:
        return np.full(len(levels), math.nan)
    return x[np.minimum(np.searchsorted(reached, levels * reached[-1]), len(x) - 1)]


def _sums(a: Array, b: Array) -> Array:
    return (a[:, None] + b[None, :]).ravel()
