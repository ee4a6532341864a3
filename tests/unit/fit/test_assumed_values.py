"""A model of which runs do not determine two unknowns separately: one is assumed, and the answer is as wide as that."""

from __future__ import annotations

import pytest

import sojourn as sj
from sojourn.errors import FitError, Undetermined
from sojourn.fit.assumed_values import fit_assuming
from sojourn.fit.fit_runs import FitRun, FitRuns
from sojourn.fit.model_fit import fit

MODEL = """
[stations.loop]
[classes.user]
kind = "open"
rate_per_s = 1.0
[demands_s]
loop = { user = { kind = "lognormal", mean = { free = true }, scv = { free = true, low = 0.1, high = 1000, start = 10 } } }
"""
MEAN_S, SCV = 0.0006, 19.0


def mg1_s(rate: float) -> float:
    """Pollaczek and Khinchine."""
    return MEAN_S + rate * MEAN_S**2 * (1 + SCV) / 2 / (1 - rate * MEAN_S)


def pauses(errors: tuple[float, ...]) -> FitRuns:
    """M/G/1 at 15 to 42 % of saturation, whose means are off, and known by, as much as those of short runs are."""
    rates, off = (250.0, 390.0, 550.0, 710.0), (1.1, 0.95, 1.05, 0.98)
    return FitRuns(
        [
            FitRun(f"rate-{rate:g}", {"rate_per_s": rate}, {("", "response_time"): (mg1_s(rate) * by, error)}, {})
            for rate, by, error in zip(rates, off, errors, strict=True)
        ]
    )


def test_a_variance_that_runs_do_not_tell_is_assumed_and_said() -> None:
    runs, model = pauses((0.25, 0.17, 0.10, 0.05)), sj.Model.parse(MODEL)
    with pytest.raises(Undetermined) as refused:
        fit(runs, model)
    assert set(refused.value.unknowns) == {"demands_s.loop.user.mean", "demands_s.loop.user.scv"}
    fitted = fit_assuming(runs, model)
    assert "demands_s.loop.user.scv is assumed" in fitted.message
    told = fitted.predict({"rate_per_s": 1000.0}, 0.9)
    low, high = told.interval("response_time")
    assert low is not None and low < mg1_s(1000.0) and (high is None or high > mg1_s(1000.0))
    low, high = told.interval("saturation_rate")
    assert low is not None and high is not None and low < 1 / MEAN_S < high and high / low > 1.3


def test_unknowns_that_no_run_could_tell_stay_refused() -> None:
    """Two delays: only their sum is in the response time."""
    text = '[stations.one]\nkind = "delay"\n[stations.two]\nkind = "delay"\n[classes.user]\nkind = "open"\nrate_per_s = 1.0\n[demands_s]\n'
    text += "one = { user = { free = true, low = 0 } }\ntwo = { user = { free = true, low = 0 } }\n"
    with pytest.raises(FitError, match="separately"):
        fit_assuming(pauses((0.01,) * 4), sj.Model.parse(text))
