"""Demands of classes by regression over mixes: against demands that are known."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest

import sojourn as sj
from sojourn.cli.fit_demands import fit_demands
from sojourn.errors import FitError, InputError
from sojourn.fit.cpu_time_regression import fit_parts
from sojourn.fit.mix_demands import MixDemands, _wholes, mix_demands
from sojourn.runs.resources import MeasuredResource, add_resources
from sojourn.runs.run_folder import RunFolder
from sojourn.simulate.simulated_run import as_run

TRUE_S = np.array([0.065, 0.167, 0.137, 0.273, 0.402, 0.205, 0.176, 0.226]) * 1e-3  # database alone, ntier measurements
TARGET = np.array([20, 18, 20, 13, 10, 10, 4, 5]) / 100
CLASSES = ("home", "story", "comment", "category", "search", "storecomment", "storestory", "moderate")


def runs(seed: int, number: int = 14, noise: float = 0.04) -> MixDemands:
    """Saturated runs of mixes about the target, weights lognormal 0.9; each run's machine as fast as it happens to be."""
    draw = np.random.default_rng(seed)
    weights = TARGET * draw.lognormal(0.0, 0.9, (number, len(TARGET)))
    shares = weights / weights.sum(axis=1, keepdims=True)
    per_s = shares / (shares @ TRUE_S)[:, None]
    return MixDemands(CLASSES, per_s, draw.lognormal(0.0, noise, number))


def test_exact_runs_give_exact_demands() -> None:
    found = runs(1, noise=0.0)
    assert found.demands_s == pytest.approx(TRUE_S, rel=1e-6)
    assert found.saturation_rate_per_s({"search": 3}, 2.0).value == pytest.approx(2 / TRUE_S[4], rel=1e-6)


def test_intervals_hold_the_truth_at_their_level() -> None:
    """300 seeds of 14 mixes: 90 % less three standard deviations of a count of that many."""
    mix, inside, single, off = dict(zip(CLASSES, TARGET, strict=True)), 0, 0, []
    for seed in range(300):
        found = runs(seed)
        told = found.demand_s(mix)
        once = float(TARGET @ TRUE_S * np.random.default_rng(seed + 10_000).lognormal(0.0, 0.04))
        inside += told.low <= once <= told.high
        single += sum(e.low <= t <= e.high for e, t in zip(found.estimates().values(), TRUE_S, strict=True))
        off.append(abs(told.value / once - 1))
    assert inside >= 300 * (0.9 - 3 * np.sqrt(0.9 * 0.1 / 300))
    assert single >= 8 * 300 * 0.85
    assert np.median(off) < 0.05 and max(off) < 0.25


def test_runs_left_out_are_predicted_as_well_as_they_scatter() -> None:
    off = runs(5, number=30).left_out()
    assert np.median(np.abs(off)) < 0.06


def simulated(where: Path) -> list[RunFolder]:
    """Two classes at two stations, five mixes."""
    folders = []
    for k, (look, buy) in enumerate([(2.0, 1.0), (1.0, 2.0), (3.0, 0.5), (0.5, 2.5), (1.5, 1.5)]):
        model = sj.Model(
            [sj.Queue("cpu"), sj.Queue("disk")],
            [sj.Open("look", look), sj.Open("buy", buy)],
            {"cpu": {"look": 0.1, "buy": 0.2}, "disk": {"look": 0.05, "buy": 0.02}},
        )
        folder = as_run(model, where / f"mix-{k}", k + 1, 4000.0, 10.0)
        add_resources(folder, {name: MeasuredResource(1.0, station=name) for name in ("cpu", "disk")}, {})
        folders.append(folder)
    return folders


def test_a_simulated_system_gives_its_demands_back(tmp_path: Path) -> None:
    found = mix_demands(simulated(tmp_path))
    assert list(found) == ["cpu", "disk", "all"]
    for name, true in {"cpu": (0.1, 0.2), "disk": (0.05, 0.02), "all": (0.15, 0.22)}.items():
        assert found[name].demands_s == pytest.approx(true, rel=0.05), name


def test_cores_are_not_counted_beside_the_tiers_on_them(tmp_path: Path) -> None:
    """A tier's CPU time is in that of its cores, too: together they take what the tiers take."""
    folders = simulated(tmp_path)
    tiers = {"web": "cpu", "db": "disk"}
    for folder in folders:
        own = {name: MeasuredResource(1.0, station=station) for name, station in tiers.items()}
        add_resources(folder, {**own, "cpu": MeasuredResource(1.0, station="cpu")}, {})
        folder.manifest["resources"]["cpu"] = {"capacity": 1.0, "cores": [0]}
        folder.save()
    found = mix_demands(folders)
    assert set(found) == {"web", "db", "cpu", "all"}
    assert found["all"].demands_s == pytest.approx((0.15, 0.22), rel=0.05)


def test_a_resource_of_all_processes_is_no_part() -> None:
    tiers = {"web": {"pids": [1, 2]}, "db": {"cgroups": ["a"]}, "disk": {"disk": "vda"}, "client": {"pids": [9]}}
    cpu = {"pids": [1, 2], "cgroups": ["a"]}
    assert _wholes({**tiers, "cpu": cpu}, [*tiers, "cpu"]) == {"cpu"}
    assert _wholes({**tiers, "cpu": {"cores": [0, 1]}}, [*tiers, "cpu"]) == {"cpu"}
    assert _wholes({"core 0": {"cores": [0]}, "core 1": {"cores": [1]}}, ["core 0", "core 1"]) == set()
    assert _wholes(tiers, list(tiers)) == set()


def test_what_cannot_be_told_apart_is_refused() -> None:
    per_s = np.array([[2.0, 1.0], [4.0, 2.0], [6.0, 3.0]])
    with pytest.raises(FitError, match="too alike"):
        MixDemands(("a", "b"), per_s, np.ones(3))
    with pytest.raises(FitError, match="2 runs for 2 classes.*at least 3 are needed"):
        MixDemands(("a", "b"), per_s[:2], np.ones(2))
    with pytest.raises(FitError, match="not busy"):
        MixDemands(("a", "b"), np.array([[2.0, 1.0], [1.0, 2.0], [1.0, 3.0]]), np.zeros(3))
    with pytest.raises(InputError, match="serch.*search"):
        runs(1).demand_s({"serch": 1})


def test_the_command_tells_demands_and_writes_them(tmp_path: Path) -> None:
    simulated(tmp_path / "runs")
    fit_demands([tmp_path / "runs"], tmp_path / "d.toml", 0.95)
    told = tomllib.loads((tmp_path / "d.toml").read_text())["demands_s"]["cpu"]["buy"]
    assert told[1] < told[0] < told[2] and told[0] == pytest.approx(0.2, rel=0.05)


def test_a_slow_minute_does_not_move_the_parts() -> None:
    """A tenth of the runs twice as slow: least squares would give 10 % more."""
    terms = np.column_stack([np.ones(100), np.linspace(0, 1, 100)])
    seconds = terms @ np.array([10e-6, 5e-6])
    seconds[::10] *= 2
    assert fit_parts(terms, seconds) == pytest.approx([10e-6, 5e-6], rel=0.03)
