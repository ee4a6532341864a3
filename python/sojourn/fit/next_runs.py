"""`next_runs`: the runs that would teach most about the unknowns, by the determinant of their information (D-optimal).

Source: V. V. Fedorov, Theory of Optimal Experiments (1972), ch. 3: one run after another, each where the determinant of
sum J'J grows most; J has the slopes of the logarithms of what a run measures by what is searched, by their errors.
Candidates are combinations of levels of the factors: between the least and the most of the runs, and a third beyond, but
below 0.9 of saturation.

Of a model with alternatives the runs are asked for that tell these apart, each configuration once: where, on average over the
candidates, what they predict differs least afterwards (D. A. Cohn, Z. Ghahramani, M. I. Jordan: Active Learning with Statistical
Models. J. Artif. Intell. Res. 4, 1996, pp. 129-145), the differences taken as normal. A setting that never changed is halved and doubled
too.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import polars as pl

from sojourn.errors import InputError
from sojourn.fit import nonlinear_least_squares
from sojourn.fit.fitted_model import FittedModel
from sojourn.fit.fitted_model_data import FittedModelData
from sojourn.fit.model_evaluation import ModelEvaluator
from sojourn.fit.run_measurements import FLOOR

LEVELS, BEYOND, MOST_SHARE, MOST = 8, 4 / 3, 0.9, 400
MOST_APART = 1.5  # logarithms of response times that differ by more are told apart anyway


def next_runs(fitted: FittedModel, count: int = 3) -> pl.DataFrame:
    """`count` runs, the best first: a column a factor, and `narrower`, by how much the intervals of all unknowns together
    get narrower (geometric mean), or those of predictions where several models are averaged. Raises InputError for a count below
    1."""
    if count < 1:
        raise InputError(count, "next", "give 1 or more")
    if fitted.alternatives:
        return _telling_apart(fitted, count)
    options = _options(fitted)
    evaluator = ModelEvaluator(fitted.template, options)
    values = np.array([[fitted.estimates[p].value for p in fitted.paths]])
    share = evaluator.at(values).share
    scale = nonlinear_least_squares.ParameterScale.of(list(evaluator.unknowns.values()), values[0])
    x = scale.inward(values[0])
    keys = [("", "", "response_time")] + [(s, "", "busy") for s in fitted.template.observed]
    slopes = _slopes(evaluator, scale, x, keys, len(options))
    now = np.zeros((len(x), len(x))) + 1e-9 * np.eye(len(x))
    for one in fitted.configurations:
        if dict(one) in options:
            now += slopes[options.index(dict(one))]
    rows: list[dict[str, Any]] = []
    for _ in range(count):
        before = np.linalg.slogdet(now)[1]
        gain = [np.linalg.slogdet(now + s)[1] if share[i] < MOST_SHARE else -np.inf for i, s in enumerate(slopes)]
        best = int(np.argmax(gain))
        now = now + slopes[best]
        rows.append({**options[best], "narrower": float(1 - np.exp((before - gain[best]) / 2 / len(x)))})
    return pl.DataFrame(rows, infer_schema_length=None)


def _telling_apart(fitted: FittedModel, count: int) -> pl.DataFrame:
    options = _options(fitted, settings=True)
    models = fitted.weighted
    weight = np.array([weight for weight, _ in models])
    found = [_responses(model, options) for _, model in models]
    logs = np.stack([log for log, _ in found])
    possible = np.max([share for _, share in found], axis=0) < MOST_SHARE
    apart = np.clip(logs - weight @ logs, -MOST_APART, MOST_APART)
    covariance = (weight[:, None] * apart).T @ apart
    error = np.hypot(FLOOR["response_time"], fitted.noise.get("response_time", 0.0))
    rows: list[dict[str, Any]] = []
    for _ in range(min(count, int(possible.sum()))):
        gain = (covariance**2).sum(axis=0) / (np.diag(covariance) + error**2)
        best = int(np.argmax(np.where(possible, gain, -np.inf)))
        possible[best] = False  # a second run there tells its noise, and not whether both models are wrong elsewhere
        before = max(float(np.trace(covariance)), 1e-12)
        covariance = covariance - np.outer(covariance[:, best], covariance[best]) / (covariance[best, best] + error**2)
        left = max(float(np.trace(covariance)), 0.0)
        rows.append({**options[best], "narrower": float(1 - np.sqrt(min(left / before, 1.0)))})
    return pl.DataFrame(rows, infer_schema_length=None)


def _responses(model: FittedModelData, options: list[dict[str, Any]]) -> tuple[np.ndarray, np.ndarray]:
    """Logarithms of response times and shares of saturation, an option each; settings that change nothing are left out."""
    known = {*model.template.factors, "rate_per_s", "users", "think_s"}
    own = [{name: value for name, value in one.items() if name in known} for one in options]
    found = ModelEvaluator(model.template, own).at(np.array([[model.estimates[p].value for p in model.paths]]))
    return np.log(found.values["", "", "response_time"]), found.share


def _options(fitted: FittedModel, settings: bool = False) -> list[dict[str, Any]]:
    """The configurations of the runs, and combinations of levels; `settings`: a number of the service that never changed is
    halved and doubled."""
    names = list(dict.fromkeys(name for one in fitted.configurations for name in one))
    levels: list[list[Any]] = []
    for name in names:
        seen = sorted({one[name] for one in fitted.configurations if name in one}, key=lambda v: (str(type(v)), v))
        numbers = [v for v in seen if isinstance(v, int | float) and not isinstance(v, bool)]
        if len(numbers) < 2 or len(numbers) < len(seen):
            one = numbers[0] if settings and numbers and isinstance(numbers[0], int) else 0
            levels.append(seen if not one else sorted({max(one // 2, 1), one, 2 * one}))
            continue
        grid = np.linspace(numbers[0], numbers[-1] * BEYOND, LEVELS)
        whole = all(isinstance(v, int) for v in numbers)
        levels.append(list(dict.fromkeys(round(v) for v in grid)) if whole else [float(f"{v:.3g}") for v in grid])
    made = [dict(zip(names, values, strict=True)) for values in product(*levels)][:MOST]
    known = [dict(one) for one in fitted.configurations]
    return list({repr(one): one for one in [*known, *made]}.values())


def _slopes(
    evaluator: ModelEvaluator,
    scale: nonlinear_least_squares.ParameterScale,
    x: np.ndarray,
    keys: list[tuple[str, str, str]],
    size: int,
) -> list[np.ndarray]:
    """The information of one run in each configuration."""

    def predicted(values: np.ndarray) -> np.ndarray:
        found = evaluator.at(values).values
        with np.errstate(divide="ignore", invalid="ignore"):
            rows = [np.nan_to_num(np.log(np.reshape(found[k], (-1, size)))) for k in keys]
        return np.concatenate(rows, axis=1)

    weight = np.repeat([1 / FLOOR[k[2]] for k in keys], size)
    jacobian = weight[:, None] * nonlinear_least_squares.slopes(predicted, scale, x)
    each = jacobian.reshape(len(keys), size, len(x))
    return [each[:, c].T @ each[:, c] for c in range(size)]
