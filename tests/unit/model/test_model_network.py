"""A model as arrays: visits by the traffic equations, three ways of saying one model, class switching, traps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sojourn as sj
from sojourn.errors import ModelError

QUEUES = [sj.Queue("cpu"), sj.Queue("disk"), sj.Queue("tape")]
USER = [sj.Closed("user", 10, 2.0)]


def test_three_ways_to_say_the_same() -> None:
    """Central server: from the CPU to disk 0.6, tape 0.3, out 0.1. V_cpu = 1/0.1, V_disk = 6, V_tape = 3 by hand."""
    service = {"cpu": {"user": 0.01}, "disk": {"user": 0.03}, "tape": {"user": 0.1}}
    rows = {
        "think": {"cpu": 1}, "cpu": {"disk": 0.6, "tape": 0.3, "think": 0.1}, "disk": {"cpu": 1}, "tape": {"cpu": 1},
    }  # fmt: skip
    routed = sj.Model(QUEUES, USER, service_s=service, routing={"user": rows}).network
    visits = {"cpu": {"user": 10}, "disk": {"user": 6}, "tape": {"user": 3}}
    visited = sj.Model(QUEUES, USER, service_s=service, visits=visits).network
    demands = {"cpu": {"user": 0.1}, "disk": {"user": 0.18}, "tape": {"user": 0.3}}
    demanded = sj.Model(QUEUES, USER, demands).network
    for network in (routed, visited, demanded):
        assert network.demands_s[:, 0] == pytest.approx([0.1, 0.18, 0.3], rel=1e-12)
    for network in (routed, visited):
        assert network.visits[:, 0] == pytest.approx([10, 6, 3], rel=1e-12)
    both = sj.Model(QUEUES, USER, demands, routing={"user": rows}).network  # a demand is the total over all visits
    assert both.demands_s[:, 0] == pytest.approx([0.1, 0.18, 0.3], rel=1e-12)
    assert both.service_s[:, 0] == pytest.approx([0.01, 0.03, 0.1], rel=1e-12)


def test_a_pass_without_think_ends_at_each_visit_to_the_reference() -> None:
    rows = {"cpu": {"disk": 0.5, "tape": 0.5}, "disk": {"cpu": 1}, "tape": {"cpu": 1}}
    service = {s.name: {"user": 0.1} for s in QUEUES}
    cpu = sj.Model(QUEUES, USER, service_s=service, routing={"user": rows}).network
    assert cpu.visits[:, 0].tolist() == [1.0, 0.5, 0.5]
    tape = [sj.Closed("user", 10, reference_station="tape")]
    assert sj.Model(QUEUES, tape, service_s=service, routing={"user": rows}).network.visits[:, 0].tolist() == [2, 1, 1]


def test_where_routes_lead_to_think_a_pass_ends_only_there() -> None:
    rows = {"cpu": {"disk": 0.5, "think": 0.5}, "disk": {"cpu": 1}}  # no row says where a pass begins: at the first
    service = {s.name: {"user": 0.1} for s in QUEUES[:2]}
    network = sj.Model(QUEUES[:2], USER, service_s=service, routing={"user": rows}).network
    assert network.visits[:, 0].tolist() == [2.0, 1.0]


def test_an_open_class_leaves_where_nothing_more_is_said() -> None:
    api = [sj.Open("api", 3.0)]
    service = {"cpu": {"api": 0.1}, "disk": {"api": 0.1}}
    network = sj.Model(QUEUES[:2], api, service_s=service, routing={"api": {"cpu": {"disk": 0.25}}}).network
    assert network.visits[:, 0].tolist() == [1.0, 0.25]
    assert network.route.sum(axis=1).tolist() == [1.0, 1.0, 1.0]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.data())
def test_visits_solve_the_traffic_equations(data: st.DataObject) -> None:
    """Random open routes: V = e + V P, by numbers that are not the code's; each row leaves with at least 0.05."""
    count = data.draw(st.integers(1, 5))
    names = [f"s{i}" for i in range(count)]
    weights = data.draw(
        st.lists(st.lists(st.integers(0, 9), min_size=count, max_size=count), min_size=count, max_size=count)
    )
    p = np.array(weights, float)
    p = 0.95 * p / np.maximum(p.sum(axis=1, keepdims=True), 1)
    come = np.flatnonzero(np.linalg.matrix_power(np.eye(count) + p, count)[0])  # who is never come to is refused
    names, p = [names[i] for i in come], p[np.ix_(come, come)]
    rows: dict[str, Any] = {a: {b: p[i, j] for j, b in enumerate(names) if p[i, j]} for i, a in enumerate(names)}
    model = sj.Model(
        [sj.Queue(name) for name in names], [sj.Open("c", 1.0)], service_s={name: {"c": 0.1} for name in names},
        routing={"c": {"source": {names[0]: 1.0}, **rows}},
    )  # fmt: skip
    v = model.network.visits[:, 0]
    enters = np.eye(len(names))[0]
    assert v == pytest.approx(enters + v @ p, rel=1e-10, abs=1e-12)


