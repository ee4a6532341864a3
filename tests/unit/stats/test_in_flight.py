"""How many requests are in flight, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from sojourn.stats.in_flight import in_flight

CAME, ANSWERED = np.array([1.0, 2.0]), np.array([2.0, 3.0])


@pytest.mark.parametrize(("answers_first", "number"), [(True, [1, 0, 1, 0]), (False, [1, 2, 1, 0])])
def test_a_request_that_comes_as_another_is_answered(answers_first: bool, number: list[int]) -> None:
    times, steps = in_flight(CAME, ANSWERED, answers_first=answers_first)
    assert times.tolist() == [1.0, 2.0, 2.0, 3.0] and np.cumsum(steps).tolist() == number


def test_times_that_differ_by_their_rounding_are_of_one_moment() -> None:
    """The second came a nanosecond after the first was answered."""
    times, steps = in_flight(CAME + np.array([0.0, 1e-9]), ANSWERED, answers_first=False, digits=6)
    assert np.cumsum(steps).tolist() == [1, 2, 1, 0] and sorted(times) == [1.0, 2.0, 2.0 + 1e-9, 3.0]


def test_no_requests() -> None:
    assert in_flight(np.array([]), np.array([]), answers_first=True)[0].size == 0
