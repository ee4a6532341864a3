"""Where a fitted model misses an objective: against Erlang's formula, and the exponential response times of M/M/1."""

from __future__ import annotations

import math

import numpy as np
import pytest
from mmm_runs import FREE, ONE, OPEN, erlang_c, mmm_run

import sojourn as sj
from sojourn.capacity.objective_limit import MeasuredFigures, _Asked, _crossings, limit_of
from sojourn.fit import FitRuns, fit
from sojourn.plan.objective import Quantity
from sojourn.query.objectives import read_objectives

RATES = (20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0)


def mean_s(rate: float) -> float:
    """Of M/M/2 with services of 20 ms, and a delay of 5 ms."""
    offered = rate * 0.02
    return erlang_c(2, offered) * 0.02 / (2 - offered) + 0.025


def test_a_mean() -> None:
    fitted = fit(FitRuns([mmm_run(rate) for rate in RATES]), sj.Model.parse(OPEN % FREE), seed=1)
    found = limit_of(fitted, read_objectives(["mean < 60ms"]), [MeasuredFigures(80.0, {}, 0.02)], None, 0.9)
    low, high = 20.0, 99.0
    for _ in range(40):  # bisection: the formula grows with the rate
        rate = (low + high) / 2
        low, high = (rate, high) if mean_s(rate) < 0.06 else (low, rate)
    assert found.high is not None and found.low <= low <= found.high
    assert found.value == pytest.approx(low, rel=0.03)


@pytest.mark.parametrize("times", [1.0, 1.5])
def test_a_quantile_is_moved_by_what_was_measured_of_it(times: float) -> None:
    """M/M/1 with services of 8 ms: response times are exponential, P(R > t) = exp(-(mu - lambda) t)."""
    runs = FitRuns([mmm_run(rate, service_s=0.008, delay_s=0.0, servers=1) for rate in RATES])
    fitted = fit(runs, sj.Model.parse(ONE), seed=1)
    mu, limit = 125.0, 0.1
    seen = [MeasuredFigures(rate, {"p99": times * math.log(100) / (mu - rate)}, 0.001) for rate in (50.0, 60.0, 70.0)]
    found = limit_of(fitted, read_objectives(["p99 < 100ms"]), seen, None, 0.9)
    truth = mu - times * math.log(100) / limit
    assert found.high is not None and found.low <= truth <= found.high
    assert found.value == pytest.approx(truth, rel=0.05)
    assert found.half_width < 0.15


def test_without_an_objective_it_is_saturation() -> None:
    fitted = fit(FitRuns([mmm_run(rate) for rate in RATES]), sj.Model.parse(OPEN % FREE), seed=1)
    found = limit_of(fitted, [], [MeasuredFigures(80.0, {}, 0.02)], None, 0.9)
    assert found.value == pytest.approx(100, rel=0.03)  # two servers, 20 ms


def test_the_factor_at_a_rate_that_was_run_is_known_where_that_at_the_answer_is_not() -> None:
    """A run at 10/s knows its quantile to 1 %. At 100/s it is a level of N(0, 0.25) that a slope of N(0, 0.5) must explain over ln 10: a
    variance of 1/(1/0.25² + 1/(0.5 ln 10)²), with Student's 4 degrees of freedom (2.132 at 95 %, any table)."""
    asked = _Asked(
        0.1, Quantity("response_time", q=0.99), np.array([10.0]), np.zeros((2000, 1)), np.array([0.01]), 0.25, 0.5
    )
    logs = np.log(asked.factors(np.array([10.0, 100.0]), 100.0, 2000))
    low, high = np.quantile(logs, [0.05, 0.95], axis=0)
    spread = 1 / math.sqrt(1 / 0.25**2 + 1 / (0.5 * math.log(10)) ** 2)
    assert (high - low)[1] / 2 == pytest.approx(2.132 * spread, rel=0.03)
    assert (high - low)[0] / 2 < 0.05


def test_what_is_met_at_a_rate_is_met_below_it() -> None:
    """By hand: 1/value falls from 1/8 to 1/12 between 30 and 40, and 1/10 lies three fifths of the way; the 11 at 10 changes nothing."""
    found = _crossings(
        np.array([10.0, 20.0, 30.0, 40.0]), np.array([[11.0, 7.0, 8.0, 12.0], [12.0, 12.0, 13.0, 14.0]]), 10.0
    )
    assert found == pytest.approx([36.0, 10.0])
