"""What a search says of failures, of runs without a model, and of what runs know of a factor."""

from __future__ import annotations

import numpy as np
import pytest

from sojourn.capacity.capacity_answer import _between, _within_failures
from sojourn.capacity.capacity_result import CapacityRun
from sojourn.capacity.capacity_run import figures
from sojourn.capacity.objective_limit import MeasuredFigures, _Asked
from sojourn.capacity.rate_interval import RateInterval
from sojourn.plan.objective import Quantity
from sojourn.query.objectives import read_objectives

ASKED = read_objectives(["p99 < 50ms", "errors < 0.1%"])


def a_run(rate: float, met: bool | None, errors: float = 0.0, **more: object) -> CapacityRun:
    return CapacityRun(f"rate-{rate:g}", rate, rate, 0.01, 0.02, {"p99": 0.04, "errors": errors}, met, True, **more)  # type: ignore[arg-type]


def test_failures_are_an_upper_end_and_leave_the_lower_one() -> None:
    runs = [a_run(400, True), a_run(440, False), a_run(450, False, errors=0.02)]
    notes: list[str] = []
    found = _within_failures(RateInterval(500, 300, 800), runs, ASKED, notes)
    assert found is not None and (found.low, found.high) == (300, 450) and 400 <= found.value <= 450
    assert notes == ["requests failed at 450 /s; the objective was met at 400 /s"]


def test_an_answer_below_the_failures_has_no_end_above_them() -> None:
    runs = [a_run(250, True), a_run(310, False, errors=0.02)]
    assert _within_failures(RateInterval(300, 280, 420), runs, ASKED, []) == RateInterval(300, 280, 310)
    assert _within_failures(RateInterval(300, 280, 305), runs, ASKED, []) == RateInterval(300, 280, 305)


def test_two_runs_are_no_interval_and_what_cannot_be_told_is_no_miss() -> None:
    found, said = _between([a_run(300, True), a_run(350, None), a_run(400, False)], "no model")
    assert found == RateInterval(350, 300, None)
    assert said == "no model; between 300 /s, which met it, and 400 /s, which did not"


def test_lateness_is_taken_out_of_what_the_model_is_compared_with() -> None:
    one, other = figures([a_run(300, True, lateness_factors={"mean": 0.8, "p99": 0.9}), a_run(400, True)])
    assert (one.mean_s, one.figures["p99"]) == pytest.approx((0.008, 0.036))
    assert (other.mean_s, other.figures["p99"]) == (0.01, 0.04)


def test_runs_that_are_not_valid_count_only_where_there_are_no_others() -> None:
    bad = CapacityRun("bad", 350.0, 350.0, 0.03, 0.02, {"p99": 0.1}, False, False, ("not stationary: it drifted",))
    assert [one.rate_per_s for one in figures([a_run(300, True), bad])] == [300.0]
    assert [one.rate_per_s for one in figures([bad])] == [350.0]


def test_runs_that_differ_by_more_than_they_state_tell_less_and_by_less_tell_more() -> None:
    """Residuals of 16, 12, 11, 13 and 2 % where 3 % is stated: chi-squared is 70. With 4 degrees beforehand and 4 of the runs the
    variance is (4 + 70)/8 of what is stated, and 4/8 where the runs agree."""
    rates = np.array([260.0, 275, 290, 305, 320])

    def spread(logs: list[float]) -> float:
        told = np.tile(logs, (200, 1))
        asked = _Asked(0.05, Quantity("response_time", q=0.99), rates, told, np.full(5, 0.03), 0.25)
        return float(np.log(asked.factors(np.array([290.0]), 290.0, 200)).std())

    alike, apart = spread([0.0] * 5), spread([0.16, -0.12, 0.11, -0.13, 0.02])
    assert alike == pytest.approx(
        0.03 / np.sqrt(5) * np.sqrt(8 / 6) * np.sqrt(4 / 8), rel=0.1
    )  # Student's t of 8 degrees of freedom
    assert 3.5 < apart / alike < 5  # sqrt(74/4) = 4.3


def test_a_quantile_further_out_is_known_less() -> None:
    """Of an exponential law sqrt(q/(1-q))/ln(1/(1-q)) times the error of the mean: 2.16 at 99 %, 4.58 at 99.9 %."""
    one = MeasuredFigures(100.0, {"p99": 0.046, "p99.9": 0.069}, 0.03)
    assert one.error_of("p99", 0.0) == pytest.approx(0.03 * 2.16, rel=0.01)
    assert one.error_of("p99.9", 0.0) == pytest.approx(0.03 * 4.58, rel=0.01)
