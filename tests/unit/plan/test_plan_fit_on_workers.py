"""Plans and fits on workers say what they say in one process."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sojourn as sj
from sojourn.errors import WorkerError
from sojourn.fit.fit_runs import FitRun, FitRuns
from sojourn.fit.fitted_model import FittedModel
from sojourn.fit.model_fit import fit
from sojourn.model import Model
from sojourn.parallel import Workers, open_workers
from sojourn.plan import Plan

OPEN = """
[stations.cpu]
servers = 2
[stations.net]
kind = "delay"
[classes.user]
kind = "open"
rate_per_s = 50.0
[demands_s]
cpu = { user = %s }
net = { user = %s }
[factors]
workers = "stations.cpu.servers"
"""
FREE = Model.parse(OPEN % ("{ free = true }", "{ free = true }"))
KNOWN = Model.parse(OPEN % (0.02, 0.005))


def runs() -> FitRuns:
    """The known model's answers with an error of 2 % from a seed."""
    rng, found = np.random.default_rng(3), []
    for workers in (2, 3):
        for rate in np.linspace(20.0, 90.0, 8):
            told = sj.sweep(KNOWN, {"classes.user.rate_per_s": [rate], "stations.cpu.servers": [workers]})
            mean = told.value("response_time") * (1 + 0.02 * rng.standard_normal())
            means = {("", "response_time"): (mean, 0.02), ("", "throughput"): (float(rate), 0.01)}
            found.append(FitRun(f"{workers}-{rate:g}", {"rate_per_s": float(rate), "workers": workers}, means, {}))
    return FitRuns(found)


@pytest.fixture(scope="module")
def two() -> Iterator[Workers]:
    with open_workers("local:2") as workers:
        yield workers


@pytest.fixture(scope="module")
def fitted() -> FittedModel:
    return fit(runs(), FREE)


def planned(model: Model | FittedModel, on: object = None) -> Plan:
    vary = {"stations.cpu.servers": range(1, 41)}
    return sj.plan(
        model, vary, "mean < 40ms", "stations.cpu.servers", load="20..90", parallel=on
    )  # 40 configurations x 12 loads x 200 draws with a fit


def test_a_plan_of_a_model_is_that_of_one_process(two: Workers) -> None:
    assert planned(KNOWN, two) == planned(KNOWN) == planned(KNOWN, "local:1")


def test_a_plan_over_the_draws_of_a_fit_is_that_of_one_process(two: Workers, fitted: FittedModel) -> None:
    assert planned(fitted, two) == planned(fitted)


def test_a_fit_is_that_of_one_process(two: Workers, fitted: FittedModel) -> None:
    found = fit(runs(), FREE, parallel=two)
    np.testing.assert_array_equal(found.draws, fitted.draws)
    assert replace(found, draws=fitted.draws) == fitted


def test_a_plan_whose_worker_is_killed_is_an_error_and_leaves_nothing(fitted: FittedModel) -> None:
    with pytest.raises(WorkerError, match="worker 1 of 2 ended"), open_workers("local:2") as workers:
        pids = [pid for slot in workers.slots for pid in slot._processes]  # type: ignore[attr-defined]
        threading.Timer(1.0, os.kill, (pids[0], signal.SIGKILL)).start()
        while True:
            planned(fitted, workers)
    assert not any(Path(f"/proc/{pid}/exe").exists() for pid in pids)
