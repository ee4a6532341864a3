"""Plans over factors of the runs that only some of the fitted models explain, and costs of what is varied by its short name."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from plan_models import ONE, erlang_response

import sojourn as sj
from sojourn.errors import InputError, ModelError
from sojourn.fit.fit_runs import FitRun, FitRuns

SERVICE_S, CORES = 0.02, 4
FREE = ONE.replace("user = 0.02", "user = { free = true }")
PLAIN = FREE.partition("[factors]")[0]


def runs() -> FitRuns:
    """Four cores in all of them, each mean off by up to 4 %."""
    found = []
    for k, rate in enumerate((40.0, 80.0, 120.0, 160.0, 170.0)):
        response = erlang_response(rate, SERVICE_S, CORES) * (1 + 0.04 * math.sin(5 * k))
        means = {("", "response_time"): (response, 0.03), ("", "throughput"): (rate, 0.01)}
        found.append(FitRun(f"r{k}", {"cores": CORES, "rate_per_s": rate}, means, {}))
    return FitRuns(found)


def test_a_factor_that_only_an_alternative_explains_can_be_planned() -> None:
    """Nine tenths of the weight are of the model that knows what cores do: Erlang's formula at six of them."""
    plain, told = (sj.fit(runs(), sj.Model.parse(text), draws=60) for text in (PLAIN, FREE))
    found = sj.plan(replace(plain, alternatives=((0.9, told),)), {"cores": [4, 6]}, "mean < 1s", load=150)
    six = next(one for one in found.pareto_front if one.settings["cores"] == 6)
    assert six.terms[0].value == pytest.approx(erlang_response(150.0, SERVICE_S, 6), rel=0.03)
    assert "cores changes nothing in 1 of the 2 models, with 10 % of the weight" in found.notes


def test_a_factor_that_no_model_explains_is_refused_with_what_it_was() -> None:
    with pytest.raises(
        ModelError, match=r"cores changes nothing in the fitted model.*it was 4 in all runs.*\[factors\] cores"
    ):
        sj.plan(sj.fit(runs(), sj.Model.parse(PLAIN), draws=60), {"cores": [4, 6]}, "mean < 1s", load=150)


def test_a_cost_takes_the_last_part_of_a_path() -> None:
    model = sj.Model.parse(ONE)
    short, whole = (
        sj.plan(model, {"stations.cpu.servers": [3, 4, 5]}, "mean < 50ms", cost, load=120)
        for cost in ("10*servers", "10*stations.cpu.servers")
    )
    assert short.cheapest is not None and short.cheapest.cost == 10 * short.cheapest.settings["stations.cpu.servers"]
    assert short.cheapest == whole.cheapest


def test_a_part_that_two_paths_have_is_refused() -> None:
    two = ONE.replace("[stations.cpu]", "[stations.disk]\n[stations.cpu]").replace(
        "[demands_s.cpu]", "[demands_s.disk]\nuser = 0.001\n[demands_s.cpu]"
    )
    with pytest.raises(InputError, match="not varied"):
        sj.plan(
            sj.Model.parse(two),
            {"stations.cpu.servers": [4, 5], "stations.disk.servers": [1, 2]},
            "mean < 1s",
            "servers",
        )


def test_a_name_that_is_no_factor_is_answered_with_paths_of_this_model() -> None:
    with pytest.raises(Exception, match="stations.cpu.servers"):
        sj.plan(sj.Model.parse(ONE), {"servers": [4]}, "mean < 1s")
    renamed = sj.Model.parse(FREE.replace("cpu", "service"))
    with pytest.raises(Exception, match=r"a path of the model \(stations.service.servers\)"):
        sj.fit(runs(), renamed).predict({"servers": 6, "rate_per_s": 100.0})


def test_a_prediction_says_that_a_factor_changes_nothing() -> None:
    fitted = sj.fit(runs(), sj.Model.parse(PLAIN), draws=60)
    assert (
        "cores changes nothing in this model: it was 4 in the runs"
        in fitted.predict({"cores": 6, "rate_per_s": 90.0}).message
    )
    assert "changes nothing" not in fitted.predict({"cores": 4, "rate_per_s": 90.0}).message
