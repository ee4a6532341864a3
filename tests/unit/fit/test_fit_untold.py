"""Unknowns that no run tells apart: a refusal that names them and what would tell them, asked of the model."""

from __future__ import annotations

import numpy as np
import pytest

import sojourn as sj
from sojourn.errors import FitError
from sojourn.fit.fit_runs import FitRun, FitRuns
from sojourn.fit.model_fit import fit
from sojourn.fit.nonlinear_least_squares import ParameterScale, refitted
from sojourn.model.unknown_parameters import Unknown

RATES = (20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0)


def mm1_run(rate: float, service_s: float = 0.01) -> FitRun:
    means = {("", "response_time"): (service_s / (1 - rate * service_s), 0.02), ("", "throughput"): (rate, 0.01)}
    return FitRun(f"rate-{rate:g}", {"rate_per_s": rate}, means, {})


RUNS = FitRuns([mm1_run(rate) for rate in RATES])


@pytest.mark.parametrize("visits", ["free = true", "free = true, start = 1.5", "free = true, start = 3.0, low = 1.0"])
def test_issue_26_15_a_service_time_and_its_visits(visits: str) -> None:
    """Only their product is ever seen, at every load and by whatever is watched: nothing that could be measured is promised."""
    text = '[stations.cpu]\n[classes.user]\nkind = "open"\nrate_per_s = 30.0\n[service_s.cpu]\nuser = { free = true }\n[visits.cpu]\n'
    with pytest.raises(
        FitError, match=r"the runs do not determine service_s\.cpu\.user and visits\.cpu\.user separately"
    ) as caught:
        fit(RUNS, sj.Model.parse(text + f"user = {{ {visits} }}\n"))
    assert "neither another load nor another measured resource determines them" in str(caught.value)
    assert "users" not in str(caught.value)


def test_issue_26_15_what_would_tell_is_asked_of_the_model() -> None:
    """Two single servers in a row, a time each: interchangeable, which utilisation of either tells (U = X D)."""
    with pytest.raises(FitError, match=r"separately; give one of them, or measure the resource of station") as caught:
        fit(RUNS, sj.Model.parse(TWO_EQUAL))
    assert "cpu or disk" in str(caught.value)


@pytest.mark.parametrize("watched", [False, True])
def test_issue_29_12_a_resource_that_is_watched_is_no_remedy(watched: bool) -> None:
    """The variance of service at a few per cent of load: it changes nothing that could be measured there."""
    text = '[stations.cpu]\n[classes.user]\nkind = "open"\nrate_per_s = 1.0\n[service_s.cpu]\n'
    text += 'user = { kind = "lognormal", mean = { free = true }, scv = { free = true, low = 0.5, high = 2.0 } }\n'
    if watched:
        text += '[observed]\ncpu = "processes"\n'
    runs = [
        FitRun(one.name, one.factors, one.means, {"processes": one.factors["rate_per_s"] * 0.01})
        for one in (mm1_run(rate) for rate in (0.5, 1.0, 1.5, 2.0))
    ]
    with pytest.raises(FitError, match="do not determine") as caught:
        fit(FitRuns(runs), sj.Model.parse(text))
    assert ("measure the resource of" in str(caught.value)) is not watched
    assert "measure nearer to saturation" in str(caught.value) or "vary" in str(caught.value)


TWO_EQUAL = """
[stations.cpu]
[stations.disk]
[classes.user]
kind = "open"
rate_per_s = 30.0
[demands_s]
cpu = { user = { free = true, start = 0.005 } }
disk = { user = { free = true, start = 0.005 } }
"""


def test_a_refit_whose_step_leads_too_far_goes_back() -> None:
    """With the slope of the start each step from e^(5x) = 20 leads beyond, and back: such refits ended at hundreds of seconds."""
    scale = ParameterScale.of([Unknown(0.1, 0.0)], np.array([1.0]))
    slope = np.array([[5 * np.exp(0.5)]])
    found = refitted(
        lambda v: np.exp(np.minimum(5 * v, 50.0)), np.array([[20.0]]), np.ones(1), scale, np.array([0.1]), slope
    )
    assert np.exp(5 * found[0, 0]) == pytest.approx(20.0, rel=0.2)
