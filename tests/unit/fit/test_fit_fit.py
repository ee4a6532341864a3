"""Fits to data from closed forms by hand: what comes back, what is said, what is refused."""

from __future__ import annotations

import math
import tomllib
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from one_core import RATES, A, S, observations

from sojourn.errors import FitError, InputError
from sojourn.fit import Fitted, compare, fit, least_squares
from sojourn.fit.bootstrap import sample
from sojourn.runs.core_utilisation import meter_errors


@pytest.mark.parametrize("law", ["shared", "paper"])
def test_parameters_come_back(law: str) -> None:
    fitted = fit(observations(law), variant=law, given={"capacity": 100_000})
    for name, true in (("mu1_per_s", 1 / S), ("mu2_per_s", 1 / A)):
        value, low, high = fitted.parameters[name]
        assert value == pytest.approx(true, rel=0.01) and low < value < high
        assert len(fitted.samples[name]) == 300
    assert fitted.model_error < 0.02 and len(fitted.held_out) == len(RATES)
    assert fitted.measured == ({"cores": 1, "nics": 1, "rate_low_per_s": 60.0, "rate_high_per_s": 260.0},)
    assert fitted.inside(100, 1, 1) and not fitted.inside(300, 1, 1) and not fitted.inside(100, 2, 1)


def test_mmm_comes_back() -> None:
    assert fit(observations("mmm"), "mmm").parameters["mu_per_s"].value == pytest.approx(1 / A, rel=0.01)


def test_priority_delay_comes_back_and_is_never_negative() -> None:
    # T of the priority variant by hand (constant S, exponential A), plus a delay of 0.4 ms
    def response(rate: float, delay: float) -> float:
        workload = rate * (S * S + 2 * S * A + 2 * A * A) / (2 * (1 - rate * (S + A)))
        return (workload + S + A) / (1 - rate * S) + delay

    for delay in (4e-4, 0.0):
        rows = observations(noise=0.003).to_dicts()
        for row in rows:
            row["response_s"] *= response(row["rate_per_s"], delay) * (1 - row["rate_per_s"] * (S + A)) / (S + A)
        frame = pl.DataFrame(rows, schema=observations().schema)
        fitted = fit(frame, variant="priority")
        assert fitted.parameters["handoff_s"].value == pytest.approx(delay, abs=3e-5)
        assert fitted.parameters["handoff_s"].low >= 0
        assert fitted.parameters["mu2_per_s"].value == pytest.approx(1 / A, rel=0.01)


def test_no_interrupts_is_allowed_and_said() -> None:
    fitted = fit(observations("mmm"), variant="priority")
    assert math.isinf(fitted.parameters["mu1_per_s"].value)
    assert any("no soft-interrupt time was measured" in note for note in fitted.notes)
    assert fitted.parameters["mu2_per_s"].value == pytest.approx(1 / A, rel=0.01)
    assert fitted.parameters["mu1_per_s"].low == math.inf
    assert Fitted.from_dict(tomllib.loads(fitted.to_toml())) == fitted


def test_p_from_utilisations() -> None:
    # two cores, a quarter of the pages stays: leading busy rate (S + A/4), trailing rate 3A/4
    frame = observations(noise=0.005)
    x = frame["rate_per_s"]
    frame = frame.with_columns(cores=2, util_leading=x * (S + A / 4), util_trailing=x * 0.75 * A)
    fitted = fit(frame, variant="shared", given={"p": "utilisation"})
    assert fitted.parameters["p"].value == pytest.approx(0.25, abs=0.01)
    with pytest.raises(FitError, match="no run with trailing cores"):
        fit(observations(), variant="shared", given={"p": "utilisation"})


def test_given_parameters_are_not_fitted() -> None:
    fitted = fit(observations(), variant="shared", given={"mu1_per_s": 1 / S})
    assert set(fitted.parameters) == {"mu2_per_s", "handoff_s"} and fitted.given["mu1_per_s"] == 1 / S
    assert fitted.parameters["mu2_per_s"].value == pytest.approx(1 / A, rel=0.01)


def test_what_meters_are_off_in_all_runs_alike_is_in_the_interval() -> None:
    """Both meters read 2 % too much in every run: the interval holds S where it is stated that they may be off by 2.5 %; what
    resampling these runs says alone does not."""
    frame = observations(rates=RATES[::2], noise=0.004)
    frame = frame.with_columns(pl.col("util_leading") * 1.02, pl.col("softirq_leading") * 1.02)
    bounds = pl.lit(0.025).alias("util_leading_error"), pl.lit(0.025).alias("softirq_leading_error")
    stated, bare = (
        fit(one, variant="shared", resamples=60).parameters["mu1_per_s"] for one in (frame.with_columns(bounds), frame)
    )
    assert stated.low < 1 / S < stated.high
    assert not bare.low < 1 / S < bare.high
    drawn = sample(frame.with_columns(bounds), 4000, 1).means["util_leading"]
    each = drawn / drawn.mean(axis=0)
    assert np.cov(each[:, 0], each[:, 2])[0, 1] ** 0.5 == pytest.approx(0.025 / 3**0.5, rel=0.05), (
        "one factor for all runs"
    )


