"""Sweeps: what is varied, that the quick way and the long way make the same network, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sojourn as sj
from sojourn.errors import FitError, InputError, ModelError
from sojourn.model import Network
from sojourn.model.unknown_parameters import replaced
from sojourn.query.sources.configured import configured
from sojourn.solve.parameter_variation import changed, varied
from sojourn.study.kinds.simulated_model import VirtualLoad, VirtualOptions, VirtualSystem

MODEL = sj.Model(
    stations=[sj.Queue("cpu", servers=2), sj.Queue("disk"), sj.LoadDependent("tape", (3.0, 4.0))],
    classes=[sj.Closed("user", 5, 1.0), sj.Open("api", 0.5)],
    demands_s={"cpu": {"user": 0.2, "api": 0.1}, "disk": {"user": 0.3}},
    visits={"cpu": {"user": 4}, "tape": {"user": 0}},
    regions=[sj.Region("all", 3, ("cpu", "disk"))],
)
ARRAYS = (
    "servers",
    "capacity",
    "visits",
    "service_s",
    "population",
    "think_s",
    "rate_per_s",
    "passes",
    "route",
    "demands_s",
)
PATHS: list[tuple[str, list[Any]]] = [
    ("classes.user.population", [0, 1, 50]),
    ("classes.user.think_s", [0.0, 0.5, sj.Erlang(2.0, 3)]),
    ("classes.api.rate_per_s", [0.0, 2.0]),
    ("stations.cpu.servers", [1, 7]),
    ("stations.cpu.discipline", ["ps", "siro"]),
    ("stations.tape.rates_per_s", [(1.0,), (2.0, 3.0)]),
    ("demands_s.cpu.user", [0.1, 2.0]),
    ("demands_s.disk.user", [0.1, sj.Deterministic(1.0)]),
    ("visits.cpu.user", [0.5, 3.0]),
    ("regions.all.limit", [1, 9]),
]


def same(a: Network, b: Network) -> bool:
    numbers = all(np.allclose(getattr(a, name), getattr(b, name), rtol=1e-13, atol=0) for name in ARRAYS)
    return numbers and (a.think, a.arrivals, a.discipline, a.limits) == (b.think, b.arrivals, b.discipline, b.limits)


@pytest.mark.parametrize(("path", "values"), PATHS, ids=[path for path, _ in PATHS])
def test_a_copy_is_what_lowering_the_changed_model_gives(path: str, values: list[Any]) -> None:
    networks, columns = varied(MODEL, {path: values})
    assert columns == {path: values}
    for network, value in zip(networks, values, strict=True):
        assert same(network, changed(MODEL, {path: value}).network)
        kinds = [[d.kind if d else None for d in row] for row in network.service]
        assert kinds == [[d.kind if d else None for d in row] for row in changed(MODEL, {path: value}).network.service]
    assert MODEL.network.population.tolist() == [5, -1]


def test_all_combinations_the_last_runs_fastest() -> None:
    factors = {"classes.user.population": [1, 2], "stations.cpu.servers": [3, 4]}
    networks, columns = varied(MODEL, factors)
    assert [(int(n.population[0]), int(n.servers[0])) for n in networks] == [(1, 3), (1, 4), (2, 3), (2, 4)]
    assert columns == {"classes.user.population": [1, 1, 2, 2], "stations.cpu.servers": [3, 4, 3, 4]}
    slow, _ = varied(MODEL, {"visits.cpu.user": [1.0], **factors})
    assert [(int(n.population[0]), int(n.servers[0])) for n in slow] == [(1, 3), (1, 4), (2, 3), (2, 4)]


def test_a_probability_of_a_route() -> None:
    rows = {"cpu": {"cpu": 0.5, "exit": 0.5}}
    m = sj.Model([sj.Queue("cpu")], [sj.Open("api", 1.0)], service_s={"cpu": {"api": 0.1}}, routing={"api": rows})
    with pytest.raises(ModelError, match=r"routing\.api\.cpu: the row sums to 1\.25"):
        varied(m, {"routing.api.cpu.cpu": [0.75]})
    networks, _ = varied(m, {"routing.api.cpu.cpu": [0.5, 0.25]})
    assert [n.visits[0, 0] for n in networks] == pytest.approx([2, 1 / 0.75])


@pytest.mark.parametrize(
    ("path", "value", "match"),
    [
        ("classes.user.population", 2.5, r"classes\.user\.population: 2\.5; give a whole number"),
        ("classes.user.think_s", -1.0, "at least 0"),
        ("classes.api.rate_per_s", float("nan"), "finite"),
        ("stations.cpu.servers", 0, "at least 1"),
        ("demands_s.disk.user", -1.0, "at least 0"),
        ("demands_s.cpu.user", sj.Deterministic(1.0), "of one visit"),
        ("classes.usr.population", 1, "use one of user, api"),
        ("classes.user.size", 1, "use one of population"),
        ("stations.gpu.servers", 1, "use one of cpu, disk, tape"),
        ("demands_s.gpu.user", 1.0, r"use one of demands_s\.cpu\.user"),
        ("service_s.cpu.user", 1.0, "has no service_s"),
        ("routing.user.cpu.disk", 1.0, "a route that the model has"),
        ("population", 1, r"use classes\.NAME\.FIELD"),
    ],
)
def test_what_cannot_be_varied(path: str, value: Any, match: str) -> None:
    with pytest.raises(ModelError, match=match):
        varied(MODEL, {path: [value]})


def test_no_values() -> None:
    with pytest.raises(InputError, match="at least one value"):
        sj.sweep(MODEL, "classes.user.population", [])


LIMITED = sj.Model([sj.Queue("s", servers=2, capacity=4)], [sj.Open("c", 0.8)], service_s={"s": {"c": 1.0}})
TOGETHER = {"stations.s.servers": 5, "stations.s.capacity": 16}


@pytest.mark.parametrize("order", [list(TOGETHER), list(TOGETHER)[::-1]])
def test_issue_26_14_numbers_are_checked_together(order: list[str], tmp_path: Path) -> None:
    """More servers than the model's capacity, with a capacity that holds them, in either order: everywhere that numbers are set."""
    values = {path: TOGETHER[path] for path in order}
    for made in (changed(LIMITED, values), replaced(LIMITED, values), configured(LIMITED, values)):
        assert (made.station("s").servers, made.station("s").capacity) == (5, 16)  # type: ignore[attr-defined]
    networks, _ = varied(LIMITED, {path: [value, value + 1] for path, value in values.items()})
    assert {(int(n.servers[0]), int(n.capacity[0])) for n in networks} == {(5, 16), (5, 17), (6, 16), (6, 17)}
    with_factors = replace(LIMITED, factors={"workers": "stations.s.servers", "room": "stations.s.capacity"})
    short = {"workers": 5, "room": 16} if order[0] == "stations.s.servers" else {"room": 16, "workers": 5}
    assert configured(with_factors, short).station("s").servers == 5  # type: ignore[attr-defined]
    LIMITED.write(tmp_path / "m.toml")
    options = VirtualOptions(model="m.toml", factors={"workers": "stations.s.servers", "room": "stations.s.capacity"})
    simulated = VirtualSystem(options, VirtualLoad(), tmp_path)
    assert simulated.at(short).station("s").servers == 5  # type: ignore[attr-defined]
    mixed = (
        {"workers": 5, "stations.s.capacity": 16}
        if order[0] == "stations.s.servers"
        else {"stations.s.capacity": 16, "workers": 5}
    )
    assert configured(with_factors, mixed).station("s").servers == 5  # type: ignore[attr-defined]


