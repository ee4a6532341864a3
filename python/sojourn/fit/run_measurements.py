"""What of a run a model is fitted to: response times, throughputs, what resources were busy with, parameters that were measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sojourn.errors import FitError
from sojourn.fit.fit_runs import FitRun, FitRuns, measured_value
from sojourn.fit.model_evaluation import Key
from sojourn.model import Model
from sojourn.model.parameters import ParameterFromRuns

# relative errors that no model of this kind resolves
FLOOR = {"response_time": 0.02, "throughput": 0.01, "busy": 0.02, "parameter": 0.02, "saturation_rate": 0.0}
FLOOR_OF_CORES = (0.01, 0.003)  # of parts of a multicore station, cores watched one by one: relative, and servers
SATURATION = ("", "", "saturation_rate")
OF_ALL_TIMES = {
    "parameter": 1.0,
    "saturation_rate": -1.0,
}  # d log of it/d log of all times of service, whatever the model
LEAST_BUSY = 0.005  # servers: below that a share of a core is somebody else's work


def check_observed(runs: FitRuns, model: Model) -> None:
    """Raises FitError for a resource of `[observed]` that no run has."""
    for station, given in model.observed.items():
        for name in (given,) if isinstance(given, str) else tuple(given):
            if not any(name in run.busy for run in runs.runs):
                none = "none: measure with --service-pids, --service-cgroup or --service-disk"
                there = ", ".join(runs.resources) or none
                raise FitError(f"no resource {name!r}", f"observed.{station}", f"use one that the runs have: {there}")


@dataclass(frozen=True)
class Measurement:
    """One measured number: of which run, which key, its logarithm, and how well it is known."""

    run: int
    key: Key
    log: float
    error: float  # relative standard error within the run
    floor: float
    bound: float = 0.0  # of the relative error that its meter has in all runs alike
    beside: float = 0.0  # the part of `error` that is not of sampling


def floor_of_busy(station: str, busy: float) -> float:
    """Relative, of `busy` servers at work at a station, or a part of one."""
    own, least = FLOOR_OF_CORES if "." in station else (FLOOR["busy"], LEAST_BUSY)
    return float(np.hypot(own, least / busy))


def measurements(number: int, run: FitRun, model: Model) -> list[Measurement]:
    """What of a run is fitted: response times by class where there are several, else of all; throughputs where somebody
    is closed; what was watched; the saturation rate where it was measured beside the run, whose error holds all that it is off by."""
    names = [c.name for c in model.classes]
    several = len(names) > 1 and all((name, "response_time") in run.means for name in names)
    closed = any(c.kind == "closed" for c in model.classes)
    found = []
    for (cls, metric), (value, error) in run.means.items():
        wanted = (cls in names) if several and metric == "response_time" else cls == ""
        if wanted and (metric in ("response_time", "saturation_rate") or (metric == "throughput" and closed)):
            other = run.beside.get((cls, metric), 0.0)
            found.append(
                Measurement(number, ("", cls, metric), float(np.log(value)), error, FLOOR[metric], beside=other)
            )
    for name, given in model.parameters.items():
        if isinstance(given, ParameterFromRuns) and given.model_formula:
            seen = measured_value(run, given)
            if seen is not None and seen > 0:
                key = (f"parameters.{name}", "", "parameter")
                found.append(Measurement(number, key, float(np.log(seen)), 0.0, FLOOR["parameter"]))
    for station, busy in run.busy_at(model).items():
        if busy > LEAST_BUSY:
            floor = floor_of_busy(station, busy)
            bound = max((run.meter_bounds.get(name, 0.0) for name in run.watched(model)[station]), default=0.0)
            found.append(Measurement(number, (station, "", "busy"), float(np.log(busy)), 0.0, floor, bound))
    return found
