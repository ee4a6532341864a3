"""A model all of whose numbers were measured: nothing is searched, and its errors are those of its equations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sojourn as sj
from sojourn.errors import FitError
from sojourn.fit.fit_runs import FitRun, FitRuns
from sojourn.fit.fitted_model import FittedModel
from sojourn.fit.model_fit import fit

ONE = """
[parameters]
work_s = { metric = "service_time", metric_station = "worker" }
[stations.cpu]
[classes.user]
kind = "closed"
population = 1
think_s = 1.0
[demands_s.cpu]
user = "work_s"
"""
USERS = (1, 5, 10, 20, 40)
TIMES_S = (0.049, 0.050, 0.051, 0.050, 0.050)  # as measured; mean 50 ms


def by_recursion(users: int, work_s: float, think_s: float = 1.0) -> float:
    """Response time of one station and thinking users: exact mean value analysis (Reiser and Lavenberg 1980)."""
    queue = response = 0.0
    for n in range(1, users + 1):
        response = work_s * (1 + queue)
        queue = n / (response + think_s) * response
    return response


def runs(work_s: float) -> FitRuns:
    """Of a service with such a time, whose instrumentation says TIMES_S."""
    found = []
    for number, (users, said) in enumerate(zip(USERS, TIMES_S, strict=True)):
        response = by_recursion(users, work_s)
        means = {("", "response_time"): (response, 0.01), ("", "throughput"): (users / (response + 1.0), 0.005)}
        found.append(FitRun(f"r{number}", {"users": users}, means, {}, measured={("worker", "", "service_time"): said}))
    return FitRuns(found)


def test_the_values_are_the_means_and_the_predictions_those_of_the_equations(tmp_path: Path) -> None:
    fitted = fit(runs(0.05), sj.Model.parse(ONE), draws=100)
    value, low, high = fitted.estimates["parameters.work_s"]
    assert value == pytest.approx(0.05) and low < value < high
    assert fitted.value({"users": 30}, "response_time") == pytest.approx(by_recursion(30, 0.05), rel=1e-9)
    told = fitted.predict({"users": 30}, 0.9)
    low, high = told.interval("response_time")
    assert low is not None and high is not None and low < by_recursion(30, 0.05) < high < 1.3 * low
    fitted.write(tmp_path / "fitted.toml")
    assert FittedModel.read(tmp_path / "fitted.toml").predict({"users": 30}, 0.9) == told


def test_how_wrong_such_a_model_is_is_told() -> None:
    """The service takes 80 ms, of which its instrumentation sees 50: the errors are those of the two recursions."""
    wrong, right = (fit(runs(work_s), sj.Model.parse(ONE), draws=40) for work_s in (0.08, 0.05))
    told = [float(str(row["response_time"])) for row in wrong.held_out]
    assert told == pytest.approx([by_recursion(n, 0.05) / by_recursion(n, 0.08) - 1 for n in USERS], abs=1e-3)
    assert wrong.model_error is not None and right.model_error is not None and wrong.model_error > 4 * right.model_error
    low, high = wrong.predict({"users": 30}, 0.9).interval("response_time")
    assert low is not None and low < by_recursion(30, 0.08) < (high or np.inf), "and the interval holds it"


def test_a_model_with_nothing_to_find_and_nothing_measured_is_refused() -> None:
    with pytest.raises(FitError, match="no unknown"):
        fit(runs(0.05), sj.Model.parse(ONE.replace('{ metric = "service_time", metric_station = "worker" }', "0.05")))


def test_it_may_be_a_rival_of_one_that_is_fitted() -> None:
    free = ONE.replace('{ metric = "service_time", metric_station = "worker" }', "{ free = true }")
    both = {"measured": sj.Model.parse(ONE), "free": sj.Model.parse(free)}
    assert set(sj.fit_rivals(runs(0.05), both).fits) == set(both)
    far = sj.fit_rivals(runs(0.08), both)
    assert far.name == "free" and not far.best.alternatives
