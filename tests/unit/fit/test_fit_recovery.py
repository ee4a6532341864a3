"""Intervals of fits: against known formulas, and on simulated services whose numbers are known (benches/fit has 200 seeds)."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sojourn.fit import run_mean_error
from sojourn.fit.run_clusters import RunClusters

sys.path.insert(0, str(Path(__file__).parents[3] / "benches" / "fit"))
import recovery

SEEDS, PASSES = range(700, 706), 5000


def test_of_a_mean_the_interval_is_students() -> None:
    """n runs of one number: variance s²/n with n - 1 degrees of freedom."""
    e = np.array([1.0, -2.0, 4.0, 0.5, -3.5])
    found = RunClusters.of(np.ones((5, 1)), np.arange(5))
    assert found.degrees == pytest.approx([4.0]) and found.left == pytest.approx(np.full(5, 0.8))
    assert (found.stretched(e) ** 2).sum() / 25 == pytest.approx(e.var(ddof=1) / 5)


def test_of_two_groups_it_is_welchs_with_the_degrees_of_bell_and_mccaffrey() -> None:
    """Imbens and Kolesár 2016, p. 703: 3 and 27 observations, 2.5 degrees of freedom; the variance is Welch's."""
    group = np.repeat([1.0, 0.0], [3, 27])
    e = np.random.default_rng(1).standard_normal(30)
    e -= np.where(group == 1, e[:3].mean(), e[3:].mean())
    x = np.column_stack([group, np.ones(30)])
    found = RunClusters.of(x, np.arange(30))
    assert found.degrees[0] == pytest.approx(2.5, abs=0.05)
    inverse = np.linalg.pinv(x)[0]
    welch = e[:3].var(ddof=1) / 3 + e[3:].var(ddof=1) / 27
    assert ((inverse * found.stretched(e)) ** 2).sum() == pytest.approx(welch)


def test_what_runs_state_is_smoothed_and_shorter_runs_keep_their_own() -> None:
    sensitivity = np.array([1.0, 2.0, 4.0, 8.0])
    stated = 0.01 * sensitivity * np.array([1.1, 1 / 1.1, 1 / 1.1, 1.1])
    assert run_mean_error.smoothed(stated, sensitivity, ["response_time"] * 4) == pytest.approx(
        0.01 * sensitivity, rel=1e-6
    )
    far = run_mean_error.smoothed(np.full(9, 0.01) * np.where(np.arange(9) == 4, 60.0, 1.0), np.ones(9), ["busy"] * 9)
    assert far[4] > 0.1 and far[0] < 0.03
    assert run_mean_error.smoothed(np.zeros(4), sensitivity, ["busy"] * 4).tolist() == [0.0] * 4


def test_the_logarithm_of_a_mean_is_shifted_by_half_its_variance() -> None:
    """A lognormal mean with relative error e: E[log] = log(mean) - log(1 + e²)/2."""
    e = np.array([0.02, 0.1])
    assert run_mean_error.shift(e) == pytest.approx(np.log1p(e**2) / 2, rel=0.01)


@cache
def rows(name: str, seed: int) -> list[dict[str, Any]]:
    return [dict(zip(recovery.FIELDS, row, strict=True)) for row in recovery.recovered(name, seed, PASSES)]


@pytest.mark.parametrize("name", ["M/M/2 and delay", "M/G/1, c² = 3, watched", "closed, two queues, one watched"])
def test_intervals_hold_the_truth(name: str) -> None:
    """95 % intervals of two unknowns, 6 seeds: fewer than 9 of 12 hold once in five hundred."""
    held = [row["held"] for seed in SEEDS for row in rows(name, seed) if row["kind"] == "unknown"]
    assert len(held) == 12 and sum(held) >= 9


@pytest.mark.parametrize(
    "name", ["lognormal service, c² = 3, taken for exponential", "a lock behind four cores, not in the model"]
)
def test_a_service_that_is_not_the_model_is_told(name: str) -> None:
    told = [not row["held"] for seed in SEEDS[:3] for row in rows(name, seed) if row["kind"] == "fit"]
    assert told == [True] * 3


def test_what_no_run_can_tell_is_refused_by_name() -> None:
    (row,) = rows("variance of service under processor sharing", 700)
    assert row["kind"] == "refused" and "do not determine demands_s.cpu.user.scv" in row["name"]
    (row,) = rows("two delays, of which only the sum is seen", 700)
    assert "demands_s.net.user and demands_s.wire.user separately" in row["name"]


def test_what_a_new_run_is_uncertain_by_grows_as_runs_say_and_then_in_proportion() -> None:
    """Errors of 1 % s² from s = 1 to 4: of the geometric mean, 2, it is in proportion to 2; beyond 4 it doubles with s."""
    sensitivity = np.array([1.0, 2.0, 4.0])
    growth = run_mean_error.ErrorGrowth.of(0.01 * sensitivity**2, sensitivity)
    assert growth.by(np.array([1.0, 2.0, 4.0, 8.0])) == pytest.approx([0.5, 2.0, 8.0, 16.0])
    assert run_mean_error.ErrorGrowth.of(np.zeros(3), sensitivity).by(sensitivity) == pytest.approx(sensitivity)
