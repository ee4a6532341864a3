"""The largest rate at which a fitted model meets an objective, for each of its draws.

A model is fitted to means. A quantile depends on the form of the response times too, which no mean tells. So the model's quantile is
multiplied by a factor that the runs tell: what they measured over what the model says at their rates. Its logarithm is taken as normal,
a straight line in that of the rate, around 0 before any run; a run counts by how well it knows its quantile (linear regression with a
normal prior: Gelman et al., Bayesian Data Analysis (2013), 14.8). Each draw of the model has a factor of its own: where runs are near the
answer they tell the level, and the model the form alone. A mean has such a factor, too, of little freedom. Where the method has no
quantiles they are made of its means (`quantiles_by_means`), and less is believed of the factor beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from sojourn.capacity.quantiles_by_means import quantiles_by_means
from sojourn.capacity.rate_interval import RateInterval
from sojourn.errors import SojournError
from sojourn.fit import FittedModel
from sojourn.fit.drawn_quantiles import of_mean
from sojourn.fit.model_averaging import quantiles
from sojourn.plan.objective import Quantity
from sojourn.plan.predictor import Predictor, predictor_of
from sojourn.query.objectives import Objective

Array = NDArray[np.float64]
DRAWS = 200
FIRST_DRAWS, FIRST_POINTS = 60, 16  # that tell where the rates are that matter, and a median
POINTS = 24  # among these
ROOM = 1.5  # of the upper end of saturation: a rate that hardly any draw bears
FORM = 0.25  # standard deviation of the logarithm of the factor, before any run
VAGUE = 2.0  # both in these units, where the quantile was made of means
OWN = 0.1  # the same, of a mean
SLOPE = 0.5  # standard deviation of its slope over the logarithm of the rate, before any run
CALIBRATED = 0.85  # of the width in the logarithm, before the machine's part: docs/decisions/0048
STATED = 4  # degrees of freedom with which runs are believed to differ by what they state (Gelman et al. (2013), 2.6)
WIDENINGS = 4  # of the rates that are looked at, where an end of the interval is one of theirs
LEAST_ERROR = 0.02
# both were set after seed 711 of the bench, which they mended, and are judged by nothing: where nobody waits, what is said of waiting grows
# beyond what a quantile can be off by
MOST_ERROR = 0.5
LEAST_WAITING = 0.2  # of a mean, in that error: where nobody waits a quantile is the spread of what a request takes
SEED = 1


@dataclass(frozen=True)
class MeasuredFigures:
    """A run at a rate: figure (`p99`) → s; its mean in s with the relative standard `error` of that; `errors`: those of the figures that
    the run itself tells."""

    rate_per_s: float
    figures: Mapping[str, float]
    error: float
    mean_s: float = 0.0
    errors: Mapping[str, float] = field(default_factory=dict)

    def error_of(self, figure: str, least_s: float) -> float:
        """Relative standard error of a quantile, as the run itself tells it; else by its mean, where `least_s` is what a request takes that
        waits for nobody: what is uncertain is the waiting, of which a quantile has more than a mean."""
        value_s = self.figures[figure]
        if own := self.errors.get(figure):
            return max(own, LEAST_ERROR)
        as_mean = of_mean(float(figure[1:]) / 100) if figure[0] == "p" else 1.0
        if not self.mean_s:
            return max(as_mean * self.error, LEAST_ERROR)
        more = max(value_s - least_s, 0.0) / max(self.mean_s - least_s, self.mean_s * LEAST_WAITING)
        return min(max(as_mean * self.error * self.mean_s * more / value_s, LEAST_ERROR), MOST_ERROR)


def quantity_of(one: Objective) -> Quantity:
    """Of `mean` or `pQ`."""
    return Quantity("response_time", q=None if one.figure == "mean" else one.q)


def limit_of(
    fitted: FittedModel,
    objectives: Sequence[Objective],
    measured: Sequence[MeasuredFigures],
    saturation_per_s: RateInterval | None,
    level: float,
    settings: Mapping[str, float] | None = None,
    weights: Array | None = None,
) -> RateInterval:
    """The largest rate in 1/s that meets all `objectives` (each `mean` or `pQ` with `<`), with its interval.

    `measured`: of the runs that were fitted. `settings`: factors of the service that are other than they were. `weights`: of the draws
    [equal]. Without objectives it is the rate of saturation. 0: at no rate.

    Raises:
        InputError, MethodRefused: the model does not tell a figure, or has no such factor.
    """
    own = dict(settings or {})
    predictor = predictor_of(fitted, {name: [value] for name, value in own.items()})
    plain = predictor_of(fitted, {}) if own else predictor
    asked = [_Asked.of(plain, one, measured) for one in objectives]
    most = _most(predictor, own, saturation_per_s, measured)
    first = np.geomspace(min(one.rate_per_s for one in measured) / 4, most, FIRST_POINTS)
    highest = max(one.rate_per_s for one in measured)
    told = _limits(predictor, own, asked, first, highest, FIRST_DRAWS)
    low, answer, high = _least_of(told, level)
    # those that matter; the factor is that of the answer
    least, greatest = max(0.8 * low, first[0]), min(1.2 * high, most)
    for _ in range(WIDENINGS):
        rates = np.linspace(least, greatest, POINTS)
        limits = _limits(predictor, own, asked, rates, answer, DRAWS)
        low, middle, high = _least_of(limits, level, weights)
        below, above = low <= least > first[0], high >= greatest < most
        if not (below or above):
            break
        least, greatest = max(least / 2, first[0]) if below else least, min(2 * greatest, most) if above else greatest
    if rates[0] == first[0]:
        limits = np.where(limits <= rates[0], 0.0, limits)  # at no rate
        low, middle, high = _least_of(limits, level, weights)
    found = RateInterval(float(middle), float(low), float(high) if high < 0.999 * most else None)
    return found.scaled(CALIBRATED).with_machine(level)


@dataclass(frozen=True)
class _Asked:
    """A figure and its limit in s; by run: its rate, the logarithm of measured over predicted (draws x runs), the standard error of
    that; what is believed of the factor beforehand and of its slope (standard deviations). `quantity`: what the model is asked for it;
    `made`: the quantile that is made of means, where that is the mean."""

    limit_s: float
    quantity: Quantity
    rates: Array
    logs: Array
    errors: Array
    before: float
    slope: float = SLOPE
    made: float | None = None

    @staticmethod
    def of(predictor: Predictor, one: Objective, measured: Sequence[MeasuredFigures]) -> _Asked:
        mean = Quantity("response_time")
        if one.figure == "mean":  # the fit has seen it; the model's own error is put right where runs are near
            measured = [MeasuredFigures(m.rate_per_s, {"mean": m.mean_s}, m.error, m.mean_s) for m in measured]
        known = [m for m in measured if m.figures.get(one.figure)]
        rates = np.array([m.rate_per_s for m in known])
        quantity, before, slope, made = quantity_of(one), FORM, SLOPE, None
        least_s = min((m.mean_s for m in known), default=0.0)
        # where no run has the figure, whether the model tells it is asked at their rates
        at = rates if len(rates) else np.array([m.rate_per_s for m in measured])
        said = _told(predictor, at, quantity)
        values = np.array([m.figures[one.figure] for m in known])
        errors = np.array([m.error_of(one.figure, least_s) for m in known])
        if one.figure == "mean":
            before, errors = OWN, np.array([max(m.error, LEAST_ERROR) for m in known])
        if said is None:
            quantity, before, slope, made = mean, VAGUE * FORM, VAGUE * SLOPE, one.q
            said = quantiles_by_means(predictor, {}, at, one.q, DRAWS)
        said = said[:, : len(rates)]
        middle = np.median(said, axis=0)
        ok = np.isfinite(middle) & (middle > 0) & (values > 0)
        # a draw that is full where a run was not says nothing there of the form
        said = np.where(np.isfinite(said) & (said > 0), said, middle)
        logs = np.log(values[ok] / said[:, ok])
        if one.figure == "mean":  # the mean of a logarithm is below the logarithm of the mean
            logs = logs + errors[ok] ** 2 / 2
        return _Asked(one.limit, quantity, rates[ok], logs, errors[ok], before, slope, made)

    def factors(self, rates_per_s: Array, around_per_s: float, count: int) -> Array:
        """`count` draws of the factor at each rate, a line around one of them: each of what its own draw of the model says at rates that
        were run, so that a draw has the level of the runs where these are near, at low rates too; of fewer draws than there are the median
        stands for all."""
        lowest = self.rates.min() if len(self.rates) else 0.0  # below it the factor is that of the lowest run
        away = np.log(np.maximum(rates_per_s, lowest) / around_per_s)
        if not len(self.rates):
            return np.asarray(
                np.exp(self.before * _normal(count)[:, None] + self.slope * _normal(count, 0, 1)[:, None] * away)
            )
        terms = np.stack([np.ones(len(self.rates)), np.log(self.rates / around_per_s)])
        weighted = terms / self.errors**2
        before = np.diag([1 / self.before**2, 1 / self.slope**2])
        covariance = np.linalg.inv(weighted @ terms.T + before)
        logs = self.logs if count == len(self.logs) else np.median(self.logs, axis=0)[None]
        middle = np.median(self.logs, axis=0)
        left = (middle - (covariance @ weighted @ middle) @ terms) / self.errors
        degrees = STATED + len(self.rates) - 1
        weighted = weighted / (
            (STATED + float(left @ left)) / degrees
        )  # runs differ by more than they state, or by less
        covariance = np.linalg.inv(weighted @ terms.T + before)
        lower = np.linalg.cholesky(covariance)
        drawn = np.stack([_normal(count, degrees), _normal(count, degrees, 1)], axis=1) @ lower.T
        level, slope = (logs @ (covariance @ weighted).T + drawn).T
        return np.asarray(np.exp(level[:, None] + slope[:, None] * away))


def _normal(count: int, degrees: int = 0, number: int = 0) -> Array:
    """Values of a standard normal law, or of Student's of so many degrees of freedom, as its quantiles in a random order; by `number` in
    another."""
    at = np.random.default_rng(SEED + number).permutation((np.arange(count) + 0.5) / count)
    return np.asarray(stdtrit(degrees, at) if degrees else ndtri(at))


def _told(predictor: Predictor, rates: Array, quantity: Quantity) -> Array | None:
    """The quantile at the rates; None where the model, or one of those that are averaged, does not tell it: the rest is no fair sample."""
    before = set(getattr(predictor, "left_out", ()))
    try:
        said = _said(predictor, rates, quantity)
    except SojournError:
        return None
    return None if set(getattr(predictor, "left_out", ())) - before else said


def _said(predictor: Predictor, rates: Array, quantity: Quantity) -> Array:
    found = predictor.values([{}], rates, [quantity], min(DRAWS, predictor.draws))[quantity][:, 0, :]
    return np.asarray(np.where(np.isnan(found), np.inf, found))


def _most(
    predictor: Predictor,
    settings: Mapping[str, float],
    saturation: RateInterval | None,
    measured: Sequence[MeasuredFigures],
) -> float:
    """A rate that hardly any draw bears: by saturation, else twice and more until none is stable."""
    rate = max([one.rate_per_s for one in measured] or [1.0])
    if saturation is not None and saturation.high is not None:
        return ROOM * max(rate, saturation.high)
    if saturation is not None:
        rate = max(rate, saturation.value)
    wanted = Quantity("response_time")
    for _ in range(16):
        rate *= 2
        found = predictor.values([settings], np.array([rate]), [wanted], min(FIRST_DRAWS, predictor.draws))[wanted]
        if not np.isfinite(found).any():
            return rate
    return rate


def _limits(
    predictor: Predictor,
    settings: Mapping[str, float],
    asked: Sequence[_Asked],
    rates: Array,
    answer_per_s: float,
    draws: int,
) -> Array:
    """Figures x draws: where each is above its limit, between the rates. Without any: one row, where it saturates."""
    mean = Quantity("response_time")
    wanted = list(dict.fromkeys(one.quantity for one in asked if one.made is None)) if asked else [mean]
    found = predictor.values([settings], rates, wanted, min(draws, predictor.draws)) if wanted else {}
    if not asked:
        return _crossings(rates, found[mean][:, 0, :], math.inf)[None]
    limits = []
    for one in asked:
        if (quantile := one.made) is None:
            told = found[one.quantity][:, 0, :]
        else:
            told = quantiles_by_means(predictor, settings, rates, quantile, draws)
        limits.append(_crossings(rates, one.factors(rates, answer_per_s, len(told)) * told, one.limit_s))
    return np.stack(limits)


def _least_of(limits: Array, level: float, weights: Array | None = None) -> tuple[float, float, float]:
    """The least of several figures' rates (figures x draws): its lower end, median and upper end. How errors of the figures depend on each
    other no run says. So the ends hold whatever the dependence: below the lower end lies at most a tail of all the figures together
    (Bonferroni's inequality), above the upper end at most a tail of the figure that has the lowest. `weights`: of the draws."""
    tail, count = (1 - level) / 2, len(limits)
    if (
        weights is None or len(weights) != limits.shape[1]
    ):  # a model that is averaged did not answer: these are other draws
        weights = np.ones(limits.shape[1])
    (low,) = quantiles(limits.ravel(), np.tile(weights, count), [tail / count])
    high = min(quantiles(row, weights, [1 - tail])[0] for row in limits)
    (middle,) = quantiles(limits.min(axis=0), weights, [0.5])
    return float(low), float(middle), float(high)


def _crossings(rates: Array, values: Array, limit: float) -> Array:
    """By row: the largest rate up to which `values` is at most `limit`, or none; linear in 1/value between two rates. A figure that is met
    at a rate is met below it: what a draw says of low rates, of which runs may tell little, does not count against that."""
    values = np.minimum.accumulate(np.where(np.isnan(values), np.inf, values)[:, ::-1], axis=1)[:, ::-1]
    bad = ~(values <= limit) if math.isfinite(limit) else ~np.isfinite(values)
    first = np.where(bad.any(axis=1), bad.argmax(axis=1), len(rates))
    found = np.empty(len(values))
    for row, k in enumerate(first):
        if k == len(rates):
            found[row] = rates[-1]
        elif k == 0:
            found[row] = rates[0]
        else:
            before = 1 / values[row, k - 1]
            after = 1 / values[row, k] if np.isfinite(values[row, k]) else 0.0
            wanted = 1 / limit if math.isfinite(limit) else 0.0
            share = (before - wanted) / (before - after) if before > after else 0.5
            found[row] = rates[k - 1] + min(max(share, 0.0), 1.0) * (rates[k] - rates[k - 1])
    return found
