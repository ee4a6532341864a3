"""Least squares within bounds of many data sets: beside scipy's of one at a time, and what a fit makes of an unknown at its bound."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from sojourn.fit.bounded_least_squares import bounded_steps, nearest_within


@pytest.mark.parametrize("of_all", [True, False])
@pytest.mark.parametrize("unknowns", [1, 2, 3, 6])
def test_as_scipy_finds_them_one_at_a_time(unknowns: int, of_all: bool) -> None:
    rng = np.random.default_rng(unknowns)
    count, numbers = 200, 9
    slopes = rng.normal(size=(numbers, unknowns) if of_all else (count, numbers, unknowns)) + 0.7  # columns go together
    gaps = 2 * rng.normal(size=(count, numbers))
    low, high = -rng.exponential(0.3, (count, unknowns)), rng.exponential(0.3, (count, unknowns))
    low[rng.random(low.shape) < 0.3], high[rng.random(high.shape) < 0.3] = 0.0, np.inf
    found = bounded_steps(slopes, gaps, low, high)
    at_a_bound = (found == low) | (found == high)
    assert 0.2 < at_a_bound.mean() < 1
    for k in range(count):
        asked = slopes if of_all else slopes[k]
        wide = np.where(low[k] == high[k], high[k] + 1e-12, high[k])
        expected = lsq_linear(asked, gaps[k], (low[k], wide), method="bvls", tol=1e-14).x
        assert found[k] == pytest.approx(expected, abs=1e-6)


def test_the_others_are_where_they_are_with_one_held() -> None:
    """y = a + b and y = a + 2 b, where 1 and 0 were measured: a = 2 and b = -1. With b held at 0, a is the mean, 0.5; not 2."""
    slopes = np.array([[1.0, 1.0], [1.0, 2.0]])
    bounds = np.array([[-9.0, 0.0]]), np.array([[9.0, 9.0]])
    assert bounded_steps(slopes, np.array([[1.0, 0.0]]), *bounds)[0] == pytest.approx([0.5, 0.0])


def test_what_lies_outside_goes_to_the_nearest_by_its_numbers() -> None:
    """a = 2, b = -1 has the numbers 1 and 0, as above. What lies inside stays, to the last bit."""
    slopes = np.array([[1.0, 1.0], [1.0, 2.0]])
    points = np.array([[2.0, -1.0], [0.3, 0.1]])
    found = nearest_within(points, slopes, np.array([[-9.0, 0.0]] * 2), np.array([[9.0, 9.0]] * 2))
    assert found[0] == pytest.approx([0.5, 0.0]) and (found[1] == points[1]).all()


def test_what_is_hardly_told_goes_no_further_than_its_bounds() -> None:
    """b goes from -4 to 0: a would make up for it at -42."""
    slopes = np.array([[0.1, 1.0], [0.1, 1.1]])
    found = nearest_within(np.array([[0.0, -4.0]]), slopes, np.array([[-5.0, 0.0]]), np.array([[5.0, 9.0]]))
    assert found[0] == pytest.approx([-5.0, 0.0])
