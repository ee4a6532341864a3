"""Quantiles of a prediction: those of the model's method, beside its means (issue 29, point 15)."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from mmm_runs import mmm_run
from typer.testing import CliRunner

import sojourn as sj
from sojourn.cli.app import command_line
from sojourn.errors import InputError
from sojourn.fit.drawn_quantiles import of_mean
from sojourn.fit.fit_runs import FitRuns
from sojourn.fit.fitted_model import FittedModel
from sojourn.model import Model

ONE = '[stations.cpu]\n[classes.user]\nkind = "open"\nrate_per_s = 1.0\n[demands_s]\ncpu = { user = { free = true } }\n'
SHARED = ONE.replace("[stations.cpu]\n", '[stations.cpu]\ndiscipline = "ps"\n')
RUNS = FitRuns([mmm_run(rate, servers=1, delay_s=0.0) for rate in (8.0, 14.0, 20.0, 26.0, 32.0)])  # of 50/s


def fitted(text: str = ONE) -> FittedModel:
    return sj.fit(RUNS, Model.parse(text))


@pytest.mark.parametrize("q", [0.5, 0.9, 0.99])
def test_the_response_of_a_queue_with_exponential_service_is_exponential(q: float) -> None:
    """M/M/1, FCFS: P(R > t) = exp(-t/E[R]) (Kleinrock, Queueing Systems I (1975), p. 202)."""
    told = fitted().predict({"rate_per_s": [20.0, 40.0]}, 0.9, quantiles=(0.5, 0.9, 0.99))
    for rate in (20.0, 40.0):
        mean = told.value("response_time", rate_per_s=rate)
        value = told.value("response_time_quantile", q=q, rate_per_s=rate)
        assert value == pytest.approx(-math.log(1 - q) * mean, rel=1e-6)
        low, high = told.interval("response_time_quantile", q=q, rate_per_s=rate)
        assert low is not None and high is not None and low < value < high
    assert "fitted to means" in told.message


def test_a_number_takes_the_place_of_a_law_whose_mean_was_fitted() -> None:
    """M/M/1: E[R] = S/(1 - rate S)."""
    law = ONE.replace("{ free = true }", '{ kind = "exponential", mean = { free = true } }')
    assert list(fitted(law).estimates) == ["demands_s.cpu.user.mean"]
    for path in ("demands_s.cpu.user", "demands_s.cpu.user.mean"):
        told = fitted(law).predict({"rate_per_s": 20.0, path: 0.01})
        assert told.value("response_time", **{path: 0.01}) == pytest.approx(0.01 / 0.8, rel=1e-9)


def test_nothing_is_said_where_the_queue_saturates() -> None:
    row = fitted().predict({"rate_per_s": 80.0}, quantiles=(0.99,)).frame.filter(q=0.99).row(0, named=True)
    assert row["value"] is None and row["status"] == "unstable"


def test_a_method_without_quantiles_says_so() -> None:
    """Sojourn times under processor sharing have no closed form that a method of ours tells."""
    told = fitted(SHARED).predict({"rate_per_s": 20.0}, quantiles=(0.99,))
    assert "response_time_quantile" not in told.frame["metric"] and "no quantiles" in told.message


def test_means_are_the_same_with_and_without_quantiles() -> None:
    one = fitted()
    plain, more = (one.predict({"rate_per_s": 20.0}, 0.9, quantiles=q).frame for q in ((), (0.99,)))
    assert plain.drop("q").equals(more.filter(more["q"].is_null()).drop("q"))


def test_a_level_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="99"):
        fitted().predict({"rate_per_s": 20.0}, quantiles=(99.0,))


@pytest.mark.parametrize("q", [0.5, 0.9, 0.99])
def test_the_error_of_a_quantile_is_that_of_an_exponential_sample(q: float) -> None:
    """Standard errors of a mean and of a quantile of 2000 exponential times, over 4000 samples."""
    samples = np.random.default_rng(5).exponential(size=(4000, 2000))
    errors = [np.std(x) / np.mean(x) for x in (np.quantile(samples, q, axis=1), samples.mean(axis=1))]
    assert of_mean(q) == pytest.approx(errors[0] / errors[1], rel=0.05)


def test_the_command_has_a_column(tmp_path: Path) -> None:
    fitted().write(tmp_path / "fitted.toml")
    told = CliRunner().invoke(command_line(["predict"]), ["predict", str(tmp_path / "fitted.toml"), "--rate", "20,40"])
    assert told.exit_code == 0 and "p99" in told.output
