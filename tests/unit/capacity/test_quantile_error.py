"""The error of a run's p99 that the run itself tells, beside that of many runs: exponential response times, independent, and in bursts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sojourn.capacity.capacity_run import capacity_run
from sojourn.query.objectives import read_objectives
from sojourn.simulate.simulated_folder import write_run

RATE, RUN_S = 200.0, 20.0
P99 = read_objectives(["p99 < 1s"])


def times(random: np.random.Generator, burst: int) -> np.ndarray:
    """Of mean 10 ms; each value stands for `burst` requests in a row."""
    return np.repeat(random.exponential(0.01, int(RATE * RUN_S) // burst), burst)


@pytest.mark.parametrize("burst", [1, 4])
def test_beside_many_runs(tmp_path: Path, burst: int) -> None:
    random = np.random.default_rng(7)
    truth = np.std([np.quantile(times(random, burst), 0.99) for _ in range(2000)]) / (0.01 * np.log(100))
    told = []
    for number in range(20):
        begun = np.arange(int(RATE * RUN_S)) / RATE
        requests = {"intended_s": begun, "done_s": begun + times(random, burst)}
        about = {"name": f"run-{number}", "factors": {"rate_per_s": RATE}, "duration_s": RUN_S}
        run = capacity_run(write_run(tmp_path / f"{number}", manifest=about, requests=requests), RATE, P99)
        told.append(run.objective_value_errors["p99"])
    assert np.mean(told) == pytest.approx(truth, rel=0.25)


def test_nothing_is_said_of_a_few_requests(tmp_path: Path) -> None:
    begun = np.arange(200) / RATE
    requests = {"intended_s": begun, "done_s": begun + times(np.random.default_rng(1), 1)[:200]}
    about = {"name": "short", "factors": {"rate_per_s": RATE}, "duration_s": 1.0}
    run = capacity_run(write_run(tmp_path / "short", manifest=about, requests=requests), RATE, P99)
    assert run.objective_value_errors == {}
