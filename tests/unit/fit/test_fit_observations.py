"""Which runs a fit uses, and what it says of the others; resampling."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from one_core import RATES, A, S, observations

from sojourn.errors import FitError, InputError
from sojourn.fit.bootstrap import sample
from sojourn.fit.observation_rows import per_run, usable


def change(frame: pl.DataFrame, run: str, **values: float | bool | None) -> pl.DataFrame:
    at = pl.col("run") == run
    return frame.with_columns(pl.when(at).then(pl.lit(v)).otherwise(pl.col(k)).alias(k) for k, v in values.items())


def test_invalid_and_saturated_runs_are_left_out_and_named() -> None:
    frame = change(change(observations(), "60-0", valid=False), "260-0", throughput_per_s=180.0)
    kept, notes = usable(frame)
    assert kept["run"].n_unique() == len(RATES) - 2
    assert notes == (
        "left out, not valid: 60-0 (60/s)",
        "left out, above saturation (throughput below the offered rate): 260-0 (260/s)",
    )


def test_sampling_error_of_a_short_run_is_not_saturation() -> None:
    frame = change(observations(), "60-0", throughput_per_s=60 * 0.96)  # 720 requests: three standard errors are 11 %
    assert usable(frame)[0]["run"].n_unique() == len(RATES)


def test_too_little_to_fit() -> None:
    with pytest.raises(FitError, match=r"observations: 2 rates below saturation.*measure at 3 rates or more"):
        usable(observations(rates=(50.0, 100.0)))
    with pytest.raises(FitError, match="none valid"):
        usable(observations().with_columns(valid=False))
    with pytest.raises(FitError):
        usable(observations().clear())
    with pytest.raises(FitError, match="one block a run, no replication"):
        sample(observations(blocks=1), 50, 1)


@pytest.mark.parametrize(
    ("change_", "text"),
    [
        ({"cores": 0}, "column cores: 0; give numbers >= 1"),
        ({"response_s": -1.0}, "response_s: -1"),
        ({"rate_per_s": None}, "rate_per_s: null"),
        ({"util_leading": float("nan")}, "util_leading: NaN"),
        ({"nics": 5}, "nics > cores"),
        ({"requests": "many"}, "observations: "),
    ],
)
def test_bad_columns(change_: dict, text: str) -> None:
    with pytest.raises(InputError, match=text):
        usable(observations().with_columns(**{k: pl.lit(v) for k, v in change_.items()}))


def test_a_missing_column_is_named() -> None:
    with pytest.raises(InputError, match="no column softirq_leading; give run, cores"):
        usable(observations().drop("softirq_leading"))


def test_means_are_weighted_by_requests() -> None:
    frame = observations(rates=(100.0,), blocks=2, noise=0).with_columns(
        requests=pl.Series([1, 3]), response_s=pl.Series([1.0, 2.0])
    )
    assert per_run(frame)["response_s"][0] == pytest.approx(1.75)


def test_bootstrap_error_is_that_of_the_mean() -> None:
    """Independent blocks with 10 % noise: relative standard error 0.1/sqrt(n), within the noise of an error
    estimate."""
    drawn = sample(observations(blocks=200, noise=0.1, rates=(100.0, 150.0, 200.0)), 400, 1)
    assert drawn.error["util_leading"] == pytest.approx(np.full(3, 0.1 / np.sqrt(200)), rel=0.35)
    again = sample(observations(blocks=200, noise=0.1, rates=(100.0, 150.0, 200.0)), 400, 1)
    assert np.array_equal(drawn.means["response_s"], again.means["response_s"])


def test_correlated_blocks_have_a_wider_interval() -> None:
    """Each value held for 5 blocks: the true error of the mean is sqrt(5) that of independent blocks; blocks of n^(1/3)
    recover most of it."""
    slow = np.repeat(1 + 0.1 * np.random.default_rng(2).standard_normal(200), 5)
    frame = observations(rates=(100.0,), blocks=1000, noise=0).with_columns(util_leading=pl.Series(slow))
    assert sample(frame, 400, 1).error["util_leading"][0] > 1.7 * 0.1 / np.sqrt(1000)


@pytest.mark.parametrize("runs", [1, 2, 4])
def test_runs_and_blocks_together_have_the_variance_of_one_mean(runs: int) -> None:
    """Runs that differ by no more than their blocks do: 2 % noise a block, so 0.02/sqrt(runs · 100) of the mean over
    all of them, whatever the number of runs; mean over 40 cells, whose own scatter is 1/sqrt(2 · 40)."""
    rates = tuple(np.linspace(50, 250, 40))
    drawn = sample(observations(rates=rates, blocks=100, noise=0.02, runs=runs), 400, 1)
    values, weight = drawn.means["util_leading"] / (drawn.column("rate_per_s") * (S + A)), drawn.weight
    spread = [
        ((weight * values)[:, drawn.cell == k].sum(axis=1) / runs).std() for k in range(int(drawn.cell.max()) + 1)
    ]
    assert np.mean(spread) == pytest.approx(0.02 / np.sqrt(runs * 100), rel=0.1)


def test_arrivals_of_a_resample_are_relative_to_those_of_the_run() -> None:
    frame = observations(rates=(100.0,), blocks=4, noise=0).with_columns(requests=pl.Series([10, 20, 30, 40]))
    drawn = sample(frame, 4000, 1)
    assert drawn.mean["arrived"] == pytest.approx(1.0)
    assert drawn.means["arrived"].mean() == pytest.approx(1.0, abs=0.02)
    # blocks of n^(1/3) = 2 in a row, taken twice: 30, 50, 70 or 50 (around the end) each, and stretched by 4/3
    sums = np.array([30, 50, 70, 50]) / 100
    assert drawn.means["arrived"].var() == pytest.approx(2 * sums.var() * 4 / 3, rel=0.1)
