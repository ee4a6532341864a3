"""Models tried by themselves: which is taken, what is left open, and that predictions are as wide as that."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from mmm_runs import OPEN, RATES, RUNS, erlang_c, mmm_run

import sojourn as sj
from sojourn.fit.candidate_models import candidates, whole_factors
from sojourn.fit.chosen_model import ChosenModel
from sojourn.fit.fit_runs import FitRun, FitRuns
from sojourn.fit.fitted_model import FittedModel
from sojourn.fit.model_fit import fit
from sojourn.fit.model_selection import choose_model
from sojourn.fit.model_weights import weights
from sojourn.fit.next_runs import next_runs
from sojourn.fit.parameter_estimate import ParameterEstimate
from sojourn.fit.response_spread import runs_of_spread, spread_square
from sojourn.model import Queue

LOW = (20.0, 26.0, 32.0, 38.0, 44.0)  # below 45 % of what mmm_run's two servers can do


def sleeping(rate: float, workers: int = 2, **more: float) -> FitRun:
    """Two workers that wait 20 ms: M/M/2 by Erlang's formula, while the cores are busy with a tenth of a millisecond each."""
    offered = rate * 0.02
    wait = erlang_c(workers, offered) * 0.02 / (workers - offered)
    means = {("", "response_time"): (wait + 0.02, 0.005), ("", "throughput"): (rate, 0.005)}
    return FitRun(
        f"{workers}-{rate:g}", {"rate_per_s": rate, "workers": workers, **more}, means, {"cpu": rate * 1e-4}, 2
    )


@cache
def chosen_low() -> ChosenModel:
    return choose_model(FitRuns([sleeping(rate) for rate in LOW]))


def test_cpu_time_that_is_not_what_limits_is_not_taken_for_it() -> None:
    """Tied to the cores one would predict 20 000/s; the truth is 100/s."""
    chosen = chosen_low()
    told = chosen.best.predict({"rate_per_s": 80.0, "workers": 2}, 0.9)
    low, high = told.interval("saturation_rate")
    assert low is not None and high is not None and low <= 100 <= high < 1000
    low, high = told.interval("response_time")
    assert (
        low is not None and low <= 0.0556 and (high is None or high >= 0.0556)
    )  # 0.02 + 0.02 · 0.64/0.36: M/M/2 at 0.8


def test_a_setting_that_never_changed_is_left_open() -> None:
    """Twice the workers: either twice the rate, or no change; the runs cannot know, and say what would tell."""
    chosen = chosen_low()
    assert "workers was 2 in all runs" in chosen.why
    low, high = chosen.best.predict({"rate_per_s": 50.0, "workers": 4}, 0.9).interval("saturation_rate")
    assert low is not None and high is not None and low <= 100 and high >= 199.9  # these runs have no error at all


def test_a_setting_that_was_varied_is_the_number_of_servers() -> None:
    chosen = choose_model(FitRuns([sleeping(rate, w) for w in (1, 2) for rate in (12.0, 20.0, 28.0, 36.0)]))
    assert chosen.name.startswith("as many servers as workers") and "in all runs" not in chosen.why
    low, high = chosen.best.predict({"rate_per_s": 50.0, "workers": 4}, 0.9).interval("saturation_rate")
    assert low is not None and high is not None and low <= 200 and 199.9 <= high < 300


def test_the_next_runs_change_what_never_changed() -> None:
    """Nothing else tells whether the workers limit the service; a rate that one worker could not serve is not asked of one."""
    chosen = chosen_low()
    found = next_runs(chosen.best, 2)
    assert found["workers"][0] != 2 and (found["narrower"] > 0).all()
    assert all(row["rate_per_s"] < 50 * row["workers"] for row in found.iter_rows(named=True))


def test_whole_factors_may_be_servers_and_others_not() -> None:
    runs = FitRuns([sleeping(20.0, 3, cache=0.5, seed=7)])
    assert whole_factors(runs) == {"workers": {3}}
    models = candidates(runs)
    station = models["as many servers as workers"].station("service")
    assert isinstance(station, Queue) and station.servers == 3
    assert not any(
        name.startswith("4 servers") and "utilised like cpu" in name for name in models
    )  # there are two cores
    assert list(models["2 servers, beside cpu"].observed.items()) == [("cpu", "cpu")]


def test_weights_are_likelihoods_of_what_was_left_out() -> None:
    """Of one configuration, and of two that say the same twice in sum, as the bootstrap keeps the sum of the counts."""
    two = pytest.approx([1 / (1 + np.exp(-1)), 1 / (1 + np.exp(1))])
    assert weights(np.array([[3.0], [3.0]])) == pytest.approx([0.5, 0.5])
    assert weights(np.array([[2.0], [4.0]])) == two
    assert weights(np.array([[1.0, 1.0], [2.0, 2.0]])) == two
    assert weights(np.zeros((4, 0))) == pytest.approx([0.25] * 4)


