"""A model's gap beside what runs are uncertain by: what they state of themselves, or what repetitions differ by."""

from __future__ import annotations

import numpy as np

from sojourn.fit.run_mean_error import misfit

STATED, FLOOR = np.full(12, 0.005), np.full(12, 0.0206)  # of each run; with what no model resolves
REPEATED = (0.02, 6)  # what repetitions differ by, with 6 degrees of freedom


def said(gap: float, repeated: tuple[float, int] = (0.0, 0)) -> list[str]:
    """Of twelve runs and two unknowns."""
    return misfit(np.full(12, gap), STATED, FLOOR, 10.0, repeated)


def test_repetitions_that_differ_as_much_as_the_model_is_off_are_no_misfit() -> None:
    assert "differ by 4.0 %, but runs are uncertain by 0.5 %" in said(0.04)[0]
    assert said(0.03, REPEATED) == []


def test_a_gap_beyond_what_repetitions_differ_by_is_one() -> None:
    """Lack of fit: (12 (gap/2 %)² - 6)/4 against F of 4 and 6 degrees, which exceeds 9.15 in 1 of 100 (tables): from 3.77 % on."""
    assert "differ by 3.9 %, but repetitions differ by 2.0 %" in said(0.039, REPEATED)[0]
    assert said(0.036, REPEATED) == []


def test_better_runs_do_not_hide_a_misfit() -> None:
    assert "repetitions differ by 2.0 %" in said(0.1, REPEATED)[0]


def test_two_runs_that_differ_a_little_more_by_chance_hide_nothing() -> None:
    assert "runs are uncertain by 0.5 %" in said(0.05, (0.009, 1))[0]
