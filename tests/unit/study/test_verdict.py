"""The words of a verdict: what could be judged, what has no interval, what does not fit, which runs are left out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl

from sojourn.fit.fitted_defaults import FittedDefaults
from sojourn.fit.parameter_estimate import ParameterEstimate
from sojourn.fit.run_mean_error import misfit
from sojourn.study import evaluation
from sojourn.study.analysis import Analysis
from sojourn.study.fit_templates import RivalModels
from sojourn.study.predictions import predicted_rows
from sojourn.study.study_findings import StudyFindings
from sojourn.study.system import Point
from sojourn.study.verdict import verdict_lines
from sojourn.study.verdict_end import end_lines
from sojourn.table import Metrics

ROW = {"station": "", "class": "", "metric": "response_time", "value": 0.02, "low": 0.01, "high": 0.03, "status": "ok"}
ANSWER = Analysis(lines=("an observation",), headline="twice the rate")


def run(name: str, rate: float, reasons: tuple[str, ...] = ()) -> Any:
    factors = {"rate_per_s": rate}
    manifest = {"section": "two", "factors": factors, "valid": not reasons, "reasons": list(reasons)}
    return SimpleNamespace(path=Path(name), manifest=manifest)


@dataclass
class Model(FittedDefaults):
    """A fitted model of a template."""

    estimates: dict[str, ParameterEstimate] = field(
        default_factory=lambda: {"service_s": ParameterEstimate(0.02, 0.02, 0.02)}
    )
    level: float = 0.95
    model_error: float | None = None
    message: str = ""
    rows: tuple[dict[str, Any], ...] = ()

    def predict(self, vary: Any, level: float) -> Metrics:
        return Metrics.of(list(self.rows), "a formula")


def told(runs: list[Any], rows: list[dict[str, Any]], model: Model) -> list[str]:
    return verdict_lines(findings(runs, rows, model))


def findings(runs: list[Any], rows: list[dict[str, Any]], model: Model) -> StudyFindings:
    predicted = {"level": 0.9, "written": "now", "configurations": []}
    frame = pl.DataFrame(rows, schema=evaluation.SCHEMA)
    rivals = RivalModels({"shop": model}, "shop")  # type: ignore[dict-item]
    return StudyFindings(Path(), runs, ("rate_per_s",), rivals, predicted, frame)  # type: ignore[arg-type]


def test_the_headline_counts_what_was_predicted_and_not_only_what_could_be_judged() -> None:
    """Three response times: one inside, one of a run that is not valid, one without an interval; the throughput of an open
    system that keeps up is the rate that was given, and no prediction."""
    runs = [run("a", 10.0), run("b", 20.0, ("not stationary",)), run("c", 30.0)]
    without = {**ROW, "low": None, "high": None, "status": "no_interval"}
    given = {**ROW, "metric": "throughput", "value": 10.0, "low": None, "high": None}
    rows = [
        evaluation.row_of(one.manifest, one.path.name, row, "shop", evaluation.BLIND, 0.021)
        for one, row in zip([*runs, runs[0]], [ROW, ROW, without, given], strict=True)
    ]
    lines = told(runs, rows, Model())
    assert lines[0].startswith(
        "1 of 3 predicted values could be checked, 1 inside the 90 % intervals that were written before they were run"
    )
    assert told(runs[:1], rows[:1], Model())[0].startswith("1 of 1 measured values lie in the 90 % intervals")


def test_an_interval_without_upper_limit_is_said_where_values_are_counted() -> None:
    """0.021 s lies above 0.01 s, and nothing can lie above an interval that does not end."""
    runs, open_ = [run("a", 10.0), run("b", 20.0)], {**ROW, "high": None, "status": "open_above"}
    rows = [
        evaluation.row_of(one.manifest, one.path.name, row, "shop", evaluation.BLIND, 0.021)
        for one, row in zip(runs, [ROW, open_], strict=True)
    ]
    head = told(runs, rows, Model())[0]
    assert head.startswith("2 of 2 measured values lie in") and "(1 of them with no upper limit)" in head


def test_that_no_model_fits_is_the_first_line() -> None:
    why = "none of 3 models fits, do not extrapolate; the nearest is shop"
    found = findings([run("a", 10.0)], [], Model())
    assert found.rivals is not None
    found = replace(found, rivals=replace(found.rivals, why=why), analyses=(ANSWER,))
    lines = verdict_lines(found)
    assert lines[:2] == [why, "twice the rate"] and lines.count(why) == 1
    shown = end_lines(found, [*lines, "more", "more"])
    assert shown[:2] == [why, "twice the rate"] and shown.count(why) == 1


def test_each_run_that_is_left_out_is_named() -> None:
    bad = [run(f"bad-{k}", 10.0, ("not stationary",)) for k in range(10)]
    lines = told([run("good", 10.0), *bad], [], Model())
    at = lines.index("10 of 11 runs are not valid and are left out")
    assert lines[at + 1 : at + 9] == [f"left out: bad-{k}: not stationary" for k in range(8)]
    assert lines[at + 9] == "left out: 2 more, see the report"


def test_runs_that_are_not_valid_and_are_used_are_not_said_to_be_left_out() -> None:
    """Issue 29: the fit takes runs whose generator was late, and the verdict said that they were left out."""
    runs = [run("good", 10.0), run("late", 10.0, ("requests were sent late",)), run("bad", 10.0, ("not stationary",))]
    lines = verdict_lines(replace(findings(runs, [], Model()), used_anyway=("late",)))
    assert lines[-3:] == [
        "2 of 3 runs are not valid: 1 left out, 1 used in the fit with their errors",
        "left out: bad: not stationary",
        "used: late: requests were sent late",
    ]


def test_a_value_without_spread_has_no_interval_and_a_misfit_is_in_the_verdict() -> None:
    import numpy as np

    (said,) = misfit(np.full(9, 0.5), np.full(9, 0.01), np.full(9, 0.01), 8.0)
    lines = told([run("a", 10.0)], [], Model(message=f"solved by jackson\n{said}"))
    assert "fitted, intervals at 95 %: service_s 0.02 (no interval)" in lines
    assert "the model's own error is not known: there are too few configurations to hold one out" in lines
    assert said in lines and "solved by jackson" not in lines


def test_a_predicted_interval_without_width_is_none_and_its_status_says_so() -> None:
    model = Model(rows=(ROW, {**ROW, "metric": "throughput", "value": 5.0, "low": 5.0, "high": 5.0}))
    first, second = predicted_rows(model, Point("two", {"rate_per_s": 9.0}), 0.9)  # type: ignore[arg-type]
    assert (first["low"], first["high"], first["status"]) == (0.01, 0.03, "ok")
    assert (second["value"], second["low"], second["high"], second["status"]) == (5.0, None, None, "no_interval")


def test_a_terminal_shows_five_lines_the_answer_first_and_what_is_missing() -> None:
    """Ten of twelve runs are not valid: the verdict names eight of them, the end only counts."""
    runs = [run("a", 10.0), run("b", 20.0), *(run(f"bad-{k}", 10.0, ("not stationary",)) for k in range(10))]
    rows = [evaluation.row_of(one.manifest, one.path.name, ROW, "shop", evaluation.BLIND, 0.021) for one in runs[:2]]
    found = findings(runs, rows, Model())
    found = replace(found, not_shown=("spread: it needs root", "more NICs: it needs root"), analyses=(ANSWER,))
    shown = end_lines(found, verdict_lines(found))
    assert shown[0] == "twice the rate" and shown[1].startswith("2 of 2 measured values lie in the 90 % intervals")
    assert shown[-2:] == [
        "not shown here: spread: it needs root; more NICs: it needs root",
        "10 of 12 runs are not valid and are left out",
    ]
    assert len(shown) == 5 and set(shown) <= {*verdict_lines(found), shown[-2]}


def test_of_several_models_the_first_is_told_and_the_others_are_counted() -> None:
    runs = [run(f"r-{k}", 10.0 + k) for k in range(3)]
    found = findings(runs, [], Model())
    assert found.rivals is not None
    found = replace(
        found, rivals=replace(found.rivals, why="cores 1: shop\ncores 2: shop\ncores 4: lock"), analyses=(ANSWER,)
    )
    shown = end_lines(found, [f"line {k}" for k in range(9)])
    assert "cores 1: shop; 2 more such lines in the full verdict" in shown and not any("\n" in line for line in shown)


def test_a_study_that_predicts_nothing_is_shown_whole() -> None:
    found = findings([run("a", 10.0)], [], Model())
    long = [f"line {k}" for k in range(9)]
    assert end_lines(replace(found, predicted=None), long) == long
    assert end_lines(found, long[:5]) == long[:5] and len(end_lines(found, long)) <= 5
