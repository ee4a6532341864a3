"""Whether demands fall with the load: on data whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from sojourn.errors import FitError
from sojourn_cases.ntier import load_dependence as module
from sojourn_cases.ntier.load_dependence import load_dependence

LEVELS = np.repeat([0.1, 0.3, 0.6, 0.95], 3)
GROUPS = ["browse"] * 12 + ["readwrite"] * 12


def drawn(seed: int, slope: float) -> np.ndarray:
    """Two mixes of different demand; runs scatter by 5 %, at a light load, with few requests, by 10 %."""
    draw, u = np.random.default_rng(seed), np.tile(LEVELS, 2)
    scatter = np.where(u < 0.2, 0.10, 0.05)
    return np.repeat([2e-3, 3e-3], 12) * np.exp(slope * u + scatter * draw.normal(size=24))


def test_slopes_lie_in_their_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    """200 seeds: 95 % less three standard deviations of such a count; the p-value is small where it falls by half."""
    monkeypatch.setattr(module, "PERMUTATIONS", 99)
    found = [load_dependence(GROUPS, np.tile(LEVELS, 2), drawn(k, -0.7)) for k in range(200)]
    assert sum(one.slope.low <= -0.7 <= one.slope.high for one in found) >= 200 * (
        0.95 - 3 * np.sqrt(0.05 * 0.95 / 200)
    )
    assert max(one.p_value for one in found) == 0.01
    assert found[0].change.value == pytest.approx(np.exp(found[0].slope.value) - 1)


def test_constant_demands_are_called_falling_as_seldom_as_the_level_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """400 seeds without a slope, at 5 %: the count is binomial if the size is right (three standard deviations above)."""
    monkeypatch.setattr(module, "PERMUTATIONS", 99)
    called = sum(load_dependence(GROUPS, np.tile(LEVELS, 2), drawn(k, 0.0)).p_value <= 0.05 for k in range(400))
    assert called <= 400 * (0.05 + 3 * np.sqrt(0.05 * 0.95 / 400))


def test_runs_that_are_all_as_busy_tell_nothing() -> None:
    with pytest.raises(FitError, match="vary the users"):
        load_dependence(["a"] * 6, [0.95, 0.96, 0.97, 0.98, 0.97, 0.96], np.full(6, 1e-3))
