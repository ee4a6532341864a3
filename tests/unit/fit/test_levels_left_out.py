"""What the model is off by, by distance: whole levels left out tell it, a prior where they do not, and predictions have it."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sojourn as sj
from sojourn.fit.fit_runs import FitRun, FitRuns
from sojourn.fit.fitted_model import FittedModel
from sojourn.fit.levels_left_out import _slope
from sojourn.fit.model_error import LARGEST, OF_FACTOR, ModelErrorPosterior
from sojourn.plan.model_predictor import ModelPredictor
from sojourn.plan.objective import Quantity
from sojourn.query.sources.fitted_source import FittedSource

WORK_S = 0.02
MODEL = """
[parameters]
work_s = { free = true }
cores = 1
[stations.cpu]
discipline = "ps"
[classes.user]
kind = "open"
rate_per_s = 1.0
[demands_s]
cpu = { user = "work_s" }
"""


def fitted(grown: float, cores: tuple[int, ...] = (1, 2), text: str = MODEL) -> FittedModel:
    """One server whose time is WORK_S with 1 core, and longer by the factor 1 + grown at each doubling: M/M/1 by hand."""
    runs = []
    for k, (size, share) in enumerate([(c, s) for c in cores for s in (0.2, 0.35, 0.5, 0.65)]):
        work = WORK_S * (1 + grown) ** math.log2(size)
        off = 1 + 0.01 * math.sin(3 * k)
        means = {("", "response_time"): (work / (1 - share) * off, 0.01), ("", "throughput"): (share / WORK_S, 0.005)}
        runs.append(FitRun(f"r{k}", {"cores": size, "rate_per_s": share / work}, means, {}))
    return sj.fit(FitRuns(runs), sj.Model.parse(text))


def of_prior(values: np.ndarray) -> float:
    """The chance of |s N| below each, s from s/(s0 + s)² cut off at LARGEST: a mean over its quantiles."""
    at = (np.arange(2000) + 0.5) / 2000 * LARGEST / (OF_FACTOR + LARGEST)
    s = OF_FACTOR * at / (1 - at)
    return np.array([np.mean([math.erf(v / x / math.sqrt(2)) for x in s]) for v in values])


def test_a_slope_by_least_squares() -> None:
    """Independent errors of variances 1 and 4, distances 1 and 2: b = (1·3/1 + 2·4/4)/(1/1 + 4/4) = 2.5, its variance 1/2."""
    square, variance = _slope(np.array([1.0, 2.0]), np.diag([1.0, 4.0]), np.array([3.0, 4.0]))
    assert square == pytest.approx(6.25) and variance == pytest.approx(0.5)


def test_where_nothing_tells_it_the_prior_does() -> None:
    """Its median is that of s/(s0 + s)², cut off at LARGEST: s0 a/(1 - a) at half of the probability."""
    prior = ModelErrorPosterior.of_growth(np.array([]), np.array([]))
    half = 0.5 * LARGEST / (OF_FACTOR + LARGEST)
    below = prior.probability[prior.tau < OF_FACTOR * half / (1 - half)].sum()
    assert below == pytest.approx(0.5, abs=0.01)
    one = fitted(0.0, cores=(2,))
    assert "cores" not in one.demand_error_growth
    for q, value in zip(
        (0.3, 0.6, 0.9), np.quantile(np.abs(one.demand_error_growth[""]), (0.3, 0.6, 0.9)), strict=True
    ):
        assert of_prior(np.array([value]))[0] == pytest.approx(q, abs=0.08)


def test_levels_left_out_tell_it() -> None:
    """30 % longer with twice the cores is log 1.3 over 2 (√2 - 1)/√2; where the model is right little is left of the prior."""
    right, wrong = (np.median(np.abs(fitted(grown).demand_error_growth["cores"])) for grown in (0.0, 0.3))
    slope = math.log(1.3) / (2 * (math.sqrt(2) - 1) / math.sqrt(2))
    assert right < 0.25 * OF_FACTOR
    assert 0.3 * slope < wrong < 1.2 * slope  # of a normal variable of that size, or less, the median is two thirds


def test_an_unknown_that_the_other_levels_do_not_tell_leaves_the_prior() -> None:
    text = MODEL.replace("cores = 1", "crowd = { free = true, low = 0 }\ncores = 1").replace(
        '"work_s"', '"work_s * (1 + crowd*(cores - 1))"'
    )
    found = fitted(0.3, text=text)
    assert found.estimates["parameters.crowd"].value == pytest.approx(0.3, abs=0.03)
    told = np.quantile(np.abs(found.demand_error_growth["cores"]), (0.5, 0.9))
    assert told == pytest.approx(np.quantile(np.abs(found.demand_error_growth[""]), (0.5, 0.9)), rel=0.35)


def plain(slopes: np.ndarray) -> FittedModel:
    """Nothing uncertain but the growth by cores, of which the runs had 2."""
    one = fitted(0.0, cores=(2,))
    draws = np.full((len(slopes), 1), one.estimates["parameters.work_s"].value)
    return replace(one, draws=draws, demand_error_draws=(1.0,) * len(slopes), noise={}, noise_degrees={}, fitted_saturation_shares=None,
                   demand_error_growth={"cores": tuple(slopes.tolist())})  # fmt: skip


def test_predictions_plans_and_queries_have_it(tmp_path: Path) -> None:
    """With 8 cores, 2 away, all times are longer by exp(2 b): the response time is W/(1 - rate W)."""
    slopes = np.linspace(-0.05, 0.05, 41)
    one = plain(slopes)
    work = one.estimates["parameters.work_s"].value * np.exp(2 * slopes)
    expected = work / (1 - 20 * work)
    row = (
        one.predict({"cores": 8, "rate_per_s": 20.0}, 0.9)
        .frame.filter(metric="response_time", station="")
        .row(0, named=True)
    )
    assert row["low"] == pytest.approx(np.sort(expected)[2], rel=1e-6)
    assert row["high"] == pytest.approx(np.sort(expected)[38], rel=1e-6)
    limit = one.predict({"cores": 8, "rate_per_s": 20.0}, 0.9).frame.filter(metric="saturation_rate").row(0, named=True)
    assert limit["high"] == pytest.approx(np.sort(1 / work)[38], rel=1e-6)
    same = one.predict({"cores": 2, "rate_per_s": 20.0}, 0.9).frame.filter(metric="response_time", station="")
    assert same["low"][0] == pytest.approx(same["high"][0])
    quantity = Quantity("response_time")
    planned = ModelPredictor(one, {"cores": [2, 8]}).values(
        [{"cores": 2}, {"cores": 8}], np.array([20.0]), [quantity], 41
    )
    assert planned[quantity][:, 1, 0] == pytest.approx(expected, rel=1e-6)
    assert np.ptp(planned[quantity][:, 0, 0]) < 1e-12
    drawn = FittedSource(one, {"cores": 8, "rate_per_s": 20.0}).drawn
    asked = [source.measure("response_time", "", "").value * by for source, by, _ in drawn]
    assert asked == pytest.approx(expected[:40], rel=1e-6)
    one.write(tmp_path / "fitted.toml")
    again = sj.FittedModel.read(tmp_path / "fitted.toml")
    assert again.demand_error_growth == one.demand_error_growth and again.fitted_saturation_shares is None
    assert again.longer_at({"cores": 8}) == pytest.approx(one.longer_at({"cores": 8}))


def test_a_file_of_an_earlier_version_has_no_growth(tmp_path: Path) -> None:
    one = replace(fitted(0.0), demand_error_growth={}, fitted_saturation_shares=None)
    assert one.longer_at({"cores": 64, "rate_per_s": 1.0}, 0.9) == pytest.approx(one.longer)


def test_load_is_a_share_and_its_range_is_kept(tmp_path: Path) -> None:
    one = fitted(0.0, cores=(2,))
    assert one.fitted_saturation_shares == pytest.approx((0.2, 0.65), rel=0.05)
    one.write(tmp_path / "fitted.toml")
    assert sj.FittedModel.read(tmp_path / "fitted.toml").fitted_saturation_shares == one.fitted_saturation_shares
    assert np.log(one.longer_at({}, 0.95)).std() > np.log(one.longer).std()
