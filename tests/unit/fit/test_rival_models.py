"""Rival models of the same runs: averaged where these cannot separate them, and one mixture for all numbers of a configuration."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from mmm_runs import mmm_run

import sojourn as sj
from sojourn.errors import FitError, InputError
from sojourn.fit.chosen_model import ChosenModel
from sojourn.fit.fit_runs import FitRuns
from sojourn.fit.fitted_model import FittedModel
from sojourn.fit.model_averaging import quantiles
from sojourn.fit.next_runs import next_runs
from sojourn.fit.rival_models import fit_rivals, read_rivals
from sojourn.model import Model
from sojourn.query.query import model_source
from sojourn.query.sources.fitted_source import FittedSource

USER = '[classes.user]\nkind = "open"\nrate_per_s = 1.0\n[demands_s]\ncpu = { user = { free = true } }\n'
DELAY = 'net = { user = { free = true, low = 0 } }\n[stations.net]\nkind = "delay"\n'
TWO = "[stations.cpu]\nservers = 2\n" + USER
ONE = "[stations.cpu]\n" + USER + DELAY
NONE = '[stations.cpu]\nkind = "delay"\n' + USER
LOW = (8.0, 14.0, 20.0, 26.0, 32.0)  # of the 100/s that two servers of 20 ms can do
RUNS = FitRuns([mmm_run(rate, delay_s=0.0) for rate in LOW])


def models(**texts: str) -> dict[str, Model | str]:
    return {name: text if text == "auto" else Model.parse(text) for name, text in texts.items()}


@cache
def both() -> ChosenModel:
    return fit_rivals(RUNS, models(two=TWO, one=ONE))


def row(fitted: FittedModel, rate: float, metric: str = "response_time", station: str = "") -> dict[str, object]:
    frame = fitted.predict({"rate_per_s": rate}, 0.9).frame
    return frame.filter(metric=metric, station=station).row(0, named=True)


def test_beyond_what_was_measured_the_interval_holds_what_each_says() -> None:
    chosen = both()
    assert chosen.name == "two", "of two that predict alike the one with fewer unknowns is named"
    assert sum(weight for weight, _ in chosen.best.weighted) == pytest.approx(1.0)
    assert "one" in chosen.why and "weight 0." in chosen.why and "cannot separate them" in chosen.why
    ends = row(chosen.best, 64.0)
    each = [row(fitted, 64.0)["value"] for fitted in chosen.fits.values()]
    limits = [row(fitted, 64.0, "saturation_rate")["value"] for fitted in chosen.fits.values()]
    assert max(each) / min(each) > 1.1 and max(limits) / min(limits) > 1.1  # type: ignore[operator,type-var]
    assert all(ends["low"] < value < ends["high"] for value in each)  # type: ignore[operator]
    ends = row(chosen.best, 64.0, "saturation_rate")
    assert all(ends["low"] < value < ends["high"] for value in limits)  # type: ignore[operator]


def test_a_rival_that_loses_has_no_weight_and_is_still_told() -> None:
    runs = FitRuns([mmm_run(rate, delay_s=0.0) for rate in (20.0, 40.0, 60.0, 80.0, 90.0)])
    chosen = fit_rivals(runs, models(two=TWO, none=NONE))
    assert chosen.name == "two" and not chosen.best.alternatives and chosen.best == chosen.fits["two"]
    assert set(chosen.fits) == {"two", "none"} and "error on held-out runs, left out of predictions" in chosen.why


@pytest.mark.parametrize("rate", [20.0, 64.0, 90.0, 98.0, 100.0, 104.0, 110.0, 130.0, 400.0])
def test_all_numbers_of_a_configuration_are_of_one_mixture(rate: float) -> None:
    """Before, a row said 90.8 % busy at 760/s beside a saturation rate of 1548/s, and was blank inside the interval of that rate."""
    fitted = both().best
    rows = fitted.predict({"rate_per_s": rate}, 0.9).frame
    for one in rows.filter(rows["low"].is_not_null() & rows["value"].is_not_null()).iter_rows(named=True):
        assert one["low"] <= one["value"] <= (one["high"] or np.inf)
    limit, response, busy = (
        row(fitted, rate, "saturation_rate"),
        row(fitted, rate),
        row(fitted, rate, "utilisation", "cpu"),
    )
    assert busy["value"] is None or 0 <= busy["value"] <= 1  # type: ignore[operator]
    assert busy["value"] is None or busy["value"] == pytest.approx(rate / limit["value"], rel=0.05)  # type: ignore[operator]
    assert (response["value"] is None) == (busy["value"] is None) == (limit["value"] <= rate)  # type: ignore[operator]
    assert (row(fitted, rate, "throughput")["value"] is None) == (response["value"] is None)
    beyond = [limit["low"] <= rate, limit["high"] <= rate]  # type: ignore[operator]
    assert response["status"] == busy["status"] == ("unstable" if beyond[1] else "open_above" if beyond[0] else "ok")
    assert (response["low"] is None) == beyond[1], "inside the interval of the saturation rate a lower end is known"


def test_what_only_some_models_have_is_of_these() -> None:
    told = both().best.predict({"rate_per_s": 40.0}, 0.9)
    assert "averaged over 2 models" in told.message and "net: by" not in told.message, "a delay has no utilisation"
    queue = ONE.replace('kind = "delay"', "servers = 4")
    chosen = fit_rivals(RUNS, models(two=TWO, one=queue))
    told = chosen.best.predict({"rate_per_s": 40.0}, 0.9)
    assert "net: by 1 of the 2 models, with " in told.message and "cpu: by" not in told.message
    alone = row(chosen.fits["one"], 40.0, "utilisation", "net")
    assert row(chosen.best, 40.0, "utilisation", "net")["value"] == alone["value"]
    changed = chosen.best.predict({"rate_per_s": 40.0, "stations.cpu.servers": 4})
    assert "not of" not in changed.message
    named_one = replace(chosen.fits["one"], alternatives=((0.5, chosen.fits["two"]),))
    told = named_one.predict({"rate_per_s": 40.0, "stations.net.servers": 8})
    assert "not of two: " in told.message
    low, high = told.interval("saturation_rate")
    again = named_one.alone.predict({"rate_per_s": 40.0, "stations.net.servers": 8}).interval("saturation_rate")  # type: ignore[attr-defined]
    assert (low, high) == again


def test_auto_may_be_a_rival() -> None:
    chosen = fit_rivals(RUNS, models(two=TWO, auto="auto"))
    assert set(chosen.fits) == {"two", "auto"} and "auto: " in chosen.why
    assert all(not model.alternatives for _, model in chosen.best.weighted), "what auto averages is taken apart"
    assert sum(weight for weight, _ in chosen.best.weighted) == pytest.approx(1.0)


def test_a_rival_that_the_runs_do_not_carry_is_left_out_by_name() -> None:
    untold = TWO.replace("cpu = {", "wire = { user = { free = true } }\nnet = { user = { free = true } }\ncpu = {")
    untold += '[stations.wire]\nkind = "delay"\n[stations.net]\nkind = "delay"\n'
    chosen = fit_rivals(RUNS, models(two=TWO, untold=untold))
    assert set(chosen.fits) == {"two"} and "untold is left out because it cannot be fitted to these runs" in chosen.why
    assert chosen.why.startswith("two: the only model")
    with pytest.raises(FitError, match="do not determine"):
        fit_rivals(RUNS, models(untold=untold))
    with pytest.raises(
        FitError, match="untold, the model that is believed most before the runs, cannot be fitted"
    ) as refused:
        fit_rivals(RUNS, models(two=TWO, untold=untold), prior={"untold": 6.0})
    assert "repeat runs that were not valid" in str(refused.value)
    assert set(fit_rivals(RUNS, models(two=TWO, untold=untold), prior={"two": 6.0}).fits) == {"two"}
    with pytest.raises(InputError, match="no model"):
        fit_rivals(RUNS, {})
    with pytest.raises(InputError, match="give a Model"):
        fit_rivals(RUNS, {"two": "two.toml"})


def test_files_are_named_by_themselves(tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(TWO)
    assert list(read_rivals(["two.toml", "auto"], tmp_path)) == ["two", "auto"]
    for names in (["two.toml", "sub/two.toml"], ["auto", "auto.toml"], ["averaged.toml"], []):
        with pytest.raises(InputError):
            read_rivals(names, tmp_path)


def test_an_average_is_planned_with() -> None:
    fitted = both().best
    vary = {"stations.cpu.servers": [1, 2, 3, 4, 5]}
    found = sj.plan(fitted, vary, "mean < 24ms", "stations.cpu.servers", load=40)
    alone = sj.plan(fitted.alone, vary, "mean < 24ms", "stations.cpu.servers", load=40)
    assert any("averaged over 2 models" in note for note in found.notes)
    assert not any("averaged" in note for note in alone.notes) and found.draws == alone.draws == 200
    assert (
        found.cheapest_outside_validated_range is not None
        and found.cheapest_outside_validated_range.share_of_draws_that_meet_it is not None
    )
    same = {name: [value] for name, value in found.cheapest_outside_validated_range.settings.items()}
    chance = 0.0
    for weight, model in fitted.weighted:
        own = sj.plan(model, same, "mean < 24ms", "stations.cpu.servers", load=40)
        one = own.cheapest_outside_validated_range or own.nearest
        assert one is not None and one.share_of_draws_that_meet_it is not None
        chance += weight * one.share_of_draws_that_meet_it
    assert found.cheapest_outside_validated_range.share_of_draws_that_meet_it == pytest.approx(chance, abs=0.05)


def test_an_average_is_asked(tmp_path: Path) -> None:
    """A query asks what holds in the long run: as wide as what the rivals disagree about, the value between them."""
    both().best.write(tmp_path / "rivals.toml")
    source = model_source(tmp_path / "rivals.toml", {"rate_per_s": 64.0})
    assert "averaged over 2 models" in source.name
    for text in ("mean", "utilisation{station=cpu}"):
        found = sj.query(text, source)
        each = [sj.query(text, FittedSource(one, {"rate_per_s": 64.0})) for one in both().fits.values()]
        low, high = sorted(one.value for one in each)  # type: ignore[type-var]
        assert low is not None and high is not None and high > 1.1 * low
        assert found.low < low <= found.value <= high < found.high, text  # type: ignore[operator]
    net = sj.query("queue_length{station=net}", FittedSource(both().best, {"rate_per_s": 64.0}))
    assert net.verdict == "cannot tell" and net.value is None, "the named model has no such station"


def test_quantiles_of_draws_with_weights() -> None:
    draws = np.array([3.0, 1.0, 2.0, np.inf])
    assert quantiles(draws, np.array([1.0, 1.0, 1.0, 1.0]), [0.0, 0.4, 0.5, 1.0]).tolist() == [1.0, 2.0, 2.0, np.inf]
    assert quantiles(draws, np.array([1.0, 98.0, 0.5, 0.5]), [0.05, 0.95, 0.992]).tolist() == [1.0, 1.0, 3.0]


def test_the_next_runs_of_rivals_are_at_rates_that_differ() -> None:
    """Of two models the difference is one direction: the rate where it is largest was proposed again and again."""
    found = next_runs(both().best, 3)
    assert found["rate_per_s"].n_unique() == 3


def test_what_is_believed_before_the_runs_counts_with_what_they_say() -> None:
    """Weights are prior times likelihood: odds that were flat are multiplied by those of the prior."""
    plain, believed = both(), fit_rivals(RUNS, models(two=TWO, one=ONE), prior={"one": 4.0})
    odds = [chosen.best.weighted for chosen in (plain, believed)]
    assert (plain.name, believed.name) == ("two", "one"), (
        "of those that predict alike the one that is believed most is named"
    )
    flat, with_prior = odds[0][1][0] / odds[0][0][0], odds[1][0][0] / odds[1][1][0]
    assert with_prior == pytest.approx(4 * flat)
    with pytest.raises(InputError, match="prior"):
        fit_rivals(RUNS, models(two=TWO, one=ONE), prior={"three": 1.0})
    with pytest.raises(InputError, match="prior"):
        fit_rivals(RUNS, models(two=TWO, one=ONE), prior={"one": 0.0})
