"""Relative errors, and the operational laws."""

from __future__ import annotations

import pytest
from one_core import observations
from published_errors import published

from sojourn.errors import InputError
from sojourn.fit import fit
from sojourn.laws import broken, check_laws
from sojourn.predict import predict
from sojourn.solve import two_class
from sojourn.table import Metrics
from sojourn.validate import measured_metrics, validate


def test_errors_by_hand() -> None:
    rates, errors = (100.0, 200.0, 300.0), (0.1, -0.2, 0.3)
    at = [{"metric": "response_time", "rate_per_s": r, "cores": 1, "nics": 1} for r in rates]
    measured = Metrics.of([{**row, "value": 2.0, "low": 1.7, "high": 2.3} for row in at])
    predicted = Metrics.of(
        [
            {**row, "value": 2 * (1 + e), "low": 2 * (1 + e) - 0.01, "high": 2 * (1 + e) + 0.01}
            for row, e in zip(at, errors, strict=True)
        ]
    )
    found = validate(measured, predicted)
    line = found.of("response_time", 1, 1)
    assert line["mean_abs"] == pytest.approx(0.2) and line["mean_signed"] == pytest.approx(0.2 / 3)
    assert line["median_abs"] == pytest.approx(0.2) and line["worst"] == pytest.approx(0.3) and line["points"] == 3
    assert line["within"] == pytest.approx(1 / 3)  # only +10 % reaches into 1.7 … 2.3
    assert not [name for name in line if name.endswith(("_low", "_high"))], "points of one fit tell no interval"
    assert found.of("response_time")["mean_abs"] == pytest.approx(0.2)
    with pytest.raises(InputError, match=r"validation: .*ask for one of"):
        found.of("throughput")
    (drawn,) = found.plot().to_dict()["datasets"].values()
    dots = next(series for series in drawn if series["style"] == "points")
    assert dots["x"] == [2.0] * 3 and dots["y"] == pytest.approx([2.2, 1.6, 2.6])
    with pytest.raises(InputError, match="nothing was predicted and measured"):
        found.plot("throughput")


def test_from_observations_to_errors() -> None:
    data = observations()
    predicted = predict(fit(data, variant="shared", given={"capacity": 100_000}), [60, 100, 220, 260], cores=1, nics=1)
    found = validate(data, predicted)
    assert found.of("response_time")["mean_abs"] < 0.02 and found.of("utilisation_leading")["mean_abs"] < 0.02
    assert "not predicted, left out: 1 cores, 1 NICs at 140/s" in found.message
    near = validate(data, predicted, up_to=0.5)
    assert near.frame["rate_per_s"].max() == 100 and "up to 50%" in near.message


def test_tables_that_cannot_be_compared() -> None:
    measured, predicted, _ = published()
    with pytest.raises(InputError, match="no point in common"):
        validate(measured.with_factors(cores=3), predicted)
    with pytest.raises(InputError, match="predicted: several values for one point"):
        validate(measured, Metrics.concat([predicted, predicted.with_factors(variant="x")]))
    with pytest.raises(InputError, match="measured: no factor cores, nics, rate_per_s"):
        validate(Metrics.of([{"metric": "throughput", "value": 1}]), predicted)
    with pytest.raises(InputError, match="no saturation_rate"):
        validate(measured, predicted, up_to=0.8)


def test_measured_metrics() -> None:
    m = measured_metrics(observations(noise=0.1, blocks=100, runs=2))
    low, high = m.interval("response_time", rate_per_s=100.0)
    true = 3e-3 / 0.7
    assert low is not None and high is not None and low < m.value("response_time", rate_per_s=100.0) < high
    assert m.value("response_time", rate_per_s=100.0) == pytest.approx(true, rel=0.03)
    assert m.frame["source"].unique().to_list() == ["measured"]
    with pytest.raises(InputError, match="no valid run"):
        measured_metrics(observations().with_columns(valid=False))


def test_laws_find_what_is_broken() -> None:
    rows = {
        "arrival_rate": 10.0,
        "throughput": 9.0,
        "response_time": 0.5,
        "queue_length": 5.0,
        "utilisation": 0.5,
        "service_time": 0.05,
    }
    findings = check_laws(
        Metrics.of([{"metric": k, "value": v} for k, v in rows.items()]), 0.05, population=9, think_s=0.5
    )
    assert {f.law: f.ok for f in findings} == {
        "Little's law": False, "utilisation law": False, "flow balance": False, "interactive law": True,
    }  # fmt: skip
    text = str(broken(findings)[0])
    assert "is off by 11 % at system" in text and "tolerance 5.00 %" in text
    assert check_laws(Metrics.of([])) == []


def test_laws_pass_over_rows_without_a_value() -> None:
    m = two_class([100, 9000], mu1_per_s=1000, mu2_per_s=500, variant="priority")
    assert not broken(check_laws(m))


def test_a_saturated_answer_for_a_point_that_was_not_counts_as_an_error() -> None:
    at = [{"metric": "response_time", "rate_per_s": r, "cores": 1, "nics": 1} for r in (100.0, 200.0, 300.0)]
    measured = Metrics.of([{**row, "value": 2.0} for row in at])
    values = ({"value": 2.2}, {"value": 1.6}, {"value": None, "status": "saturated"})
    found = validate(measured, Metrics.of([{**row, **value} for row, value in zip(at, values, strict=True)]))
    for line in (found.of("response_time", 1, 1), found.of("response_time")):
        assert (line["points"], line["saturated"], line["worst"]) == (3, 1, float("inf"))
        assert line["mean_abs"] == pytest.approx(0.15) and line["median_abs"] == pytest.approx(0.2), (
            "of 10 %, 20 %, infinite"
        )
    assert found.frame["relative_error"].to_list() == pytest.approx([0.1, -0.2, float("inf")])
