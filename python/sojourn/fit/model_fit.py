"""`fit`: runs and a model with unknowns → values, intervals, what the runs cannot tell, and how wrong the model is.

Fitted are the logarithms of mean response times, of throughputs where users are closed, and of what the resources of
`[observed]` were busy with, weighted by 1/(error within the run² + FLOOR²) (`fit_problem`, `run_mean_error`). Draws are refits to runs
with errors as residuals and runs themselves say (`estimate_spread`), so that what differs from run to run is in the intervals. How wrong
the model is: each configuration is left out, fitted without, and predicted; `model_error` is the spread of the demands, all by one
factor, that explains what is left beyond the spread of the runs, and `growth` what it grows by beyond what was fitted
(`levels_left_out`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from sojourn.errors import FitError, InputError
from sojourn.fit import errors_within_runs, nonlinear_least_squares, short_run_variance
from sojourn.fit.bounded_least_squares import nearest_within
from sojourn.fit.estimate_spread import EstimateSpread
from sojourn.fit.fit_problem import FitProblem
from sojourn.fit.fit_runs import FitRuns, observe_runs
from sojourn.fit.fitted_model import FittedModel
from sojourn.fit.formula_values import PART, needed_parameters
from sojourn.fit.left_out_variance import foretold
from sojourn.fit.levels_left_out import drawn_growth, error_growth, load_range
from sojourn.fit.measured_parameters import MeasuredValue, by_run, drawn_means, measured_values, with_draws, with_values
from sojourn.fit.nonlinear_least_squares import ParameterScale
from sojourn.fit.observed_time import until_s
from sojourn.fit.parameter_estimate import ParameterEstimate, check_level
from sojourn.fit.run_clusters import RunClusters
from sojourn.fit.unknown_intervals import intervals
from sojourn.former_keyword import former_keyword
from sojourn.model import Model
from sojourn.model.formulas import WholeFormula, formulas_of
from sojourn.model.unknown_parameters import replaced, unknowns
from sojourn.parallel import On
from sojourn.runs.run_folder import RunFolder
from sojourn.solve.load_dependent_times import check_dependent_times
from sojourn.units import USUAL_LEVEL

Array = NDArray[np.float64]
DRAWS = 300
STEP = 1e-4  # of a measured mean, relative, by which it is moved for its slope
FURTHEST = 5.0  # of a draw from the best value, in what is searched: a factor of 150


@former_keyword(on="parallel")
def fit(
    runs: FitRuns | Sequence[Path | str | RunFolder], model: Model,
    level: float = USUAL_LEVEL, seed: int = 1, draws: int = DRAWS, *, parallel: On = None
) -> FittedModel:  # fmt: skip
    """Fits the unknowns of `model` to `runs`. Where all of them are measured parameters nothing is searched: the values are the means
    of the runs, and what is told is how wrong the model is with them.

    level in (0, 1), draws 20 or more. On the workers `parallel` (`sojourn.parallel`) draws are solved in blocks, which pays where a fit
    takes many seconds. `runs`: as `observe_runs` makes them, or run folders.

    Raises InputError for an argument, FitError for a model without unknowns and measured parameters, a factor
    without a path, a station without its resource, fewer configurations than unknowns, and unknowns that the runs cannot
    tell apart: it names them, and what to vary. MethodRefused where no method solves such a model.
    """
    return fit_to_rank(runs, model, level, seed, draws, parallel).whole()


@dataclass(frozen=True)
class FitToRank:
    """A fit that is enough to rank models: its intervals are those of slopes, and its error does not grow beyond what was measured. What is
    missing takes a third of the time of a fit: intervals along profiles, `profiled`, and `grown`, `demand_error_growth`."""

    fitted: FittedModel
    profiled: Callable[[], Mapping[str, ParameterEstimate]]
    grown: Callable[[], Mapping[str, tuple[float, ...]]]

    def whole(self, fitted: FittedModel | None = None) -> FittedModel:
        """With them; `fitted`: the same fit of a model that says the same of these runs."""
        found = fitted or self.fitted
        return replace(found, estimates={**found.estimates, **self.profiled()}, demand_error_growth=self.grown())


def fit_to_rank(
    runs: FitRuns | Sequence[Path | str | RunFolder], model: Model, level: float, seed: int, draws: int,
    parallel: On = None,
) -> FitToRank:  # fmt: skip
    """What `fit` finds, but for what only predictions need. Raises as `fit` does."""
    check_level(level)
    if draws < 20:
        raise InputError(draws, "draws", "give 20 or more")
    runs = (runs if isinstance(runs, FitRuns) else observe_runs(runs)).of(model)
    _check_parameters(runs, model)
    measured = measured_values(runs, model)
    if not measured and not unknowns(model):
        raise FitError("no unknown", "model", "write { free = true } in place of a number to be fitted")
    data = FitProblem(runs, with_values(model, measured), by_run(measured, len(runs.runs)))
    with data.evaluator.on_workers(parallel):
        drawn = drawn_means(measured, draws, seed)
        moved = _Moved(runs, model, measured, drawn)
        found = _fitted(data, level, seed, draws, moved)
        return replace(found, fitted=with_draws(found.fitted, measured, drawn))


def _check_parameters(runs: FitRuns, model: Model) -> None:
    """Raises FitError for an unknown that the runs have as a factor, and one that a whole number is made of."""
    free = {path.removeprefix(PART) for path in unknowns(model) if path.startswith(PART)}
    for name in sorted(free & {name for run in runs.runs for name in run.factors}):
        raise FitError(f"{name} is a factor of the runs", f"parameters.{name}", "give a number, which the runs replace")
    needs = needed_parameters(model)
    for path, formula in formulas_of(model.__dict__):
        if isinstance(formula, WholeFormula) and (
            own := free & {n for f in formula.arithmetic.names for n in needs[f]}
        ):
            remedy = "give its value, or vary it between the runs: a whole number cannot be fitted"
            raise FitError(f"{formula.text} depends on {', '.join(sorted(own))}", path, remedy)


@dataclass(frozen=True)
class _Moved:
    """By how much the unknowns move where a measured mean is another: to first order in it, draws x unknowns."""

    runs: FitRuns
    model: Model
    measured: Mapping[str, MeasuredValue]
    drawn: Mapping[str, Array]

    def of(self, data: FitProblem, x: Array, jacobian: Array, draws: int) -> Array:
        found, best = np.zeros((draws, len(x))), data.scale.outward(x)[None]
        back = np.linalg.pinv(data.weight[:, None] * jacobian)
        for path, value in self.measured.items():
            if value.each or not value.error:
                continue
            step = STEP * max(abs(value.mean), 1e-12)
            more = {**self.measured, path: replace(value, mean=value.mean + step)}
            other = FitProblem(self.runs, with_values(self.model, more), by_run(self.measured, len(self.runs.runs)))
            slope = (other.predicted(best)[0] - data.predicted(best)[0]) / step
            found -= (self.drawn[path] - value.mean)[:, None] * (back @ (data.weight * slope))[None]
        return found


def _fitted(data: FitProblem, level: float, seed: int, draws: int, moved: _Moved) -> FitToRank:
    runs, model = data.runs, data.model
    if data.paths:
        data.told_ever()
    x, jacobian = data.best()
    if data.paths:
        data.told_apart(x, jacobian)
    rng = np.random.default_rng(seed)
    at_best = data.predicted(data.scale.outward(x)[None])[0]
    clusters = RunClusters.of(data.weight[:, None] * jacobian, data.block)
    residual = data.measured - at_best
    stated = errors_within_runs.covariance(data, x)
    spread = EstimateSpread.of(clusters, jacobian, data.weight, stated, data.floor, residual)
    sets = spread.drawn(at_best, draws, rng)
    found = nonlinear_least_squares.refitted(data.predicted, sets, data.weight, data.scale, x, jacobian)
    best = data.scale.outward(x)
    for network in data.evaluator.networks_at(best[None]):
        check_dependent_times(network)
    off = data.meters(jacobian, draws, rng) + moved.of(data, x, jacobian, draws)
    ends = partial(intervals, data, x, jacobian, spread.sizes, spread.degrees, off, level)
    wide = _widened(found, x, spread.degrees, rng) + off
    values = data.scale.outward(_within_bounds(wide, x, data.weight[:, None] * jacobian, data.scale))
    sensitivity = data.sensitivity(x)
    error, held = data.model_error(x, jacobian, sensitivity, found)
    noise, noise_degrees, noise_growth = data.noise(x, sensitivity)
    told = replaced(model, dict(zip(data.paths, map(float, best), strict=True)))
    notes = [*data.notes(x, clusters), *short_run_variance.notes(data.paths, runs.runs)]
    message = "\n".join([f"solved by {data.evaluator.method.name}", *notes])
    fitted = FittedModel(
        told, model, tuple(data.paths), ends(along_profiles=False), values, None if error is None else error.mean, noise,
        max(len(runs.runs) - len(x), 1), tuple(held), tuple(run.factors for run in data.each), level, seed,
        data.evaluator.method.name, message, demand_error_draws=None if error is None else tuple(error.factors(draws, rng).tolist()),
        noise_degrees=noise_degrees, noise_growth=noise_growth,
        fitted_saturation_shares=load_range(data, x),
        run_length_s=float(np.median([run.length_s for run in runs.runs])), 
        observed_until_unix_s=until_s([run.observed for run in runs.runs]),
        held_out_variance=foretold(data, x, jacobian),
    )  # fmt: skip
    return FitToRank(fitted, ends, lambda: drawn_growth(error_growth(data, x, jacobian, sensitivity), draws, seed))


def _within_bounds(wide: Array, x: Array, slopes: Array, scale: ParameterScale) -> Array:
    """Draws, moved so that none lies beyond bounds. None is moved further than `FURTHEST` from `x`: an unknown that is hardly told would
    go as far as the others ask."""
    low = np.maximum(scale.low, np.minimum(x - FURTHEST, wide))
    high = np.minimum(scale.high, np.maximum(x + FURTHEST, wide))
    return nearest_within(wide, slopes, low, high)


def _widened(found: Array, x: Array, degrees: Array, rng: np.random.Generator) -> Array:
    """Draws about `x` as wide as Student's t: their spread was estimated from few runs, with these degrees of freedom an unknown. They
    may lie beyond bounds."""
    at = rng.permutation((np.arange(len(found)) + 0.5) / len(found))[:, None]
    by = np.sqrt(degrees / chdtri(degrees, at))
    return np.asarray(x + np.clip(by * (found - x), -FURTHEST, FURTHEST))
