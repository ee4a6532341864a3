"""The spread of runs about what is smooth in their level, by differences from the line through two neighbours."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sojourn.fit.neighbour_spread import differences_between_runs, neighbour_spread


def test_a_straight_line_has_none() -> None:
    levels = np.array([1.0, 2.0, 4.0, 7.0, 11.0])
    assert neighbour_spread(levels, 3 - 0.5 * levels)[0] == pytest.approx(0.0, abs=1e-12)


def test_worked_by_hand() -> None:
    """0, 1, 0, 1, 0 with equal distances: each of three is 1 off the mean of its neighbours, of variance 3/2: sqrt(2/3)."""
    spread, free = neighbour_spread(np.arange(5.0), np.array([0.0, 1.0, 0.0, 1.0, 0.0]))
    assert spread == pytest.approx(np.sqrt(2 / 3))
    assert free == pytest.approx(3 * 18 / 35)


def test_of_noise_beside_a_curve_it_is_that_of_the_noise() -> None:
    """The standard deviation that was put in, beside a curve, over 400 levels; its error is about 1 / sqrt(2 · 400 · 18/35)."""
    rng = np.random.default_rng(7)
    levels = rng.permutation(np.linspace(0.0, 1.0, 400))
    spread, _ = neighbour_spread(levels, np.exp(2 * levels) + rng.normal(0.0, 0.2, 400))
    assert spread == pytest.approx(0.2, rel=0.15)


@pytest.mark.parametrize("levels", [[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 2.0, 3.0, 4.0]])
def test_few_levels_or_equal_ones_tell_nothing(levels: list[float]) -> None:
    assert neighbour_spread(np.array(levels), np.ones(len(levels))) == (0.0, 0.0)


def _fit(*configurations: dict[str, Any]) -> Any:
    rows = tuple({"response_time": 0.5 if i % 2 else 0.0} for i in range(len(configurations)))
    return SimpleNamespace(configurations=configurations, held_out=rows)


def test_runs_of_one_series_are_compared_and_of_several_not() -> None:
    factor, spread = differences_between_runs(_fit(*({"rate_per_s": float(i), "nics": 1} for i in range(5))))
    assert factor == "rate_per_s" and spread == pytest.approx(np.sqrt(2 / 3) * np.log(1.5))
    assert differences_between_runs(_fit(*({"rate_per_s": float(i), "nics": i} for i in range(5)))) == ("", 0.0)
    assert differences_between_runs(_fit(*({"mix": f"m{i}"} for i in range(5)))) == ("", 0.0)
