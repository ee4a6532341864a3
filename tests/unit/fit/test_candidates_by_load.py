"""Which models are tried of runs whose loads are of two kinds, and of those without a response time."""

from __future__ import annotations

from dataclasses import replace

import pytest
from mmm_runs import RUNS, mmm_run

from sojourn.errors import InputError
from sojourn.fit.candidate_models import candidates
from sojourn.fit.fit_runs import FitRun, FitRuns


def of_users(count: int) -> FitRun:
    return replace(mmm_run(20.0), name=f"users-{count}", factors={"users": count})


@pytest.mark.parametrize("runs", [[mmm_run(20.0), of_users(4)], [of_users(4), mmm_run(20.0)]])
def test_rates_and_users_in_one_folder_are_refused(runs: list[FitRun]) -> None:
    with pytest.raises(InputError, match="rate_per_s in some and users in others"):
        candidates(FitRuns(runs))


def test_a_run_without_a_load_is_refused_wherever_it_stands() -> None:
    unknown = replace(mmm_run(20.0), factors={"workers": 2})
    for runs in ([unknown, mmm_run(30.0)], [mmm_run(30.0), unknown]):
        with pytest.raises(InputError, match="neither rate_per_s nor users"):
            candidates(FitRuns(runs))


def test_without_a_response_time_nothing_is_known_to_be_cpu_time() -> None:
    """A hundredth of a core's time could be all of a response time, or next to nothing of it."""
    runs = [
        replace(
            run, means={key: value for key, value in run.means.items() if key[1] == "throughput"}, busy={"cpu": 0.01}
        )
        for run in RUNS.runs
    ]
    assert {"1 server", "1 server, a delay"} <= candidates(FitRuns(runs)).keys()
