"""A sweep on workers is the sweep of one process: the same rows in the same order, to the last bit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import sojourn
from sojourn.cli.app import command_line
from sojourn.errors import MethodRefused, ModelError
from sojourn.parallel import Workers, open_workers
from sojourn.solve.method import RequestedOutputs
from sojourn.solve.sweep_on_workers import BLOCK, told_once

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
MANY = 2 * BLOCK + 7


@pytest.fixture(scope="module")
def two() -> Iterator[Workers]:
    with open_workers("local:2") as workers:
        yield workers


def same(one: sojourn.Metrics, other: sojourn.Metrics) -> bool:
    return one.frame.equals(other.frame) and (one.method, one.status) == (other.method, other.status)


# exact, with quantiles as further rows, saturated at some points, of several classes, with parts, of no one method
CASES = {
    "shop": {"classes.user.population": list(range(1, 31)) * 20},
    "desk": {"classes.call.rate_per_s": list(np.linspace(0.001, 0.2, MANY))},
    "batch": {"service_s.cpu.job": list(np.linspace(0.001, 0.02, MANY)), "classes.job.population": [1, 6]},
    "tiers": {"service_s.front.request": list(np.linspace(0.005, 0.05, MANY))},
    "switching": {"classes.page.rate_per_s": list(np.linspace(0.1, 2.0, MANY))},
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("wanted", [None, RequestedOutputs(())])
def test_a_sweep_on_workers_is_that_of_one_process(name: str, wanted: Any, two: Workers) -> None:
    file = EXAMPLES / f"{name}.toml"
    assert same(
        sojourn.sweep(file, CASES[name], requested_outputs=wanted, parallel=two),
        sojourn.sweep(file, CASES[name], requested_outputs=wanted),
    )


def test_an_iteration_over_all_points_agrees_to_its_tolerance_and_on_workers_to_the_last_bit(two: Workers) -> None:
    factors = {"service_s.cpu.quick": list(np.linspace(0.001, 0.01, MANY))}
    file = EXAMPLES / "uneven-classes.toml"
    here, there = sojourn.sweep(file, factors), sojourn.sweep(file, factors, parallel=two)
    assert here.method == there.method == "amva-fcfs"
    values = [one.frame["value"].drop_nulls().to_numpy() for one in (here, there)]
    np.testing.assert_allclose(*values, rtol=1e-9)
    assert same(there, sojourn.sweep(file, factors, parallel="local:1"))


def test_a_method_by_name_is_asked_of_all_points(two: Workers) -> None:
    file, factors = EXAMPLES / "shop.toml", {"classes.user.population": list(range(1, MANY))}
    alone = sojourn.sweep(file, factors, method="convolution", parallel="local:1")
    assert same(sojourn.sweep(file, factors, method="convolution", parallel=two), alone)
    with pytest.raises(MethodRefused, match="mm1"):
        sojourn.sweep(file, factors, method="mm1", parallel=two)
    assert sojourn.sweep(file, factors, parallel=two).status == "ok", "workers are there after an error of a task"


def test_a_value_that_the_model_cannot_have_is_refused_as_in_one_process(two: Workers) -> None:
    with pytest.raises(ModelError, match="population"):
        sojourn.sweep(EXAMPLES / "shop.toml", "classes.user.population", [*range(1, MANY), -1], parallel=two)


def test_the_command_prints_the_same_table() -> None:
    words = [
        "solve",
        str(EXAMPLES / "batch.toml"),
        "--vary",
        "service_s.cpu.job=0.001..0.02:0.00004",
        "--output-format",
        "csv",
    ]
    alone, there = (
        CliRunner().invoke(command_line(["solve"]), [*words, *more]) for more in ([], ["--parallel", "local:2"])
    )
    assert alone.exit_code == there.exit_code == 0
    assert alone.stdout == there.stdout


def test_what_blocks_say_is_said_once_with_the_span_of_its_numbers() -> None:
    said = ["cpu1 is unstable from 42.5/s, {depends}", "cpu2 is unstable from 7/s", "6 states, residual 1.5e-16"]
    more = [
        "cpu1 is unstable from 9/s, {depends}",
        "cpu1 is unstable from 42.50/s, {depends}",
        "6 states, residual 0.0",
    ]
    assert told_once([*said, *more]).splitlines() == [
        "cpu1 is unstable from 9 … 42.50/s, {depends}", "cpu2 is unstable from 7/s", "6 states, residual 0.0 … 1.5e-16",
    ]  # fmt: skip
