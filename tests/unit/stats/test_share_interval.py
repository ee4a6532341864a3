"""Intervals of shares: printed values, the rule of three, and how often they hold the truth."""

from __future__ import annotations

import numpy as np
import pytest

from sojourn.stats.share_interval import clustered_share, design_effect, share_interval


def test_printed_values() -> None:
    """Clopper and Pearson's limits of 1 of 10 and 5 of 10 at 95 %, as in any table of them (e.g. Fleiss, Statistical Methods (1981))."""
    assert share_interval(1, 10, 0.95) == pytest.approx((0.0025, 0.4450), abs=1e-4)
    assert share_interval(5, 10, 0.95) == pytest.approx((0.1871, 0.8129), abs=1e-4)


def test_none_and_all() -> None:
    """None of n: 1 - tail^(1/n), some 3/n at 95 % one-sided; all of n is its mirror."""
    low, high = share_interval(0, 500, 0.9)
    assert (
        low == 0.0
        and high == pytest.approx(1 - 0.05 ** (1 / 500), rel=1e-9)
        and high == pytest.approx(3 / 500, rel=0.01)
    )
    assert share_interval(500, 500, 0.9) == pytest.approx((1 - high, 1.0))
    assert share_interval(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize("together", [1, 20])
def test_they_hold_the_truth(together: int) -> None:
    """2 % of 10 000 fail, one by one or twenty at a time: nine of ten intervals and more hold it (less 3 standard errors of 200)."""
    random = np.random.default_rng(5)
    inside = []
    for _ in range(200):
        began = random.random(10_000 // together) < 0.02
        low, high = clustered_share(np.repeat(began, together))
        inside.append(low <= 0.02 <= high)
    assert np.mean(inside) > 0.9 - 3 * np.sqrt(0.9 * 0.1 / 200)


@pytest.mark.parametrize("of_every", [10, 100])
def test_independent_failures_of_a_thinned_record_stay_nearly_independent(of_every: int) -> None:
    """Every n-th of requests that fail by themselves: in half of the records batches differ by no more than chance, and the effect is
    Student's part alone, (1.729/1.645)² = 1.105."""
    random = np.random.default_rng(6)
    effects = [design_effect(random.random(2000) < 0.1, of_every=of_every) for _ in range(100)]
    assert np.quantile(effects, 0.4) == pytest.approx(1.105, abs=1e-3)
