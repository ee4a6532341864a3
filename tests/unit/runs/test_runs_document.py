"""What `sojourn report RUNS` says of runs whose truth is known, with and without a fitted model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import sojourn as sj
from sojourn.fit.fit_report import model_section
from sojourn.measure.run_report import runs_document
from sojourn.model.unknown_parameters import replaced
from sojourn.report import Document, Figure, Table, Text, render_html
from sojourn.runs.run_folder import RunFolder, run_folders
from sojourn.simulate.simulated_folder import write_run
from sojourn.simulate.simulated_run import as_run

SERVICE = """
[stations.cpu]
servers = 2
[classes.user]
kind = "open"
rate_per_s = 20
[demands_s]
cpu = { user = 0.02 }
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Two servers of 20 ms: full at 100/s."""
    where = tmp_path_factory.mktemp("runs")
    for seed, rate in enumerate((20, 40, 60, 75, 100)):
        until_s = 200.0 if rate < 100 else 5.0
        as_run(
            replaced(sj.Model.parse(SERVICE), {"classes.user.rate_per_s": rate}),
            where / f"rate-{rate}",
            until_s=until_s,
            seed=seed,
        )
    yield where


def figures(document: Document) -> dict[str, Figure]:
    return dict(document.figures())


def table(document: Document, title: str) -> Table:
    return next(b for s in document.sections for b in s.blocks if isinstance(b, Table) and b.title == title)


def test_a_report_begins_with_what_its_reader_came_for(runs: Path) -> None:
    paths = [path for path in run_folders([runs]) if not path.name.endswith("100")]
    document = runs_document(paths)
    head, limit = document.verdict[:2]
    assert head.count(" ms") == 2 and "→" in head and "cpu 7" in head and "full near" in head
    assert limit.startswith("the limit is cpu: ") and document.verdict[2].strip().startswith("next: ")
    drawn = figures(document)
    assert [s.name for s in drawn["response"].series] == ["mean", "p50", "p90", "p99"]
    ((at, label),) = drawn["response"].vlines
    assert label == "full" and at == pytest.approx(100, rel=0.03)
    assert list(drawn["response"].series[0].x) == [20, 40, 60, 75], "in the order of the load, not of the names"
    mean, p50, p90, p99 = (one.y[-1] for one in drawn["response"].series)
    assert mean and p50 and p90 and p99 and p50 < mean < p90 < p99
    rows = table(document, "Runs").rows
    assert [row[0] for row in rows] == ["rate-20", "rate-40", "rate-60", "rate-75"] and len(rows[0]) == 9
    said = dict(table(document, "").rows)
    assert said["load"] == "simulated" and said["from"] and said["to"] and "cores" in str(said["host"])
    errors = next(s for s in document.sections if s.title == "Errors")
    assert isinstance(errors.blocks[0], Text) and errors.blocks[0].markdown.startswith("None of ")
    assert "the limit is cpu" in render_html(document)


def test_its_two_numbers_and_a_closed_loop_beside_open_ones(runs: Path, tmp_path: Path) -> None:
    """Full at 100/s; eight users who come back at once are no eight requests per second."""
    paths = [path for path in run_folders([runs]) if not path.name.endswith("100")]
    document = runs_document(paths)
    (mean, at), (full, what) = document.numbers
    assert mean.endswith(" ms") and at.startswith("mean response time at 7") and what == "where it is full"
    assert float(full.split()[0]) == pytest.approx(100, rel=0.03)
    closed = sj.Model.parse(SERVICE.replace('"open"', '"closed"').replace("rate_per_s = 20", "population = 8"))
    as_run(closed, tmp_path / "loop", until_s=50.0)
    drawn = figures(runs_document([*paths, tmp_path / "loop"]))
    assert drawn["response"].x_label == "requests per second" and len(drawn["response"].series[0].x) == 4
    as_run(replaced(closed, {"classes.user.population": 4}), tmp_path / "loop-4", until_s=50.0)
    assert figures(runs_document([tmp_path / "loop", tmp_path / "loop-4"]))["response"].x_label == "users"


def test_one_run_is_drawn_over_its_time(tmp_path: Path) -> None:
    """Requests each 10 ms for 30 s; an answer takes 2 ms, in the second from 15 s on 20 ms."""
    due = np.arange(0.0, 30.0, 0.01)
    slow = (due >= 15) & (due < 16)
    write_run(
        tmp_path / "rate-100",
        manifest={"name": "rate-100", "factors": {"rate_per_s": 100.0}, "duration_s": 30.0},
        requests={"intended_s": due, "done_s": due + np.where(slow, 0.02, 0.002)},
    )
    document = runs_document([tmp_path / "rate-100"])
    drawn = figures(document)
    assert list(drawn)[:3] == ["response-over-time", "distribution", "throughput-over-time"]
    for one in drawn["response-over-time"].series:
        for x, y in zip(one.x, one.y, strict=True):
            assert x is not None and (y is None or y == pytest.approx(20 if 15 < x < 16 else 2, rel=1e-3))
    (shares,) = drawn["distribution"].series
    longer = np.interp(10.0, np.array(shares.x, float), np.array(shares.y, float))
    window = RunFolder.open(tmp_path / "rate-100").manifest["window_s"]
    counted = (due >= window[0]) & (due <= window[1])
    assert longer == pytest.approx(slow[counted].mean(), rel=0.1)
    (answers,) = drawn["throughput-over-time"].series
    assert np.median(np.array(answers.y, float)) == pytest.approx(100, rel=0.03)
    mean = 2.0 + 18.0 * float(slow[counted].mean())
    assert [what for _, what in document.numbers] == ["mean response time", "99 % are answered within", "are answered"]
    assert float(document.numbers[0][0].split()[0]) == pytest.approx(mean, rel=0.01)


def test_measured_against_predicted(runs: Path) -> None:
    free = SERVICE.replace("user = 0.02", "user = { free = true }") + '[observed]\ncpu = "cpu"\n'
    measured = sj.fit.observe_runs([path for path in run_folders([runs]) if not path.name.endswith("100")])
    fitted = sj.fit(measured, sj.Model.parse(free), draws=40)
    section = model_section(fitted, measured)
    drawn = [block for block in section.blocks if isinstance(block, Figure)]
    assert [figure.title for figure in drawn] == ["Response time", "Utilisation of cpu"]
    ((at, label),) = drawn[0].vlines
    assert label == "saturates" and at == pytest.approx(100, rel=0.03)
    predicted, points = drawn[0].series
    assert predicted.style == "line" and predicted.low is not None and points.style == "points" and len(points.x) == 4
    near = np.interp(60.0, np.array(predicted.x, float), np.array(predicted.y, float))
    # M/M/2: R = S/(1 - rho^2) = 20 ms/(1 - 0.36)
    assert near == pytest.approx(20 / 0.64, rel=0.03)
    assert "prediction intervals: response time" in section.lead
    assert any("demands_s.cpu.user" in block.markdown for block in section.blocks if isinstance(block, Text))
    assert len(next(b for b in section.blocks if isinstance(b, Table)).rows) == 8
    sections = [s.title for s in runs_document(run_folders([runs]), section).sections]
    assert sections[:2] == [
        "Measured against predicted",
        "What was measured",
    ]  # the curve with its interval comes first


def test_errors_over_time(tmp_path: Path) -> None:
    """Requests each 10 ms for 30 s; those of the second from 15 s on are refused."""
    due = np.arange(0.0, 30.0, 0.01)
    write_run(
        tmp_path / "rate-100",
        manifest={"name": "rate-100", "factors": {"rate_per_s": 100.0}, "duration_s": 30.0},
        requests={"intended_s": due, "done_s": due + 0.002, "failure": ((due >= 15) & (due < 16)).astype(int)},
    )
    document = runs_document([tmp_path / "rate-100"])
    errors = next(s for s in document.sections if s.title == "Errors")
    assert "100 refused" in errors.lead
    (one,) = figures(document)["errors"].series
    worst = max(one.y, key=lambda v: v or 0.0)
    assert worst == pytest.approx(100, rel=0.02) and 15 <= one.x[list(one.y).index(worst)] <= 16  # type: ignore[operator]
    assert sum(v or 0.0 for v in one.y) * 0.5 == pytest.approx(100, rel=0.02)
    assert document.status == "warn" and "0 of 1 runs are valid" in document.verdict


def test_objectives_are_lines_where_their_limits_are(tmp_path: Path) -> None:
    """Answers after 2 ms; limits of 1 ms and 5 ms are in the figure, one of 1 s would flatten it; what is no objective is left out."""
    texts = ("mean < 1ms and p99 < 5ms", "p99 < 1s", "errors < 1%", "nonsense (")
    due = np.arange(0.0, 30.0, 0.01)
    for rate in (100.0, 200.0):
        write_run(
            tmp_path / f"rate-{rate:g}",
            manifest={
                "name": f"rate-{rate:g}",
                "factors": {"rate_per_s": rate},
                "duration_s": 30.0,
                "objectives": [{"objective": t} for t in texts],
            },
            requests={"intended_s": due, "done_s": due + 0.002},
        )
    drawn = figures(runs_document(run_folders([tmp_path])))["response"].series
    lines = {one.name: set(one.y) for one in drawn if one.style == "dashed"}
    assert lines == {"objective mean < 1ms": {1.0}, "objective p99 < 5ms": {5.0}}
    one_run = figures(runs_document([tmp_path / "rate-100"]))
    assert {one.name for one in one_run["response-over-time"].series if one.style == "dashed"} == set(lines)
