"""Fits of parameters that formulas are made of: they come back from runs of a service that is made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sojourn as sj
from sojourn.errors import FitError, InputError
from sojourn.fit.factor_mapping import applied, factors_of
from sojourn.fit.fit_runs import FitRun, FitRuns
from sojourn.fit.fitted_model import FittedModel
from sojourn.fit.model_fit import fit
from sojourn.model.unknown_parameters import replaced

ANY, ZERO = "{ free = true }", "{ free = true, low = 0 }"
PARTS = f"""
[parameters]
request_s = {ANY}
key_s = {ANY}
store_s = {ZERO}
keys = 1
stores = {{ factor = "workload", value = "get", cases = {{ set = 1 }}, otherwise = 0 }}
[stations.cpu]
servers = 2
[classes.user]
kind = "open"
rate_per_s = 1
[demands_s.cpu]
user = "request_s + key_s*keys + store_s*stores"
"""
PARTS_TRUTH = {"parameters.request_s": 0.004, "parameters.key_s": 0.002, "parameters.store_s": 0.003}
PARTS_POINTS = [
    {"rate_per_s": float(rate), "keys": keys, "workload": work}
    for rate, keys, work in (
        (60, 1, "get"), (150, 1, "set"), (50, 8, "get"), (80, 4, "set"), (120, 2, "get"), (40, 8, "set"), (100, 4, "get"),
    )
]  # fmt: skip
FALLS = f"""
[parameters]
work_s = {ANY}
saved = {ZERO}
[stations.cpu]
servers = 2
[classes.user]
kind = "open"
rate_per_s = 1
[demands_s.cpu]
user = "work_s * (1 + saved*(1-u)**2)"
"""
FALLS_TRUTH = {"parameters.work_s": 0.01, "parameters.saved": 0.8}


def runs_of(text: str, truth: Mapping[str, float], points: Sequence[Mapping[str, Any]]) -> FitRuns:
    """What the true model says of each point, with errors of 1 % of response times and 0.5 % of what was busy."""
    model, rng = sj.Model.parse(text), np.random.default_rng(4)
    found = []
    for i, point in enumerate(points):
        m = sj.solve(applied(replaced(model, truth), factors_of(model, points), point))
        means = {("", "response_time"): (m.value("response_time") * (1 + 0.01 * rng.standard_normal()), 0.01)}
        means["", "throughput"] = (m.value("throughput"), 0.005)
        busy = {"cpu": m.value("utilisation", "cpu") * model.network.servers[0] * (1 + 0.005 * rng.standard_normal())}
        found.append(FitRun(f"run-{i}", dict(point), means, busy))
    return FitRuns(found)


def holds(fitted: FittedModel, truth: Mapping[str, float]) -> None:
    for path, value in truth.items():
        estimate = fitted.estimates[path]
        assert estimate.low <= value <= estimate.high and estimate.value == pytest.approx(value, rel=0.15), path


def test_a_sum_of_parts_comes_back_and_predicts_other_sizes() -> None:
    fitted = fit(runs_of(PARTS, PARTS_TRUTH, PARTS_POINTS), sj.Model.parse(PARTS), level=0.95)
    holds(fitted, PARTS_TRUTH)
    found = fitted.predict({"rate_per_s": 30.0, "keys": 16, "workload": "set"}, level=0.9)
    low, high = found.interval("response_time", keys=16)
    assert low is not None and high is not None
    u = 30 * 0.039 / 2
    assert low <= 0.039 / (1 - u**2) <= high  # M/M/2


def test_a_fit_of_formulas_is_the_same_from_its_file(tmp_path: Path) -> None:
    fitted = fit(runs_of(PARTS, PARTS_TRUTH, PARTS_POINTS), sj.Model.parse(PARTS), draws=40)
    fitted.write(tmp_path / "fitted.toml")
    read = FittedModel.read(tmp_path / "fitted.toml")
    point = {"rate_per_s": 100.0, "keys": 3, "workload": "set"}
    columns = ["metric", "value", "low", "high"]
    assert read.predict(point).frame.select(columns).equals(fitted.predict(point).frame.select(columns))
    assert '"request_s + key_s*keys + store_s*stores"' in (tmp_path / "fitted.toml").read_text()


def test_a_time_that_falls_with_the_load_comes_back_and_saturates_where_it_does() -> None:
    points = [{"rate_per_s": float(r)} for r in (10, 30, 60, 90, 120, 150)]
    fitted = fit(runs_of(FALLS, FALLS_TRUTH, points), sj.Model.parse(FALLS))
    holds(fitted, FALLS_TRUTH)
    found = fitted.predict({"rate_per_s": 180.0}, level=0.9)
    low, high = found.interval("saturation_rate")
    assert low is not None and high is not None and low <= 200 <= high


def test_parts_that_were_never_varied_are_refused_by_name() -> None:
    points = [{**p, "keys": 4, "workload": "get"} for p in PARTS_POINTS]
    with pytest.raises(FitError, match=r"parameters\.store_s.*vary workload"):
        fit(runs_of(PARTS, PARTS_TRUTH, points), sj.Model.parse(PARTS))


def test_a_text_without_a_number_is_refused_by_name() -> None:
    text = PARTS.replace(", otherwise = 0", "").replace("cases = { set = 1 }", "cases = { set = 1, get = 0 }")
    fitted = fit(runs_of(text, PARTS_TRUTH, PARTS_POINTS), sj.Model.parse(text), draws=40)
    with pytest.raises(FitError, match="'mixed'.*use set, get"):
        fitted.predict({"rate_per_s": 100.0, "keys": 3, "workload": "mixed"})


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("keys = 1", "keys = { free = true }", "keys is a factor of the runs"),
        ("servers = 2", 'servers = "2 + request_s"', "a whole number cannot be fitted"),
    ],
)
def test_what_cannot_be_unknown_is_refused(old: str, new: str, said: str) -> None:
    runs = runs_of(PARTS, PARTS_TRUTH, PARTS_POINTS)
    with pytest.raises(FitError, match=said):
        fit(runs, sj.Model.parse(PARTS.replace(old, new)))


def test_a_fitted_parameter_is_set_by_its_name_or_its_path() -> None:
    fitted = fit(runs_of(PARTS, PARTS_TRUTH, PARTS_POINTS), sj.Model.parse(PARTS), draws=40)
    point = {"rate_per_s": 50.0, "keys": 2, "workload": "get"}
    by_name, by_path = (fitted.predict({**point, name: 0.02}) for name in ("request_s", "parameters.request_s"))
    values = [m.frame.filter(metric="response_time", station="")["value"].to_list() for m in (by_name, by_path)]
    assert values[0] == values[1] and values[0][0] > 0.02
    whole = fitted.predict({"rate_per_s": 50.0, "parameters.keys": 2, "workload": "get"})
    assert whole.value("utilisation", "cpu") == pytest.approx(fitted.predict(point).value("utilisation", "cpu"))


def test_a_plan_asks_for_each_factor_that_varied() -> None:
    fitted = fit(runs_of(PARTS, PARTS_TRUTH, PARTS_POINTS), sj.Model.parse(PARTS), draws=40)
    with pytest.raises(InputError, match="no workload"):
        sj.plan(fitted, {"keys": [1, 2]}, "mean < 50ms", "keys", load=50.0)
    found = sj.plan(fitted, {"keys": [1, 2], "workload": ["get"]}, "mean < 50ms", "keys", load=50.0)
    choice = found.cheapest or found.cheapest_outside_validated_range
    assert choice is not None and dict(choice.settings)["keys"] == 1
