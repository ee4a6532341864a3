"""Observed windows of about the same rate as one run: a week has thousands of them, and a fit takes each as a level of its own.

The range of the rates is cut into `LEVELS` equal parts. Means are weighted by requests. The error of a pooled mean is the larger of what
its windows state together and of what they differ by.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sojourn.capacity.capacity_result import CapacityRun
from sojourn.fit.fit_runs import FitRun, FitRuns
from sojourn.units import per_second

K = TypeVar("K")
LEVELS = 10
LEAST_SPREAD = 4  # windows of which a standard deviation says something


def pooled(seen: FitRuns, runs: Sequence[CapacityRun]) -> tuple[FitRuns, list[CapacityRun]]:
    """`seen` and `runs` are of the same windows; as they are where they are no more than `LEVELS`."""
    by_name = {run.name: run for run in seen.runs}
    both = [(by_name[run.name], run) for run in runs if run.name in by_name]
    if len(both) <= LEVELS:
        return seen, list(runs)
    rates = np.array([run.rate_per_s for _, run in both])
    part = np.minimum(((rates - rates.min()) / np.ptp(rates) * LEVELS).astype(int), LEVELS - 1)
    groups = [[both[k] for k in np.flatnonzero(part == p)] for p in np.unique(part)]
    made = [_pooled(group) for group in groups]
    return replace(seen, runs=[fit for fit, _ in made]), [run for _, run in made]


def _pooled(group: Sequence[tuple[FitRun, CapacityRun]]) -> tuple[FitRun, CapacityRun]:
    if len(group) == 1:
        return group[0]
    fits, runs = [fit for fit, _ in group], [run for _, run in group]
    weights = np.array([max(run.requests, 1) for run in runs], float)
    name = f"{len(group)} windows near {per_second(float(np.mean([run.rate_per_s for run in runs])))}"
    error = _error(np.array([run.response_s or math.nan for run in runs]), [run.response_error for run in runs])
    rate = float(np.mean([run.rate_per_s for run in runs]))
    run = replace(
        runs[0], name=name, rate_per_s=rate, achieved_per_s=float(np.mean([run.achieved_per_s for run in runs])),
        response_s=_mean([run.response_s for run in runs], weights), response_error=error, requests=sum(run.requests for run in runs),
        objective_values=_medians([run.objective_values for run in runs]), objective_value_errors={},
        objective_met=None, valid=all(run.valid for run in runs),
    )  # fmt: skip
    means = {
        key: (
            float(np.average([fit.means[key][0] for fit in fits], weights=weights if key[1] == "response_time" else None)),
            error if key[1] == "response_time" else 0.0,
        )
        for key in fits[0].means
        if all(key in fit.means for fit in fits)
    }  # fmt: skip
    fit = replace(
        fits[0], name=name, factors=_means([fit.factors for fit in fits]), means=means,
        busy=_means([fit.busy for fit in fits]), measured=_means([fit.measured for fit in fits]),
    )  # fmt: skip
    return fit, run


def _error(values: NDArray[np.float64], stated: Sequence[float]) -> float:
    together = math.sqrt(sum(one**2 for one in stated)) / len(stated)
    apart = float(np.nanstd(values, ddof=1) / np.nanmean(values)) if len(stated) >= LEAST_SPREAD else 0.0
    return max(together, apart / math.sqrt(len(stated)))


def _mean(values: Sequence[float | None], weights: NDArray[np.float64]) -> float | None:
    known = [value is not None for value in values]
    return float(np.average([v for v in values if v is not None], weights=weights[known])) if any(known) else None


def _means(tables: Sequence[Mapping[K, float]]) -> dict[K, float]:
    """Of what all of them have; what is no number stays as the first has it."""
    found = {}
    for key, value in tables[0].items():
        if all(key in one for one in tables):
            number = isinstance(value, int | float) and not isinstance(value, bool)
            same = len({one[key] for one in tables}) == 1
            found[key] = value if same or not number else float(np.mean([one[key] for one in tables]))
    return found


def _medians(tables: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    """Of long windows at one rate the median of a quantile is that quantile; it is never an average."""
    found: dict[str, float | None] = {}
    for name in tables[0]:
        known = [value for one in tables if (value := one.get(name)) is not None]
        found[name] = float(np.median(known)) if len(known) == len(tables) else None
    return found
