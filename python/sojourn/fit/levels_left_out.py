"""What the model is off by, by distance: whole levels of one factor are left out, fitted without, and foretold.

The levels of a factor are cut in two, in the middle and before the last, from above and from below. What lies beyond the cut is foretold
by a fit to the others. Logarithms of the demand, e, are then off by N(0, V + s² d d'), d the distances, V what is known: what runs differ
by about that fit, and the covariance of unknowns that are told by it alone. The slope b = d'V⁻¹e / d'V⁻¹d
has all that e tells of s, and is N(0, 1/d'V⁻¹d + s²) (generalised least squares: G. A. F. Seber, Linear Regression Analysis (1977), 3.6).

Unknowns that the others alone do not tell have a large variance there, so that such a cut says nothing: V is found with `LITTLE` of
the information of all runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sojourn.fit import nonlinear_least_squares
from sojourn.fit.factor_distance import LOAD, beyond, is_load
from sojourn.fit.fit_problem import FitProblem
from sojourn.fit.model_error import ModelErrorPosterior

Array = NDArray[np.float64]
LITTLE = 1e-4  # of the information of all runs
OFF = 2.0  # of a demand, logarithm: beyond saturation the slopes lead nowhere
SAME = 1e-9


@dataclass(frozen=True)
class LevelCut:
    """`factor`, `far`: the distance of each configuration from those that are kept, n; 0 of these."""

    factor: str
    far: Array


def load_range(data: FitProblem, x: Array) -> tuple[float, float] | None:
    """Least and most share of the saturation rate of the configurations; None where load is no share of one: a class is closed, or
    nothing saturates."""
    share = _shares(data, x)
    return (float(share.min()), float(share.max())) if share.max() > 0 and np.isfinite(share).all() else None


def error_growth(data: FitProblem, x: Array, jacobian: Array, sensitivity: Array) -> dict[str, ModelErrorPosterior]:
    """Factor → what is believed of the growth of the model's error with the distance; "" of those that do not tell it. `x`, `jacobian` at
    the best, `sensitivity` n of what was measured."""
    found = {"": ModelErrorPosterior.of_growth(np.array([]), np.array([])),
             LOAD: ModelErrorPosterior.of_growth(np.array([]), np.array([]), load=True)}  # fmt: skip
    cuts = list(_cuts(data, x))
    if not cuts:
        return found
    left = np.stack([cut.far > 0 for cut in cuts])[:, data.of]
    weights = np.where(left, 0.0, data.weight[None])
    sets = np.broadcast_to(data.measured, weights.shape)
    values = nonlinear_least_squares.refitted(data.predicted, sets, weights, data.scale, x, jacobian)
    guess = data.predicted(data.scale.outward(values))
    told: dict[str, list[tuple[float, float]]] = {}
    for number, cut in enumerate(cuts):
        own = left[number] & np.array([s.key[2] == "response_time" for s in data.seen])
        if own.any():
            gap = data.measured - guess[number]
            known = _known(data, jacobian, weights[number], gap, own) / np.outer(sensitivity[own], sensitivity[own])
            error = np.clip(gap[own] / sensitivity[own], -OFF, OFF)
            told.setdefault(cut.factor, []).append(_slope(cut.far[data.of[own]], known, error))
    for factor, each in told.items():
        squares, variance = np.array(each).T
        load = factor == LOAD or is_load(data.model, factor)
        found[factor] = ModelErrorPosterior.of_growth(squares, variance, load)
    return found


def drawn_growth(growth: Mapping[str, ModelErrorPosterior], count: int, seed: int) -> dict[str, tuple[float, ...]]:
    """Factor → `count` draws of the logarithm of all demands by the unit of distance."""
    rng = np.random.default_rng([seed, 3])
    return {factor: tuple(known.errors(count, rng).tolist()) for factor, known in growth.items()}


def _shares(data: FitProblem, x: Array) -> Array:
    """Of each configuration."""
    share = data.evaluator.at(data.scale.outward(x)[None]).share
    return np.array([share[data.at[data.of == i][0]] if (data.of == i).any() else 0.0 for i in range(len(data.each))])


def _cuts(data: FitProblem, x: Array) -> Iterator[LevelCut]:
    by_share = load_range(data, x) is not None
    given = {name: [run.factors.get(name) for run in data.each] for name in data.each[0].factors}
    numbers = {
        name: np.array(values, float)
        for name, values in given.items()
        if all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
        and not (by_share and is_load(data.model, name))
    }
    if by_share:
        numbers[LOAD] = _shares(data, x)
    for name, values in numbers.items():
        for kept in _kept(values, len(data.paths)):
            yield LevelCut(name, np.where(kept, 0.0, beyond(values, values[kept], float(values.max()))))


def _kept(values: Array, least: int) -> Iterator[NDArray[np.bool_]]:
    """Which configurations are kept by each cut; as many as `least`."""
    levels = np.unique(values)
    levels = levels[np.append(True, np.diff(levels) > SAME * np.abs(levels).max())]
    for size in sorted({-(-len(levels) // 2), len(levels) - 1} - {0, len(levels)}):
        for kept in (values <= levels[size - 1] * (1 + SAME), values >= levels[-size] * (1 - SAME)):
            if kept.sum() >= least and not kept.all():
                yield kept


def _known(data: FitProblem, jacobian: Array, weight: Array, gap: Array, own: NDArray[np.bool_]) -> Array:
    """V of what was left out; `weight` 0 there, `gap` what is measured less what is foretold, both n."""
    kept = weight > 0
    free = max(int(kept.sum()) - jacobian.shape[1], 1)
    spread = max(float(((weight * gap) ** 2).sum()) / free, 1.0)  # of the runs about the fit to the others
    whole, some = data.weight[:, None] * jacobian, weight[:, None] * jacobian
    covariance = np.linalg.pinv(some.T @ some + LITTLE * whole.T @ whole)
    return np.asarray(spread * (np.diag(data.weight[own] ** -2) + jacobian[own] @ covariance @ jacobian[own].T))


def _slope(far: Array, known: Array, error: Array) -> tuple[float, float]:
    """b, squared, and its variance."""
    weighted = np.linalg.solve(known, far)
    information = max(float(weighted @ far), 1e-12)
    return (float(weighted @ error) / information) ** 2, 1 / information
