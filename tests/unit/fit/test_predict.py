"""Predictions from a fit to closed-form data: value, interval, what is inside, and gain."""

from __future__ import annotations

import math

import pytest
from one_core import RESPONSE, A, S, observations

from sojourn.errors import InputError
from sojourn.fit import fit
from sojourn.fit.forward_model import TwoClassSpec
from sojourn.predict import gain, predict, sensitivity

FITTED = fit(observations(), variant="shared", given={"capacity": 100_000})


def test_values_intervals_and_inside() -> None:
    m = predict(FITTED, [100, 200, 300], cores=1, nics=1)
    for rate in (100.0, 200.0, 300.0):
        value, (low, high) = m.value("response_time", rate_per_s=rate), m.interval("response_time", rate_per_s=rate)
        assert low is not None and high is not None and low < RESPONSE["shared"](rate) < high
        assert value == pytest.approx(RESPONSE["shared"](rate), rel=0.1)
    assert m.where(rate_per_s=200.0).frame["inside"].all() and not m.where(rate_per_s=300.0).frame["inside"].any()
    assert "errors at rates held out" in m.message and "outside what was measured" in m.message
    low, high = m.interval("saturation_rate", rate_per_s=100.0)
    assert low is not None and high is not None and low < 1 / (S + A) < high


@pytest.mark.parametrize("busy", [0.1, 0.5, 0.9])
def test_sensitivity_of_an_mm1_queue(busy: float) -> None:
    """R = S/(1 - rate S): d log R / d log S = 1/(1 - rate S)."""
    found = sensitivity(TwoClassSpec("mmm", ""), {"mu_per_s": 1 / A}, busy / A, 1, 1)
    assert found == pytest.approx(1 / (1 - busy), rel=1e-3)


def test_the_interval_of_a_response_time_grows_with_the_load() -> None:
    m = predict(FITTED, [60, 290], cores=1, nics=1)
    (light, wide_low), (heavy, wide_high) = (
        (m.value("response_time", rate_per_s=x), m.interval("response_time", rate_per_s=x)[1]) for x in (60.0, 290.0)
    )
    assert wide_low is not None and wide_high is not None and wide_high / heavy > 1.5 * wide_low / light - 0.5


def test_a_wider_level_is_wider() -> None:
    narrow, wide = (
        predict(FITTED, 200, cores=1, nics=1, level=level).interval("response_time") for level in (0.5, 0.99)
    )
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_close_to_saturation_the_interval_is_open_above() -> None:
    fitted = fit(observations(noise=0.05), variant="priority")
    most = predict(fitted, 1, cores=1, nics=1).value("saturation_rate")
    m = predict(fitted, most * 0.999, cores=1, nics=1)
    row = m.where(metric="response_time", station="").frame.row(0, named=True)
    assert row["value"] > 0 and row["high"] is None and row["status"] == "open_above" and "open_above" in m.message


def test_other_configurations_and_overrides() -> None:
    two = predict(FITTED, 100, cores=2, nics=2)
    assert two.value("response_time") == pytest.approx(RESPONSE["shared"](50), rel=0.03)
    assert two.value("saturation_rate") == pytest.approx(2 / (S + A), rel=0.01)
    slow = predict(FITTED, 100, cores=1, nics=1, mu2_per_s=250.0)
    assert slow.value("response_time") == pytest.approx(5e-3 / 0.5, rel=0.03)  # S + 4 ms = 5 ms, half busy
    assert predict(FITTED, 100, cores=2, nics=1, p=0.0).value("utilisation", "trailing") == pytest.approx(
        100 * A, rel=0.02
    )
    later = predict(FITTED, 100, cores=1, nics=1, handoff_s=1.0)
    assert later.value("response_time") == pytest.approx(1 + RESPONSE["shared"](100), rel=0.01)


def test_gain_from_spreading() -> None:
    # interrupts on one of two cores: 1/(S + A/2) = 500/s; on both: 2/(S + A) = 667/s
    value, low, high = gain(FITTED, (2, 1), (2, 2))
    assert value == pytest.approx(4 / 3, rel=0.01) and low < value < high
    assert gain(FITTED, (2, 1), (2, 1)).value == 1


def test_mmm_predicts_too() -> None:
    fitted = fit(observations("mmm"), "mmm", resamples=40)
    m = predict(fitted, [100, 900], cores=2, nics=1)
    assert m.value("saturation_rate", rate_per_s=100.0) == pytest.approx(2 / A, rel=0.01)
    assert m.interval("response_time", rate_per_s=900.0)[0] > 0
    over = predict(fitted, 1100, cores=2, nics=1)
    assert over.status == "saturated" and math.isnan(over.value("response_time"))


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        ({"rates": -1}, "rate_per_s"),
        ({"nics": 3}, "nics"),
        ({"level": 2}, "level"),
        ({"speed": 1}, "override"),
        ({"p": 3}, "p"),
        ({"mu2_per_s": -1}, "mu2_per_s"),
    ],
)
def test_bad_input(arguments: dict, place: str) -> None:
    with pytest.raises(InputError, match=f"^{place}: "):
        predict(**({"fitted": FITTED, "rates": 100, "cores": 2, "nics": 1} | arguments))
