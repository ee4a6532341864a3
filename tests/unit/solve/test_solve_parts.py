"""Issue 10: one unstable part leaves the rows of an unconnected part as they are when that part is solved alone."""

from __future__ import annotations

from typing import Any

import pytest

import sojourn as sj

Q = sj.Queue
ONE_S = {"c": 1.0}
LATE = (Q("late"), sj.Open("z", 2.0), {"late": {"z": 1.0}})  # twice what it can do

# what is stable: stations (and pools), classes, service times
STABLE: dict[str, tuple[list[Any], list[Any], dict[str, Any]]] = {
    "product form": ([Q("a"), Q("b", 2)], [sj.Open("c", 0.5)], {"a": ONE_S, "b": {"c": 3.0}}),
    "general service": ([Q("a")], [sj.Open("c", 0.5)], {"a": {"c": sj.Erlang(1.0, 2)}}),
    "priorities": ([Q("a", discipline="priority")], [sj.Open("c", 0.2, priority=1), sj.Open("d", 0.2)], {"a": {"c": 1.0, "d": 1.0}}),
    "losses": ([Q("a", capacity=3)], [sj.Open("c", 2.0)], {"a": ONE_S}),
    "closed": ([Q("a"), Q("b")], [sj.Closed("c", 5, 1.0)], {"a": ONE_S, "b": {"c": 0.5}}),
    "pool": ([Q("a"), sj.Delay("w"), sj.Pool("threads", 3, ("a", "w"))], [sj.Open("c", 0.5)], {"a": ONE_S, "w": ONE_S}),
    "approximate": ([Q("a", 2)], [sj.Open("c", 1.5)], {"a": {"c": sj.Lognormal(1.0, 2.0)}}),
}  # fmt: skip


def status(found: sj.Metrics, metric: str, station: str, cls: str) -> str:
    return str(found.frame.filter(metric=metric, station=station, **{"class": cls})["status"].item())


def both(kind: str) -> tuple[sj.Model, sj.Model]:
    stations, classes, service_s = STABLE[kind]
    station, cls, late_s = LATE
    alone = sj.Model(stations, classes, service_s=service_s)
    return alone, sj.Model([station, *stations], [cls, *classes], service_s=late_s | service_s)


@pytest.mark.parametrize("kind", STABLE)
def test_a_stable_part_is_as_alone(kind: str) -> None:
    alone, whole = both(kind)
    found, wanted = sj.solve(whole), sj.solve(alone)
    assert found.status == "unstable" and f"solved alone by {wanted.method}" in found.message
    keys = ["station", "class", "metric", "q", "n"]
    rows = {tuple(row[k] for k in keys): row for row in found.frame.iter_rows(named=True)}
    for row in wanted.frame.iter_rows(named=True):
        if row["station"] or row["class"]:
            mine = rows[tuple(row[k] for k in keys)]
            assert (mine["status"], mine["value"]) == (row["status"], pytest.approx(row["value"], rel=1e-12))
    assert {r["status"] for r in rows.values() if r["class"] == "z" or r["station"] == "late"} == {"unstable", "ok"}
    assert rows["late", "z", "response_time", None, None]["status"] == "unstable"
    assert rows["", "", "response_time", None, None]["status"] == "unstable"


def test_two_classes_on_two_stations() -> None:
    """M/M/1 at 0.5: one present, 2 s; the other station at 2."""
    model = sj.Model([Q("a"), Q("b")], [sj.Open("x", 0.5), sj.Open("y", 2.0)], {"a": {"x": 1.0}, "b": {"y": 1.0}})
    for method in ("auto", "open-multiclass", "qna", "ctmc"):
        found = sj.solve(model, method)
        assert found.value("queue_length", "a", "x") == pytest.approx(1.0, rel=1e-6)
        assert found.value("response_time", cls="x") == pytest.approx(2.0, rel=1e-6)
        assert status(found, "queue_length", "b", "y") == "unstable"


def test_points_of_a_sweep_that_are_unstable() -> None:
    model = sj.Model([Q("a"), Q("b")], [sj.Open("x", 0.5), sj.Open("y", 0.5)], {"a": {"x": 1.0}, "b": {"y": 1.0}})
    table = sj.sweep(model, {"classes.y.rate_per_s": [0.5, 2.0, 0.8, 3.0], "classes.x.rate_per_s": [0.5, 1.5]})
    for row in table.frame.filter(metric="queue_length").iter_rows(named=True):
        if row["station"]:
            rate = row["classes.x.rate_per_s" if row["station"] == "a" else "classes.y.rate_per_s"]
            stable = rate < 1
            assert row["status"] == ("ok" if stable else "unstable")
            assert row["value"] == (pytest.approx(rate / (1 - rate), rel=1e-12) if stable else None)
    assert table.frame.filter(metric="queue_length", station="a", **{"class": "x"}).height == 8


def test_what_is_connected_is_unstable_together() -> None:
    """A class that comes to both stations, or a pool over both, makes them one part."""
    stations = [Q("a"), Q("b")]
    through = sj.Model(stations, [sj.Open("x", 0.5), sj.Open("y", 2.0)], {"a": {"x": 1.0}, "b": {"x": 0.1, "y": 1.0}})
    pooled = sj.Model(
        [*stations, sj.Pool("p", 9, ("a", "b"))],
        [sj.Open("x", 0.5), sj.Open("y", 2.0)],
        {"a": {"x": 1.0}, "b": {"y": 1.0}},
    )
    for model in (through, pooled):
        assert status(sj.solve(model), "queue_length", "a", "x") == "unstable"
