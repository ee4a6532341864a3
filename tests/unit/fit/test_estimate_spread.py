"""How uncertain unknowns are: by hand for a mean of runs, and that draws are as wide as is said."""

from __future__ import annotations

import numpy as np
import pytest

from sojourn.fit.estimate_spread import EstimateSpread, degrees_of
from sojourn.fit.run_clusters import KNOWN, RunClusters

ERRORS = np.array([1.0, -2.0, 4.0, 0.5, -3.5]) / 100  # of five runs about their mean
STATED, FLOOR = 0.01, 0.02


def spread_of(residual: np.ndarray, stated: float = STATED) -> EstimateSpread:
    """Of one number that n runs have, each a run of its own."""
    n = len(residual)
    weight = np.full(n, 1 / np.hypot(stated, FLOOR))
    clusters = RunClusters.of(weight[:, None] * np.ones((n, 1)), np.arange(n))
    return EstimateSpread.of(clusters, np.ones((n, 1)), weight, np.full(n, stated), np.full(n, FLOOR), residual)


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
    found = EstimateSpread.of(clusters, slopes, np.full(12, 50.0), np.full(12, 0.01), np.full(12, 0.0173), residual)
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
        clusters, slopes, np.ones(4), np.full(4, 0.6), np.full(4, 0.8), np.array([0.1, -0.1, 0, 0])
    )
    assert found.sizes[1] == pytest.approx(1.0) and found.degrees[1] == 1.0
