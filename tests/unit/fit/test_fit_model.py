"""Fits of any model: unknowns come back from runs that a model with other numbers made, and what cannot be told is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mmm_runs import FREE, OPEN, RATES, RUNS, mmm_run

import sojourn as sj
from sojourn.errors import FitError, InputError, ModelError
from sojourn.fit.fit_runs import FitRun, FitRuns
from sojourn.fit.fitted_file import parse, to_toml
from sojourn.fit.model_evaluation import ModelEvaluator
from sojourn.fit.model_fit import fit
from sojourn.fit.model_selection import choose_model
from sojourn.fit.validate_model import scores
from sojourn.model.unknown_parameters import Unknown, replaced, unknowns


def test_unknowns_come_back_with_intervals_that_hold_them() -> None:
    fitted = fit(RUNS, sj.Model.parse(OPEN % FREE))
    for path, truth in (("demands_s.cpu.user", 0.02), ("demands_s.net.user", 0.005)):
        value, low, high = fitted.estimates[path]
        assert low <= truth <= high and value == pytest.approx(truth, rel=0.1)
    assert fitted.model.demands_s["cpu"]["user"] == fitted.estimates["demands_s.cpu.user"].value
    assert not unknowns(fitted.model) and fitted.template == sj.Model.parse(OPEN % FREE)


def test_a_resource_that_was_watched_makes_its_demand_certain() -> None:
    model = OPEN % FREE + '[observed]\ncpu = "processes"\n'
    fitted = fit(RUNS, sj.Model.parse(model))
    alone = fit(RUNS, sj.Model.parse(OPEN % FREE))
    width = [f.estimates["demands_s.cpu.user"].high - f.estimates["demands_s.cpu.user"].low for f in (fitted, alone)]
    assert width[0] < width[1]


def test_closed_users_are_fitted_by_throughput_and_response() -> None:
    """Reiser and Lavenberg's recursion, beside the test."""

    def run(users: int, cpu: float, disk: float, think: float) -> FitRun:
        queue = np.zeros(2)
        for n in range(1, users + 1):
            residence = np.array([cpu, disk]) * (1 + queue)
            x = n / (think + residence.sum())
            queue = x * residence
        means = {("", "response_time"): (float(residence.sum()), 0.01), ("", "throughput"): (float(x), 0.01)}
        return FitRun(f"u{users}", {"users": users}, means, {"disk vda": float(x) * disk})

    model = sj.Model.parse(
        '[stations.cpu]\n[stations.disk]\n[classes.user]\nkind = "closed"\npopulation = 1\nthink_s = 0.5\n'
        '[demands_s]\ncpu = { user = { free = true } }\ndisk = { user = { free = true } }\n[observed]\ndisk = "disk vda"\n'
    )
    fitted = fit(FitRuns([run(n, 0.02, 0.035, 0.5) for n in (1, 3, 6, 10, 15, 25)]), model)
    assert fitted.estimates["demands_s.cpu.user"].value == pytest.approx(0.02, rel=1e-3)
    assert fitted.estimates["demands_s.disk.user"].value == pytest.approx(0.035, rel=1e-3)
    assert fitted.predict({"users": 100}).value("throughput") == pytest.approx(1 / 0.035, rel=0.01)


def test_a_factor_of_the_runs_goes_where_the_file_says() -> None:
    runs = FitRuns([mmm_run(r, servers=w, workers=w) for w in (1, 2, 4) for r in (10.0, 20.0, 30.0, 45.0)])
    model = OPEN % FREE + '[factors]\nworkers = "stations.cpu.servers"\n'
    fitted = fit(runs, sj.Model.parse(model))
    assert fitted.estimates["demands_s.cpu.user"].value == pytest.approx(0.02, rel=0.03)
    told = fitted.predict({"workers": [2, 8], "rate_per_s": 80.0})
    assert told.value("utilisation", "cpu", workers=8) == pytest.approx(0.2, rel=0.03)
    threads = OPEN % FREE + '[factors]\nworkers = "stations.cpu.servers = (workers * 2) / 2"\n'
    assert fit(runs, sj.Model.parse(threads)).estimates == fitted.estimates


