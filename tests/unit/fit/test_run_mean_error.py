"""A model's gap beside what runs are uncertain by: what they state of themselves, or what repetitions differ by."""

from __future__ import annotations

import numpy as np

from sojourn.fit.run_mean_error import misfit

STATED = np.full(9, 0.007)


def test_repetitions_that_differ_as_much_as_the_model_is_off_are_no_misfit() -> None:
    gap = np.full(9, 0.05)
    (said,) = misfit(gap, STATED, STATED, 8.0)
    assert "off by 5.0 %, where runs are uncertain by 0.7 %" in said
    assert misfit(gap, STATED, STATED, 8.0, (0.05, 9)) == []


def test_a_gap_beyond_what_repetitions_differ_by_is_one() -> None:
    # Fisher's F of 8 and 9 degrees exceeds 5.47 in 1 of 100 (tables): a gap of 0.13 at 0.05 is F = 7.6, one of 0.11 is 5.4
    (said,) = misfit(np.sqrt(8 / 9) * np.full(9, 0.13), STATED, STATED, 8.0, (0.05, 9))
    assert "repetitions differ by 5.0 %" in said
    assert misfit(np.sqrt(8 / 9) * np.full(9, 0.11), STATED, STATED, 8.0, (0.05, 9)) == []


def test_two_runs_that_differ_a_little_more_by_chance_hide_nothing() -> None:
    assert "runs are uncertain by 0.7 %" in misfit(np.full(9, 0.05), STATED, STATED, 8.0, (0.012, 1))[0]
