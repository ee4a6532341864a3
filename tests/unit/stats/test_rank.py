"""Rank correlation against scipy's, and the exact extremes."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from sojourn.stats.rank_correlation import rank_correlation


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("ties", [False, True])
def test_it_is_that_of_scipy(seed: int, ties: bool) -> None:
    rng = np.random.default_rng(seed)
    one, other = rng.normal(size=(2, 20))
    other = np.round(other + one * seed / 4, 0 if ties else 9)
    told = stats.spearmanr(one, other)
    assert rank_correlation(one, other) == pytest.approx((told.statistic, told.pvalue), rel=1e-9)


def test_in_order_and_not_varied() -> None:
    assert rank_correlation(np.arange(20.0), np.arange(20.0) ** 3) == (1.0, 0.0)
    assert math.isnan(rank_correlation(np.arange(20.0), np.ones(20)).value)


def test_a_load_starts_without_slow_imports() -> None:
    """scipy.stats, altair and matplotlib take as long to import as all else together."""
    code = "import sys; import sojourn.cli.app; print([m for m in ('scipy.stats', 'altair', 'scipy.signal') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