def test_a_variance_of_service_is_found() -> None:
    """M/G/1 by Pollaczek and Khinchine with c² = 0.2."""

    def run(rate: float) -> FitRun:
        load = rate * 0.02
        response = 0.02 + load * 0.02 * 1.2 / 2 / (1 - load)
        return FitRun(f"r{rate:g}", {"rate_per_s": rate}, {("", "response_time"): (response, 0.01)}, {"cpu": load})

    text = (
        '[stations.cpu]\n[classes.user]\nkind = "open"\nrate_per_s = 1.0\n[demands_s.cpu]\nuser = { kind = "lognormal", '
        'mean = { free = true }, scv = { free = true, low = 0.01, high = 20, start = 1 } }\n[observed]\ncpu = "cpu"\n'
    )
    fitted = fit(FitRuns([run(r) for r in (5.0, 15.0, 25.0, 35.0, 45.0)]), sj.Model.parse(text))
    assert fitted.estimates["demands_s.cpu.user.scv"].value == pytest.approx(0.2, rel=0.01)


def test_predictions_have_intervals_that_grow_towards_saturation_and_end_there() -> None:
    fitted = fit(RUNS, sj.Model.parse(OPEN % FREE))
    told = fitted.predict({"rate_per_s": [50.0, 95.0, 120.0]}, level=0.9)
    width = []
    for rate in (50.0, 95.0):
        at = (told.frame["metric"] == "response_time") & (told.frame["rate_per_s"] == rate)
        row = told.frame.filter(at).row(0, named=True)
        width.append((row["high"] or 1.0) / row["low"])
        assert row["in_validated_range"] == (rate <= 80)
    assert width[1] > width[0] > 1
    assert told.value("saturation_rate", rate_per_s=50.0) == pytest.approx(100, rel=0.03)
    late = told.frame.filter((told.frame["metric"] == "response_time") & (told.frame["rate_per_s"] == 120.0)).row(
        0, named=True
    )
    assert late["value"] is None and late["status"] == "unstable"


def test_a_fitted_file_is_a_model_and_comes_back(tmp_path: Path) -> None:
    fitted = fit(RUNS, sj.Model.parse(OPEN % FREE))
    fitted.write(tmp_path / "fitted.toml")
    again = sj.FittedModel.read(tmp_path / "fitted.toml")
    assert again.estimates == fitted.estimates and again.message == fitted.message
    assert again.predict({"rate_per_s": 90.0}).frame.equals(fitted.predict({"rate_per_s": 90.0}).frame)
    assert sj.solve(sj.Model.read(tmp_path / "fitted.toml")).status == "ok"


def test_validation_scores_the_interval_of_a_new_run() -> None:
    fitted = fit(RUNS, sj.Model.parse(OPEN % FREE))
    table = fitted.validate(FitRuns([mmm_run(65.0), mmm_run(45.0, service_s=0.04)]), level=0.9)
    assert dict(table.select("rate_per_s", "inside_interval").rows()) == {65.0: True, 45.0: False}


def test_the_right_number_of_servers_is_chosen_and_ties_are_said() -> None:
    chosen = choose_model(RUNS)
    assert chosen.name.startswith("2 servers") and chosen.good and "best of" in chosen.why


def test_where_no_model_fits_it_says_so() -> None:
    """A response that falls while the load grows is of no queue."""
    odd = [
        FitRun(f"r{r:g}", {"rate_per_s": r}, {("", "response_time"): (v, 0.01)}, {})
        for r, v in zip(RATES, (0.5, 0.05, 0.4, 0.03, 0.02, 0.3, 0.01), strict=True)
    ]
    chosen = choose_model(FitRuns(odd))
    assert not chosen.good and "do not extrapolate" in chosen.why


WRONG = [
    (OPEN % ("0.02", "0.005"), RUNS, "no unknown"),
    (OPEN % FREE + '[observed]\ncpu = "disk sda"\n', RUNS, "no resource 'disk sda'; use one that the runs have: processes"),
    (OPEN % FREE, FitRuns([mmm_run(r, workers=w) for r in RATES for w in (1, 2)]), "factor workers varies"),
    (OPEN % FREE + '[factors]\nrate_per_s = "classes.user.rate_per_s = open(1)"\n', RUNS, "arithmetic of factors"),
    (OPEN % FREE, FitRuns([mmm_run(20.0)]), "1 configurations for 2 unknowns"),
    (OPEN.replace("servers = 2", 'servers = 2\n[stations.wire]\nkind = "delay"') % FREE + "wire = { user = { free = true } }\n",
     RUNS, "the runs do not determine"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "runs", "words"), WRONG, ids=[words for _, _, words in WRONG])
