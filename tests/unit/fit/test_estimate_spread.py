"""How uncertain unknowns are: by hand for a mean of runs, and that draws are as wide as is said."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import stdtrit

from sojourn.fit.estimate_spread import EstimateSpread, degrees_of
from sojourn.fit.run_clusters import KNOWN, RunClusters

ERRORS = np.array([1.0, -2.0, 4.0, 0.5, -3.5]) / 100  # of five runs about their mean
STATED, FLOOR = 0.01, 0.02


def spread_of(residual: np.ndarray, stated: float = STATED) -> EstimateSpread:
    """Of one number that n runs have, each a run of its own."""
    n = len(residual)
    weight = np.full(n, 1 / np.hypot(stated, FLOOR))
    clusters = RunClusters.of(weight[:, None] * np.ones((n, 1)), np.arange(n))
    return EstimateSpread.of(clusters, np.ones((n, 1)), weight, np.eye(n) * stated**2, np.full(n, FLOOR), residual)


def test_of_a_mean_of_runs_that_differ_more_than_they_state_it_is_students() -> None:
    """Both halves are s²/n with n - 1 degrees of freedom, and vary together."""
    found = spread_of(ERRORS)
    assert found.sizes[0] ** 2 == pytest.approx(ERRORS.var(ddof=1) / 5)
    assert found.degrees == pytest.approx([4.0])


def test_residuals_that_are_small_by_chance_leave_half_of_what_runs_state() -> None:
    """s²/n halved and added to half of 0.01²/n; what is stated is known: V²/((V_r/2)²/(n - 1)) degrees of freedom."""
    found = spread_of(ERRORS / 10)
    small, stated = ERRORS.var(ddof=1) / 100 / 5, STATED**2 / 5
    assert small < stated / 10
    assert found.sizes[0] ** 2 == pytest.approx((small + stated) / 2)
    assert found.degrees == pytest.approx([4 * (small + stated) ** 2 / small**2], rel=0.01)


def test_without_any_residual_the_errors_that_are_stated_remain() -> None:
    assert spread_of(np.zeros(5)).sizes[0] == pytest.approx(STATED / np.sqrt(10))


def test_draws_have_just_the_spread_that_is_said() -> None:
    """Not that of so many draws by chance, which is 4 % off with 300."""
    rng = np.random.default_rng(1)
    slopes, run = rng.standard_normal((12, 2)), np.repeat(np.arange(6), 2)
    clusters = RunClusters.of(slopes / 0.02, run)
    noise = rng.standard_normal(12) * 0.03
    residual = noise - slopes @ np.linalg.pinv(slopes) @ noise
    found = EstimateSpread.of(clusters, slopes, np.full(12, 50.0), np.eye(12) * 0.01**2, np.full(12, 0.0173), residual)
    moved = (found.drawn(np.zeros(12), 300, rng)) @ np.linalg.pinv(slopes).T
    assert moved.std(axis=0) == pytest.approx(found.sizes) and moved.mean(axis=0) == pytest.approx([0, 0], abs=1e-12)


def test_degrees_of_freedom_of_variances_that_vary_together() -> None:
    """Of two alike, those of each; of one that is known beside, four times those of the other; of none, those of the first."""
    one = np.array([2.0, 2.0, 0.0])
    assert degrees_of(one[:1], one[:1], np.array([3.0]), 3) == pytest.approx([3.0])
    assert degrees_of(one[:1], one[:1], np.array([3.0]), KNOWN) == pytest.approx([12.0], rel=1e-3)
    assert degrees_of(one[2:], one[2:], np.array([3.0]), 5) == pytest.approx([3.0])


def test_an_unknown_that_one_run_decides_has_what_this_run_states_and_the_floor() -> None:
    slopes = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    clusters = RunClusters.of(slopes, np.arange(4))
    found = EstimateSpread.of(
        clusters, slopes, np.ones(4), np.eye(4) * 0.36, np.full(4, 0.8), np.array([0.1, -0.1, 0, 0])
    )
    assert found.sizes[1] == pytest.approx(1.0) and found.degrees[1] == 1.0


def correlated_runs(runs: int, alike: float) -> tuple[RunClusters, np.ndarray, np.ndarray]:
    """Two numbers a run whose errors have a correlation, both of one unknown: slopes and covariance."""
    slopes = np.ones((2 * runs, 1))
    block = STATED**2 * np.array([[1.0, alike], [alike, 1.0]])
    return RunClusters.of(slopes * 50, np.repeat(np.arange(runs), 2)), slopes, np.kron(np.eye(runs), block)


def test_errors_of_a_run_that_go_together_are_hardly_better_known_than_one() -> None:
    """The mean of 2n numbers whose errors have a correlation r within a run: σ² (1 + r)/2n, of which half is left without residuals; and so
    for a difference of the two, where the same correlation helps: σ² (1 - r)."""
    clusters, slopes, stated = correlated_runs(5, 0.8)
    found = EstimateSpread.of(clusters, slopes, np.full(10, 50.0), stated, np.full(10, FLOOR), np.zeros(10))
    assert found.sizes[0] ** 2 == pytest.approx(STATED**2 * 1.8 / 10 / 2)
    apart = np.tile([[1.0, 1.0], [0.0, 1.0]], (5, 1))  # log y1 = a + b, log y2 = b
    clusters = RunClusters.of(apart * 50, np.repeat(np.arange(5), 2))
    found = EstimateSpread.of(clusters, apart, np.full(10, 50.0), stated, np.full(10, FLOOR), np.zeros(10))
    assert found.sizes[0] ** 2 == pytest.approx(STATED**2 * 2 * 0.2 / 5 / 2)


def test_intervals_hold_where_errors_of_a_run_go_together() -> None:
    """2000 data sets of eight runs, normal errors with a correlation of 0.9: 95 % hold; taken as independent, fewer."""
    clusters, slopes, stated = correlated_runs(8, 0.9)
    rng = np.random.default_rng(3)
    errors = rng.multivariate_normal(np.zeros(16), stated, 2000)
    held = {}
    for name, said in (("together", stated), ("independent", np.diag(np.diag(stated)))):
        found = 0
        for error in errors:
            weight, floor = np.full(16, 50.0), np.full(16, FLOOR)
            told = EstimateSpread.of(clusters, slopes, weight, said, floor, error - error.mean())
            found += bool(abs(error.mean()) < stdtrit(told.degrees[0], 0.975) * told.sizes[0])
        held[name] = found / len(errors)
    assert held["together"] == pytest.approx(0.955, abs=0.015)
    assert held["independent"] < held["together"] - 0.01


def test_draws_of_a_run_go_together_as_its_errors_do() -> None:
    clusters, slopes, stated = correlated_runs(8, 0.9)
    told = EstimateSpread.of(clusters, slopes, np.full(16, 50.0), stated, np.full(16, FLOOR), np.zeros(16))
    drawn = told.drawn(np.zeros(16), 4000, np.random.default_rng(4))
    gap = drawn[:, 0] - drawn[:, 1]  # what the unknown moves is in both
    assert gap.var() == pytest.approx(STATED**2 * 2 * 0.1 / 2, rel=0.1)
