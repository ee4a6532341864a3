"""Between unknowns and what is searched."""

from __future__ import annotations

import numpy as np

from sojourn.fit.nonlinear_least_squares import ParameterScale
from sojourn.model.checked_values import LARGEST, SMALLEST
from sojourn.model.unknown_parameters import Unknown


def test_where_a_search_wanders_there_are_numbers_that_a_model_takes() -> None:
    """A draw in which a constant time at a lock is nothing ended at 2.5e-36 s, which no model takes (from 1e-30), and no fit was made."""
    scale = ParameterScale.of([Unknown()], np.array([0.01]))
    found = scale.outward(np.array([[-82.0], [90.0]]))
    assert found.min() >= SMALLEST and found.max() <= LARGEST
