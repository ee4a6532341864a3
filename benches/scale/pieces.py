"""What the bench runs, each as (name, count, function of `on` → result, equal): models that a user has, at sizes of the issue."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import sojourn as sj
from sojourn.fit.fit_runs import FitRun, FitRuns
from sojourn.fit.fitted_model import FittedModel
from sojourn.fit.model_fit import fit
from sojourn.model import Model
from sojourn.parallel import open_workers, run_pieces
from sojourn.solve.method import RequestedOutputs
from sojourn.stats.batch_means import MACRO, standard_error

SHOP = """
[stations.cpu]
servers = 2
[stations.disk]
[stations.network]
[classes.reader]
kind = "closed"
population = 30
think_s = 1.0
[classes.writer]
kind = "closed"
population = 20
think_s = 2.0
[demands_s]
cpu = { reader = 0.02, writer = 0.03 }
disk = { reader = 0.01, writer = 0.03 }
network = { reader = 0.005, writer = 0.004 }
"""
OPEN = """
[stations.cpu]
servers = 2
[stations.disk]
[classes.user]
kind = "open"
rate_per_s = 50.0
[demands_s]
cpu = { user = %s }
disk = { user = %s }
"""
RATES = (15.0, 25.0, 35.0, 45.0, 55.0)
FREE = Model.parse(OPEN % ("{ free = true }", "{ free = true }"))
PASSES = 20_000


@dataclass(frozen=True)
class Job:
    """Something to do, and how two results are compared."""

    count: int
    run: Callable[[Any], Any]
    same: Callable[[Any, Any], bool]


def sweep(count: int) -> Job:
    model = Model.parse(SHOP)
    values = np.linspace(0.005, 0.06, count).tolist()

    def run(on: Any) -> sj.Metrics:
        found = sj.sweep(model, "demands_s.disk.writer", values, requested_outputs=RequestedOutputs(()), parallel=on)
        _ = found.frame
        return found

    return Job(count, run, lambda a, b: a.frame.equals(b.frame) and a.method == b.method)


def replications(count: int) -> Job:
    model = Model.parse(SHOP)
    return Job(
        count, lambda on: sj.simulate(model, replications=count, completions=PASSES, max_wall_time_s=1000, parallel=on),
        lambda a, b: a == b,
    )  # fmt: skip


def simulated_fit(model: Model, seed: int) -> FittedModel:
    """One fit of runs that were simulated with this seed."""
    runs = []
    for number, rate in enumerate(RATES):
        at = replace(model, classes=(replace(model.classes[0], rate_per_s=rate),))
        told = sj.simulate(at, completions=PASSES, seed=1000 * seed + number)
        low, high = told.interval("response_time")
        value = told.value("response_time")
        error = standard_error(low, high, batches=MACRO) / value if low is not None and high is not None else 0.05
        means = {("", "response_time"): (value, error), ("", "throughput"): (told.value("throughput"), 0.01)}
        runs.append(FitRun(f"{rate:g}", {"rate_per_s": rate}, means, {}))
    return fit(FitRuns(runs), FREE, seed=seed, draws=20)


def fits(count: int) -> Job:
    model = Model.parse(OPEN % (0.02, 0.012))

    def run(on: Any) -> list[FittedModel]:
        if on is None:
            return [simulated_fit(model, seed) for seed in range(count)]
        with open_workers(on) as workers:
            return run_pieces(workers, simulated_fit, workers.send(model), list(range(count)))

    def same(a: list[FittedModel], b: list[FittedModel]) -> bool:
        return all(x.estimates == y.estimates and np.array_equal(x.draws, y.draws) for x, y in zip(a, b, strict=True))

    return Job(count, run, same)


def plan(count: int) -> Job:
    model = Model.parse(SHOP)
    side = round(count**0.5)
    vary = {"stations.cpu.servers": range(1, side + 1), "classes.reader.population": range(1, count // side + 1)}

    def run(on: Any) -> Any:
        return sj.plan(model, vary, "mean < 200ms", "stations.cpu.servers", parallel=on)

    return Job(count, run, lambda a, b: a == b)


JOBS = {"sweep": (sweep, 100_000), "replications": (replications, 1000), "fits": (fits, 300), "plan": (plan, 10_000)}