def test_what_is_wrong_is_one_error(text: str, runs: FitRuns, words: str) -> None:
    with pytest.raises(FitError) as caught:
        fit(runs, sj.Model.parse(text))
    assert words in str(caught.value)


@pytest.mark.parametrize("given", [{"level": 1.0}, {"draws": 3}])
def test_arguments_out_of_range(given: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        fit(RUNS, sj.Model.parse(OPEN % FREE), **given)


def test_unknowns_in_a_file() -> None:
    model = sj.Model.parse(
        OPEN % FREE + '[factors]\nworkers = ["stations.cpu.servers"]\n[observed]\ncpu = "processes"\n'
    )
    assert list(unknowns(model)) == ["demands_s.cpu.user", "demands_s.net.user"]
    assert sj.Model.parse(model.to_toml()) == model
    assert isinstance(replaced(model, {"demands_s.cpu.user": 0.5}).demands_s["net"]["user"], Unknown)
    for text, words in (
        ("{ free = false }", "write free = true"),
        ("{ free = true, low = 2, high = 1 }", "give low < high"),
        ("{ free = true, lo = 1 }", "unknown key 'lo'"),
        ("{ free = true, start = 3, high = 2 }", "give a start"),
    ):
        with pytest.raises(ModelError, match=r"model:10: demands_s\.cpu\.user") as caught:
            sj.Model.parse(OPEN % (text, "0.1"))
        assert words in str(caught.value)
    with pytest.raises(ModelError, match=r"factors\.workers: 3; give a path"):
        sj.Model.parse(OPEN % FREE + "[factors]\nworkers = 3\n")
    for path in ("stations.gpu.servers", "stations.cpu.cores", "demands_s.cpu.guest", "gpu"):
        with pytest.raises(ModelError, match=rf"factors\.workers: nothing stands at {path}; "):
            sj.Model.parse(OPEN % FREE + f'[factors]\nworkers = "{path} = workers / 2"\n')
    with pytest.raises(
        ModelError, match=r"model:3: stations\.cpu\.servers: a whole number cannot be fitted; .* --model auto"
    ):
        sj.Model.parse(OPEN.replace("servers = 2", "servers = { free = true }") % FREE)
    with pytest.raises(ModelError, match=r"observed\.gpu"):
        sj.Model.parse(OPEN % FREE + '[observed]\ngpu = "processes"\n')


def test_classes_that_begin_alike_need_not_stay_so() -> None:
    """Two classes at a processor-sharing server: R_c = D_c/(1 - ρ) (Kelly 1979, 3.3). The method is one for unlike classes."""

    def run(rate: float) -> FitRun:
        load = rate * 0.01 + 2.0 * 0.08
        means = {(c, "response_time"): (d / (1 - load), 0.01) for c, d in (("user", 0.01), ("batch", 0.08))}
        return FitRun(f"r{rate:g}", {"rate_per_s": rate}, {("", "response_time"): (0.1, 0.01), **means}, {})

    model = sj.Model.parse(
        '[stations.cpu]\ndiscipline = "ps"\n[classes.user]\nkind = "open"\nrate_per_s = 1\n[classes.batch]\nkind = "open"\n'
        "rate_per_s = 2\n[demands_s]\ncpu = { user = { free = true }, batch = { free = true } }\n"
        '[factors]\nrate_per_s = "classes.user.rate_per_s"\n'
    )
    fitted = fit(FitRuns([run(r) for r in (5.0, 20.0, 35.0, 50.0, 65.0)]), model)
    assert [fitted.estimates[p].value for p in fitted.paths] == pytest.approx([0.01, 0.08], rel=1e-3)


def test_the_next_runs_are_where_they_teach_most() -> None:
    """Demand and delay differ most in what they do near saturation; runs above 0.9 of it are not asked for."""
    from sojourn.fit.next_runs import next_runs

    found = next_runs(fit(RUNS, sj.Model.parse(OPEN % FREE)), 2)
    assert found.height == 2 and 60 < found["rate_per_s"][0] < 95 and (found["narrower"] > 0).all()


def test_with_as_many_unknowns_as_configurations_no_error_of_the_model_is_known() -> None:
    fitted = fit(FitRuns([mmm_run(rate) for rate in (20.0, 20.0, 80.0, 80.0)]), sj.Model.parse(OPEN % FREE))
    assert fitted.model_error is None and "the model's own error is not known" in str(fitted)
    assert "which is not known" in fitted.predict({"rate_per_s": 50.0}).message
    assert parse(to_toml(fitted), "fitted.toml", sj.FittedModel).model_error is None


def test_a_saturated_answer_for_a_run_that_was_not_is_an_error_and_counted() -> None:
    beyond = FitRuns([mmm_run(50.0), mmm_run(120.0, service_s=0.015)])
    table = fit(RUNS, sj.Model.parse(OPEN % FREE)).validate(beyond)
    rows = table.filter(table["metric"] == "response_time")
    assert (
        rows["predicted"][1] is None
        and rows["error"][1] == float("inf")
        and rows["status"].to_list() == ["ok", "unstable"]
    )
    assert "median error ∞, 1 falsely predicted as saturated" in scores(table, 0.95)


def test_validation_has_utilisations_intervals_of_what_was_measured_and_the_order_of_the_levels() -> None:
    model = sj.Model.parse(OPEN % FREE + '[observed]\ncpu = "processes"\n')
    fitted = fit(RUNS, model)
    again = [mmm_run(65.0), mmm_run(65.0, service_s=0.0202), mmm_run(9.0), mmm_run(98.0)]
    table = fitted.validate(FitRuns(again))
    assert table["rate_per_s"].to_list() == sorted(table["rate_per_s"].to_list())
    busy = table.filter(table["metric"] == "utilisation")
    assert busy["station"].unique().to_list() == ["cpu"] and busy["measured"][0] == pytest.approx(9.0 * 0.02 / 2)
    assert busy["predicted"][0] == pytest.approx(0.09, rel=0.02) and busy["inside_interval"][0]
    twice = busy.filter(busy["rate_per_s"] == 65.0)
    # two repetitions, 1 % apart: s = 1 %/sqrt 2, and Student's t of one degree of freedom is 6.314 at 90 %
    half = np.log(twice["measured_high"] / twice["measured"]).to_list()
    assert half == pytest.approx([np.log(1.01) / np.sqrt(2) * 6.31375] * 2, rel=1e-3)
    below = fitted.validate(FitRuns(again), max_saturation_share=0.5)
    assert below["rate_per_s"].unique().to_list() == [9.0]
    alone = fitted.validate(FitRuns([mmm_run(30.0)])).row(0, named=True)
    # the error of 20 batches: Student's t of 19 degrees is 1.729
    assert alone["measured_high"] / alone["measured"] == pytest.approx(np.exp(1.72913 * 0.02), rel=1e-4)
    for share in (0.0, -1.0, float("nan"), 0.01):
        with pytest.raises(InputError, match="max_saturation_share|no run is left"):
            fitted.validate(FitRuns(again), max_saturation_share=share)


def test_unknown_visits_do_not_undo_unknown_times() -> None:
    """Both at once, as when each is put into the model by itself: visits change the model, times the arrays made of it."""
    text = (
        '[stations.cpu]\n[stations.disk]\n[classes.user]\nkind = "closed"\npopulation = 5\nthink_s = 0.5\n'
        "[visits]\ncpu = { user = 1 }\ndisk = { user = %s }\n[service_s]\ncpu = { user = %s }\ndisk = { user = 0.01 }\n"
    )
    free = "{ free = true }"
    evaluator = ModelEvaluator(sj.Model.parse(text % (free, free)), [{"users": 3}, {"users": 9}])
    values = {"visits.disk.user": 3.0, "service_s.cpu.user": 0.04}
    found = evaluator.at(np.array([[values[path] for path in evaluator.paths]])).values["", "", "response_time"]
    for users, response in zip((3, 9), found, strict=True):
        known = replaced(sj.Model.parse(text % ("3.0", "0.04")), {"classes.user.population": users})
        assert response == pytest.approx(sj.solve(known).value("response_time"), rel=1e-9)
