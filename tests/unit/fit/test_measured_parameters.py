"""Parameters that runs measured: means of runs with their uncertainty, and formulas that are fitted to what was measured of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sojourn as sj
from sojourn.errors import FitError, ModelError
from sojourn.fit.factor_mapping import applied, factors_of
from sojourn.fit.fit_runs import FitRun, FitRuns
from sojourn.fit.fitted_model import FittedModel
from sojourn.fit.model_fit import fit
from sojourn.model.unknown_parameters import replaced

MODEL = """
[parameters]
away_s = { metric = "residence_time", metric_station = "client" }
empty = { metric = "throughput", metric_class = "empty", divisor_metric = "throughput", run_factors = { users = 10 } }
retry_s = 0.2
work_s = { free = true }
[stations.cpu]
[classes.user]
kind = "closed"
population = 1
think_s = "away_s + empty * retry_s"
[demands_s.cpu]
user = "work_s"
"""
PARTS = """
[parameters]
request_s = { free = true }
key_s = { free = true }
keys = 1
cpu_s = { metric = "service_demand", metric_station = "server", model_formula = "request_s + key_s*keys" }
[stations.cpu]
[stations.elsewhere]
kind = "delay"
[classes.user]
kind = "open"
rate_per_s = 1
[demands_s]
cpu = { user = "cpu_s" }
elsewhere = { user = { free = true, low = 0 } }
"""


def runs_of(text: str, truth: Mapping[str, float], points: list[dict[str, Any]], measured: Any) -> FitRuns:
    model, rng = sj.Model.parse(text), np.random.default_rng(2)
    real, found = replaced(model, truth), []
    for i, point in enumerate(points):
        m = sj.solve(applied(real, factors_of(model, points), point))
        means = {
            ("", metric): (m.value(metric) * (1 + 0.01 * rng.standard_normal()), 0.01)
            for metric in ("response_time", "throughput")
        }
        found.append(FitRun(f"run-{i}", point, means, {}, measured=measured(i, point, m, rng)))
    return FitRuns(found)


def closed_runs() -> FitRuns:
    def measured(i: int, point: dict[str, Any], m: sj.Metrics, rng: np.random.Generator) -> dict[Any, float]:
        x = m.value("throughput")
        return {("client", "", "residence_time"): 0.3 + 0.01 * (-1) ** i, ("", "", "throughput"): x,
                ("", "empty", "throughput"): x * (0.25 if point["users"] == 10 else 0.9)}  # fmt: skip

    truth = {"parameters.away_s": 0.3, "parameters.empty": 0.25, "parameters.work_s": 0.02}
    return runs_of(MODEL, truth, [{"users": n} for n in (2, 5, 10, 15, 20, 25)], measured)


def test_a_mean_of_the_runs_takes_its_place_with_its_uncertainty() -> None:
    fitted = fit(closed_runs(), sj.Model.parse(MODEL))
    away, empty, work = (fitted.estimates[f"parameters.{n}"] for n in ("away_s", "empty", "work_s"))
    assert away.value == pytest.approx(0.3) and empty.value == pytest.approx(0.25)  # of the run with 10 users alone
    half = 0.01 * np.sqrt(6 / 5) / np.sqrt(6) * 2.0150  # Student's t of five degrees of freedom, 90 %
    assert away.high - away.value == pytest.approx(half, rel=1e-3)
    assert work.low <= 0.02 <= work.high
    spread = fitted.draws[:, fitted.paths.index("parameters.away_s")].std()
    assert 0.003 < spread < 0.012


def test_the_file_of_such_a_fit_predicts_the_same(tmp_path: Path) -> None:
    fitted = fit(closed_runs(), sj.Model.parse(MODEL), draws=40)
    fitted.write(tmp_path / "fitted.toml")
    read = FittedModel.read(tmp_path / "fitted.toml")
    columns = ["metric", "value", "low", "high"]
    assert read.predict({"users": 40}).frame.select(columns).equals(fitted.predict({"users": 40}).frame.select(columns))


def test_a_formula_is_fitted_to_what_was_measured_of_it() -> None:
    def measured(i: int, point: dict[str, Any], m: sj.Metrics, rng: np.random.Generator) -> dict[Any, float]:
        return {("server", "", "service_demand"): (0.004 + 0.001 * point["keys"]) * (1 + 0.01 * rng.standard_normal())}

    truth = {"parameters.request_s": 0.004, "parameters.key_s": 0.001, "demands_s.elsewhere.user": 0.01}
    points = [{"rate_per_s": float(r), "keys": k} for r, k in ((20, 1), (40, 8), (60, 2), (30, 16), (50, 4), (45, 1))]
    runs = runs_of(PARTS, truth, points, measured)
    fitted = fit(runs, sj.Model.parse(PARTS))
    for path, value in truth.items():
        assert fitted.estimates[path].low <= value <= fitted.estimates[path].high, path
    plain = PARTS.replace(
        '{ metric = "service_demand", metric_station = "server", model_formula = "request_s + key_s*keys" }',
        '"request_s + key_s*keys"',
    )
    alone = fit(runs, sj.Model.parse(plain))
    wide = [e.high - e.low for e in (alone.estimates["parameters.request_s"], fitted.estimates["parameters.request_s"])]
    assert wide[1] < 0.7 * wide[0]  # response times alone tell it less well
    assert "parameter" not in fitted.predict({"rate_per_s": 30.0, "keys": 3}).frame["metric"].to_list()


@pytest.mark.parametrize(
    ("old", "new", "remedy"),
    [
        ('station = "client"', 'station = "clent"', "client"),
        ("users = 10 }", "users = 11 }", "use factors that some run has"),
        ('divisor_metric = "throughput"', 'divisor_metric = "throughputs"', "throughput"),
    ],
)
def test_what_no_run_measured_is_said(old: str, new: str, remedy: str) -> None:
    with pytest.raises(FitError) as error:
        fit(closed_runs(), sj.Model.parse(MODEL.replace(old, new)))
    assert remedy in error.value.remedy and "parameters." in str(error.value.place)


def test_a_parameter_that_is_no_number_of_a_run_is_refused() -> None:
    with pytest.raises(ModelError, match="class"):
        sj.Model.parse(MODEL.replace('class = "empty"', "class = 3"))


SPEED = """
[parameters]
work_s = { free = true }
exponent = { free = true, low = 0, high = 2, start = 1 }
now_s = { metric = "reference_work_time", one_value_per_run = true }
usual_s = { metric = "reference_work_time" }
[stations.cpu]
[classes.user]
kind = "open"
rate_per_s = 1
[demands_s.cpu]
user = "work_s * (now_s/usual_s)**exponent"
"""


def test_the_speed_of_the_core_in_each_run_is_known_to_the_fit() -> None:
    rng = np.random.default_rng(5)
    found = []
    for i, rate in enumerate((10, 20, 30, 40, 50, 60) * 2):
        speed = float(np.exp(rng.normal(0, 0.15)))
        service = 0.01 * speed**0.7
        response = service / (1 - rate * service) * (1 + 0.01 * rng.standard_normal())  # M/M/1
        means = {("", "response_time"): (response, 0.01), ("", "throughput"): (float(rate), 0.01)}
        work = {("", "", "reference_work_time"): 0.002 * speed}
        found.append(FitRun(f"run-{i}", {"rate_per_s": float(rate)}, means, {"cpu": rate * service}, measured=work))
    fitted = fit(FitRuns(found), sj.Model.parse(SPEED))
    exponent = fitted.estimates["parameters.exponent"]
    assert exponent.low <= 0.7 <= exponent.high and exponent.high - exponent.low < 0.4
    usual = fitted.predict({"rate_per_s": 55.0}, level=0.9)
    slow = fitted.predict({"rate_per_s": 55.0, "parameters.now_s": 0.0026}, level=0.9)
    assert slow.value("response_time") > 1.1 * usual.value("response_time")
    blind = fit(FitRuns([replace(r, measured={}) for r in found]), sj.Model.parse(SPEED.replace(
        'now_s = { metric = "reference_work_time", one_value_per_run = true }', "now_s = 1").replace(
        'usual_s = { metric = "reference_work_time" }', "usual_s = 1").replace("**exponent", "").replace(
        "exponent = { free = true, low = 0, high = 2, start = 1 }", "")))  # fmt: skip
    assert fitted.noise["response_time"] < 0.5 * blind.noise["response_time"]


def formula_runs() -> FitRuns:
    def measured(i: int, point: dict[str, Any], m: sj.Metrics, rng: np.random.Generator) -> dict[Any, float]:
        return {("server", "", "service_demand"): 0.004 + 0.001 * point["keys"] * (1 if point["keys"] < 8 else 9)}

    truth = {"parameters.request_s": 0.004, "parameters.key_s": 0.001, "demands_s.elsewhere.user": 0.01}
    points = [{"rate_per_s": float(r), "keys": k} for r, k in ((20, 1), (40, 8), (60, 2), (30, 16), (50, 4), (45, 1))]
    return runs_of(PARTS, truth, points, measured)


def test_a_formula_without_a_row_in_the_runs_is_an_error_and_not_a_formula_alone() -> None:
    with pytest.raises(FitError, match="service_demand"):
        fit(formula_runs(), sj.Model.parse(PARTS.replace('station = "server"', 'station = "serfer"')))


def test_at_counts_beside_a_formula_and_for_each_run() -> None:
    """The rows of runs with many keys are wrong here: only the run with two keys is asked."""
    some = PARTS.replace('model_formula = "request_s', 'run_factors = { keys = 2 }, model_formula = "request_s')
    fitted = fit(formula_runs(), sj.Model.parse(some))
    assert fitted.estimates["parameters.key_s"].value == pytest.approx(0.001, rel=0.2)
    every = fit(formula_runs(), sj.Model.parse(PARTS))
    assert abs(every.estimates["parameters.key_s"].value - 0.001) > 2 * abs(
        fitted.estimates["parameters.key_s"].value - 0.001
    )


def test_a_mean_of_one_run_is_said_to_have_no_error() -> None:
    assert "parameters.empty: from one run only" in fit(closed_runs(), sj.Model.parse(MODEL), draws=40).message


def test_what_is_uncertain_in_a_measured_mean_is_in_the_unknowns_that_stand_beside_it() -> None:
    """Only x + gap is told by the runs: where gap is larger x is as much smaller, and the sum is known as well as without it."""
    text = """
[parameters]
gap_s = { metric = "residence_time", metric_station = "client" }
x_s = { free = true, low = 0 }
[stations.cpu]
[stations.net]
kind = "delay"
[classes.user]
kind = "open"
rate_per_s = 1
[demands_s]
cpu = { user = 0.01 }
net = { user = "x_s + gap_s" }
"""

    def measured(i: int, point: dict[str, Any], m: sj.Metrics, rng: np.random.Generator) -> dict[Any, float]:
        return {("client", "", "residence_time"): 0.02 + 0.004 * (-1) ** i}

    points = [{"rate_per_s": float(r)} for r in (10, 20, 30, 40, 50, 60)]
    truth = {"parameters.x_s": 0.01, "parameters.gap_s": 0.02}
    fitted = fit(runs_of(text, truth, points, measured), sj.Model.parse(text))
    x, gap = (fitted.draws[:, fitted.paths.index(f"parameters.{n}")] for n in ("x_s", "gap_s"))
    assert np.corrcoef(x, gap)[0, 1] < -0.9
    assert np.std(x + gap) < 0.4 * np.std(gap)
    assert fitted.estimates["parameters.x_s"].low <= 0.01 <= fitted.estimates["parameters.x_s"].high
