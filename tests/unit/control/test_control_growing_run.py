"""`sojourn fit --track-demand` of a run folder: a load that is still running, and one that has ended."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import sojourn as sj
from sojourn.cli.app import command_line
from sojourn.control import follow
from sojourn.control.decision import Seen
from sojourn.control.growing_run import growing_windows
from sojourn.control.recorded_run import recorded_windows
from sojourn.errors import InputError, RunFolderError
from sojourn.simulate.simulated_run import as_run

MODEL = """
[stations.workers]
servers = 4
[classes.user]
kind = "open"
rate_per_s = 150
[demands_s]
workers = { user = 0.02 }
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """60 s of an M/M/4."""
    return as_run(sj.Model.parse(MODEL), tmp_path_factory.mktemp("growing") / "run", seed=700_000, until_s=60).path


class GrowingRunFolder:
    """The same run as it is written: its record log, in pieces, one each time that somebody waits; the clock counts the waits."""

    def __init__(self, run: Path, folder: Path, pieces: int, ends: bool = True, weight: int = 1) -> None:
        frame = pl.read_parquet(run / "requests.parquet").with_columns(weight=pl.lit(weight, pl.UInt32)).sort("done_s")
        kinds = np.dtype([(name, frame[name].to_numpy().dtype.newbyteorder("<")) for name in frame.columns])
        rows = np.empty(frame.height, kinds)
        for name in frame.columns:
            rows[name] = frame[name].to_numpy()
        columns = [[name, kinds[name].str.lstrip("<|")] for name in frame.columns]
        header = {"format": "sojourn-record", "version": 1, "columns": columns, "meta": {}}
        self.folder, self.run, self.ends, self.waits = folder, run, ends, 0
        bytes_ = rows.tobytes()
        size = len(bytes_) // pieces + 7  # rows are cut in two
        self.left = [bytes_[k : k + size] for k in range(0, len(bytes_), size)]
        folder.mkdir()
        manifest = json.loads((run / "manifest.json").read_text())
        (folder / "manifest.json").write_text(json.dumps(manifest))
        self.log = folder / "requests.rec"
        self.header = json.dumps(header).encode() + b"\n"

    def clock(self) -> float:
        return float(self.waits)

    def sleep(self, _: float) -> None:
        self.waits += 1
        if self.waits == 1:
            self.log.write_bytes(self.header)
        elif self.left:
            with open(self.log, "ab") as file:
                file.write(self.left.pop(0))
        elif self.ends and self.log.exists():
            (self.folder / "requests.parquet").write_bytes((self.run / "requests.parquet").read_bytes())
            self.log.unlink()


def told(seen: Seen) -> dict[str, float]:
    return {name: value for name, value in seen.to_dict().items() if value is not None}


@pytest.mark.parametrize("pieces", [1, 9, 40])
def test_its_windows_are_those_of_the_finished_run(run: Path, tmp_path: Path, pieces: int) -> None:
    growing = GrowingRunFolder(run, tmp_path / "live", pieces)
    found = list(growing_windows(growing.folder, 2.0, 4, 30.0, growing.clock, growing.sleep))
    finished = list(recorded_windows(run, 2.0, 4))
    assert len(found) == len(finished) == 29
    for one, other in zip(found, finished, strict=True):  # sums in another order: to rounding
        assert told(one) == pytest.approx(told(other), rel=1e-9)


def test_windows_come_while_it_runs(run: Path, tmp_path: Path) -> None:
    growing = GrowingRunFolder(run, tmp_path / "live", 40)
    next(growing_windows(growing.folder, 2.0, 4, 30.0, growing.clock, growing.sleep))
    assert len(growing.left) > 30


def test_one_that_stays_quiet_is_over(run: Path, tmp_path: Path) -> None:
    growing = GrowingRunFolder(run, tmp_path / "live", 4, ends=False)
    assert len(list(growing_windows(growing.folder, 2.0, 4, 30.0, growing.clock, growing.sleep))) == 29


def test_the_demand_of_a_run(run: Path) -> None:
    """20 ms; on 60 s of 150/s known to about 1 %."""
    told = list(follow(run, workers=4))
    assert told[-1].status == "fresh" and told[-1].estimate.demands_s[0] == pytest.approx(0.02, rel=0.05)
    words = [
        "fit",
        "--track-demand",
        str(run.parent),
        "--model",
        "mmm",
        "--tracking-settings",
        "workers=4,window_s=5,demand_s=0.013",
    ]
    lines = CliRunner().invoke(command_line(), words).output.splitlines()
    assert len(lines) == 11 and lines[0].startswith("5.0 s: ")
    assert [k for k, line in enumerate(lines) if "the fit is out of date" in line] == [0]
    assert all(", stale" in line for line in lines)


def test_what_is_missing(run: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no number of workers.*workers=4,window_s=2"):
        list(follow(run))
    with pytest.raises(InputError, match="0 workers"):
        list(follow(run, workers=0))
    with pytest.raises(InputError, match="at least 100 s, or a shorter window_s"):
        list(follow(run, workers=4, window_s=100))
    growing = GrowingRunFolder(run, tmp_path / "live", 4, weight=2)
    with pytest.raises(RunFolderError, match="only some of its requests"):
        list(growing_windows(growing.folder, 2.0, 4, 30.0, growing.clock, growing.sleep))
