"""The simulator's engine as Python sees it: arrays, pieces, errors. What it computes is tested in crates/des/tests."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from sojourn import _native

COLUMNS = (
    "arrivals", "completions", "losses", "response_s", "response_s2", "waiting_s", "waiting_s2", "waited", "present",
    "busy",
)  # fmt: skip


def exponential(mean: float) -> dict[str, Any]:
    return {"kind": "exponential", "mean": mean}


def mm1(rho: float, **extra: Any) -> dict[str, Any]:
    return {
        "seed": 1,
        "stations": [{"name": "q", "kind": "queue"}],
        "classes": [{"name": "a", "arrivals": exponential(1 / rho)}],
        "service": [[exponential(1.0)]],
        "routes": [{"node": 1, "class": 0, "to": [[0, 0, 1.0]]}, {"node": 0, "class": 0, "to": [[1, 0, 1.0]]}],
        "batch_s": 1.0,
        **extra,
    }


def make(config: dict[str, Any]) -> _native.Simulation:
    return _native.Simulation(json.dumps(config))


def test_columns_are_batches_by_nodes_by_classes() -> None:
    limit = {"name": "region", "size": 50, "stations": [0]}
    simulation = make(mm1(0.5, limits=[limit]))
    simulation.run(until_s=100.0)
    batches = simulation.batches()
    assert simulation.now_s == 100.0
    assert batches["batch_s"] == 1.0
    for name in COLUMNS:
        assert batches[name].shape == (100, 2, 1)
        assert batches[f"limit_{name}"].shape == (100, 1, 1)
    assert simulation.series() is None


def test_pieces_go_on_from_where_it_stood() -> None:
    for engine in ("events", "recursion"):
        simulation = make(mm1(0.8, engine=engine))
        simulation.run(completions=10_000)
        first = simulation.completions
        assert 10_000 <= first < 11_000
        simulation.run(seconds=0.01)
        assert simulation.completions > first
        assert simulation.engine == engine


@pytest.mark.parametrize("engine", ["events", "recursion"])
def test_littles_law_holds_up_to_those_inside(engine: str) -> None:
    """The integral of the number present is the time of those who left, and the part so far of those still inside."""
    simulation = make(mm1(0.9, engine=engine, period_s=1000.0))
    simulation.run(until_s=50_000.0)
    batches, series = simulation.batches(), simulation.series()
    assert series is not None
    for name in COLUMNS:
        assert series[name].sum(axis=0) == pytest.approx(batches[name].sum(axis=0)[:, :], rel=0.03)
    inside = series["arrivals"].sum() / 2 - series["completions"].sum() / 2
    assert inside == simulation.customers
    rest = series["present"][:, 0, 0].sum() - series["response_s"][:, 0, 0].sum()
    assert 0 <= rest <= inside * 50_000.0
    assert abs(rest) < 0.01 * series["present"][:, 0, 0].sum()


def test_a_histogram_counts_each_completion() -> None:
    simulation = make(mm1(0.5, histograms=["q/a"], batch_s=10.0))
    simulation.run(until_s=640.0)
    histogram = simulation.histogram("q/a")
    edges, counts = histogram["edges_s"], histogram["counts"]
    assert counts.shape == (len(counts), len(edges) - 1)
    assert counts.sum() == simulation.batches()["completions"][:, 0, 0].sum()
    assert np.all(edges[2:] / edges[1:-1] <= 1.002)
    with pytest.raises(KeyError, match="q/b"):
        simulation.histogram("q/b")


def test_memory_is_bounded_by_batches_and_groups() -> None:
    simulation = make(mm1(0.9, histograms=["q/a"]))
    simulation.run(completions=2_000_000)
    assert len(simulation.batches()["completions"]) <= 2048
    assert len(simulation.histogram("q/a")["counts"]) <= 64


def test_mistakes_name_place_and_remedy() -> None:
    with pytest.raises(ValueError, match="batch_s: -1; give a time above 0"):
        make(mm1(0.5, batch_s=-1.0))
    with pytest.raises(ValueError, match="unknown field `colour`"):
        make(mm1(0.5, colour="red"))
    with pytest.raises(ValueError, match=r"routes from node 0 of class 0: .*add up to 1"):
        make(mm1(0.5) | {"routes": [{"node": 0, "class": 0, "to": [[1, 0, 0.7]]}, *mm1(0.5)["routes"][:1]]})
