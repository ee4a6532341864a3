"""The model's own error: what runs that were left out are off by, beyond what a prediction draws anyway."""

from __future__ import annotations

import numpy as np
import pytest

import sojourn as sj
from sojourn.fit.fit_problem import FitProblem
from sojourn.fit.fit_runs import FitRun, FitRuns

MODEL = """
[stations.cpu]
[classes.user]
kind = "open"
rate_per_s = 1.0
[demands_s]
cpu = { user = { free = true } }
"""
OFF = (1.2, 0.85, 1.1, 0.9, 1.25)  # by how much service is longer than 20 ms: no M/M/1 explains all five


def problem() -> FitProblem:
    runs = []
    for rate, off in zip((5.0, 10.0, 15.0, 20.0, 25.0), OFF, strict=True):
        response = 0.02 * off / (1 - rate * 0.02 * off)  # M/M/1
        runs.append(FitRun(f"rate-{rate:g}", {"rate_per_s": rate}, {("", "response_time"): (response, 0.01)}, {}))
    return FitProblem(FitRuns(runs), sj.Model.parse(MODEL))


def test_what_the_unknowns_vary_by_is_not_counted_twice() -> None:
    """The unknown is the factor on all demands itself, so that the variance of its draws is taken off as it is."""
    data = problem()
    x, jacobian = data.best()
    sensitivity = data.sensitivity(x)
    sure, rows = data.model_error(x, jacobian, sensitivity, np.tile(x, (2, 1)))
    assert sure is not None and len(rows) == len(OFF)
    assert sure == pytest.approx(np.log(OFF).std(ddof=1), rel=0.3)  # as much as the services differ by
    step = 0.08 * float(np.mean(sensitivity / jacobian[:, 0]))  # 8 % of the demand
    found, same = data.model_error(x, jacobian, sensitivity, np.stack([x - step, x + step]))
    assert found == pytest.approx(np.sqrt(sure**2 - 0.08**2), rel=0.01)
    assert same == rows  # what configurations are off by is told as it was


def test_no_less_than_nothing() -> None:
    data = problem()
    x, jacobian = data.best()
    assert data.model_error(x, jacobian, data.sensitivity(x), np.stack([x - 1, x + 1]))[0] == 0