@pytest.mark.parametrize("gap", [1.0, 8.0, 30.0])
def test_one_of_two_configurations_does_not_decide_alone(gap: float) -> None:
    """Its count is 2u, u uniform: the mean of 1/(1 + exp(-gap u)) is (ln(1 + e^gap) - ln 2)/gap."""
    expected = (np.log1p(np.exp(gap)) - np.log(2)) / gap
    assert weights(np.array([[0.0, 0.0], [gap, 0.0]]))[0] == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("rate", [4.0, 40.0])
def test_the_spread_of_an_mm1_queue_is_that_of_an_exponential(rate: float) -> None:
    """Response times of M/M/1 are exponential, at any load: their squared coefficient of variation is 1."""
    runs = [replace(mmm_run(r, servers=1, delay_s=0.0), scv=1.0) for r in (rate, 44.0, 46.0)]
    model = sj.Model.parse('[stations.service]\n[classes.user]\nkind = "open"\nrate_per_s = 1\n[demands_s]\n'
                           "service = { user = { free = true } }\n")  # fmt: skip
    fitted = fit(FitRuns(runs), model)
    at_truth = replace(fitted, estimates={"demands_s.service.user": ParameterEstimate(0.02, 0.02, 0.02)})
    told = runs_of_spread(FitRuns(runs))
    assert [run.factors["rate_per_s"] for run in told] == [rate, 46.0]
    assert [spread_square(at_truth, run) for run in told] == pytest.approx([0.0, 0.0], abs=1e-6)
    assert runs_of_spread(FitRuns([replace(run, scv=None) for run in runs])) == []


def test_the_law_of_service_is_told_by_the_lightest_run() -> None:
    """The same means; where response times hardly differ from each other at low load, service is constant."""
    runs = [sleeping(rate) for rate in LOW]
    for scv, law in ((1.0, False), (0.003, True)):
        chosen = choose_model(FitRuns([replace(run, scv=scv) for run in runs]))
        laws = [name for name, fitted in chosen.fits.items() if fitted in [m for _, m in chosen.best.alternatives]]
        assert ("a constant time" in chosen.name) == law
        assert all(("a constant time" in name) == law or "any variance" in name for name in [chosen.name, *laws])


def averaged(share: float) -> FittedModel:
    """A model that saturates at 100/s, and with this weight one that saturates at 200/s."""
    one = fit(RUNS, sj.Model.parse(OPEN % ("{ free = true }", "0.005")))
    model = (OPEN % ("{ free = true }", "0.005")).replace("servers = 2", "servers = 4")
    twice = fit(FitRuns([mmm_run(2 * rate, servers=4) for rate in RATES]), sj.Model.parse(model))
    return replace(one, alternatives=((share, twice),))


def test_an_average_lies_between_its_models_and_is_as_wide_as_both() -> None:
    fitted = averaged(0.5)
    alone = [
        m.predict({"rate_per_s": 70.0}, 0.9).interval("saturation_rate")
        for m in (fitted.alone, fitted.alternatives[0][1])
    ]
    low, high = fitted.predict({"rate_per_s": 70.0}, 0.9).interval("saturation_rate")
    assert low is not None and high is not None and alone[0][0] is not None and alone[1][1] is not None
    assert alone[0][0] <= low < alone[0][1] < alone[1][0] < high <= alone[1][1]  # type: ignore[operator]


def test_a_model_of_little_weight_moves_an_average_little() -> None:
    fitted = averaged(0.01)
    value = fitted.alone.predict({"rate_per_s": 70.0}).value("response_time")
    assert fitted.predict({"rate_per_s": 70.0}).value("response_time") == pytest.approx(value, rel=0.03)


def test_where_some_models_are_saturated_there_is_no_upper_end() -> None:
    fitted = averaged(0.5)
    frame = fitted.predict({"rate_per_s": 120.0}, 0.9).frame
    row = frame.filter(metric="response_time", station="").row(0, named=True)
    assert row["status"] == "open_above" and row["low"] > 0 and row["high"] is None
    assert fitted.predict({"rate_per_s": 1000.0}).frame.filter(metric="response_time", station="")[
        "value"
    ].to_list() == [None]


def test_alternatives_are_in_the_file_and_in_validations(tmp_path: Path) -> None:
    fitted = averaged(0.4)
    fitted.write(tmp_path / "auto.toml")
    again = FittedModel.read(tmp_path / "auto.toml")
    point = {"rate_per_s": 80.0}
    assert again.predict(point).frame.equals(fitted.predict(point).frame)
    table = again.validate(FitRuns([mmm_run(RATES[-1])]), level=0.9)
    low, high = fitted.predict(point, 0.9).interval("response_time")
    row = table.filter(metric="response_time").row(0, named=True)
    assert (row["low"], row["high"]) == (low, high)