def test_what_differs_from_run_to_run_is_in_the_interval() -> None:
    """Each run's core is busy by a factor of its own, 4 % about 1, which blocks of the run do not show. Of 20 intervals that hold at
    95 %, 17 at least have the page's time in all but 1 of 60 cases (binomial)."""
    held = 0
    for seed in range(20):
        frame = observations(noise=0.004, seed=seed)
        factor = dict(zip(RATES, 1 + 0.04 * np.random.default_rng(seed).standard_normal(len(RATES)), strict=True))
        frame = frame.with_columns(util_leading=pl.col("util_leading") * pl.col("rate_per_s").replace_strict(factor))
        page = fit(frame, variant="shared", given={"handoff_s": 0.0}, resamples=60, seed=seed).parameters["mu2_per_s"]
        held += page.low <= 1 / A <= page.high
    assert held >= 17


@pytest.mark.parametrize(
    ("manifest", "leading", "soft"),
    [({"simulated": True}, 0.0, 0.0), ({"pids": {"spinners": 7}, "placement": {"client_shares": True}}, 0.025, 0.02),
     ({"pids": {}, "placement": {}}, 0.02, 0.02)],
)  # fmt: skip
def test_the_bound_is_that_of_the_meter_of_the_run(manifest: dict[str, Any], leading: float, soft: float) -> None:
    assert meter_errors(manifest) == {"util_leading_error": leading, "softirq_leading_error": soft}


def test_the_best_variant_is_found_and_why() -> None:
    for law in ("shared", "paper"):
        chosen = compare(observations(law), ["paper", "shared"], resamples=20)
        assert chosen.best == law and chosen.clear
        assert chosen.why.startswith(f"{law}: response times at held-out rates off by")
        assert next(iter(chosen.fits)) == law and len(chosen.fits) == 2
    # one PS core with mean work S + A is M/M/1: the two cannot be told apart, and that is said
    few = compare(observations("shared", rates=(60.0, 140.0, 260.0)), ["paper", "shared"], resamples=20)
    assert few.best == "shared" and few.clear
    tied = compare(observations("shared"), ["shared", "mmm"], given={"capacity": 100_000}, resamples=20)
    assert not tied.clear and "cannot be told apart" in tied.why
    with pytest.raises(InputError, match="variants: none"):
        compare(observations(), [])


def test_same_seed_same_fit_and_file_round_trip(tmp_path: Path) -> None:
    one, two = (fit(observations(), variant="shared", seed=7, resamples=40) for _ in range(2))
    assert one == two and one != fit(observations(), variant="shared", seed=8, resamples=40)
    one.write(tmp_path / "fitted.toml")
    assert Fitted.read(tmp_path / "fitted.toml") == one
    assert "mu2_per_s" in str(one) and "held out" in str(one)


def test_broken_files_are_named(tmp_path: Path) -> None:
    path = tmp_path / "fitted.toml"
    with pytest.raises(InputError, match=r"fitted\.toml: No such file"):
        Fitted.read(path)
    good = fit(observations(), variant="shared", resamples=20).to_toml()
    for text in ("model = ", "", good.replace("mu2_per_s", "mu3"), good.replace('"shared"', '"other"'), good[:200]):
        path.write_text(text)
        with pytest.raises(InputError, match=r"fitted\.toml:"):
            Fitted.read(path)


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        ({"model": "mm1"}, "model"),
        ({"variant": "tandem"}, "variant"),
        ({"level": 95}, "level"),
        ({"resamples": 2}, "resamples"),
        ({"given": {"N": 3}}, "given"),
        ({"given": {"p": 2}}, "p"),
        ({"given": {"p_rule": "x"}}, "p_rule"),
        ({"given": {"capacity": "big"}}, "capacity"),
    ],
)
def test_bad_arguments(arguments: dict, place: str) -> None:
    with pytest.raises(InputError, match=f"^{place}: "):
        fit(observations(), **arguments)


def test_both_least_squares_agree() -> None:
    """y = exp(a) x + b with b >= 0: scipy and the vectorised method, bound active and not."""
    x = np.linspace(1, 2, 9)
    rng = np.random.default_rng(3)
    for b in (0.5, -0.5):
        y = np.stack([2 * x + b + 0.01 * rng.standard_normal(9) for _ in range(5)])

        def residuals(theta: np.ndarray, y: np.ndarray = y) -> np.ndarray:
            return np.exp(theta[:, :1]) * x + theta[:, 1:] - y

        lowest = np.array([-np.inf, 0.0])
        many = least_squares.many(residuals, np.tile([0.1, 0.1], (5, 1)), lowest)
        for k in range(5):
            one = least_squares.one(partial(residuals, y=y[k : k + 1]), np.array([0.1, 0.1]), lowest)
            assert many[k] == pytest.approx(one, abs=1e-6)