def test_issue_26_14_routes_that_sum_to_one_together() -> None:
    rows = {"cpu": {"cpu": 0.5, "exit": 0.5}}
    m = sj.Model([sj.Queue("cpu")], [sj.Open("api", 1.0)], service_s={"cpu": {"api": 0.1}}, routing={"api": rows})
    both = {"routing.api.cpu.cpu": 0.75, "routing.api.cpu.exit": 0.25}
    assert changed(m, both).network.visits[0, 0] == replaced(m, both).network.visits[0, 0] == pytest.approx(4)


def test_issue_26_14_what_cannot_stand_together_is_refused_by_name() -> None:
    for set_ in (changed, replaced, configured):
        with pytest.raises(ModelError, match=r"^stations\.s\.capacity: 6; .*at least 7, the number of servers"):
            set_(LIMITED, {"stations.s.servers": 7, "stations.s.capacity": 6})
    with pytest.raises(FitError, match=r"factors\.room: stations\.s\.capacity: 1;"):
        configured(replace(LIMITED, factors={"room": "stations.s.capacity"}), {"room": 1})


def test_issue_26_14_plan_leaves_out_what_cannot_exist_and_says_how_many() -> None:
    vary = {"stations.s.servers": [1, 2, 3, 4], "stations.s.capacity": [2, 4]}
    found = sj.plan(LIMITED, vary, "mean(response) < 2s", "stations.s.servers")
    said = [note for note in found.notes if "are impossible" in note]
    assert len(said) == 1
    assert said[0].startswith(
        "2 of 8 configurations are impossible and were left out; the first stations.s.servers=3, "
    )
    assert "give at least 3, the number of servers" in said[0]
    with pytest.raises(ModelError, match=r"^stations\.s\.capacity: 2; .*at least 9, the number of servers"):
        sj.plan(
            LIMITED,
            {"stations.s.servers": [9], "stations.s.capacity": [2, 4]},
            "mean(response) < 2s",
            "stations.s.servers",
        )


def test_a_parameter_of_a_distribution_is_varied() -> None:
    """M/G/1: R = S + rate S^2 (1 + c^2) / (2 (1 - rate S)), Pollaczek and Khinchine."""
    law = '[service_s.cpu]\nuser = { kind = "lognormal", mean = 0.02, scv = 4.0 }\n'
    model = sj.Model.parse('[stations.cpu]\n[classes.user]\nkind = "open"\nrate_per_s = 50.0\n' + law)
    for key, values in {"mean": [0.004, 0.01], "scv": [0.5, 4.0]}.items():
        told = sj.sweep(
            model if key == "mean" else replaced(model, {"service_s.cpu.user.mean": 0.01}),
            f"service_s.cpu.user.{key}",
            values,
        )
        found = told.frame.filter(metric="response_time", station="", **{"class": ""})["value"].to_list()
        for value, response_s in zip(values, found, strict=True):
            s, c2 = (value, 4.0) if key == "mean" else (0.01, value)
            assert response_s == pytest.approx(s + 50 * s**2 * (1 + c2) / (2 * (1 - 50 * s)))
    with pytest.raises(ModelError, match="vary"):
        sj.sweep(model, "service_s.cpu.user.shape", [1.0])
    with pytest.raises(ModelError):
        sj.sweep(model, "service_s.cpu.user.mean", [-1.0])
