"""What one run, or one fit, does not tell has no interval."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from scipy import stats

from sojourn.study.evaluation import error_range, median_error, median_interval, of_means
from sojourn.study.mean_of_runs import mean_with_interval


def test_one_value_has_no_interval_and_several_have_students() -> None:
    one = mean_with_interval(np.array([3.0, math.nan]))
    assert one.value == 3 and math.isnan(one.low) and math.isnan(one.high)
    values = np.array([1.0, 2.0, 4.0])
    low, high = stats.t.interval(0.9, 2, values.mean(), stats.sem(values))
    assert mean_with_interval(values) == pytest.approx((values.mean(), low, high))


def test_runs_that_do_not_differ_tell_no_interval() -> None:
    found = mean_with_interval(np.full(4, 0.0015))
    assert found.value == pytest.approx(0.0015) and math.isnan(found.low) and math.isnan(found.high)


def rows(errors: np.ndarray) -> pl.DataFrame:
    return pl.DataFrame({"metric": "response_time", "class": "", "error": errors})


def test_a_median_of_one_fit_has_a_range_and_no_interval() -> None:
    one = rows(np.array([-0.3, 0.1, 0.05]))
    assert median_error(one, "response_time") == pytest.approx(0.1)
    assert error_range(one, "response_time") == (0.05, 0.3, 3)
    assert median_interval([one], "response_time") is None


def test_the_mean_of_repeated_runs_is_compared() -> None:
    """12 predicted for 9 and 11 is 20 % off their mean; what was run once, and a run without an error, are left out. Names that were
    shortened are alike in all but a key, also those of different configurations."""
    runs = [("a-1", 9.0), ("a-2", 11.0), ("b-1-0f3a9c", 10.0), ("b-2-77aa01", 14.0), ("c-1", 10.0), ("a-3", None),
            ("long-982311", 6.0), ("long-127750", 3.0)]  # fmt: skip
    same = {name: name if name.startswith("long") else name[0] for name, _ in runs}
    one = {"section": "draw", "class": "", "metric": "throughput", "model": "m", "kind": "blind", "predicted": 12.0}
    frame = pl.DataFrame(
        [{**one, "run": n, "measured": x, "error": None if x is None else 12 / x - 1} for n, x in runs]
    )
    found = of_means(frame, same)
    assert found["configuration"].to_list() == ["a", "b"]
    assert found["error"].to_list() == pytest.approx([0.2, 0.0])
    at_speed = frame.with_columns(predicted=pl.Series([9.0, 11.0, *[12.0] * 6]))
    assert of_means(at_speed, same)["error"][0] == pytest.approx(0.0), "each run was predicted for its own speed"


def test_a_median_over_fits_is_covered_where_the_points_of_a_fit_share_its_error() -> None:
    """20 fits of 8 points, nearly all of the error shared: the median of |N(0, 0.1)| is 0.1 * 0.6745. Resampling points, as if there
    were 160 of them, covers it in half of the cases."""
    random, truth = np.random.default_rng(1), 0.1 * float(stats.norm.ppf(0.75))
    whole, points = 0, 0
    for _ in range(20):
        shared = random.normal(0, 0.1, (20, 1))
        fits = [rows(each) for each in shared + random.normal(0, 0.005, (20, 8))]
        low, high = median_interval(fits, "response_time", draws=100) or (0.0, 0.0)
        whole += low <= truth <= high
        low, high = median_interval([rows(np.array([e])) for f in fits for e in f["error"]], "response_time", 100) or (
            0.0,
            0.0,
        )
        points += low <= truth <= high
    assert whole >= 16 and points <= 15, (whole, points)
