"""How uncertain the mean of a short run is.

Waiting times hang together for longer than a twentieth of such a run lasts, so that 20 batches of it state too small an error. Of a mean of
correlated values a variance by batches of m is too small by a part that falls as 1/m, and 2 V(2m) - V(m) is without that part (linear
combinations of batch estimators: W.-M. T. Song, B. W. Schmeiser, Optimal Mean-Squared-Error Batch Sizes, Management
Science 41 (1995), 110-123). The largest of what three sizes say is taken, because a run that saw little waiting states too little
by each of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sojourn.capacity.capacity_result import CapacityRun
from sojourn.capacity.short_run_quantile import of_response
from sojourn.capacity.steepness import steepness
from sojourn.errors import SojournError
from sojourn.fit import FitRuns, FittedModel
from sojourn.fit.fit_runs import FitRun
from sojourn.fit.sampling_error import delay_s, of_one_request, work_scv
from sojourn.plan.objective import Quantity
from sojourn.plan.predictor import predictor_of
from sojourn.runs import request_times
from sojourn.runs.run_folder import RunFolder
from sojourn.stats.batch_means import BATCHES

ALL = ("", "response_time")
DRAWS = 20
DISTURBED = 3.0  # times the error that it should have: it is left as it is


def answered_s(folder: RunFolder) -> NDArray[np.float64] | None:
    """Response times in the window of the run, in the order of arrival; None where it has no records of requests."""
    if not folder.has("requests"):
        return None
    start_s, end_s = folder.manifest["window_s"]
    return request_times.answered_s(folder, (start_s, end_s))


def fastest_s(times_s: NDArray[np.float64] | None) -> float:
    """Mean of the fastest tenth of `times_s`: of requests that hardly waited. 0 without any."""
    if times_s is None or not len(times_s):
        return 0.0
    return float(np.sort(times_s)[: max(len(times_s) // 10, 1)].mean())


def mean_error(times_s: NDArray[np.float64]) -> float | None:
    """Relative standard error of the mean of `times_s`, in the order of arrival. None of fewer than two values a batch."""
    if len(times_s) < 2 * BATCHES:
        return None
    fine, middle, coarse = (_variance(times_s, count) for count in (BATCHES, BATCHES // 2, BATCHES // 4))
    return math.sqrt(max(fine, middle, 2 * middle - fine, 2 * coarse - middle)) / float(times_s.mean())


def _variance(values: NDArray[np.float64], batches: int) -> float:
    """Of the mean of so many independent batches."""
    return float(np.var([part.mean() for part in np.array_split(values, batches)], ddof=1)) / batches


def as_modelled(runs: Sequence[CapacityRun], fitted: FittedModel | None) -> list[CapacityRun]:
    """`runs` with the errors that a service such as `fitted` gives them, and with what quantiles of so short runs are too low by.

    What a run states of itself is small where it happened to see little waiting, and so draws a fit down. So the model says how errors
    differ between runs, and all runs together how large they are: as many times as large as they state in the geometric mean; where that
    is less than by the model, half-way between both (docs/decisions/0048). A run that states `DISTURBED` times as much keeps its own
    error. Of a window without records of requests, which tells no error, the larger of both is taken.
    """
    known = [k for k, run in enumerate(runs) if run.response_s and run.requests and run.achieved_per_s]
    found = list(runs)
    if fitted is None or not known:
        return found
    try:
        errors = modelled_error(fitted, np.array([runs[k].achieved_per_s for k in known]))
    except SojournError:  # it does not answer there: runs keep the errors that they state
        return found
    modelled = {k: float(e) / math.sqrt(runs[k].requests) for k, e in zip(known, errors, strict=True) if e > 0}
    stated = {k: _without(runs[k].response_error, runs[k].lateness_error) for k in modelled}
    ratios = [stated[k] / modelled[k] for k in modelled if runs[k].fastest_tenth_mean_s and stated[k]]
    ratio = math.exp(math.fsum(map(math.log, ratios)) / len(ratios)) if ratios else 1.0
    common = max(ratio, math.sqrt(ratio))  # below 1 half-way: neither the model nor the runs are sure
    for k in known:
        error = modelled.get(k, 0.0)
        if not runs[k].fastest_tenth_mean_s:
            found[k] = _no_smaller(runs[k], error)
            continue
        own = stated.get(k, runs[k].response_error)
        found[k] = _with_mean_error(runs[k], own if own > DISTURBED * common * error else common * error)
    return found


def _no_smaller(run: CapacityRun, error: float) -> CapacityRun:
    """Errors of quantiles grow as that of the mean."""
    more = max(error / max(run.response_error, 1e-9), 1.0)
    quantiles = {name: own * more for name, own in run.objective_value_errors.items()}
    return replace(run, response_error=more * run.response_error, objective_value_errors=quantiles)


def _with_mean_error(run: CapacityRun, error: float) -> CapacityRun:
    """`error` of its mean, without that of a late generator."""
    assert run.response_s is not None
    errors, factors = dict(run.objective_value_errors), dict(run.short_run_factors)
    for name, value in run.objective_values.items():
        if name[0] == "p" and value:
            off, spread = of_response(float(name[1:]) / 100, value, run.response_s, run.fastest_tenth_mean_s, error)
            errors[name], factors[name] = math.hypot(spread, run.lateness_error), math.exp(-off)
    mean = math.hypot(error, run.lateness_error)
    return replace(run, response_error=mean, objective_value_errors=errors, short_run_factors=factors)


def _without(error: float, part: float) -> float:
    return math.sqrt(max(error**2 - part**2, 0.0))


def modelled_error(fitted: FittedModel, rates_per_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """Relative standard error of the mean response time of one request, at each rate; of n requests it is this over sqrt(n).

    Of models that are averaged it is the root of the mean of their variances, by their weights: which of them is true is not
    known, and one of constant times gives a run a small error. 0 where all are full.
    Raises what a predictor does, where none of them answers.
    """
    squares, whole = np.zeros(len(rates_per_s)), np.zeros(len(rates_per_s))
    refused: SojournError | None = None
    for weight, model in fitted.weighted:
        assert isinstance(model, FittedModel), "made by a fit or read from a file"
        try:
            error = _error_by(model, rates_per_s)
        except SojournError as why:
            refused = why
            continue
        squares += weight * error**2
        whole += weight * (error > 0)  # a model that is full there says nothing of the run
    if refused is not None and not whole.any():
        raise refused
    return np.asarray(np.sqrt(squares / np.maximum(whole, 1e-12)))


def _error_by(fitted: FittedModel, rates_per_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """That by a single model; 0 where it is full."""
    predictor, mean = predictor_of(fitted, {}), Quantity("response_time")
    at_s, growth = steepness(predictor, rates_per_s, mean, DRAWS)
    network = fitted.model.network
    with np.errstate(invalid="ignore", divide="ignore"):
        waits = 1 - delay_s(network) / at_s
    return of_one_request(growth, work_scv(network), waits)


def with_their_errors(fit_runs: FitRuns, runs: Sequence[CapacityRun]) -> FitRuns:
    """`fit_runs`, the means of whose response times have the errors of `runs`."""
    errors = {run.name: run.response_error for run in runs}
    return replace(fit_runs, runs=tuple(_with_error(run, errors.get(run.name, 0.0)) for run in fit_runs.runs))


def _with_error(run: FitRun, error: float) -> FitRun:
    if ALL not in run.means:
        return run
    value_s, stated = run.means[ALL]
    return replace(run, means={**run.means, ALL: (value_s, error or stated)})
