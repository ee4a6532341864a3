"""What hours can tell: classes whose proportion moves are told apart by utilisation, whatever the correlation of their rates."""

from __future__ import annotations

import numpy as np
import pytest

from sojourn.observe.observed_windows import ClassMeans, ObservedWindow
from sojourn.observe.what_is_told import notes

LENGTH_S = 60.0


def _windows(a: np.ndarray, b: np.ndarray, busy: float = 0.5) -> list[ObservedWindow]:
    """Of rates of two classes."""
    return [
        ObservedWindow(i * LENGTH_S, LENGTH_S, {"a": ClassMeans(x, 0.01), "b": ClassMeans(y, 0.01)}, {"cpu": busy})
        for i, (x, y) in enumerate(zip(a.tolist(), b.tolist(), strict=True))
    ]


def _alike(a: np.ndarray, b: np.ndarray) -> bool:
    return any("same proportion" in line for line in notes(_windows(a, b), {}))


def test_rates_that_rise_together_by_a_constant_can_be_told_apart() -> None:
    rising = np.linspace(10, 100, 20)
    assert np.corrcoef(rising, rising + 90)[0, 1] == pytest.approx(1.0)
    assert not _alike(rising, rising + 90), "U = t Da + (t + 90) Db has another slope than intercept"


def test_one_proportion_at_a_rate_that_moves_cannot() -> None:
    rising = np.linspace(10, 100, 20)
    assert _alike(rising, 3 * rising)


def test_counts_alone_do_not_separate_classes() -> None:
    """Twelve requests a window of each, 29 % of noise, at constant rates."""
    random = np.random.default_rng(19)
    drawn = [(random.poisson(12, 30) / LENGTH_S, random.poisson(12, 30) / LENGTH_S) for _ in range(100)]
    assert max(abs(np.corrcoef(a, b)[0, 1]) for a, b in drawn) < 0.95
    # three standard deviations of a chi squared with 29 degrees are passed in some 0.4 %
    assert sum(_alike(a, b) for a, b in drawn) >= 96


def test_a_class_that_never_came_is_alike_to_none() -> None:
    assert not _alike(np.linspace(1, 2, 5), np.zeros(5))


def test_a_resource_that_was_little_busy_says_little_of_growth_and_not_nothing() -> None:
    rising = np.linspace(10, 100, 20)
    assert any("says little of how response times grow" in line for line in notes(_windows(rising, rising, 0.2), {}))
    assert not any("says little" in line for line in notes(_windows(rising, rising, 0.4), {}))
