"""Parameters of a model that the runs measured themselves: `{ metric = "response_time", metric_station = "database" }`.

The value is the mean of the runs, and a draw is one of that mean: runs differ, and Student's t has it how uncertain the mean of
so few is. They take no part in the search. One that `each` run has for itself, such as the speed of the core, is drawn as it was in
the runs: a new run is one of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from sojourn.errors import FitError
from sojourn.file_errors import meant
from sojourn.fit.fit_runs import FitRun, FitRuns, measured_value
from sojourn.fit.fitted_model import FittedModel
from sojourn.fit.parameter_estimate import ParameterEstimate
from sojourn.model import Model
from sojourn.model.parameters import ParameterFromRuns
from sojourn.model.unknown_parameters import Unknown, replaced, unknowns

Array = NDArray[np.float64]
FURTHEST = 5.0  # of a logarithm: of two runs that differ much Student's t has no bounds


@dataclass(frozen=True)
class MeasuredValue:
    """Of `runs` runs: their mean, and its standard error (0 of one run)."""

    mean: float
    error: float
    runs: int
    each: tuple[float | None, ...] = ()  # the value of each run, where it counts there

    @property
    def _known(self) -> list[float]:
        return [value for value in self.each if value is not None]

    def estimate(self, level: float) -> ParameterEstimate:
        """Its interval, by Student's t; of one that each run has for itself where most of the runs lie."""
        if self.each:
            low, high = np.quantile(self._known, [(1 - level) / 2, (1 + level) / 2])
            return ParameterEstimate(self.mean, float(low), float(high))
        half = self.error * stdtrit(max(self.runs - 1, 1), (1 + level) / 2)
        return ParameterEstimate(self.mean, max(self.mean - half, 0.0), self.mean + half)

    def draws(self, count: int, rng: np.random.Generator) -> Array:
        """As many of the mean as there are draws, above 0 where it is: a time or a rate. Of one that each run has for itself, as many
        runs."""
        if self.each:
            return rng.choice(self._known, count)
        off = self.error * rng.standard_t(max(self.runs - 1, 1), count)
        if self.mean <= 0:
            return np.maximum(self.mean + off, 0.0)
        return np.asarray(self.mean * np.exp(np.clip(off / self.mean, -FURTHEST, FURTHEST)))


def measured_values(runs: FitRuns, model: Model) -> dict[str, MeasuredValue]:
    """Path → what the runs measured. Raises FitError for what none of them has."""
    found = {}
    for name, given in model.parameters.items():
        if not isinstance(given, ParameterFromRuns):
            continue
        place = f"parameters.{name}"
        own = [r for r in runs.runs if all(r.factors.get(f) == v for f, v in given.run_factors.items())]
        if not own:
            where = ", ".join(f"{f} = {v}" for f, v in given.run_factors.items())
            raise FitError(
                f"no run with {where}", f"{place}.run_factors", "use factors that some run has, or leave this out"
            )
        values = np.array([v for r in own if (v := measured_value(r, given)) is not None])
        if not len(values):
            raise _not_measured(given, own, place)
        if given.model_formula:
            continue
        if given.one_value_per_run:
            middle = float(np.median(values))
            each = tuple(measured_value(r, given) for r in runs.runs)
            found[f"parameters.{name}"] = MeasuredValue(middle, 0.0, len(values), each)
            continue
        error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
        found[f"parameters.{name}"] = MeasuredValue(float(values.mean()), error, len(values))
    return found


def _not_measured(given: ParameterFromRuns, runs: Sequence[FitRun], place: str) -> FitError:
    """Of the metric, or of what it is to be divided by."""
    key = given.metric_station, given.metric_class, given.metric
    if given.divisor_metric and any(key in run.measured for run in runs):
        key, place = ("", "", given.divisor_metric), f"{place}.divisor_metric"
    there = sorted(
        {
            " ".join(filter(None, k))
            for run in runs
            for k in run.measured
            if not given.divisor_metric or key[2] != given.divisor_metric or not k[0]
        }
    )
    wanted = " ".join(filter(None, key))
    return FitError(f"no {wanted!r} in the runs", place, meant(wanted, there) if there else "measure it")


def with_values(model: Model, measured: Mapping[str, MeasuredValue]) -> Model:
    """The model with the means in their places."""
    return replaced(model, {path: value.mean for path, value in measured.items()}) if measured else model


def by_run(measured: Mapping[str, MeasuredValue], count: int) -> list[dict[str, float]]:
    """Of each run, the parameters that have a value of their own there; the median where it measured none."""
    own = {path.removeprefix("parameters."): value for path, value in measured.items() if value.each}
    return [{n: v.mean if v.each[i] is None else float(v.each[i] or 0.0) for n, v in own.items()} for i in range(count)]


def _of_one_run(measured: Mapping[str, MeasuredValue]) -> list[str]:
    alone = [path for path, value in measured.items() if value.runs == 1 and not value.each]
    return [f"{', '.join(alone)}: from one run only; its error is not in the intervals"] if alone else []


def drawn_means(measured: Mapping[str, MeasuredValue], count: int, seed: int) -> dict[str, Array]:
    """Path → as many draws."""
    rng = np.random.default_rng(seed + 1)
    return {path: value.draws(count, rng) for path, value in measured.items()}


def with_draws(fitted: FittedModel, measured: Mapping[str, MeasuredValue], drawn: Mapping[str, Array]) -> FittedModel:
    """The fit with the measured parameters among its own."""
    if not measured:
        return fitted
    columns = dict(zip(fitted.paths, fitted.draws.T, strict=True)) | dict(drawn)
    template = replaced(fitted.template, {path: Unknown(value.mean, 0.0) for path, value in measured.items()})
    estimates = {**fitted.estimates, **{path: value.estimate(fitted.level) for path, value in measured.items()}}
    paths = tuple(unknowns(template))
    return replace(
        fitted, template=template, paths=paths, estimates={p: estimates[p] for p in paths},
        draws=np.stack([columns[p] for p in paths], axis=1), message="\n".join([fitted.message, *_of_one_run(measured)]),
    )  # fmt: skip
