"""Predicted beside measured: the same points for all rivals, and what is called saturated that was not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sojourn.fit.fit_runs import FitRun, FitRuns
from sojourn.fit.fitted_defaults import FittedDefaults
from sojourn.fit.model_fit import fit
from sojourn.model import Model
from sojourn.runs.run_folder import RunFolder
from sojourn.study.evaluation import (
    BLIND_AT_RATE,
    BLIND_AT_SPEED,
    evaluated,
    evaluated_at_rate,
    evaluated_at_speed,
    median_error,
)
from sojourn.study.fit_templates import RivalModels
from sojourn.table import Metrics

RATES = {"low": 100.0, "high": 200.0}


def run(path: Path, name: str, rate: float) -> RunFolder:
    manifest = {"section": "later", "factors": {"rate_per_s": rate}, "valid": True, "reasons": []}
    folder = RunFolder.create(path / name, manifest)
    rows = [{"metric": "throughput", "value": 0.99 * rate}, {"metric": "response_time", "value": 0.01}]
    Metrics.of([{**row, "source": "measured"} for row in rows]).write(folder.path / "metrics.parquet")
    return folder


class OneQueue(FittedDefaults):
    """M/M/1 of 5 ms: R = 1/(200 - rate), plus or minus 20 %."""

    level, estimates, model_error, message = 0.9, {}, None, ""

    def predict(self, vary: Mapping[str, Any], level: float) -> Metrics:
        rate = vary["rate_per_s"]
        value = 1 / (200 - rate)
        return Metrics.of(
            [
                {"metric": "throughput", "value": rate},
                {"metric": "response_time", "value": value, "low": 0.8 * value, "high": 1.2 * value, "level": level},
            ]
        )

    def write(self, path: Path) -> None: ...


def test_a_run_is_compared_with_what_the_models_say_for_the_rate_that_came(tmp_path: Path) -> None:
    """Asked for 150/s (20 ms), 160/s came: 25 ms, as was measured; the throughput is what came, and no prediction."""
    manifest = {"section": "later", "factors": {"rate_per_s": 150.0}, "valid": True, "reasons": []}
    folder = RunFolder.create(tmp_path / "run", manifest)
    seen = [("throughput", 159.0), ("response_time", 0.025), ("arrival_rate", 160.0)]
    rows = [{"metric": metric, "value": value, "source": "measured"} for metric, value in seen]
    Metrics.of(rows).write(folder.path / "metrics.parquet")
    found = evaluated_at_rate(RivalModels({"a": OneQueue()}, "a"), [folder, run(tmp_path, "uncounted", 100.0)], 0.9)
    told = [(r["run"], r["kind"], r["metric"], r["predicted"], r["error"], r["inside"]) for r in found.to_dicts()]
    assert told == [
        ("run", BLIND_AT_RATE, "throughput", 160.0, None, None),
        ("run", BLIND_AT_RATE, "response_time", 0.025, 0.0, True),
    ]


def said(throughput: float, response: float | None) -> list[dict[str, Any]]:
    both = {"station": "", "class": "", "low": None, "high": None}
    status = "ok" if response else "unstable"
    return [
        {**both, "metric": "throughput", "value": throughput, "status": "ok"},
        {**both, "metric": "response_time", "value": response, "status": status},
    ]


def test_rivals_have_errors_at_the_same_points(tmp_path: Path) -> None:
    """At 100/s both keep up: no throughput is foretold. At 200/s one says 150/s and saturated: its error of throughput is
    150/198 - 1, and the other's, which says 200, 200/198 - 1."""
    folders = [run(tmp_path, name, rate) for name, rate in RATES.items()]
    configurations = [
        {
            "section": "later",
            "factors": {"rate_per_s": 100.0},
            "rows": said(100.0, 0.011),
            "rivals": {"b": said(100.0, 0.02)},
        },
        {
            "section": "later",
            "factors": {"rate_per_s": 200.0},
            "rows": said(200.0, 0.011),
            "rivals": {"b": said(150.0, None)},
        },
    ]
    rows = evaluated({"best": "a", "configurations": configurations}, folders)
    points = {
        model: [(r["run"], r["metric"]) for r in rows.filter(model=model).to_dicts() if r["error"] is not None]
        for model in ("a", "b")
    }
    assert points["a"] == points["b"] == [("low", "response_time"), ("high", "throughput"), ("high", "response_time")]
    of = {model: median_error(rows.filter(model=model), "throughput") for model in points}
    assert (round(of["a"] or 0, 6), round(of["b"] or 0, 6)) == (round(200 / 198 - 1, 6), round(1 - 150 / 198, 6))
    assert rows.filter(model="b")["error"].is_infinite().sum() == 1


class ModelOfCoreSpeed(FittedDefaults):
    """Response time 10 ms times the speed that it is told, plus or minus 20 %."""

    level, estimates, model_error, message = 0.9, {}, None, ""

    def predict(self, vary: Mapping[str, Any], level: float) -> Metrics:
        value = 0.01 * vary.get("slow", 1.0)
        return Metrics.of(
            [{"metric": "response_time", "value": value, "low": 0.8 * value, "high": 1.2 * value, "level": level}]
        )

    def write(self, path: Path) -> None: ...


def test_a_run_is_compared_with_what_the_models_say_for_its_core_speed(tmp_path: Path) -> None:
    """Both took 10 ms. The one whose cores were twice as slow was predicted to take 20 ms: 100 % off, outside. The one whose speed
    is not known is left out."""
    folders = [run(tmp_path, name, rate) for name, rate in RATES.items()]

    def conditions(folder: RunFolder) -> dict[str, float]:
        return {"slow": 2.0} if folder.path.name == "low" else {}

    rows = evaluated_at_speed(RivalModels({"a": ModelOfCoreSpeed()}, "a"), folders, 0.9, conditions)
    assert [(r["run"], r["kind"], r["error"], r["inside"]) for r in rows.to_dicts()] == [
        ("low", BLIND_AT_SPEED, 1.0, False)
    ]


def test_a_model_that_has_no_such_parameter_is_not_asked_again(tmp_path: Path) -> None:
    """Beside one that has: what a run measured of itself changes nothing in it."""
    text = """
[parameters]
work_s = { free = true }
SPEED
[stations.cpu]
[classes.user]
kind = "open"
rate_per_s = 1
[demands_s.cpu]
user = "work_s * slow"
"""
    named = {
        "told": text.replace("SPEED", 'slow = { metric = "reference_work_time", one_value_per_run = true }'),
        "untold": text.replace("SPEED", "").replace("work_s * slow", "work_s"),
    }
    key = ("", "", "reference_work_time")
    runs = FitRuns(
        [
            FitRun(f"{rate}-{slow}", {"rate_per_s": rate}, {("", "response_time"): (r, 0.01)}, {}, measured={key: slow})
            for rate in (1.0, 20.0, 40.0)
            for slow in (1.0, 1.5)
            for r in (1 / (1 / (0.01 * slow) - rate),)
        ]
    )
    rivals = RivalModels({name: fit(runs, Model.parse(one)) for name, one in named.items()}, "told")
    folders = [run(tmp_path, "low", 20.0)]
    rows = evaluated_at_speed(rivals, folders, 0.9, lambda _: {"slow": 1.2})
    assert set(rows["model"]) == {"told"} and rows.height
