"""Constants of the normal law, against the standard library."""

from __future__ import annotations

from statistics import NormalDist

import pytest

from sojourn.stats.normal_law import MEDIAN_DEVIATION


def test_half_of_a_normal_variable_lies_within_the_median_deviation() -> None:
    assert pytest.approx(NormalDist().inv_cdf(0.75), abs=5e-5) == MEDIAN_DEVIATION
