"""Objectives: how they are written, and what a run must have to meet them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sojourn.cli.load_run import end, expectation
from sojourn.cli.load_table import by_chance
from sojourn.cli.measure_table import finish
from sojourn.errors import LoadError, ObjectiveMissed, QueryError, ServiceError
from sojourn.query.objectives import demand_met, judge, lines, read_objectives
from sojourn.runs.run_folder import RunFolder
from sojourn.stats.share_interval import share_interval


@pytest.mark.parametrize(
    ("text", "figure", "relation", "limit"),
    [
        ("p99 < 50ms", "p99", "<", 0.05),
        ("mean<=1.5s", "mean", "<=", 1.5),
        ("p99.9 < 300us", "p99.9", "<", 3e-4),
        ("errors < 1%", "errors", "<", 0.01),
        ("errors<0.001", "errors", "<", 0.001),
        ("rate > 190/s", "rate", ">", 190.0),
        (" rate >= 190 /s ", "rate", ">=", 190.0),
        ("quantile(0.95, response_time) < 1min", "p95", "<", 60.0),
    ],
)
def test_written(text: str, figure: str, relation: str, limit: float) -> None:
    (one,) = read_objectives([text])
    assert (one.figure, one.relation) == (figure, relation) and one.limit == pytest.approx(limit)


@pytest.mark.parametrize(
    "text",
    ["", "p99", "p99 < ", "p99 = 5ms", "p100 < 1s", "p < 1s", "p9.9.9 < 1s", "median < 1s", "p99 < 5 apples", "errors < x",
     "errors < -1%", "rate > 5/m", "rate > inf", "p99 < -1s", "rate > 190", "p99 < 50", "p99 < 1s or errors < 1%", "p99 < mean",
     "utilisation < 0.5", "p99{class=a} < 1s", "errors", "errors < 1", "errors <= 5"],
)  # fmt: skip
def test_not_written_so(text: str) -> None:
    with pytest.raises(QueryError) as error:
        read_objectives([text])
    assert str(error.value).startswith("--objective:1:") and error.value.remedy


def test_several_in_one_text() -> None:
    found = read_objectives(["p99 < 50ms and errors < 0.1%", "rate > 5/s"])
    assert [one.text for one in found] == ["p99 < 50ms", "errors < 0.1%", "rate > 5/s"]


def run(path: Path) -> RunFolder:
    """A run of 100 requests, 10 a second: number k takes k ms, the last ten failed. Its window leaves out the first fifty."""
    path.mkdir()
    intended = [k / 10 for k in range(100)]
    done = [t + (k + 1) / 1000 for k, t in enumerate(intended)]
    pl.DataFrame({
        "intended_s": intended, "sent_s": intended, "received_s": [float("nan")] * 100, "done_s": done,
        "failure": [0] * 90 + [5] * 10,
    }).write_parquet(path / "requests.parquet")  # fmt: skip
    to_done = {"mean_s": 0.0455, "p50_s": 0.045, "p90_s": 0.081, "p99_s": 0.09, "p999_s": 0.09}
    generator = {"ok": 90, "failed": 10, "achieved_per_s": 9.0, "latency": {"from_intended": {"to_done": to_done}}}
    manifest: dict[str, Any] = {
        "format": "sojourn-run", "version": 1, "status": "complete", "pid": os.getpid(), "generator": generator,
        "window_s": [5.0, 10.0],
    }  # fmt: skip
    (path / "manifest.json").write_text(json.dumps(manifest))
    return RunFolder.open(path)


def values(folder: RunFolder, whole: bool) -> dict[str, float]:
    """By hand: the whole has the successes 1 … 90 ms; the window the requests from number 50 on, the successes 51 … 90 ms."""
    texts = ["mean < 1s", "p50 < 1s", "p75 < 1s", "errors < 1%", "rate > 1/s"]
    found = judge(folder, read_objectives(texts), whole=whole)
    return {one["objective"].split()[0]: one["value"] for one in found}


def test_judged_whole_and_in_the_window(tmp_path: Path) -> None:
    folder = run(tmp_path / "run")
    whole = values(folder, whole=True)
    # p75 of 1 … 90 and of ten failures, later than all, linear between ranks: 1 + 0.75 * 99 = 75.25.
    assert whole == pytest.approx({"mean": 0.0455, "p50": 0.045, "p75": 0.07525, "errors": 0.1, "rate": 9.0})
    window = values(folder, whole=False)
    # 51 … 90 and ten failures: mean 70.5, median 75.5, p75 = 51 + 0.75 * 49 = 87.75; 40 answers and 10 failures in 5 s.
    assert window == pytest.approx(
        {"mean": 0.0705, "p50": 0.0755, "p75": 0.08775, "errors": 0.2, "rate": 8.0}, abs=1e-3
    )
    assert json.loads((tmp_path / "run/manifest.json").read_text())["objectives"][0]["objective"] == "mean < 1s"


@pytest.mark.parametrize("whole", [True, False])
def test_a_quantile_among_the_failures_is_missed(tmp_path: Path, whole: bool) -> None:
    found = judge(run(tmp_path / "run"), read_objectives(["p97 < 10s"]), whole=whole)
    assert (found[0]["value"], found[0]["met"]) == (None, False)


def test_met_or_missed(tmp_path: Path) -> None:
    folder = run(tmp_path / "run")
    met = judge(folder, read_objectives(["p90 < 90ms", "rate >= 9/s"]), whole=True)
    demand_met(met, "load")
    missed = judge(folder, read_objectives(["p90 < 80ms and errors <= 10%"]), whole=True)
    assert [one["met"] for one in missed] == [False, True]
    # two of twenty batches of five failed: their variance is 20/19 0.09, that of single ones 0.09/5; Student's quantile over the normal one
    low, high = share_interval(10, 100, effect=5 * 20 / 19 * (1.7291 / 1.6449) ** 2)
    assert lines(missed) == [
        "p90 < 80ms: 81.0 ms, MISSED",
        f"errors <= 10%: 10.0 % ({100 * low:.2f} % … {100 * high:.2f} %), met",
    ]
    with pytest.raises(ObjectiveMissed, match="p90 < 80ms: 81.0 ms"):
        demand_met(missed, "load")
    assert not read_objectives(["rate > 0"])[0].met(None), "what does not exist is not met"


def test_of_a_whole_run_without_records_each_failed_by_itself(tmp_path: Path) -> None:
    folder = run(tmp_path / "run")
    (folder.path / "requests.parquet").unlink()
    (found,) = judge(RunFolder.open(folder.path), read_objectives(["errors <= 10%"]), whole=True)
    # Clopper, Pearson: 10 of 100
    assert (found["low"], found["high"]) == pytest.approx((0.0553, 0.1637), abs=1e-4)


def test_exit_of_runs_that_are_not_valid() -> None:
    end([], "load")
    with pytest.raises(LoadError, match="not stationary"):
        end(["not stationary: the response time drifted"], "load")
    failed = "5 of 160 requests after the warm-up failed (HTTP 503: 5); at most 1%"
    with pytest.raises(ServiceError, match="5 of 160 requests"):
        end(["not stationary: …", failed], "load")
    missed = [{"objective": "p99 < 1ms", "shown": "2 ms", "value": 0.002, "met": False}]
    with pytest.raises(LoadError, match="^measure: 1 of 2 runs are not valid: b; the table above says why$"):
        finish([("a", [], []), ("b", ["flow"], [])], told=True)
    with pytest.raises(LoadError, match="1 of 2 runs are not valid: b: flow"):
        finish([("a", [], missed), ("b", ["flow is not balanced"], [])])
    with pytest.raises(ObjectiveMissed, match="a: p99 < 1ms"):
        finish([("a", [], missed), ("b", [], [])])
    finish([("a", [], []), ("b", [], [])])


def manifest(arrivals: dict[str, Any], status: str = "complete") -> dict[str, Any]:
    return {"status": status, "load": {"duration_s": 10.0, "lanes": [{"arrivals": arrivals}]}}


def test_a_rate_that_looks_missed_by_chance() -> None:
    expected = expectation(manifest({"kind": "poisson", "rate_per_s": 50.0}))
    # A Poisson count has its mean as its variance: 500, and sqrt(500) = 22.4.
    assert expected["expected"] == {"requests": 500.0, "deviation": pytest.approx(22.36, abs=0.01)}
    assert by_chance({"requested": 454, **expected}) == "Poisson: 454 requests, expected 500 ± 22"
    assert by_chance({"requested": 490, **expected}) == ""
    assert expectation(manifest({"kind": "constant", "rate_per_s": 50.0})) == {}
    assert expectation(manifest({"kind": "poisson", "rate_per_s": 50.0}, "cut off")) == {}
    assert expectation({"status": "complete", "load": {"lanes": [{"closed": {"users": 3}}]}}) == {}
