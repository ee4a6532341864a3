"""Runs that only other work disturbed: taken where there are few others, and said."""

from __future__ import annotations

import json
from pathlib import Path

import sojourn as sj
from sojourn.fit.fit_runs import FitRuns
from sojourn.model.unknown_parameters import replaced
from sojourn.runs.run_folder import RunFolder
from sojourn.simulate.simulated_run import as_run
from sojourn.study.fit_templates import ModelFilesTemplate

SERVICE = """
[stations.cpu]
[classes.user]
kind = "open"
rate_per_s = 1.0
[demands_s]
cpu = { user = 0.01 }
"""
OTHERS = "disturbed: other processes used 95.0% of a core (yes (4711) 95 %); at most 20.0%; end them"


def recorded(folder: Path, reasons: dict[int, list[str]]) -> FitRuns:
    """M/M/1 of 10 ms at three rates; `reasons`: rate → why the run is not valid."""
    for rate in (20, 40, 60):
        path = folder / f"rate-{rate}"
        as_run(replaced(sj.Model.parse(SERVICE), {"classes.user.rate_per_s": rate}), path, until_s=100, seed=rate)
        if rate in reasons:
            file = path / "manifest.json"
            file.write_text(json.dumps(json.loads(file.read_text()) | {"valid": False, "reasons": reasons[rate]}))
    return sj.fit.observe_runs([folder])


def test_runs_beside_other_work_are_better_than_none(tmp_path: Path) -> None:
    runs = recorded(tmp_path, {20: [OTHERS], 40: [OTHERS, "not stationary: it drifted"], 60: [OTHERS]})
    assert [run.name for run in runs.runs] == ["rate-20", "rate-60"]
    left, beside = runs.notes()
    assert left.startswith("left out: rate-40") and "not stationary" in left
    assert beside.startswith(
        "2 of 2 runs were made beside other work, and the predictions assume the same: rate-20: disturbed"
    )


def test_where_most_runs_are_valid_a_disturbed_one_is_left_out(tmp_path: Path) -> None:
    runs = recorded(tmp_path, {60: [OTHERS]})
    assert [run.name for run in runs.runs] == ["rate-20", "rate-40"]
    assert [note.split(": disturbed")[0] for note in runs.notes()] == ["left out: rate-60"]


def test_a_study_says_which_runs_that_are_not_valid_its_fit_uses(tmp_path: Path) -> None:
    """Issue 29: two of three runs of a ramp were made beside other work and used, and the verdict said that they were left out."""
    recorded(tmp_path, {20: [OTHERS], 40: [OTHERS, "not stationary: it drifted"], 60: [OTHERS]})
    runs = [RunFolder.open(path) for path in sorted(tmp_path.iterdir())]
    assert ModelFilesTemplate(("service.toml",), tmp_path).used_anyway(runs) == ("rate-20", "rate-60")


def test_a_run_without_metrics_is_left_out_for_that(tmp_path: Path) -> None:
    """The reason that was told was that of a run which is taken beside it: disturbed."""
    recorded(tmp_path, {20: [OTHERS], 40: [OTHERS], 60: [OTHERS]})
    (tmp_path / "rate-20/metrics.parquet").unlink()
    (left,) = sj.fit.observe_runs([tmp_path]).left_out
    assert left.startswith("rate-20: no means were measured")
