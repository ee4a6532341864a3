"""What the mean of a short run is uncertain by: against series of known variance, and M/M/1."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from mmm_runs import ONE, mmm_run

import sojourn as sj
from sojourn.capacity.capacity_result import CapacityRun
from sojourn.capacity.rate_interval import RateInterval
from sojourn.capacity.short_run_error import as_modelled, mean_error, modelled_error, with_their_errors
from sojourn.fit import FitRuns, fit

FULL = 125.0


def fitted():  # type: ignore[no-untyped-def]
    runs = [mmm_run(rate, service_s=1 / FULL, delay_s=0.0, servers=1) for rate in (50.0, 70.0, 85.0, 100.0)]
    return fit(FitRuns(runs), sj.Model.parse(ONE), seed=1)


def test_of_values_that_hang_together() -> None:
    """An autoregressive series x = 0.95 x + e has the variance of its mean sigma² (1 + 0.95)/(1 - 0.95)/n (Law, Simulation Modeling
    and Analysis, 4.4): batches of 15 of 300 state a third of it too little."""
    random = np.random.default_rng(4)
    phi, n, stated, plain = 0.95, 300, [], []
    for _ in range(300):
        noise = random.normal(size=n + 200)
        series = np.empty(n + 200)
        series[0] = noise[0]
        for k in range(1, n + 200):
            series[k] = phi * series[k - 1] + noise[k]
        times = 100 + series[200:]
        stated.append((mean_error(times) * times.mean()) ** 2)  # type: ignore[operator]
        plain.append(np.var([part.mean() for part in np.array_split(times, 20)], ddof=1) / 20)
    true = 1 / (1 - phi) ** 2 / n
    assert np.mean(plain) < 0.65 * true
    assert 0.85 * true < np.mean(stated) < 1.35 * true


def test_of_values_that_do_not_hang_together() -> None:
    random = np.random.default_rng(5)
    found = [mean_error(random.exponential(1.0, 400)) for _ in range(300)]
    assert 1 / math.sqrt(400) < math.sqrt(np.mean(np.square(found))) < 1.35 / math.sqrt(400)  # type: ignore[arg-type]
    assert mean_error(np.ones(39)) is None


def test_of_a_model() -> None:
    """M/M/1, n times the relative variance of the mean response time: 3.449, 9.0, 32.11 and 361 at 0.3, 0.5, 0.7 and 0.9 of saturation, by
    the variances of waiting times (Daley 1968), and by simulation of 4000 requests."""
    rho = np.array([0.3, 0.5, 0.7, 0.9])
    assert modelled_error(fitted(), rho * FULL) ** 2 == pytest.approx([3.449, 9.0, 32.11, 361.0], rel=0.1)


def test_of_constant_service_and_of_a_delay() -> None:
    """M/D/1 where nobody waits: all take the same. Behind a delay of 40 ms the 8 ms of M/M/1 are a fifth of R or less."""
    constant = [mmm_run(rate, service_s=1 / FULL, delay_s=0.0, servers=1) for rate in (50.0, 70.0, 85.0, 100.0)]
    text = ONE.replace("{ free = true }", '{ kind = "deterministic", mean = { free = true } }')
    assert text != ONE
    assert modelled_error(fit(FitRuns(constant), sj.Model.parse(text), seed=1), np.array([1.0]))[0] < 0.05
    behind = [mmm_run(rate, service_s=1 / FULL, delay_s=0.04, servers=1) for rate in (10.0, 50.0, 70.0, 85.0, 100.0)]
    text = "[stations.net]\nkind = 'delay'\n" + ONE.rstrip() + "\nnet = { user = { free = true, low = 0 } }\n"
    one = modelled_error(fit(FitRuns(behind), sj.Model.parse(text), seed=1), np.array([1.0]))[0]
    assert one == pytest.approx(0.008 / 0.048, rel=0.2)


def test_of_models_that_are_averaged() -> None:
    """M/M/1 and M/D/1 with equal weights at half of saturation: the root of the mean square. R/S of M/D/1 is (2 - rho)/(2 - 2 rho), so that
    g = rho (1/(1 - rho) - 1/(2 - rho)) = 2/3; without a variance of service the error is g. That of M/M/1 is 3."""
    text = ONE.replace("{ free = true }", '{ kind = "deterministic", mean = { free = true } }')
    constant_s = {rate: (2 - rate / FULL) / (2 - 2 * rate / FULL) / FULL for rate in (50.0, 70.0, 85.0, 100.0)}
    runs = [mmm_run(rate, service_s=1 / FULL, delay_s=0.0, servers=1) for rate in constant_s]
    means = [{**run.means, ("", "response_time"): (constant_s[run.factors["rate_per_s"]], 0.01)} for run in runs]
    constant = fit(
        FitRuns([replace(run, means=own) for run, own in zip(runs, means, strict=True)]), sj.Model.parse(text), seed=1
    )
    both = replace(fitted(), alternatives=((0.5, constant),))
    assert modelled_error(both, np.array([FULL / 2]))[0] == pytest.approx(math.sqrt((3**2 + (2 / 3) ** 2) / 2), rel=0.1)


def test_a_run_that_saw_little_waiting_has_the_error_of_the_model() -> None:
    quiet = CapacityRun(
        "quiet", 100.0, 100.0, 0.03, 0.01, {}, True, True, objective_value_errors={"p99": 0.03}, requests=400
    )
    noisy = CapacityRun(
        "noisy", 50.0, 50.0, 0.014, 0.5, {}, True, True, objective_value_errors={"p99": 0.5}, requests=400
    )
    found = as_modelled([quiet, noisy], fitted())
    wanted = (1 + 0.8) / (1 - 0.8) / math.sqrt(400)
    assert found[0].response_error == pytest.approx(wanted, rel=0.1)
    assert found[0].objective_value_errors["p99"] == pytest.approx(3 * wanted, rel=0.1)
    assert found[1] == noisy
    assert as_modelled([quiet], None) == [quiet]
    runs = FitRuns([mmm_run(100.0, service_s=1 / FULL, delay_s=0.0, servers=1)])
    named = [CapacityRun(runs.runs[0].name, 100.0, 100.0, 0.03, 0.4, {}, True, True)]
    value_s, stated = runs.runs[0].means["", "response_time"]
    assert stated < 0.4
    assert with_their_errors(runs, named).runs[0].means["", "response_time"] == (value_s, 0.4)


def test_runs_with_records_differ_by_the_model_and_are_as_uncertain_as_they_say_together() -> None:
    """At 80 % a mean of 400 requests has an error of (1 + 0.8)/(1 - 0.8)/20 = 0.45. Half and twice that are as much together."""
    wanted = 0.45
    one = CapacityRun(
        "a", 100.0, 100.0, 0.03, wanted / 2, {"p99": 0.1}, True, True, requests=400, fastest_tenth_mean_s=0.002
    )
    other = replace(one, name="b", response_error=2 * wanted)
    first, second = as_modelled([one, other], fitted())
    assert first.response_error == second.response_error == pytest.approx(wanted, rel=0.1)
    assert first.short_run_factors["p99"] > 1.2 and first.objective_value_errors["p99"] > 0.2
    late = as_modelled([replace(one, response_error=math.hypot(wanted, 0.3), lateness_error=0.3)], fitted())
    assert late[0].response_error == pytest.approx(math.hypot(wanted, 0.3), rel=0.1)
    loud = [replace(one, response_error=1.5 * wanted)] * 2
    assert as_modelled(loud, fitted())[0].response_error == pytest.approx(1.5 * wanted)
    silent = [replace(one, response_error=wanted / 4)] * 2  # they state a quarter, the model 1: half is in the middle
    assert as_modelled(silent, fitted())[0].response_error == pytest.approx(wanted / 2, rel=0.1)
    disturbed = replace(one, name="c", response_error=20 * wanted)
    found = as_modelled([one, one, one, other, other, other, disturbed], fitted())
    assert found[-1].response_error == pytest.approx(20 * wanted)


def test_an_interval_is_scaled_in_the_logarithm() -> None:
    half = RateInterval(100.0, 64.0, 121.0).scaled(0.5)
    assert (half.value, half.low, half.high) == pytest.approx((100.0, 80.0, 110.0))
    assert RateInterval(100.0, 64.0, None).scaled(0.5).high is None
    assert RateInterval(0.0, 0.0, 1.0).scaled(0.5) == RateInterval(0.0, 0.0, 1.0)


def test_an_interval_has_the_part_of_the_machine() -> None:
    """Errors that are independent add in squares: 3 % and z 2.5 % = 4.1 % make 5.1 %."""
    wide = RateInterval(100.0, 100 * math.exp(-0.03), 100 * math.exp(0.03)).with_machine(0.9)
    assert math.log(wide.high / 100) == pytest.approx(math.hypot(0.03, 1.645 * 0.025), rel=1e-3)  # type: ignore[operator]
    assert math.log(100 / wide.low) == pytest.approx(math.hypot(0.03, 1.645 * 0.025), rel=1e-3)
    assert RateInterval(100.0, 0.0, None).with_machine(0.9) == RateInterval(100.0, 0.0, None)
