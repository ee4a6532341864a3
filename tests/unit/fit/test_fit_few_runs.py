"""No more runs than unknowns: residuals say nothing, and what each run states of itself makes the intervals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sojourn as sj
from sojourn.fit import short_run_variance
from sojourn.fit.fit_runs import FitRun, FitRuns, observe_runs
from sojourn.fit.model_fit import fit
from sojourn.fit.run_measurements import FLOOR
from sojourn.simulate.simulated_run import as_run

MODEL = """
[stations.cpu]
[classes.user]
kind = "open"
rate_per_s = 1.0
[demands_s]
cpu = { user = { free = true } }
"""
UNEVEN = 'cpu = { user = { kind = "lognormal", mean = { free = true }, scv = { free = true, low = 0.01, high = 20, start = 1 } } }'
ERROR = 0.03  # relative standard error of each run's mean response time


def mm1_run(rate: float, service_s: float = 0.02, busy: bool = False) -> FitRun:
    """M/M/1: R = S / (1 - rho)."""
    means = {
        ("", "response_time"): (service_s / (1 - rate * service_s), ERROR),
        ("", "throughput"): (rate, 0.01),
    }
    return FitRun(f"rate-{rate:g}", {"rate_per_s": rate}, means, {"cpu": rate * service_s} if busy else {})


def test_one_run_has_the_interval_of_its_sampling_error() -> None:
    """d log R / d log S = 1 / (1 - rho): an error e of R is one of e (1 - rho) of S, and 1.645 of them make 90 %. Of e the count of
    requests, known within 1 %, explains d log R / d log lambda = rho / (1 - rho) = 1.5 times as much."""
    fitted = fit(FitRuns([mm1_run(30.0)]), sj.Model.parse(MODEL), draws=2000)
    value, low, high = fitted.estimates["demands_s.cpu.user"]
    half = 1.645 * np.hypot(np.sqrt(ERROR**2 - (1.5 * 0.01) ** 2), FLOOR["response_time"]) * (1 - 0.6)
    assert value == pytest.approx(0.02 * np.exp(ERROR**2 / 2 * (1 - 0.6)), rel=1e-3)
    assert np.log(high / low) / 2 == pytest.approx(half, rel=0.1)
    assert "no more runs than unknowns: intervals include the sampling error within runs" in fitted.message


def test_a_run_with_two_numbers_has_an_interval_too() -> None:
    """Its response time and its busy time agree: one run still has no spread between runs."""
    fitted = fit(FitRuns([mm1_run(30.0, busy=True)]), sj.Model.parse(MODEL + '[observed]\ncpu = "cpu"\n'))
    _, low, high = fitted.estimates["demands_s.cpu.user"]
    assert low < 0.02 < high and high / low > 1.01


def test_several_runs_keep_the_spread_between_them() -> None:
    fitted = fit(FitRuns([mm1_run(rate) for rate in (10.0, 20.0, 30.0, 40.0)]), sj.Model.parse(MODEL))
    assert "no more runs than unknowns" not in fitted.message


def test_predicted_against_measured_is_a_chart() -> None:
    runs = FitRuns([mm1_run(rate) for rate in (10.0, 20.0, 30.0, 40.0)])
    fitted = fit(runs, sj.Model.parse(MODEL))
    (data,) = fitted.plot(runs).to_dict()["datasets"].values()
    dots = next(series for series in data if series["style"] == "points")
    assert sorted(dots["x"]) == pytest.approx([0.02 / (1 - rate * 0.02) for rate in (10, 20, 30, 40)])
    with pytest.raises(sj.errors.InputError, match="nothing was predicted and measured"):
        fitted.plot(runs, "speed")


def timed_run(rate: float, length_s: float) -> FitRun:
    return replace(mm1_run(rate), length_s=length_s)


def test_a_variance_fitted_to_runs_below_10_000_requests_has_a_note() -> None:
    """benches/fit has the coverage of intervals of variances for runs of 10 000 requests, and no fewer."""
    paths = ["demands_s.cpu.user.mean", "demands_s.cpu.user.scv"]
    short = [timed_run(rate, 15.0) for rate in (20.0, 40.0, 75.0)]
    (note,) = short_run_variance.notes(paths, short)
    assert (
        note.startswith("demands_s.cpu.user.scv has too narrow an interval") and "600 requests" in note
    )  # 40/s x 15 s
    assert "10000" in note
    long = [timed_run(rate, 300.0) for rate in (20.0, 40.0, 75.0)]  # 12 000 in the median
    assert short_run_variance.notes(paths, long) == []
    assert short_run_variance.notes(paths[:1], short) == []
    assert short_run_variance.notes(paths, [mm1_run(40.0)]) == []  # nobody knows how long it was


def test_the_note_about_a_variance_is_in_the_message_of_a_fit() -> None:
    text = MODEL.replace("cpu = { user = { free = true } }", UNEVEN) + '[observed]\ncpu = "cpu"\n'
    runs = [replace(mm1_run(rate, busy=True), length_s=15.0) for rate in (10.0, 20.0, 30.0, 40.0)]
    assert "demands_s.cpu.user.scv has too narrow an interval" in fit(FitRuns(runs), sj.Model.parse(text)).message


def test_the_note_counts_requests_of_run_folders(tmp_path: Path) -> None:
    """30/s for 20 s are some 600 requests."""
    plain = MODEL.replace("{ user = { free = true } }", "{ user = 0.02 }").replace(
        "rate_per_s = 1.0", "rate_per_s = 30.0"
    )
    runs = observe_runs([as_run(sj.Model.parse(plain), tmp_path / "run", seed=1, until_s=20.0)]).runs
    (note,) = short_run_variance.notes(["demands_s.cpu.user.scv"], runs)
    assert 450 < float(note.partition("about ")[2].split()[0]) < 750
