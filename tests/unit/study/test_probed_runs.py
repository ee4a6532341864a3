"""The topology probe before each run of a study: into the manifest, runs that differ marked, beside their figures in the report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sojourn.lab.topology_probe import BatchTimes, TopologyProbe
from sojourn.report import Table
from sojourn.runs.run_folder import RunFolder
from sojourn.study import probed_runs
from sojourn.study.probed_runs import TOPOLOGY_PROBE, ProbedSession, mark_moved, probe_section
from sojourn.study.run_points import run_points
from sojourn.study.system import Point

PAIRS = ((0, 1), (0, 2))


def probe(*transfers_ns: float | None) -> TopologyProbe:
    """One pair of cores after the other."""
    times = [None if ns is None else BatchTimes(ns * 1e-9, ns * 1e-9, ns * 1e-9, 20) for ns in transfers_ns]
    pairs = tuple((*pair, time) for pair, time in zip(PAIRS, times, strict=False))
    return TopologyProbe(pairs, ((4 << 20, BatchTimes(2e-8, 2e-8, 2e-8, 10)),), 0, 0.1)


class PlainSession:
    """Runs that are all alike."""

    def conditions(self, point: Point) -> dict[str, Any]:
        return {"load": {}, "conditions": {}}

    def run(self, point: Point, out: Path, seed: int) -> RunFolder:
        out.mkdir(parents=True)
        return RunFolder(out, {"name": out.name, "reasons": [], "warnings": ["the warm-up may last longer"]})


def run_with(where: Path, monkeypatch: pytest.MonkeyPatch, probes: list[TopologyProbe]) -> list[RunFolder]:
    waiting = iter(probes)
    monkeypatch.setattr(probed_runs, "probe_topology", lambda cores: next(waiting))
    points = [Point("s", {"rate_per_s": 5.0}, number) for number in range(1, len(probes) + 1)]
    return run_points(ProbedSession(PlainSession()), points, where, 1, lambda _: None)


def test_the_probe_is_in_the_manifest_of_each_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = run_with(tmp_path, monkeypatch, [probe(28.0), probe(None)])
    there = [json.loads((run.path / "manifest.json").read_text())[TOPOLOGY_PROBE] for run in runs]
    assert (
        there[0]["transfer"][0]["median_s"] == pytest.approx(28e-9) and there[0]["access"][0]["size_bytes"] == 4 << 20
    )
    assert there[1]["transfer"] == [{"cores": [0, 1]}] and there[1]["transfer_s"] is None


def test_runs_far_from_the_median_of_a_pair_are_marked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Medians 28 and 100 ns: 42 is 1.5 times, 41 less; 66 of 100 less than 1/1.5; a pair that was not measured says nothing."""
    probes = [probe(28.0, 100.0), probe(28.0, 100.0), probe(42.0, 100.0), probe(41.0, 66.0), probe(28.0, None)]
    runs = run_with(tmp_path, monkeypatch, probes)
    for _ in range(2):
        mark_moved(runs)
        told = [[text for text in run.manifest["warnings"] if text.startswith("topology probe")] for run in runs]
        assert [len(own) for own in told] == [0, 0, 1, 1, 0]
        assert "cores 0 and 1 were farther from each other" in told[2][0]
        assert "cores 0 and 2 were nearer to each other" in told[3][0]
    assert all("the warm-up may last longer" in run.manifest["warnings"] for run in runs)
    mark_moved(runs[2:3])
    assert json.loads((runs[2].path / "manifest.json").read_text())["warnings"] == ["the warm-up may last longer"]


def test_the_report_has_a_table_by_distance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = run_with(tmp_path, monkeypatch, [probe(171.0), probe(28.0)])
    section = probe_section(runs)
    assert section is not None
    (table,) = section.blocks
    assert isinstance(table, Table)
    assert table.note.startswith("This machine does not count misses of the last-level cache")
    assert [row[1:] for row in table.rows] == [
        ("28.0 ns", "20.0 ns", "–", "not counted", "–", "–"),
        ("171 ns", "20.0 ns", "–", "not counted", "–", "–"),
    ]
    assert probe_section([PlainSession().run(Point("s"), tmp_path / "other", 1)]) is None


def test_runs_without_a_probe_stay_as_they_are(tmp_path: Path) -> None:
    run = PlainSession().run(Point("s"), tmp_path / "run", 1)
    mark_moved([run])
    assert run.manifest["warnings"] == ["the warm-up may last longer"] and not (run.path / "manifest.json").exists()
