"""Weighted nonlinear least squares of a model's unknowns: many data sets in step, by Gauss and Newton within bounds.

An unknown is searched by its logarithm, or linearly where its `low` is 0. Source: G. A. F. Seber, C. J. Wild, Nonlinear
Regression (1989), 2.1.3 and 14.1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, least_squares

from sojourn.fit.bounded_least_squares import bounded_steps
from sojourn.fit.searches_in_step import in_step
from sojourn.model.unknown_parameters import Unknown

Array = NDArray[np.float64]
Predicted = Callable[[Array], Array]  # values B x p → logarithms of what is measured, B x n
STEP, ROUNDS, LONGEST = 1e-4, 6, 1.0  # LONGEST: of a step of an unknown
SHORTER, WORSE = 0.25, 1e-6  # a step that makes it worse, by so much, is taken back and shortened
FAR = 69.0  # a search that goes beyond 1e30 or 1e-30 has nothing to find there, and a model takes no such numbers
NONE = 1e-18  # of the unit: 0, which a model can have, and not a number that is too small for one
NEAR = 0.01  # of what refits differ from the best by: a step that is shorter is the last


@dataclass(frozen=True)
class ParameterScale:
    """Between unknowns and what is searched: logarithms, or multiples of `unit` where 0 is allowed."""

    linear: NDArray[np.bool_]
    unit: Array
    low: Array
    high: Array

    @staticmethod
    def of(unknowns: Sequence[Unknown], start: Array) -> ParameterScale:
        linear = np.array([u.low == 0 for u in unknowns], bool)
        unit = np.where(linear, np.maximum(start, 1e-12), 1.0)
        low = np.array([max(u.low, 0.0) for u in unknowns])
        high = np.array([u.high for u in unknowns])
        with np.errstate(divide="ignore"):
            return ParameterScale(
                linear, unit, np.where(linear, low / unit, np.log(low)), np.where(linear, high / unit, np.log(high))
            )

    def inward(self, values: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.where(self.linear, values / self.unit, np.log(np.where(self.linear, 1.0, values)))

    def begun(self, values: Array) -> Array:
        """`values` inward, away from the bounds."""
        return np.clip(self.inward(values), self.low + 1e-6, self.high - 1e-6)

    def outward(self, x: Array) -> Array:
        linear = np.where(x < NONE, 0.0, x * self.unit)
        return np.where(self.linear, linear, np.exp(np.clip(np.where(self.linear, 0.0, x), -FAR, FAR)))


def fitted(predicted: Predicted, measured: Array, weight: Array, scale: ParameterScale, starts: Array) -> Array:
    """The best point, p, from several starts (rows of values); `measured` logarithms n, `weight` n. Of nothing unknown, nothing."""
    if not starts.shape[1]:
        return np.zeros(0)

    def search(start: Array, ask: Callable[[Array], tuple[Array, Array]]) -> OptimizeResult:
        last: dict[bytes, tuple[Array, Array]] = {}  # slopes are asked for after the residuals of the same point

        def both(x: Array) -> tuple[Array, Array]:
            if (key := x.tobytes()) not in last:
                last.clear()
                last[key] = ask(x.copy())
            return last[key]

        return least_squares(
            lambda x: weight * (both(x)[0] - measured),
            np.clip(scale.inward(start), scale.low + 1e-9, scale.high - 1e-9),
            lambda x: weight[:, None] * both(x)[1],
            bounds=(scale.low, scale.high),
            xtol=1e-8,
            ftol=1e-10,
        )

    found = in_step(
        lambda points: values_and_slopes(predicted, scale, np.stack(points)),
        [partial(search, start) for start in starts],
    )
    return np.asarray(min(found, key=lambda one: float(one.cost)).x)


def slopes(predicted: Predicted, scale: ParameterScale, x: Array) -> Array:
    """n x p, of the logarithms by what is searched."""
    return values_and_slopes(predicted, scale, x[None])[0][1]


def values_and_slopes(predicted: Predicted, scale: ParameterScale, points: Array) -> list[tuple[Array, Array]]:
    """At each of `points`, S x p: n logarithms, and n x p, their slopes by what is searched; all in one call, as most of what a few
    networks take is the same for more of them."""
    ups = np.where(points + STEP <= scale.high, STEP, -STEP)
    asked = np.concatenate([np.vstack([x, x + np.diag(up)]) for x, up in zip(points, ups, strict=True)])
    values = predicted(scale.outward(asked)).reshape(len(points), points.shape[1] + 1, -1)
    return [(one[0], np.asarray((one[1:] - one[0]).T / up)) for one, up in zip(values, ups, strict=True)]


def refitted(
    predicted: Predicted, measured: Array, weight: Array, scale: ParameterScale, x: Array, jacobian: Array
) -> Array:
    """B data sets (`measured` B x n, `weight` n or B x n) fitted in step from `x`, with the slopes there: B x p."""
    weights = np.broadcast_to(weight, measured.shape)
    found = np.broadcast_to(x, (len(measured), len(x))).copy()
    slopes = weight[..., None] * jacobian
    cost, last = np.full(len(measured), np.inf), found.copy()  # of the best point of each so far
    steps = np.zeros_like(found)
    close = np.zeros(len(x))
    todo = np.arange(len(measured))

    def gaps(which: NDArray[np.intp]) -> tuple[Array, NDArray[np.bool_]]:
        """What is left of these, and whether it is more than it was: beyond saturation the slopes lead nowhere."""
        gap = weights[which] * (measured[which] - predicted(scale.outward(found[which])))
        return gap, (gap**2).sum(axis=1) > cost[which] * (1 + WORSE)

    for _ in range(ROUNDS):
        gap, worse = gaps(todo)
        better = todo[~worse]
        cost[better], last[better] = (gap[~worse] ** 2).sum(axis=1), found[better]
        low, high = (np.clip(bound - last[better], -LONGEST, LONGEST) for bound in (scale.low, scale.high))
        steps[todo[worse]] *= SHORTER
        steps[better] = bounded_steps(slopes if slopes.ndim == 2 else slopes[better], gap[~worse], low, high)
        found[todo] = np.clip(last[todo] + steps[todo], scale.low, scale.high)
        close = np.maximum(close, NEAR * np.abs(found - x).mean(axis=0))
        todo = todo[(np.abs(steps[todo]) > close).any(axis=1)]
        if not len(todo):
            return found
    _, worse = gaps(todo)
    found[todo[worse]] = last[todo[worse]]
    return found
