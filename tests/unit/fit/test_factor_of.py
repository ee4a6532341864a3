"""Factors by their logarithms."""

from __future__ import annotations

import math

import numpy as np

from sojourn.fit.model_error import factor_of


def test_a_draw_of_several_hundred_is_no_overflow() -> None:
    """e^1000 is beyond any double; 1.1 is the exponential of ln 1.1."""
    found = factor_of(np.array([-1e3, 0.0, math.log(1.1), 1e3]))
    assert np.isfinite(found).all() and found[0] > 0 and found[1] == 1.0
    assert math.isclose(found[2], 1.1)
