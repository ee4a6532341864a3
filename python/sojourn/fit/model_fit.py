"""`fit_model`: runs and a model with unknowns → values, intervals, what the runs cannot tell, and how wrong the model is.

Fitted are the logarithms of mean response times, of throughputs where users are closed, and of what the resources of
`[observed]` were busy with, weighted by 1/(error within the run² + FLOOR²) (`problem`, `run_error`). Draws are refits to runs
whose residuals were given random weights (`clusters`), so that what differs from run to run is in the intervals. How wrong the model
is: each configuration is left out, fitted without, and predicted; `model_error` is the spread of the demands, all by one
factor, that explains what is left beyond the spread of the runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import chdtri, stdtrit

from sojourn.errors import InputError
from sojourn.fit import nonlinear_least_squares
from sojourn.fit.fit_problem import FitProblem
from sojourn.fit.fit_runs import FitRuns
from sojourn.fit.fitted import ParameterEstimate, check_level
from sojourn.fit.nonlinear_least_squares import ParameterScale
from sojourn.fit.run_clusters import RunClusters
from sojourn.model import Model
from sojourn.model.unknown_parameters import replaced
from sojourn.parallel import On
from sojourn.table import Metrics

if TYPE_CHECKING:
    from altair import LayerChart

Array = NDArray[np.float64]
DRAWS = 300
FURTHEST = 5.0  # of a draw from the best value, in what is searched: a factor of 150


@dataclass(frozen=True)
class FittedModel:
    """A model with its unknowns found.

    `estimates`: path → value, low, high at `level`. `draws`: count x paths, as wide as Student's t has it. `model_error`: standard
    deviation of the logarithm of one factor on all demands, mean of what is believed of it, None where too few configurations tell it;
    `noise`: of a new run's response time and throughput about its mean, by metric, `noise_degrees` of freedom where repetitions told it.
    `degrees`: runs less unknowns. `held_out`: a row a configuration that was left out, with relative errors by metric.
    `alternatives`: other models that predict about as well, with their weights in predictions, beside it (`averaged`).
    `factors`: count, the draws of that factor on all demands (`longer`).
    """

    model: Model  # with the values found
    template: Model  # with unknowns
    paths: tuple[str, ...]
    estimates: Mapping[str, ParameterEstimate]
    draws: Array
    model_error: float | None
    noise: Mapping[str, float]
    degrees: int
    held_out: tuple[Mapping[str, object], ...]
    configurations: tuple[Mapping[str, object], ...]
    level: float
    seed: int
    method: str
    message: str
    alternatives: tuple[tuple[float, FittedModel], ...] = ()
    factors: tuple[float, ...] | None = None
    noise_degrees: Mapping[str, float] = field(default_factory=dict)

    @property
    def longer(self) -> Array:
        """By draw: how many times as long all demands are as the model has them, by its own error; 1 where nothing is known of that. A
        file of an earlier version has one number, of `degrees`."""
        if self.factors is not None:
            return np.array(self.factors)
        drawn = np.random.default_rng(self.seed).standard_t(self.degrees, len(self.draws))
        return np.asarray(np.exp((self.model_error or 0.0) * drawn))

    @property
    def alone(self) -> FittedModel:
        """Without its alternatives."""
        return replace(self, alternatives=())

    def predict(self, vary: Mapping[str, Sequence[Any] | Any], level: float = 0.95) -> Metrics:
        """All combinations of `vary`, factor of the runs or path of the model → values; see `predict_model.predict_model`."""
        from sojourn.fit.model_averaging import predict_averaged
        from sojourn.fit.predict_model import predict_model

        return (predict_averaged if self.alternatives else predict_model)(self, vary, level)

    def validate(
        self, runs: FitRuns, level: float = 0.95, changed: Mapping[str, Any] | None = None, up_to: float | None = None
    ) -> pl.DataFrame:
        """Each run of `runs`: predicted, its prediction interval, measured, whether it lies inside; see
        `validate_model.validate_model`."""
        from sojourn.fit.validate_model import validate_model

        return validate_model(self, runs, level, changed, up_to)

    def plot(self, runs: FitRuns, metric: str = "response_time") -> LayerChart:
        """Predicted, with its prediction interval, against measured as an altair chart, a point a run and class. Runs that
        were fitted show training error, others held-out error. InputError for a metric that is not there."""
        from sojourn.report.chart import plot
        from sojourn.report.result_figures import agreement

        rows = self.validate(runs)
        return plot(agreement(rows.filter(pl.col("metric") == metric), metric, ("class",)))

    def write(self, path: Path | str) -> None:
        """One TOML file, which is the model with the values found too: `sojourn solve` takes it. Folders are made."""
        from sojourn.fit.fitted_file import to_toml

        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(to_toml(self), encoding="utf-8")

    @staticmethod
    def read(path: Path | str) -> FittedModel:
        """From `write`. Raises InputError or ModelError naming file and key."""
        from sojourn.fit.fitted_file import read

        return read(path)

    def __str__(self) -> str:
        from sojourn.fit.fitted_file import text

        return text(self)


def fit_model(
    runs: FitRuns, model: Model, level: float = 0.95, seed: int = 1, draws: int = DRAWS, *, on: On = None
) -> FittedModel:  # fmt: skip
    """Fits the unknowns of `model` to `runs`.

    level in (0, 1), draws 20 or more. `on` workers (`sojourn.parallel`) draws are solved in blocks, which pays where a fit takes
    many seconds. Raises InputError for an argument, FitError for a model without unknowns, a factor
    without a path, a station without its resource, fewer configurations than unknowns, and unknowns that the runs cannot
    tell apart: it names them, and what to vary. MethodRefused where no method solves such a model.
    """
    check_level(level)
    if draws < 20:
        raise InputError(draws, "draws", "give 20 or more")
    data = FitProblem(runs, model)
    with data.evaluator.on_workers(on):
        return _fitted(data, level, seed, draws)


def _fitted(data: FitProblem, level: float, seed: int, draws: int) -> FittedModel:
    runs, model = data.runs, data.model
    x, jacobian = data.best()
    data.told_apart(x, jacobian)
    rng = np.random.default_rng(seed)
    at_best = data.predicted(data.scale.outward(x)[None])[0]
    clusters = RunClusters.of(data.weight[:, None] * jacobian, data.run)
    sets = clusters.drawn(at_best, data.measured - at_best, data.weight, draws, rng)
    found = nonlinear_least_squares.refitted(data.predicted, sets, data.weight, data.scale, x, jacobian)
    best = data.scale.outward(x)
    estimates = _estimates(data, best, data.scale.outward(found), level, clusters.degrees)
    values = data.scale.outward(_widened(found, x, clusters.degrees, data.scale, rng))
    sensitivity = data.sensitivity(x)
    error, held = data.model_error(x, jacobian, sensitivity, found)
    noise, noise_degrees = data.noise(sensitivity)
    told = model
    for path, value in zip(data.paths, best, strict=True):
        told = replaced(told, path, float(value))
    message = "\n".join([f"solved by {data.evaluator.method.name}", *data.notes(x, clusters)])
    return FittedModel(
        told, model, tuple(data.paths), estimates, values, None if error is None else error.mean, noise,
        max(len(runs.runs) - len(x), 1), tuple(held), tuple(run.factors for run in data.each), level, seed,
        data.evaluator.method.name, message, factors=None if error is None else tuple(error.factors(draws, rng).tolist()),
        noise_degrees=noise_degrees,
    )  # fmt: skip


def _widened(found: Array, x: Array, degrees: Array, scale: ParameterScale, rng: np.random.Generator) -> Array:
    """Draws about `x` as wide as Student's t: their spread was estimated from few runs, with these degrees of freedom an unknown."""
    at = rng.permutation((np.arange(len(found)) + 0.5) / len(found))[:, None]
    by = np.sqrt(degrees / chdtri(degrees, at))
    return np.clip(x + np.clip(by * (found - x), -FURTHEST, FURTHEST), scale.low, scale.high)


def _estimates(
    data: FitProblem, best: Array, values: Array, level: float, degrees: Array
) -> dict[str, ParameterEstimate]:
    """Quantiles of the draws about the best value, as far out as Student's t has them for so few runs."""
    tail = (1 - level) / 2
    stretch = stdtrit(degrees, 1 - tail) / stdtrit(1e9, 1 - tail)
    found = {}
    for i, path in enumerate(data.paths):
        inner = data.scale.inward(values)[:, i]
        centre = data.scale.inward(best[None])[0, i]
        ends = centre + stretch[i] * (np.quantile(inner, [tail, 1 - tail]) - centre)
        clipped = np.clip(ends, data.scale.low[i], data.scale.high[i])
        full = np.broadcast_to(data.scale.inward(best[None])[0], (2, len(best))).copy()
        full[:, i] = clipped
        low, high = data.scale.outward(full)[:, i]
        found[path] = ParameterEstimate(float(best[i]), float(low), float(high))
    return found
