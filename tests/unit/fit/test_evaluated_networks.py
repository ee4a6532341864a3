"""Many values of unknowns as arrays of one sequence of networks: what a model with each of them written in says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sojourn as sj
from sojourn.fit.model_evaluation import ModelEvaluator, slower_clocks
from sojourn.model.network_points import NetworkPoints

ANY = "{ free = true }"
LAW = '{ kind = "lognormal", mean = %s, scv = { free = true } }'
OPEN = '[classes.user]\nkind = "open"\nrate_per_s = 20\n'
CLOSED = '[classes.user]\nkind = "closed"\npopulation = 3\nthink_s = %s\n'
CORES = (
    """
[stations.cpu]
kind = "multicore"
cores = 3
nics = 1
interrupt_s = { free = true }
crossing_s = { free = true, low = 0 }
variant = "%s"
"""
    + OPEN
    + "[service_s.cpu]\nuser = { free = true }\n"
)
DEPENDENT = (
    "[parameters]\nwork_s = { free = true }\nsaved = { free = true, low = 0 }\n[stations.cpu]\nservers = 2\n%s"
    + ('[demands_s.cpu]\nuser = "work_s * (1 + saved*(1-u)**2)"\n')
)
CASES: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "several servers": (
        f'[stations.cpu]\nservers = 2\n{OPEN}[demands_s.cpu]\nuser = {ANY}\n[factors]\nm = "stations.cpu.servers"\n',
        [{"m": 2, "rate_per_s": 30.0}, {"m": 4, "rate_per_s": 90.0}],
    ),
    "an open network": (
        f'[stations.cpu]\n[stations.disk]\nservers = 3\n{OPEN}[visits]\ncpu = {{ user = 2 }}\n'
        f'[service_s.cpu]\nuser = {ANY}\n[demands_s.disk]\nuser = {ANY}\n',
        [{"rate_per_s": 12.0}, {"rate_per_s": 21.0}],
    ),
    "closed, single servers": (
        f'[stations.cpu]\n[stations.way]\nkind = "delay"\n{CLOSED % ANY}[demands_s]\ncpu = {{ user = {ANY} }}\n'
        f"way = {{ user = {ANY} }}\n",
        [{"users": 2}, {"users": 30}],
    ),
    "closed, several servers": (
        f'[stations.cpu]\nservers = 2\n[stations.disk]\n{CLOSED % 0.1}[demands_s]\ncpu = {{ user = {ANY} }}\n'
        f"disk = {{ user = {ANY} }}\n",
        [{"users": 2}, {"users": 12}],
    ),
    "machine repair": (
        f'[stations.cpu]\nservers = 3\n{CLOSED % ANY}[demands_s.cpu]\nuser = {ANY}\n', [{"users": 4}, {"users": 90}],
    ),
    "a pool": (
        '[stations.cpu]\n[stations.net]\nkind = "delay"\n[stations.workers]\nkind = "pool"\nsize = 3\n'
        'held_over_stations = ["cpu", "net"]\n'
        f"{CLOSED % 0.2}[demands_s]\ncpu = {{ user = {ANY} }}\nnet = {{ user = {ANY} }}\n",
        [{"users": 2}, {"users": 7}],
    ),
    "interrupts preempt": (CORES % "priority", [{"rate_per_s": 20.0}, {"rate_per_s": 60.0}]),
    "interrupts share": (CORES % "shared", [{"rate_per_s": 20.0}, {"rate_per_s": 60.0}]),
    "interrupts as in the paper": (CORES % "paper", [{"rate_per_s": 20.0}]),
    "cores behind a queue": (
        (CORES % "priority") + f"[demands_s.disk]\nuser = {ANY}\n[stations.disk]\nservers = 2\n",
        [{"rate_per_s": 20.0}, {"rate_per_s": 40.0}],
    ),
    "a time by the load, open": (DEPENDENT % OPEN, [{"rate_per_s": 10.0}, {"rate_per_s": 60.0}]),
    "a time by the load, closed": (DEPENDENT % (CLOSED % 0.1), [{"users": 3}, {"users": 20}]),
    "any variance": (
        f'[stations.cpu]\nservers = 2\n{OPEN}[demands_s.cpu]\nuser = {LAW % ANY}\n[factors]\nm = "stations.cpu.servers"\n',
        [{"m": 2, "rate_per_s": 30.0}, {"m": 4, "rate_per_s": 90.0}],
    ),
    "any variance, a time by the load": (
        DEPENDENT.replace('"work_s * (1 + saved*(1-u)**2)"', LAW % '"work_s * (1 + saved*(1-u)**2)"') % OPEN,
        [{"rate_per_s": 10.0}, {"rate_per_s": 60.0}],
    ),
}  # fmt: skip
ROWS = 4


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> tuple[ModelEvaluator, np.ndarray]:
    text, points = CASES[request.param]
    evaluator = ModelEvaluator(sj.Model.parse(text), points)
    values = np.random.default_rng(3).uniform(0.002, 0.012, (ROWS, len(evaluator.paths)))
    return evaluator, values


def test_each_says_what_the_model_with_its_numbers_says(case: tuple[ModelEvaluator, np.ndarray]) -> None:
    evaluator, values = case
    networks = evaluator.networks_at(values)
    assert isinstance(networks, NetworkPoints) and len(networks) == ROWS * len(evaluator.networks)
    found = evaluator.solved(networks, nearest=False).values
    for row in range(ROWS):
        for which in range(len(evaluator.networks)):
            told = sj.solve(evaluator.configured(values[row], which), evaluator.method.name)
            at = row * len(evaluator.networks) + which
            for metric in ("response_time", "throughput"):
                value = told.value(metric)
                assert found["", "", metric][at] == pytest.approx(value, rel=1e-9), (row, which, metric)


def test_a_network_that_is_taken_out_is_solved_alike(case: tuple[ModelEvaluator, np.ndarray]) -> None:
    evaluator, values = case
    networks = slower_clocks(evaluator.networks_at(values), np.linspace(1.0, 1.3, ROWS * len(evaluator.networks)))
    whole = evaluator.solved(networks).values
    for at, network in enumerate(networks):
        alone = evaluator.solved([network]).values
        for key in whole:
            assert whole[key][at] == pytest.approx(alone[key][0], rel=1e-9, nan_ok=True), (at, key)


def test_some_configurations_are_a_part_of_all(case: tuple[ModelEvaluator, np.ndarray]) -> None:
    evaluator, values = case
    last = len(evaluator.networks) - 1
    whole = evaluator.solved(evaluator.networks_at(values)).values["", "", "response_time"]
    some = evaluator.solved(evaluator.networks_at(values, [last])).values["", "", "response_time"]
    assert some == pytest.approx(whole.reshape(ROWS, -1)[:, last], rel=1e-12)


def test_a_law_of_times_is_made_once_for_all_configurations_of_a_row() -> None:
    for text, points in (CASES["any variance"], CASES["any variance, a time by the load"]):
        evaluator = ModelEvaluator(sj.Model.parse(text), points)
        networks = evaluator.networks_at(np.full((ROWS, len(evaluator.paths)), 0.01))
        assert isinstance(networks, NetworkPoints) and len(networks.bases) == ROWS < len(networks)


def test_a_number_that_a_model_cannot_have_is_refused_with_its_place() -> None:
    text, points = CASES["several servers"]
    evaluator = ModelEvaluator(sj.Model.parse(text), points)
    with pytest.raises(sj.SojournError, match="demands_s.cpu.user"):
        evaluator.networks_at(np.array([[0.01], [-0.01], [0.02]]))
    with pytest.raises(sj.SojournError, match="demands_s.cpu.user"):
        evaluator.networks_at(np.array([[0.01], [np.nan], [0.02]]))


def test_a_parameter_of_a_law_goes_into_each_network_by_itself() -> None:
    text = f'[stations.cpu]\n{OPEN}[demands_s.cpu]\nuser = {{ kind = "lognormal", mean = {ANY}, scv = {ANY} }}\n'
    evaluator = ModelEvaluator(sj.Model.parse(text), [{"rate_per_s": 20.0}])
    values = np.array([[0.01, 2.0], [0.02, 0.5]])
    assert evaluator.of.points is None
    rho = 20 * values[:, 0]
    wait = rho * values[:, 0] * (1 + values[:, 1]) / (2 * (1 - rho))  # Pollaczek and Khinchine
    assert evaluator.at(values).values["", "", "response_time"] == pytest.approx(values[:, 0] + wait, rel=1e-9)


def test_a_parameter_of_a_law_does_not_make_the_model_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fit asks for it thousands of times, a configuration each."""
    law = f'[demands_s.cpu]\nuser = {{ kind = "exponential", mean = {ANY} }}\n'
    evaluator = ModelEvaluator(
        sj.Model.parse(f"[stations.cpu]\n{OPEN}{law}"), [{"rate_per_s": r} for r in (20.0, 40.0)]
    )
    monkeypatch.setattr("sojourn.fit.evaluated_networks.replaced", None)
    found = evaluator.at(np.array([[0.01], [0.02]])).values["", "", "response_time"]
    assert found == pytest.approx([0.01 / 0.8, 0.01 / 0.6, 0.02 / 0.6, 0.02 / 0.2], rel=1e-9)  # M/M/1
