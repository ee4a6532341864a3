"""Errors of known size that are not of sampling: kept by the smoothing, and what a run that other work disturbed counts with."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from mmm_runs import mmm_run
from test_fit_beside_others import OTHERS, recorded

import sojourn as sj
from sojourn.fit.fit_problem import FitProblem
from sojourn.fit.fit_runs import FitRun, FitRuns

RATES = (20.0, 40.0, 50.0, 60.0, 80.0)
MODEL = """
[stations.cpu]
servers = 2
[classes.user]
kind = "open"
rate_per_s = 1.0
[demands_s]
cpu = { user = { free = true } }
"""
KEY = ("", "response_time")


def one_late(off: float) -> FitRuns:
    """M/M/2; the third run has an error of 20 % of a late generator beside 1 % of sampling."""
    found = []
    for number, rate in enumerate(RATES):
        run = mmm_run(rate)
        late = off if number == 2 else 0.0
        means = {KEY: (run.means[KEY][0], float(np.hypot(0.01, late))), ("", "throughput"): (rate, 0.01)}
        found.append(FitRun(run.name, run.factors, means, {}, beside={KEY: late} if late else {}))
    return FitRuns(found)


def test_what_is_known_of_one_run_alone_is_not_smoothed_away() -> None:
    """Sampling's 1 % is in all runs alike, so that the third has sqrt(0.2² + 0.01²), and the others stay at 1 %."""
    problem = FitProblem(one_late(0.2), sj.Model.parse(MODEL))
    problem.best()
    assert problem.stated[2] == pytest.approx(0.2002, rel=0.01)
    assert np.delete(problem.stated, 2) == pytest.approx(0.01, rel=0.01)


def test_a_disturbed_run_counts_with_the_share_that_others_took(tmp_path: Path) -> None:
    """Others used 0.3 of two cores: 15 % of the machine."""
    recorded(tmp_path, {60: [OTHERS]})
    file = tmp_path / "rate-60" / "manifest.json"
    more = {"checks": {"others": 0.3, "steal": 0.0}, "cpu_time": {"cores": 2}}
    file.write_text(json.dumps(json.loads(file.read_text()) | more))
    runs = sj.fit.observe_runs([tmp_path])
    assert [run.name for run in runs.runs] == ["rate-20", "rate-40", "rate-60"]
    assert runs.runs[2].beside[KEY] == pytest.approx(0.15)
    assert runs.runs[2].means[KEY][1] > 0.15 > 2 * runs.runs[1].means[KEY][1]
    assert [note.split(": disturbed")[0] for note in runs.notes()] == ["counts less: rate-60"]
