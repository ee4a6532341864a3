"""Folders and files whose names have newlines, blanks, leading dashes, or are not UTF-8: bytes are all that Linux asks of a name."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sojourn as sj
from sojourn.runs.run_folder import RunFolder
from sojourn.simulate.simulated_run import as_run

SHOP = Path(__file__).resolve().parents[2] / "examples/site.toml"
NAMES = [b"two words", b"new\nline", b"-dash", b"caf\xe9", b"\x1b]0;title\x07"]


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("simulated") / "run"
    as_run(sj.Model.read(SHOP), folder, until_s=20, seed=1)
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_a_run_folder(tmp_path: Path, simulated: Path, name: bytes) -> None:
    folder = tmp_path / os.fsdecode(name)
    shutil.copytree(simulated, folder)
    run = RunFolder.open(folder)
    frame = run.frame("requests")
    assert frame is not None and frame.height > 100
    assert sj.Metrics.read(folder / "metrics.parquet").frame.height > 0


@pytest.mark.parametrize("name", NAMES)
def test_a_run_folder_that_is_written(tmp_path: Path, name: bytes) -> None:
    folder = tmp_path / os.fsdecode(name)
    as_run(sj.Model.read(SHOP), folder, until_s=10, seed=1)
    assert sj.Metrics.read(folder / "metrics.parquet").frame.height > 0


def test_commands_on_names_that_are_not_utf_8(tmp_path: Path, simulated: Path) -> None:
    for name in (b"caf\xe9", b"new\nline"):
        shutil.copytree(simulated, tmp_path / os.fsdecode(name))
        for words in (["query", "mean(response_time) < 9s", name], ["report", name, "--out", name + b".html"]):
            command = [sys.executable, "-m", "sojourn", *words]
            done = subprocess.run(command, capture_output=True, cwd=tmp_path, timeout=120)
            assert done.returncode == 0 and not done.stderr, done.stderr
        assert (tmp_path / os.fsdecode(name + b".html")).stat().st_size > 10_000
