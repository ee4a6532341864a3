"""Several objectives at once: the interval of the least rate, whatever their errors have to do with each other."""

from __future__ import annotations

import numpy as np
import pytest

from sojourn.capacity.objective_limit import _least_of

DRAWS = 20_000


@pytest.mark.parametrize("correlation", [-0.99, 0.0, 0.99])
def test_the_ends_hold_whatever_the_dependence(correlation: float) -> None:
    """Two rates of 100/s, each 5 % off, with errors that depend on each other in any way: the interval is told from the figures apart, and
    the least of both lies below and above it no more often than the tails say."""
    random = np.random.default_rng(3)
    apart = 100 * (1 + 0.05 * random.standard_normal((2, DRAWS)))  # what draws of each alone say
    low, _, high = _least_of(apart, 0.9)
    both = random.multivariate_normal([0, 0], [[1, correlation], [correlation, 1]], DRAWS)
    truth = (100 * (1 + 0.05 * both)).min(axis=1)
    assert np.mean(truth < low) < 0.055 and np.mean(truth > high) < 0.055


def test_one_that_is_far_from_its_limit_changes_nothing() -> None:
    """The quantiles of one alone: 100 -+ 1.645 x 5."""
    one = 100 + 5 * np.random.default_rng(4).standard_normal((1, DRAWS))
    beside = np.vstack([one, 10 * one])
    assert _least_of(beside, 0.9) == _least_of(one, 0.9) == pytest.approx((91.8, 100, 108.2), abs=0.3)
