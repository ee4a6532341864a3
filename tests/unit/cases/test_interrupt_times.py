"""Times of interrupt work that stand for a distribution."""

from __future__ import annotations

import numpy as np
import pytest

from sojourn.errors import LabError
from sojourn_cases.web.interrupt_times import table_of_times


def test_moments_of_a_distribution() -> None:
    """Exponential: standard deviation equal to the mean; quantiles at mid-points lose a little of the tail."""
    times = np.array(table_of_times(1e-3, "exponential"))
    assert times.mean() == pytest.approx(1e-3) and times.std() == pytest.approx(1e-3, rel=0.02)
    assert table_of_times(1e-3, "deterministic") == [1e-3] * len(times)


@pytest.mark.parametrize("kind", ["deterministic", "exponential"])
def test_no_work_is_no_time(kind: str) -> None:
    """Runs without known work, which tell what the network costs, had ended in a division by zero."""
    assert set(table_of_times(0.0, kind)) == {0.0}


def test_what_cannot_be_had() -> None:
    with pytest.raises(LabError, match="below 1.2 ms"):
        table_of_times(1.5e-3, "exponential")
    with pytest.raises(LabError, match="use 'deterministic' or 'exponential'"):
        table_of_times(1e-3, "uniform")
