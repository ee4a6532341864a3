"""Paths of the storage study without a load: what may be written, what is lacking, the file; CPU of a stretch of time by who used it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest

from sojourn.errors import InputError, LabError, StudyError
from sojourn.lab.owned_folder import OWNER
from sojourn.measure.cpu_residual import ResidualMeter
from sojourn.runs.run_folder import RunFolder
from sojourn.study.checked_study import read_plan
from sojourn_cases.storage import storage_paths
from sojourn_cases.storage.storage_paths import FILE, PREFIX, StoragePath, filled_file
from sojourn_cases.storage.storage_system import (
    DISTURBED,
    FAILED,
    INVALID,
    SATURATED,
    StorageLoad,
    StorageSystem,
    StorageSystemOptions,
    assessed,
)
from sojourn_cases.storage.window_cpu import WindowReader, group_s

STUDY = Path(__file__).parents[3] / "studies" / "storage"


def of(**paths: StoragePath) -> StorageSystem:
    return StorageSystem(StorageSystemOptions(paths=paths), StorageLoad(), Path())


def test_the_quick_study_is_the_one_of_the_document() -> None:
    """2^5 combinations three times and 18 at rest, in one order."""
    plan = read_plan(STUDY, quick=True)
    at_rest = [k for k, point in enumerate(plan.measured) if not point.factors["iops"]]
    assert (len(plan.measured), len(at_rest)) == (96 + 18, 18)
    assert at_rest != sorted(range(18)) and max(b - a for a, b in pairwise(at_rest)) < 30


def test_a_device_is_written_to_only_when_it_is_named_twice() -> None:
    place = "[[section]]"
    device = StoragePath(url="blk:/dev/vdz")
    named = StoragePath(url="blk:/dev/vdz", yes_destroy="/dev/vdz")
    assert of(fc=device).settled({"iops": 100, "read": 1.0}, place)["path"] == "fc"
    with pytest.raises(InputError, match="yes_destroy"):
        of(fc=device).settled({"iops": 100, "read": 0.5}, place)
    assert of(fc=named).settled({"iops": 100, "read": 0.5}, place)["read"] == 0.5
    mounted = StoragePath(url="file:/mnt/img", yes_destroy="file:/mnt/img")
    assert of(nfs=mounted).settled({"iops": 100, "read": 0.5}, place)["path"] == "nfs"
    with pytest.raises(InputError, match="yes_destroy = '/dev/vda'"):
        of(fc=StoragePath(url="blk:/dev/vdz", yes_destroy="/dev/vda"))
    with pytest.raises(InputError, match="one of them"):
        of(x=StoragePath(url="nbd://host", server="qemu-nbd"))


def test_without_the_server_other_paths_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    plan = read_plan(STUDY, quick=True)
    assert {point.factors["path"] for point in plan.measured} == {"local"}
    assert any("qemu-utils" in line for line in plan.not_shown)
    with pytest.raises(StudyError, match="qemu-utils"):
        read_plan(STUDY, paths=["nbd"], only=["effects"])


def test_a_path_that_is_not_in_the_study_is_refused_with_how_to_get_it() -> None:
    with pytest.raises(InputError, match=r"path = 'nfs'; give one of local, nbd.*\[system.paths\]"):
        read_plan(STUDY, paths=["local", "nfs"], quick=True)


def test_a_window_whose_meter_ends_is_one_error_and_no_traceback(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """As when a run is interrupted: the loops are ended first."""
    (tmp_path / "stat").write_text("cpu0 0 0 0 0 0 0 0 0\n")
    spinners = SimpleNamespace(pid=1, threads={0: 1}, work=0)
    meter = ResidualMeter(spinners, [0], tmp_path)  # type: ignore[arg-type]
    reader = WindowReader(meter, {}, [0], time.monotonic() + 0.1, 0.1)
    with pytest.raises(LabError, match="loops have ended"):
        reader.result([])
    assert capfd.readouterr().err == ""


def test_the_file_is_whole_and_gone_at_the_end(tmp_path: Path) -> None:
    stale = tmp_path / f"{PREFIX}killed"
    stale.mkdir()
    (stale / OWNER).write_text('{"pid": 1, "started": -1}')
    with filled_file(Path("/var/tmp"), 2 << 20) as file:
        told = file.stat()
        assert (file.name, told.st_size) == (FILE, 2 << 20)
        assert told.st_blocks * 512 >= told.st_size  # no hole
        assert len(set(file.read_bytes()[:4096])) > 200
    assert not file.parent.exists()
    with pytest.raises(LabError, match="no such|No such"), filled_file(tmp_path / "not there", 1 << 20):
        pass
    with pytest.raises(LabError, match="whole MiB"), filled_file(tmp_path, 1000):
        pass
    with pytest.raises(LabError, match="smaller"), filled_file(tmp_path, 1 << 50):
        pass
    assert not stale.exists()


def test_a_file_that_takes_no_o_direct(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, flags: int) -> int:
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(storage_paths.os, "open", refuse)
    with pytest.raises(LabError, match="O_DIRECT"), filled_file(Path("/var/tmp"), 1 << 20):
        pass


@pytest.mark.parametrize(("manifest", "verdicts"), [
    ({"reasons": []}, []),
    ({"reasons": ["disturbed: the hypervisor took 3% of a core"]}, [DISTURBED]),
    ({"reasons": ["5 of 10 requests after the warm-up failed (timeout: 5); at most 1%", "times are out of order: …"]}, [FAILED, INVALID]),
    ({"reasons": ["beyond capacity: 0.970 of the 1000 I/Os were done in time; …"]}, [SATURATED]),
])  # fmt: skip
def test_what_makes_a_run_invalid_is_what_keeps_it_out_of_the_effects(
    tmp_path: Path, manifest: dict[str, object], verdicts: list[str]
) -> None:
    found = list(assessed(RunFolder.create(tmp_path / "run", manifest)))
    assert [verdict for verdict, _ in found] == verdicts


@pytest.mark.parametrize(("file", "text", "seconds"), [
    ("cpuacct.usage", "1500000000\n", 1.5), ("cpu.stat", "usage_usec 2500000\nuser_usec 1\n", 2.5),
])  # fmt: skip
def test_time_of_a_group_of_either_kind(tmp_path: Path, file: str, text: str, seconds: float) -> None:
    assert group_s(tmp_path) != group_s(tmp_path)  # not a number: there is none
    (tmp_path / file).write_text(text)
    assert group_s(tmp_path) == pytest.approx(seconds)


def test_a_stranger_is_seen_and_the_run_s_own_are_not() -> None:
    """Of two programs that burn 0.1 s of CPU each in a stretch of 0.6 s one is known. No upper bound: others run here, too."""
    burn = "import time; e = time.process_time() + 0.1\nwhile time.process_time() < e: pass\ninput()"
    start_s = time.monotonic() + 0.3
    reader = WindowReader(None, {}, os.sched_getaffinity(0), start_s, 0.6)
    time.sleep(max(start_s - time.monotonic(), 0))
    programs = [subprocess.Popen([sys.executable, "-c", burn], stdin=subprocess.PIPE) for _ in range(2)]
    found = reader.result({os.getpid(), programs[0].pid})
    for program in programs:
        program.communicate(b"\n")
    assert found.meter == "ticks" and found.window_s == pytest.approx(0.6, abs=0.1)
    assert found.foreign_cores * found.window_s >= 0.09
