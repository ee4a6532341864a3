"""The storage study, as short as can be: two paths to one file, runs at rest among them, and nothing left; a server that dies."""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time
from pathlib import Path

import polars as pl
import pytest
from machine import made_by_labs

from sojourn.errors import StudyError
from sojourn.lab.process_tree import wait_until
from sojourn.study import run_study
from sojourn.study.system import Point
from sojourn_cases.storage.costs import read_storage_runs, size_storage
from sojourn_cases.storage.costs.sizing import RUNS
from sojourn_cases.storage.storage_paths import PREFIX, StoragePath
from sojourn_cases.storage.storage_system import DISTURBED, FAILED, StorageLoad, StorageSystem, StorageSystemOptions

pytestmark = [pytest.mark.live, pytest.mark.alone, pytest.mark.lab]
needs_qemu = pytest.mark.skipif(shutil.which("qemu-nbd") is None, reason="needs the package qemu-utils")

STUDY = """
name = "short"

[system]
kind = "storage"
size = "16Mi"

[system.paths.local]

[system.paths.nbd]
server = "qemu-nbd"

[load]
for = 1.0

[[section]]
name = "effects"
vary = { read = [0.0, 1.0], path = ["local", "nbd"], iops = [300, 1200] }

[[section]]
name = "background"
repetitions = 3
set = { iops = 0 }

[[analysis]]
name = "storage"
section = "effects"
"""


@needs_qemu
def test_two_paths_and_what_they_cost(tmp_path: Path) -> None:
    before = set(made_by_labs())
    file = tmp_path / "study.toml"
    file.write_text(STUDY)
    said: list[str] = []
    found = run_study(file, out=tmp_path / "out", say=said.append)
    runs = read_storage_runs(tmp_path / "out" / RUNS)
    busy = runs.filter(pl.col("iops") > 0)
    assert (busy.height, runs.height) == (8, 11)
    # those that were under way at the end are not completed
    assert (busy["due"] - busy["completed"] <= 0.1 * busy["due"]).all() and busy["refused"].sum() == 0
    assert set(busy["cache_share"]) == {0.0}
    # a server's time is its control group's: there is some on that path alone
    assert set(busy.filter(pl.col("server_cores") > 0)["path"]) == {"nbd"}
    assert (busy["client_cores"] > 0).all() and set(runs["meter"]) == {"residual"}
    assert {one.cost.path for one in size_storage(tmp_path / "out", 10_000)} == {"local", "nbd"}
    assert any("ratio of the paths" in line for line in found.verdict)
    assert not list(Path("/var/tmp").glob(f"{PREFIX}*")) and set(made_by_labs()) <= before
    again: list[str] = []
    run_study(file, out=tmp_path / "out", say=again.append)
    assert any("11 of 11 runs already exist" in line for line in again)
    with pytest.raises(StudyError, match="path = 'fc'"):
        run_study(file, storage_paths=("fc",))


def test_without_a_package_by_our_own_server(tmp_path: Path) -> None:
    options = StorageSystemOptions(size="16Mi", paths={"own": StoragePath(server="embedded")})
    system = StorageSystem(options, StorageLoad(duration_s=0.5), tmp_path)
    with system.place() as place, system.open(place) as session:
        found = session.run(Point("x", system.settled({"iops": 300, "read": 0.5}, "x")), tmp_path / "run", 1)
    told = found.manifest["storage"]
    assert (told["server"], told["cache_share"], told["errors"]) == ("embedded", 0.0, {})
    assert told["reads"] > 0 and told["writes"] > 0 and told["server_cores"] > 0


@needs_qemu
def test_a_server_that_dies_costs_its_run_and_no_more(tmp_path: Path) -> None:
    options = StorageSystemOptions(size="16Mi", paths={"nbd": StoragePath(server="qemu-nbd")})
    system = StorageSystem(options, StorageLoad(duration_s=1.0, timeout_s=1.0), tmp_path)
    point = Point("x", system.settled({"iops": 500}, "x"))

    def end_the_server() -> None:
        wait_until((tmp_path / "broken/requests.rec").exists, 30.0)
        time.sleep(0.5)  # the load of 1 s has begun
        for comm in Path("/proc").glob("[0-9]*/comm"):
            if comm.read_text() == "qemu-nbd\n" and b"sojourn-storage-" in (comm.parent / "cmdline").read_bytes():
                os.kill(int(comm.parent.name), signal.SIGKILL)

    with system.place() as place, system.open(place) as session:
        killer = threading.Thread(target=end_the_server)
        killer.start()
        began_s = time.monotonic()
        broken = session.run(point, tmp_path / "broken", 1)
        assert time.monotonic() - began_s < 20  # each I/O ends within its limit of 1 s, and so does the run
        killer.join()
        whole = session.run(point, tmp_path / "whole", 2)
    assert not broken.manifest["valid"] and broken.manifest["storage"]["verdict"] == FAILED
    assert any("qemu-nbd ended during the run: -9" in reason for reason in broken.manifest["reasons"])
    # Another guest of this machine may disturb it, which is no trace of the dead server.
    assert whole.manifest["storage"]["verdict"] in ("", DISTURBED) and whole.manifest["storage"]["completed"] > 0
    assert not any("qemu-nbd" in reason for reason in whole.manifest["reasons"])
