"""Where intervals of response times begin near saturation and beyond it: with more arrivals nobody is served earlier."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise

import pytest
from mmm_runs import mmm_run

import sojourn as sj
from sojourn.fit.fit_runs import FitRuns
from sojourn.fit.fitted_model import FittedModel
from sojourn.fit.model_averaging import ModelMixture, rate_name
from sojourn.model import Model

ONE = '[stations.cpu]\n[classes.user]\nkind = "open"\nrate_per_s = 1.0\n[demands_s]\ncpu = { user = { free = true } }\n'
RATES = [
    15.0,
    25.0,
    35.0,
    40.0,
    45.0,
    48.0,
    50.0,
    52.0,
    55.0,
    60.0,
    80.0,
    120.0,
]  # of the 50/s that a server of 20 ms can do


@cache
def unsure(name: str) -> FittedModel:
    """A fit at light load whose model may be wrong by a third, and whose runs differ by 5 % of their mean, more towards saturation."""
    fitted = sj.fit(
        FitRuns([mmm_run(rate, servers=1, delay_s=0.0) for rate in (8.0, 12.0, 16.0, 20.0)]), Model.parse(ONE)
    )
    factors = tuple(1.1 ** (6 * k / len(fitted.draws) - 3) for k in range(len(fitted.draws)))
    return replace(
        fitted, demand_error_draws=factors, noise={"response_time": 0.05}, noise_degrees={"response_time": 30.0}
    )


@pytest.mark.parametrize("q", [None, 0.99])
def test_the_lower_end_does_not_fall_as_the_rate_rises(q: float | None) -> None:
    told = unsure("one").predict({"rate_per_s": RATES}, 0.9, (0.99,)).frame
    metric = "response_time" if q is None else "response_time_quantile"
    rows = told.filter(metric=metric, station="", **{"class": ""}).sort("rate_per_s")
    lows = [low for low in rows["low"] if low is not None]
    assert len(lows) >= 8 and rows.filter(status="open_above").height >= 2
    assert all(later >= 0.999 * low for low, later in pairwise(lows)), lows


def test_a_rate_that_may_be_too_high_for_part_of_the_draws_needs_no_words_on_unstable_rows() -> None:
    told = unsure("one").predict({"rate_per_s": [52.0]}, 0.9)
    assert told.frame.filter(metric="response_time", station="")["value"][0] is None
    assert "open_above:" in told.message and "unstable:" not in told.message
    assert "unstable:" in unsure("one").predict({"rate_per_s": [5000.0]}, 0.9).message


def test_a_point_below_most_of_saturation_is_asked_alone() -> None:
    mixture = ModelMixture(unsure("one"))
    mixture.rows({"rate_per_s": 20.0}, 0.9)
    assert not mixture.lower
    assert rate_name({"rate_per_s": 20.0, "workers": 2}) == "rate_per_s" and rate_name({"users": 2}) is None
    assert rate_name({"classes.a.rate_per_s": 1.0, "classes.b.rate_per_s": 2.0}) is None
