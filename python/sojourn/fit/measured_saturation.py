"""The saturation rate that a closed loop without think time measured, as one more number that a model of open runs is fitted to.

Where times of service fall with the load, runs at moderate rates do not tell when a service is full: their times of service are as well
explained by a service that becomes faster and faster. The closed loop tells it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sojourn.fit.fit_runs import FitRun, FitRuns, observe_run
from sojourn.runs import RunFolder

# relative standard error beside that of the throughput: how full a closed loop keeps the servers, and what runs differ by
OF_SATURATION = 0.05
LOAD = frozenset({"users", "think_s", "rate_per_s"})


def same_but_load(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether all factors but those of the load are the same."""
    return {k: v for k, v in one.items() if k not in LOAD} == {k: v for k, v in other.items() if k not in LOAD}


def with_saturation(runs: FitRuns, closed: Sequence[RunFolder]) -> FitRuns:
    """With the throughput of those of `closed` that are valid as the saturation rate of the runs with the same factors but the load. It is
    one number for n runs, so each has it with an error that is sqrt(n) times as large."""
    full = [run for run in map(observe_run, closed) if run.valid and ("", "throughput") in run.means]
    return replace(runs, runs=[_with(run, full, runs) for run in runs.runs])


def _with(run: FitRun, closed: Sequence[FitRun], runs: FitRuns) -> FitRun:
    own = [one.means["", "throughput"] for one in closed if same_but_load(one.factors, run.factors)]
    if not own:
        return run
    rates, errors = np.array(own).T
    error = np.hypot(OF_SATURATION, np.sqrt(np.mean(np.square(errors)))) / np.sqrt(len(own))
    times = sum(same_but_load(run.factors, other.factors) for other in runs.runs)
    return replace(
        run, means={**run.means, ("", "saturation_rate"): (float(rates.mean()), float(error * np.sqrt(times)))}
    )
