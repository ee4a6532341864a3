"""Means of runs in which more or less came than their rate says, put back to it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import sojourn as sj
from sojourn.fit.fit_runs import FitRun, FitRuns
from sojourn.fit.realised_rate import RealisedRates, came_per_s, excess, run_came_per_s
from sojourn.fit.validate_model import at_asked_rates

MU = 100.0
FILE = """
[stations.cpu]
[classes.user]
kind = "open"
rate_per_s = 1
[demands_s]
cpu = { user = { free = true } }
[observed]
cpu = "cpu"
"""


def run(rate: float, more: float) -> FitRun:
    """M/M/1, exactly, at the rate at which customers came: R = 1/(mu - lambda), U = lambda/mu."""
    came = rate * (1 + more)
    means = {("", "throughput"): (came, 0.01), ("", "response_time"): (1 / (MU - came), 0.02)}
    return FitRun(f"rate-{rate:g}", {"rate_per_s": rate}, means, {"cpu": came / MU})


def test_the_demand_is_found_whatever_came() -> None:
    runs = FitRuns([run(rate, more) for rate, more in ((30, 0.02), (50, 0.015), (65, 0.01), (80, 0.012))])
    found = sj.fit(runs, sj.Model.parse(FILE), draws=20).estimates["demands_s.cpu.user"].value
    assert found == pytest.approx(1 / MU, rel=1e-3)  # as if rates were true it is 1.2 % more


def test_the_slope_of_an_mm1_response() -> None:
    """d log R/d log lambda = rho/(1 - rho); d log R/d log S = 1/(1 - rho)."""
    rho, more = 0.8, 0.01
    model = sj.Model.parse(FILE)
    rates = RealisedRates.of([run(rho * MU, more)] * 3, ["response_time", "busy", "throughput"], model)
    growth = np.array([1 / (1 - rho), 1.0, 1.0])
    assert rates.shift(growth) == pytest.approx([-4 * math.log1p(more), -math.log1p(more), 0])
    # of 5 % the count explains 4 times its own 1 %: 3 % are left; of 0 nothing
    assert rates.left(np.array([0.05, 0.0, 0.01]), growth) == pytest.approx([0.03, 0, 0.01])
    # never more than three quarters of a variance
    assert rates.left(np.array([0.04, 0.0, 0.01]), growth)[0] == pytest.approx(0.02)


def test_a_saturated_run_is_left_as_it_is() -> None:
    model = sj.Model.parse(FILE)
    assert excess(run(50.0, 0.03), model) == pytest.approx((math.log(1.03), 0.01))
    assert excess(run(50.0, -0.2), model) == (0.0, 0.0)
    closed = sj.Model([sj.Queue("cpu")], [sj.Closed("user", 3, 1.0)], {"cpu": {"user": 0.01}})
    assert excess(run(50.0, 0.03), closed) == (0.0, 0.0)


def test_a_run_is_judged_at_the_rate_that_came() -> None:
    """Asked for 85/s, 90/s came: R = 1/(100 - 90) = 100 ms where 1/(100 - 85) = 66.7 ms was asked. 140/s of a rate of 60/s is
    another count."""
    runs = FitRuns([run(rate, 0.0) for rate in (20, 40, 60, 75, 88)])
    fitted = sj.fit(runs, sj.Model.parse(FILE), draws=20)
    more = {("", "", "arrival_rate"): 90.0}
    asked = replace(run(85.0, 5 / 85), measured=more)
    row = fitted.validate(FitRuns([asked])).filter(metric="response_time").row(0, named=True)
    assert (row["arrival_rate_per_s"], row["predicted"]) == (90.0, pytest.approx(0.1, rel=1e-3))
    assert row["predicted_at_asked_rate"] == pytest.approx(1 / 15, rel=1e-3) and abs(row["error"]) < 1e-3
    assert row["in_validated_range"]  # 85 lies among 20 to 88, though 90 does not
    text = at_asked_rates(fitted.validate(FitRuns([asked])))
    assert "5.9" in text and "33.3" in text  # 90/85 - 1, 10/15 - 1
    assert (
        fitted.validate(FitRuns([asked]), changed_settings={"rate_per_s": 85.0})["arrival_rate_per_s"].null_count() == 2
    )
    by_answers = run_came_per_s(run(85.0, 0.02), sj.Model.parse(FILE))
    assert by_answers == pytest.approx(86.7)
    assert came_per_s(60.0, 140.0) is None and came_per_s(None, 60.0) is None and came_per_s(60.0, None) is None


def test_a_factor_that_changes_nothing_is_not_asked_for() -> None:
    """M/M/1 at 50/s: 1/(100 - 50) s; the hour varied between the runs, and the model says that it changes nothing."""
    rates = (20.0, 40.0, 60.0, 80.0)
    runs = FitRuns([replace(run(r, 0.0), factors={"rate_per_s": r, "hour": i}) for i, r in enumerate(rates)])
    fitted = sj.fit(runs, sj.Model.parse(FILE + "[factors]\nhour = []\n"), draws=20)
    assert sj.predict(fitted, {"rate_per_s": 50.0}).value("response_time") == pytest.approx(0.02, rel=1e-3)
