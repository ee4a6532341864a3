"""The largest rate at which a fitted model meets an objective, for each of its draws.

A model is fitted to means. A quantile depends on the form of the response times too, which no mean tells. So the model's quantile is
multiplied by a factor that the runs tell: what they measured over what the model says at their rates. Its logarithm is taken as normal,
around 0 before any run; a run counts by how well it knows its quantile, and by how near it is to the answer. Where the method has no
quantiles the model's mean takes the place of its quantile, and nothing is believed of the factor beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from sojourn.capacity.estimate import Estimate
from sojourn.errors import SojournError
from sojourn.fit import FittedModel
from sojourn.plan.objective import Quantity
from sojourn.plan.predictor import Predictor, predictor_of
from sojourn.query.objectives import Objective

Array = NDArray[np.float64]
DRAWS = 200
POINTS = 25
FORM = 0.25  # standard deviation of the logarithm of the factor, before any run
VAGUE = 2.0  # the same, where the factor stands for the form itself
DRIFT = 0.3  # of it, for rates whose logarithms are 1 apart
AS_MEAN = 2.2  # error of a 99 % quantile over that of the mean: of an exponential law sqrt(0.99/0.01)/ln(100)
LEAST_ERROR = 0.02
SEED = 1


@dataclass(frozen=True)
class MeasuredFigures:
    """A run at a rate: figure (`mean`, `p99`) → s; `error`: relative standard error of its mean."""

    rate_per_s: float
    figures: Mapping[str, float]
    error: float


def quantity_of(one: Objective) -> Quantity:
    """Of `mean` or `pQ`."""
    return Quantity("response_time", q=None if one.figure == "mean" else one.q)


def limit_of(
    fitted: FittedModel,
    objectives: Sequence[Objective],
    measured: Sequence[MeasuredFigures],
    saturation_per_s: Estimate | None,
    level: float,
    settings: Mapping[str, float] | None = None,
) -> Estimate:
    """The largest rate in 1/s that meets all `objectives` (each `mean` or `pQ` with `<`), with its interval.

    `measured`: of the runs that were fitted. `settings`: factors of the service that are other than they were. Without objectives it is the
    rate of saturation. 0: at no rate.

    Raises:
        InputError, MethodRefused: the model does not tell a figure, or has no such factor.
    """
    own = dict(settings or {})
    predictor = predictor_of(fitted, {name: [value] for name, value in own.items()})
    plain = predictor_of(fitted, {}) if own else predictor
    asked = [_Asked.of(plain, one, measured) for one in objectives]
    most = _most(predictor, own, saturation_per_s, measured)
    rates = np.linspace(min(one.rate_per_s for one in measured) / 4, most, 2 * POINTS)
    limits = np.array([most])
    for _ in range(3):  # a grid of all rates, then of those that matter; the factor is that of the answer
        limits = _limits(predictor, own, asked, rates, float(np.median(limits)))
        ends = limits[np.isfinite(limits) & (limits > 0)]
        if not len(ends) or ends.max() <= ends.min():
            break
        rates = np.linspace(0.9 * ends.min(), min(1.05 * ends.max(), most), POINTS)
    low, middle, high = np.quantile(limits, [(1 - level) / 2, 0.5, (1 + level) / 2], method="nearest")
    return Estimate(float(middle), float(low), float(high) if high < 0.999 * most else None)


@dataclass(frozen=True)
class _Asked:
    """A figure and its limit in s; by run: its rate, the logarithm of measured over predicted, the standard error of that; what is believed
    of it beforehand (standard deviation). `quantity`: what the model is asked for it."""

    limit_s: float
    quantity: Quantity
    rates: Array
    logs: Array
    errors: Array
    before: float

    @staticmethod
    def of(predictor: Predictor, one: Objective, measured: Sequence[MeasuredFigures]) -> _Asked:
        mean = Quantity("response_time")
        none = np.array([])
        if one.figure == "mean":  # the fit has seen it
            return _Asked(one.limit, mean, none, none, none, 0.0)
        known = [m for m in measured if m.figures.get(one.figure)]
        rates = np.array([m.rate_per_s for m in known])
        quantity, before = quantity_of(one), FORM
        try:
            said = _said(predictor, rates, quantity)
        except SojournError:
            quantity, before = mean, VAGUE
            said = _said(predictor, rates, mean)
        ok = np.isfinite(said) & (said > 0)
        logs = np.log(np.array([m.figures[one.figure] for m in known])[ok] / said[ok])
        errors = np.array([max(AS_MEAN * m.error, LEAST_ERROR) for m in known])[ok]
        return _Asked(one.limit, quantity, rates[ok], logs, errors, before)

    def factors(self, rate_per_s: float, count: int) -> Array:
        """`count` draws of the factor, at a rate."""
        if not self.before:
            return np.ones(count)
        away = DRIFT * np.log(self.rates / rate_per_s)
        known = 1 / (self.errors**2 + away**2)
        precision = known.sum() + 1 / self.before**2
        at = np.random.default_rng(SEED).permutation((np.arange(count) + 0.5) / count)
        return np.asarray(np.exp(known @ self.logs / precision + stats.norm.ppf(at) / np.sqrt(precision)))


def _said(predictor: Predictor, rates: Array, quantity: Quantity) -> Array:
    found = predictor.values([{}], rates, [quantity], min(DRAWS, predictor.draws))[quantity][:, 0, :]
    return np.asarray(np.median(np.where(np.isnan(found), np.inf, found), axis=0))


def _most(
    predictor: Predictor,
    settings: Mapping[str, float],
    saturation: Estimate | None,
    measured: Sequence[MeasuredFigures],
) -> float:
    """A rate that no draw bears: twice and more until none is stable."""
    rate = max([one.rate_per_s for one in measured] or [1.0])
    if saturation is not None:
        rate = max(rate, saturation.value)
    wanted = Quantity("response_time")
    for _ in range(16):
        rate *= 2
        found = predictor.values([settings], np.array([rate]), [wanted], min(DRAWS, predictor.draws))[wanted]
        if not np.isfinite(found).any():
            return rate
    return rate


def _limits(
    predictor: Predictor, settings: Mapping[str, float], asked: Sequence[_Asked], rates: Array, answer_per_s: float
) -> Array:
    """By draw: where the first figure is above its limit, between the rates. Without any: where it saturates."""
    mean = Quantity("response_time")
    wanted = list(dict.fromkeys([one.quantity for one in asked] or [mean]))
    found = predictor.values([settings], rates, wanted, min(DRAWS, predictor.draws))
    count = len(found[wanted[0]])  # of an average, models that do not tell a quantile are left out
    if not asked:
        return _crossings(rates, found[mean][:, 0, :], math.inf)
    each = [one.factors(answer_per_s, count)[:, None] * found[one.quantity][:, 0, :] for one in asked]
    return np.min([_crossings(rates, values, one.limit_s) for one, values in zip(asked, each, strict=True)], axis=0)


def _crossings(rates: Array, values: Array, limit: float) -> Array:
    """By row: the first rate at which `values` is above `limit`, or none; linear in 1/value between two rates."""
    bad = ~(values <= limit) if math.isfinite(limit) else ~np.isfinite(values)
    first = np.where(bad.any(axis=1), bad.argmax(axis=1), len(rates))
    found = np.empty(len(values))
    for row, k in enumerate(first):
        if k == len(rates):
            found[row] = rates[-1]
        elif k == 0:
            found[row] = 0.0  # at no rate
        else:
            before = 1 / values[row, k - 1]
            after = 1 / values[row, k] if np.isfinite(values[row, k]) else 0.0
            wanted = 1 / limit if math.isfinite(limit) else 0.0
            share = (before - wanted) / (before - after) if before > after else 0.5
            found[row] = rates[k - 1] + min(max(share, 0.0), 1.0) * (rates[k] - rates[k - 1])
    return found
