"""The step at the second package, and the smooth law beside it: on data made of either."""

from __future__ import annotations

import numpy as np
import pytest

from sojourn.errors import FitError
from sojourn.fit.package_step import STEP, USL, compare_laws, fit_package_step, told_law
from sojourn.fit.scalability_law import usl

SIZES = np.repeat(np.arange(1, 9), 3)
# The scale-up that the n-tier document tells of: linear with 50 % a core up to 4, then 8 cores 12 % below 4.
SIGMA = (4 / 2.5 - 1) / 3
STALL = (8 / (1 + 7 * SIGMA)) / (4 / (1 + 3 * SIGMA)) / 0.88


def stepped(seed: int | None = None) -> np.ndarray:
    x = 100 * SIZES / (1 + SIGMA * (SIZES - 1)) / np.where(SIZES > 4, STALL, 1.0)
    return x if seed is None else x * np.exp(0.02 * np.random.default_rng(seed).normal(size=len(x)))


def test_a_step_is_found_again() -> None:
    found = fit_package_step(SIZES, stepped())
    assert (found.gamma, found.sigma, found.stall) == pytest.approx((100, SIGMA, STALL), rel=1e-4)
    assert found.package == 4 and float(found(4)) == pytest.approx(250, rel=1e-4)
    assert float(found(8)) == pytest.approx(220, rel=1e-4)


def test_each_law_is_chosen_for_its_own_data() -> None:
    """40 seeds each at 2 % scatter. The smooth law has the shape that the document's numbers give it (golden/ntier_usl.csv)."""
    of_step = [compare_laws(SIZES, stepped(seed)) for seed in range(40)]
    smooth = usl(SIZES, 100, 0.023376623376623364, 0.04415584415584414)
    of_usl = [
        compare_laws(SIZES, smooth * np.exp(0.02 * np.random.default_rng(seed).normal(size=len(SIZES))))
        for seed in range(40)
    ]
    assert all(one[STEP] == 0 < one[USL] for one in of_step)
    assert all(one[USL] == 0 < one[STEP] for one in of_usl)


def test_too_few_sizes_tell_no_law() -> None:
    with pytest.raises(FitError, match="2 different sizes.*measure at 5"):
        compare_laws([1, 2, 1, 2], [1.0, 2.0, 1.0, 2.0])
    with pytest.raises(FitError, match="3 different sizes"):
        fit_package_step([1, 2, 3], [1.0, 2.0, 3.0])
    with pytest.raises(FitError, match="package of 8"):
        fit_package_step(SIZES, stepped(), 8)


def test_laws_in_words() -> None:
    assert told_law(SIZES, stepped(1)).startswith("it grows by a step after 4 cores, requests 1.")
    assert "universal scalability law, contention 0.02" in told_law(
        SIZES, usl(SIZES, 100, 0.0234, 0.0442) * (1 + 1e-3 * (-1.0) ** SIZES)
    )
    assert told_law([1, 2], [1.0, 2.0]).startswith("2 different sizes do not tell a smooth law from a step")
