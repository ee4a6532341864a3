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
import polars as pl
from numpy.typing import NDArray

from sojourn.capacity.capacity_result import CapacityRun
from sojourn.capacity.rate_interval import RateInterval
from sojourn.fit import FitRuns, FittedModel
from sojourn.fit.fit_runs import FitRun
from sojourn.plan.objective import Quantity
from sojourn.plan.predictor import predictor_of
from sojourn.runs.measurement_window import in_window, responses
from sojourn.runs.run_folder import RunFolder
from sojourn.stats.batch_means import BATCHES

ALL = ("", "response_time")
ALONE = 1e-3  # of the lowest rate: nobody waits
APART = 0.03  # of the rate, on both sides: between them the steepness is taken
DRAWS = 40


def answered_s(folder: RunFolder) -> NDArray[np.float64] | None:
    """Response times in the window of the run, in the order of arrival; None where it has no records of requests."""
    requests = folder.frame("requests")
    if requests is None:
        return None
    start_s, end_s = folder.manifest["window_s"]
    inside = in_window(responses(requests), (start_s, end_s)).sort("intended_s").filter(pl.col("failure") == 0)
    return inside["response_s"].to_numpy().astype(np.float64)


def mean_error(times_s: NDArray[np.float64]) -> float | None:
    """Relative standard error of the mean of `times_s`, in the order of arrival. None of fewer than two values a batch."""
    if len(times_s) < 2 * BATCHES:
        return None
    fine, middle, coarse = (_variance(times_s, count) for count in (BATCHES, BATCHES // 2, BATCHES // 4))
    return math.sqrt(max(fine, middle, 2 * middle - fine, 2 * coarse - middle)) / float(times_s.mean())


def _variance(values: NDArray[np.float64], batches: int) -> float:
    """Of the mean of so many independent batches."""
    return float(np.var([part.mean() for part in np.array_split(values, batches)], ddof=1)) / batches


def as_modelled(
    runs: Sequence[CapacityRun], fitted: FittedModel | None, saturation_per_s: RateInterval | None
) -> list[CapacityRun]:
    """`runs` with no smaller errors of their means than a service such as `fitted` gives them: a run that by chance saw little waiting
    states too little."""
    known = [k for k, run in enumerate(runs) if run.response_s and run.requests and run.achieved_per_s]
    if fitted is None or saturation_per_s is None or not known:
        return list(runs)
    rates = np.array([runs[k].achieved_per_s for k in known])
    found = list(runs)
    for k, error in zip(known, modelled_error(fitted, rates, saturation_per_s.value), strict=True):
        own = float(error) / math.sqrt(runs[k].requests)
        found[k] = replace(runs[k], response_error=max(runs[k].response_error, own))
    return found


def modelled_error(
    fitted: FittedModel, rates_per_s: NDArray[np.float64], saturation_per_s: float
) -> NDArray[np.float64]:
    """Relative standard error of the mean response time R of one request, at each rate; of n requests it is this over sqrt(n).

    What by chance came, and what it asked for, are off by 1/sqrt(n) each, and R by g = d ln R/d ln rate and g + W/R of these, W the time
    that is waited. Waiting goes on after its cause, so that the variance is 1 + rho times that, as of M/M/1 (W. Whitt, Planning Queueing
    Simulations, Management Science 35 (1989), 1341-1366, section 4). 0 where the model is full. Raises what a predictor does.
    """
    predictor = predictor_of(fitted, {})
    mean = Quantity("response_time")
    asked = np.concatenate(
        [[ALONE * rates_per_s.min()], rates_per_s * (1 - APART), rates_per_s, rates_per_s * (1 + APART)]
    )
    order = np.argsort(asked, kind="stable")
    told = predictor.values([{}], asked[order], [mean], min(DRAWS, predictor.draws))[mean][:, 0, :]
    values = np.empty(len(asked))
    values[order] = np.median(np.where(np.isfinite(told), told, np.inf), axis=0)
    alone, (below, at, above) = values[0], values[1:].reshape(3, -1)
    with np.errstate(invalid="ignore", divide="ignore"):
        growth = np.log(above / below) / math.log((1 + APART) / (1 - APART))
        busy = np.minimum(rates_per_s / saturation_per_s, 1.0)
        found = np.sqrt((1 + busy) * (growth**2 + (growth + 1 - alone / at) ** 2))
    return np.asarray(np.where(np.isfinite(found), found, 0.0))


def with_their_errors(fit_runs: FitRuns, runs: Sequence[CapacityRun]) -> FitRuns:
    """`fit_runs`, the means of whose response times have the errors of `runs` where those are larger."""
    errors = {run.name: run.response_error for run in runs}
    return replace(fit_runs, runs=tuple(_with_error(run, errors.get(run.name, 0.0)) for run in fit_runs.runs))


def _with_error(run: FitRun, error: float) -> FitRun:
    if ALL not in run.means:
        return run
    value_s, stated = run.means[ALL]
    return replace(run, means={**run.means, ALL: (value_s, max(stated, error))})
