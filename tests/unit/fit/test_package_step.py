"""Laws with a place where the second package comes into use, and the smooth law beside them: each on data made of one of them."""

from __future__ import annotations

import numpy as np
import pytest

from sojourn.errors import FitError
from sojourn.fit.package_step import CROSSING, STEP, USL, compare_laws, fit_package_law, told_law
from sojourn.fit.scalability_law import fit_usl, usl

SIZES = np.repeat(np.arange(1, 9), 3)
# The scale-up that the n-tier document tells of: 50 % of a core for each up to 4, which gives 2.5, then 8 cores 12 % below 4.
SIGMA = (4 / 2.5 - 1) / 3
WORST = 8 / (0.88 * 2.5)  # what 8 cores have below the line of the fraction
BEYOND = SIZES > 4
FRACTION = 1 + SIGMA * (SIZES - 1)
TRUE = {
    STEP: 100 * SIZES / (FRACTION + (WORST - 1 - 7 * SIGMA) * BEYOND),
    CROSSING: 100 * SIZES / (FRACTION + (WORST - 1 - 7 * SIGMA) / 16 * np.where(BEYOND, 4 * (SIZES - 4), 0)),
    # of the document's numbers by a smooth law: golden/ntier_usl.csv
    USL: usl(SIZES, 100, 0.023376623376623364, 0.04415584415584414),
}


@pytest.mark.parametrize("law", [STEP, CROSSING])
def test_a_second_package_is_found_again(law: str) -> None:
    found = fit_package_law(SIZES, TRUE[law], law)
    assert (found.gamma, found.sigma) == pytest.approx((100, SIGMA), rel=1e-6) and found.package == 4
    assert float(found(4)) == pytest.approx(250, rel=1e-6) and float(found(8)) == pytest.approx(220, rel=1e-6)
    assert fit_package_law(SIZES, TRUE[law], law, 4).kappa == pytest.approx(found.kappa)


def test_the_smooth_law_is_that_of_its_own_fit() -> None:
    found, own = fit_package_law(SIZES, TRUE[USL], USL), fit_usl(SIZES, TRUE[USL])
    assert (found.gamma, found.sigma, found.kappa) == pytest.approx((own.gamma, own.sigma, own.kappa), rel=1e-6)


@pytest.mark.parametrize("law", [STEP, CROSSING, USL])
def test_each_law_is_chosen_for_its_own_data(law: str) -> None:
    """40 seeds at 2 % scatter."""
    draws = [np.exp(0.02 * np.random.default_rng(seed).normal(size=len(SIZES))) for seed in range(40)]
    chosen = [
        min(above, key=lambda name: above[name]) for above in (compare_laws(SIZES, TRUE[law] * one) for one in draws)
    ]
    assert chosen.count(law) >= 36


def test_laws_in_words() -> None:
    said = told_law(SIZES, TRUE[STEP] * (1 + 1e-4 * (-1.0) ** SIZES))
    assert said.startswith("it grows by a step at the second package after 4 cores, contention 0.200")
    assert told_law([1, 2], [1.0, 2.0]).startswith("2 different sizes do not tell a smooth law from one with a step")


def test_too_few_sizes_tell_no_law() -> None:
    with pytest.raises(FitError, match="2 different sizes.*measure at 5"):
        compare_laws([1, 2, 1, 2], [1.0, 2.0, 1.0, 2.0])
    with pytest.raises(FitError, match="3 different sizes"):
        fit_package_law([1, 2, 3], [1.0, 2.0, 3.0], STEP)
    with pytest.raises(FitError, match="package of 8"):
        fit_package_law(SIZES, TRUE[STEP], STEP, 8)
    with pytest.raises(FitError, match="use one of usl"):
        fit_package_law(SIZES, TRUE[STEP], "amdahl")
