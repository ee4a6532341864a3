"""The model's own error: what runs that were left out are off by, beyond what a prediction draws anyway; and what is not known of it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import kstest, norm

import sojourn as sj
from sojourn.fit.fit_problem import FitProblem
from sojourn.fit.fit_runs import FitRun, FitRuns
from sojourn.fit.model_error import OF_FACTOR, SCALE, ModelErrorPosterior

MODEL = """
[stations.cpu]
[classes.user]
kind = "open"
rate_per_s = 1.0
[demands_s]
cpu = { user = { free = true } }
"""
OFF = (1.2, 0.85, 1.1, 0.9, 1.25)  # by how much service is longer than 20 ms: no M/M/1 explains all five


def problem() -> FitProblem:
    runs = []
    for rate, off in zip((5.0, 10.0, 15.0, 20.0, 25.0), OFF, strict=True):
        response = 0.02 * off / (1 - rate * 0.02 * off)  # M/M/1
        runs.append(FitRun(f"rate-{rate:g}", {"rate_per_s": rate}, {("", "response_time"): (response, 0.01)}, {}))
    return FitProblem(FitRuns(runs), sj.Model.parse(MODEL))


def test_what_the_unknowns_vary_by_is_not_counted_twice() -> None:
    """The unknown is the factor on all demands itself, so that the variance of its draws is taken off."""
    data = problem()
    x, jacobian = data.best()
    sensitivity = data.sensitivity(x)
    sure, rows = data.model_error(x, jacobian, sensitivity, np.tile(x, (2, 1)))
    assert sure is not None and len(rows) == len(OFF)
    spread = float(np.log(OFF).std(ddof=1))  # as much as the services differ by, of which five tell a third
    assert 0.7 * spread < sure.mean < 1.5 * spread
    step = spread * float(np.mean(sensitivity / jacobian[:, 0]))
    found, same = data.model_error(x, jacobian, sensitivity, np.stack([x - step, x + step]))
    assert found is not None and found.mean < 0.75 * sure.mean
    assert same == rows  # what configurations are off by is told as it was


def test_what_is_believed_of_it_holds() -> None:
    """Drawn from the prior, and errors from it, the true value has uniform ranks in the posterior (S. Talts, M. Betancourt, D. Simpson,
    A. Vehtari, A. Gelman: Validating Bayesian Inference Algorithms with Simulation-Based Calibration, 2018, theorem 1)."""
    rng = np.random.default_rng(5)
    known = np.array([1e-4, 2e-4, 1e-4, 4e-4, 1e-4, 1e-4, 3e-4, 2e-4])
    scale = SCALE * float(np.sqrt(len(known) / (1 / known).sum()))
    ranks = []
    for u in (np.arange(1000) + 0.5) / 1000:
        tau = scale * u / (1 - u)  # the quantile function of s/(s + tau)²
        if tau < 0.3:  # the prior ends at a factor of e
            squares = (known + tau**2) * rng.standard_normal(len(known)) ** 2
            found = ModelErrorPosterior.of(squares, known, 0)
            ranks.append(found.probability[found.tau < tau].sum())
    assert len(ranks) > 950 and kstest(ranks, "uniform").pvalue > 0.01


def test_many_configurations_tell_it_and_few_leave_it_open() -> None:
    rng = np.random.default_rng(6)
    errors = rng.normal(0, np.hypot(0.01, 0.03), 2000) ** 2
    many = ModelErrorPosterior.of(errors, np.full(2000, 1e-4), 1)
    assert many.mean == pytest.approx(0.03, rel=0.05)
    none = ModelErrorPosterior.of(np.full(2000, 1e-4), np.full(2000, 1e-4), 1)
    assert none.mean < 0.003
    few = ModelErrorPosterior.of(np.full(4, 1e-4), np.full(4, 1e-4), 1)
    assert none.mean < few.mean < 0.01  # not 0, as a variance that is cut off would be
    drawn = np.log(many.factors(4000, rng))
    assert drawn.std() == pytest.approx(0.03, rel=0.1) and abs(drawn.mean()) < 0.003


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_draws_are_as_wide_as_what_is_believed_whatever_the_seed(seed: int) -> None:
    """Of a known tau they have the quantiles of the normal law; of the prior those of the integral over it."""
    rng = np.random.default_rng(seed)
    sure = ModelErrorPosterior(np.array([0.05]), np.array([1.0])).errors(300, rng)
    assert np.quantile(sure, [0.05, 0.25, 0.95]) == pytest.approx(norm.ppf([0.05, 0.25, 0.95]) * 0.05, rel=0.02)
    prior = ModelErrorPosterior.of_growth(np.array([]), np.array([])).errors(300, rng)
    low, high = np.quantile(prior, [0.05, 0.95])
    whole = 1 / (OF_FACTOR + 1)  # of s0/(s0 + s)², up to 1
    inside = quad(lambda s: (2 * norm.cdf(high / s) - 1) * OF_FACTOR / (OF_FACTOR + s) ** 2 / whole, 0, 1, limit=200)[0]
    assert inside == pytest.approx(0.9, abs=0.005) and low == pytest.approx(-high, rel=1e-6)