def test_class_switching_makes_one_chain() -> None:
    """A request is new at the CPU, becomes old, and goes round with probability 1/2 as an old one: 1 and 2 visits."""
    both = [sj.Closed("new", 4, 1.0), sj.Closed("old", 3, 1.0)]
    service = {"cpu": {"new": 0.1, "old": 0.2}}
    routing = {"new": {"think": {"cpu": 1}, "cpu": {"cpu/old": 1}}, "old": {"cpu": {"cpu": 0.5, "think/new": 0.5}}}
    network = sj.Model(QUEUES[:1], both, service_s=service, routing=routing).network
    assert network.switches and network.chain.tolist() == [0, 0]
    assert network.passes == pytest.approx([1, 0], abs=1e-12)
    assert network.visits == pytest.approx(np.array([[1.0, 2.0]]), rel=1e-12)


def test_a_row_that_nobody_enters_does_no_harm() -> None:
    """A route of probability 0 leads to it, as at one end of a sweep."""
    rows = {"think": {"cpu": 1}, "cpu": {"think": 1, "disk": 0}, "disk": {"disk": 1}}
    network = sj.Model(QUEUES[:2], USER, service_s={"cpu": {"user": 0.1}}, routing={"user": rows}).network
    assert network.visits[:, 0].tolist() == [1.0, 0.0]
    assert network.route[1].tolist() == [0.0, 0.0, 0.0]


def test_a_part_that_nobody_can_come_to_is_refused() -> None:
    """Issue 10: two loops that are not connected had been solved as one, and the second had no rows."""
    stations = [sj.Queue(name) for name in "abcd"]
    rows = {"a": {"b": 1.0}, "b": {"a": 1.0}, "c": {"d": 1.0}, "d": {"c": 1.0}}
    with pytest.raises(
        ModelError,
        match=r"routing\.user\.c: class user never comes to c, d; add a route to c \(class user comes to a, b\)",
    ):
        sj.Model(stations, USER, service_s={name: {"user": 1.0} for name in "abcd"}, routing={"user": rows})


def test_a_demand_over_several_visits_is_of_one_kind() -> None:
    with pytest.raises(ModelError, match=r"demands_s\.cpu\.user: a demand of kind deterministic over 2 visits"):
        sj.Model(QUEUES[:1], USER, {"cpu": {"user": sj.Deterministic(1.0)}}, visits={"cpu": {"user": 2}})


def test_speed_of_each_kind() -> None:
    stations = [sj.Queue("cpu", servers=2), sj.Delay("net"), sj.LoadDependent("disk", (10.0, 15.0))]
    network = sj.Model(stations, USER, {"cpu": {"user": 0.1}, "net": {"user": 0.1}}).network
    assert [network.speed(k, 3).tolist() for k in range(3)] == [[1, 2, 2], [1, 2, 3], [1, 1.5, 1.5]]


def test_a_copy_keeps_what_is_still_right() -> None:
    network = sj.Model(QUEUES[:1], USER, {"cpu": {"user": 0.1}}).network
    assert network.demands_s.tolist() == [[0.1]]
    more = network.altered(population=np.array([20]))
    assert more.demands_s is network.demands_s and more.population.tolist() == [20]
    slower = network.altered(service_s=np.array([[0.2]]))
    assert slower.demands_s.tolist() == [[0.2]] and network.demands_s.tolist() == [[0.1]]
