"""Student's t against printed tables and 40 digits of mpmath."""

from __future__ import annotations

import math

import mpmath as mp
import pytest

from sojourn.stats import student
from sojourn.stats.student import student_distribution, student_quantile

# Abramowitz and Stegun (1964), table 26.10: A(t|n) two-sided 0.9, 0.95, 0.99
PRINTED = {1: (6.314, 12.706, 63.657), 2: (2.920, 4.303, 9.925), 5: (2.015, 2.571, 4.032), 19: (1.729, 2.093, 2.861)}


@pytest.mark.parametrize("degrees", PRINTED)
def test_printed_quantiles(degrees: int) -> None:
    found = [student_quantile(0.5 + level / 2, degrees) for level in (0.9, 0.95, 0.99)]
    assert found == pytest.approx(PRINTED[degrees], abs=5.1e-4)


def _tail(t: float, degrees: float) -> mp.mpf:
    n = mp.mpf(degrees)
    return mp.betainc(n / 2, mp.mpf(1) / 2, 0, n / (n + mp.mpf(t) ** 2), regularized=True) / 2


@pytest.mark.parametrize("degrees", [1, 1.3, 2, 3, 19, 63, 79, 81, 998, 1e5])
def test_both_are_right_to_twelve_digits(degrees: float) -> None:
    """To ten for many degrees, where t^2/n loses two."""
    worst = 1e-12 if degrees <= 1000 else 1e-10
    with mp.workdps(40):
        for t in (1e-8, 0.01, 0.7, 1.0, 2.1, 3.5, 8.0, 30.0):
            assert float(student_distribution(-t, degrees) / _tail(t, degrees)) == pytest.approx(1.0, rel=worst)
            assert student_distribution(t, degrees) == pytest.approx(float(1 - _tail(t, degrees)), rel=1e-15)
        for p in (1e-12, 0.001, 0.025, 0.4):
            t = student_quantile(p, degrees)
            assert t < 0 and float(_tail(-t, degrees) / mp.mpf(p)) == pytest.approx(1.0, rel=10 * worst)
            assert student_quantile(1 - 0.25, degrees) == -student_quantile(0.25, degrees)


def test_the_ends() -> None:
    """Cauchy's law in closed form, nothing beyond infinity, the middle; no quantile outside of (0, 1)."""
    assert student_quantile(0.9, 1) == pytest.approx(math.tan(0.4 * math.pi), rel=1e-14)
    assert student_distribution(-math.inf, 7) == 0.0 and student_distribution(0.0, 7) == 0.5
    assert student_quantile(0.5, 3) == 0.0 and student_quantile(1.0, 3) == math.inf
    assert math.isnan(student_quantile(1.5, 3))


def test_a_fraction_ends_where_doubles_settle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the last factor stays one unit in the last place beside 1 it went on for 100 000 steps; two calls a half of a step."""
    count = 0

    def counted(value: float) -> float:
        nonlocal count
        count += 1
        return value if abs(value) > 1e-300 else 1e-300

    monkeypatch.setattr(student, "_away", counted)
    most = 0
    for degrees in range(1, 200):
        for t in (0.01, 0.3, 0.7, 1.1, 2.3, 4.9, 12.0):
            count = 0
            student_distribution(t, degrees)
            most = max(most, count)
    assert most < 1000
    count = 0
    assert math.isnan(student_distribution(math.nan, 5)) and math.isnan(student_distribution(1.0, math.nan))
    assert math.isnan(student_quantile(0.9, math.nan))
    assert count < 20
