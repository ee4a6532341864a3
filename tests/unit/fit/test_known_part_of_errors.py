"""Errors of known size that are not of sampling are kept by the smoothing."""

from __future__ import annotations

import numpy as np
import pytest
from mmm_runs import mmm_run

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
