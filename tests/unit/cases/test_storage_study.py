"""The storage study on simulated paths, by the one engine: what was put in comes out, and a planted fault is told."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from sojourn.cli.app import command_line
from sojourn.errors import InputError, StudyError
from sojourn.study.checked_study import read_plan
from sojourn_cases.storage.costs import cost_per_io, read_storage_runs, size_storage
from sojourn_cases.storage.costs.sizing import RUNS
from sojourn_cases.storage.simulated_storage import SimulatedStorageOptions
from sojourn_cases.storage.storage_simulated import (
    SimulatedStorage,
    SimulatedStorageLoad,
    SimulatedStorageSystemOptions,
)

STUDY = Path(__file__).parents[3] / "studies" / "storage-virtual" / "study.toml"


def ran(tmp_path: Path, *more: str, fault: str = "none") -> tuple[str, Path]:
    (tmp_path / "study.toml").write_text(STUDY.read_text().replace("[load]", f'fault = "{fault}"\n\n[load]'))
    out = tmp_path / "out"
    done = CliRunner().invoke(command_line(["study"]), ["study", str(tmp_path), "--out", str(out), *more])
    assert done.exit_code == 0, done.output
    return done.output, out


def test_costs_come_back_and_size_a_host(tmp_path: Path) -> None:
    said, out = ran(tmp_path)
    assert "us an I/O" in said and "ratio of the paths" in said
    runs = read_storage_runs(out / RUNS)
    assert (runs.filter(pl.col("iops") > 0).height, runs.filter(pl.col("iops") == 0).height) == (96, 18)
    truth = SimulatedStorageOptions().paths
    for cost in cost_per_io(runs):
        assert 1e6 * cost.seconds == pytest.approx(float(truth[cost.path].mean_us()), rel=0.05)
    local, nbd = size_storage(out, 70_000)
    assert (local.cores, nbd.cores) == (3, 6)  # 70 K times 37.6 and 81.6 us: 2.6 and 5.7


def test_one_path_of_the_file_and_how_often(tmp_path: Path) -> None:
    words = ["study", str(STUDY), "--out", str(tmp_path / "out"), "--replications", "2"]
    done = CliRunner().invoke(command_line(["study"]), [*words, "--storage-paths", "local"])
    assert done.exit_code == 0, done.output
    runs = read_storage_runs(tmp_path / "out" / RUNS)
    assert set(runs["path"]) == {"local"}
    # 2^4 combinations twice; the file's own 18 runs at rest stay
    assert (runs.filter(pl.col("iops") > 0).height, runs.filter(pl.col("iops") == 0).height) == (32, 18)
    with pytest.raises(StudyError, match="'fc'"):
        read_plan(STUDY, paths=["fc"])
    with pytest.raises(StudyError, match="no section|varies path"):
        read_plan(STUDY.parents[1] / "web", paths=["local"])


def test_a_fault_is_told(tmp_path: Path) -> None:
    said, _ = ran(tmp_path, "--replications", "1", fault="cached")
    assert "cached" in said and "O_DIRECT" in said


def test_an_unknown_fault() -> None:
    with pytest.raises(InputError, match="'hot'"):
        SimulatedStorage(SimulatedStorageSystemOptions(fault="hot"), SimulatedStorageLoad(), Path())
