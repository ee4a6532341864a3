"""Slow seconds of a machine: found in requests that came alone, by no chance, and taken out of what is fitted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from ui_folder import run_folder

import sojourn as sj
from sojourn.fit.fit_runs import FitRun, FitRuns, observe_runs
from sojourn.fit.slow_episodes import LEAST_ALONE, UncontendedRequests, alone, slowness

SECONDS, RATE, WINDOWS = 6.0, 100.0, 24
SLOWER = 1.6
MU = 100.0
FILE = """
[stations.cpu]
[classes.user]
kind = "open"
rate_per_s = 1
[demands_s]
cpu = { user = { free = true } }
[observed]
cpu = "cpu"
"""


def times(rng: np.random.Generator, law: str, slow: range = range(0), each: int = 10) -> UncontendedRequests:
    """A run of `WINDOWS` windows with so many requests each, longer in those that are `slow`."""
    window = np.repeat(np.arange(WINDOWS), each)
    own = rng.exponential(size=len(window)) if law == "exponential" else 1 + 0.01 * rng.standard_normal(len(window))
    return UncontendedRequests(0.001 * own * np.where(np.isin(window, slow), SLOWER, 1.0), window)


def test_requests_that_another_one_overlaps_are_not_alone() -> None:
    """The second is there until 2.0 s, the third came at 1.5 s; the last one failed."""
    sent, done = np.array([0.0, 1.0, 1.5, 3.0, 4.0]), np.array([0.5, 2.0, 2.2, 3.125, 4.5])
    found = alone(sent, done, np.array([True, True, True, True, False]))
    assert found.times_s.tolist() == [0.5, 0.125]
    assert found.window.tolist() == [0, 12]  # of a quarter of a second


def test_a_window_with_too_few_has_no_median() -> None:
    window = np.repeat([0, 1, 3], [LEAST_ALONE, LEAST_ALONE - 1, LEAST_ALONE])
    values = np.array([5.0, 1, 3, 2, 4, 9, 9, 9, 9, 10, 30, 20, 50, 40])
    assert UncontendedRequests(values, window).medians().tolist() == [3.0, 30.0]


def test_a_run_that_is_slow_for_half_of_its_seconds() -> None:
    """On average (1 + 1.6)/2 = 1.3 times as long; the other is as fast as can be, and one without requests is not known to be slow."""
    rng = np.random.default_rng(1)
    runs = [
        times(rng, "constant", range(6, 18)),
        times(rng, "constant"),
        UncontendedRequests(np.zeros(0), np.zeros(0, np.intp)),
    ]
    assert slowness(runs) == pytest.approx([1.3, 1.0, 1.0], abs=0.02)


def test_service_times_that_differ_by_themselves_are_seldom_taken_for_slow_seconds() -> None:
    """The test has a level of one in 20: of 40 more than 6 would be so by a chance of 0.3 % (binomial)."""
    taken = [
        bool((slowness([times(np.random.default_rng([seed, 3]), "exponential") for _ in range(2)]) > 1).any())
        for seed in range(40)
    ]
    assert sum(taken) <= 6


def run(rate: float, slow: float, told: bool) -> FitRun:
    """M/M/1 whose times of service are so many times as long: R = 1/(mu/slow - lambda), U = lambda slow/mu."""
    means = {("", "throughput"): (rate, 0.01), ("", "response_time"): (1 / (MU / slow - rate), 0.02)}
    return FitRun(
        f"rate-{rate:g}", {"rate_per_s": rate}, means, {"cpu": rate * slow / MU}, slowness=slow if told else 1.0
    )


def test_the_demand_is_that_of_the_machine_at_its_best() -> None:
    """1/mu; without what is known of the slow runs some 2 % more, as most weight is on those near saturation."""
    speeds = ((20.0, 1.2), (40.0, 1.1), (60.0, 1.0), (75.0, 1.0))
    runs = FitRuns([run(*one, told=True) for one in speeds])
    fitted = sj.fit(runs, sj.Model.parse(FILE), draws=20)
    assert fitted.estimates["demands_s.cpu.user"].value == pytest.approx(1 / MU, rel=0.01)
    assert "slow for seconds in rate-20 (1.20 times as long), rate-40 (1.10 times as long)" in fitted.message
    plain = sj.fit(FitRuns([replace(one, slowness=1.0) for one in runs.runs]), sj.Model.parse(FILE), draws=20)
    assert plain.estimates["demands_s.cpu.user"].value > 1.015 / MU


def folder(where: Path, rate: float, response_s: float, cpu_s: float) -> None:
    """A run with records: one request every 1/rate s, answered before the next comes."""
    due = np.arange(0.0, SECONDS, 1 / rate)
    took = response_s * (1 + 0.01 * np.random.default_rng(int(rate)).standard_normal(len(due)))
    own_s = float(took.mean())  # what records say and what metrics say are the same: S of an M/M/1 with this R
    service_s = own_s / (1 + rate * own_s)
    run_folder(where, rate, service_s=service_s, demands_s={"process 1": cpu_s}, window_s=[0.0, SECONDS])
    columns = {"intended_s": due, "sent_s": due, "received_s": due + took, "done_s": due + took}
    kinds = {"failure": np.zeros(len(due), np.uint8), "class": np.zeros(len(due), np.uint16)}
    pl.DataFrame({**columns, **kinds}).write_parquet(where / "requests.parquet")


@pytest.mark.parametrize(("cpu_share", "expected"), [(0.9, SLOWER), (0.1, 1.0)])
def test_runs_that_spend_cpu_time_are_compared(tmp_path: Path, cpu_share: float, expected: float) -> None:
    """A request of the first takes 8 ms, of the others 5 ms. Where these are mostly waits, the machine's speed says nothing of them."""
    for rate, response_s in ((RATE, 0.008), (1.1 * RATE, 0.005), (1.2 * RATE, 0.005)):
        folder(tmp_path / f"rate-{rate:g}", rate, response_s, cpu_share * response_s)
    found = {round(run.factors["rate_per_s"]): run.slowness for run in observe_runs([tmp_path]).runs}
    assert found == pytest.approx({100: expected, 110: 1.0, 120: 1.0}, rel=0.02)
