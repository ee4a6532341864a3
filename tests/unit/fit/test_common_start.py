"""Runs that begin with all customers at once, where the answer is known: equal work, shared equally, keeps customers together for ever."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sojourn as sj
from sojourn.fit.common_start import longer, matters
from sojourn.fit.fit_runs import FitRun, FitRuns
from sojourn.fit.fitted_model import FittedModel
from sojourn.fit.model_fit import fit
from sojourn.model import Deterministic, Empirical, Hyperexponential, Lognormal, PhaseType, Uniform

WORK_S, THINK_S = 0.01, 1.0
TOGETHER = """
[stations.cpu]
discipline = "ps"
[classes.user]
kind = "closed"
population = 20
think_s = { kind = "deterministic", mean = 1.0 }
[service_s.cpu]
user = { kind = "deterministic", mean = %s }
"""


def long_run(users: int, work_s: float = WORK_S) -> float:
    """Exact mean value analysis: only the means count where a station is shared (Reiser and Lavenberg 1980)."""
    queue = response = 0.0
    for n in range(1, users + 1):
        response = work_s * (1 + queue)
        queue = n / (response + THINK_S) * response
    return response


def together(users: int) -> float:
    """All ask at once, each has 1/N of the processor, and all are done after N times the work of one."""
    return users * WORK_S


def test_customers_with_equal_work_stay_together() -> None:
    model = sj.Model.parse(TOGETHER % WORK_S)
    assert longer(model, 20.0) == pytest.approx(together(20) / long_run(20), rel=1e-6)


def test_where_it_does_not_matter() -> None:
    model = sj.Model.parse(TOGETHER % WORK_S)
    assert longer(model, 0.0) == 1.0, "how long the runs were nobody knows"
    exponential = sj.Model.parse((TOGETHER % WORK_S).replace('{ kind = "deterministic", mean = 1.0 }', "1.0"))
    assert matters(model) and not matters(exponential) and longer(exponential, 20.0) == 1.0
    arrivals = '[stations.cpu]\n[classes.user]\nkind = "open"\nrate_per_s = 1\n[demands_s]\ncpu = { user = 0.01 }\n'
    assert not matters(sj.Model.parse(arrivals))


def runs(length_s: float) -> FitRuns:
    found = []
    for number, users in enumerate((2, 5, 10, 20, 30, 40)):
        off = 1 + 0.01 * (-1) ** number
        means = {
            ("", "response_time"): (together(users) * off, 0.01),
            ("", "throughput"): (users / (together(users) * off + THINK_S), 0.005),
        }
        found.append(FitRun(f"r{number}", {"users": users}, means, {}, length_s=length_s))
    return FitRuns(found)


def test_what_is_put_in_is_found_and_new_runs_are_predicted_as_they_begin(tmp_path: Path) -> None:
    model = sj.Model.parse(TOGETHER % "{ free = true }")
    fitted = fit(runs(20.0), model, draws=60)
    assert fitted.estimates["service_s.cpu.user.mean"].value == pytest.approx(WORK_S, rel=0.02)
    assert (
        "all customers begin at the same time" in fitted.message
        and fitted.model_error is not None
        and fitted.model_error < 0.03
    )
    told = fitted.predict({"users": 25}, 0.9)
    assert told.value("response_time") == pytest.approx(together(25), rel=0.02)
    assert told.value("throughput") == pytest.approx(25 / (together(25) + THINK_S), rel=0.01)
    low, high = told.interval("response_time")
    assert low is not None and high is not None and low < together(25) < high < 1.3 * low
    assert fitted.value({"users": 25}, "response_time") == pytest.approx(long_run(25), rel=0.03), "of the long run"
    fitted.write(tmp_path / "fitted.toml")
    assert FittedModel.read(tmp_path / "fitted.toml").predict({"users": 25}, 0.9) == told
    blind = fit(runs(0.0), model, draws=60)
    assert abs(blind.estimates["service_s.cpu.user.mean"].value / WORK_S - 1) > 0.1, "without it another time is found"


@pytest.mark.parametrize(
    "law",
    [Deterministic(0.1), Uniform(0.1, 0.3), Lognormal(0.1, 2.0), Empirical((0.0, 0.1, 0.4)),
     Hyperexponential((0.3, 0.7), (0.5, 0.1)), PhaseType((1.0, 0.0), ((-3.0, 2.0), (0.0, -4.0)))],
)  # fmt: skip
def test_a_law_of_times_twice_as_long(law: sj.Distribution) -> None:
    """Moments grow with the first and the third power."""
    twice = law.scaled(2.0)
    assert (twice.first, twice.third, twice.scv) == pytest.approx((2 * law.first, 8 * law.third, law.scv))
    assert replace(twice) == twice and np.isfinite(twice.first)
