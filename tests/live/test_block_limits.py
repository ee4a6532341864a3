"""Block I/O where the machine says no: no room, no O_DIRECT, no io_uring, a rate beyond the path; and a device that is written to."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from machine import Command

from sojourn.errors import InputError, SojournError
from sojourn.load.block_load import block_load
from sojourn.measure.execute_run import execute
from sojourn.runs.block_reasons import BEYOND_CAPACITY
from sojourn.runs.run_folder import RunFolder
from sojourn_cases.storage.nbd_server import EmbeddedNbd

pytestmark = pytest.mark.live
MIB = 1 << 20
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounts, or makes a loop device: needs root")

# In a mount namespace of its own, so that the small disk is gone with it; what was on it is listed first.
ON_A_SMALL_DISK = 'mount -t tmpfs -o size=2m none small || exit 99; "$@"; code=$?; ls small > listed; exit $code'
# A filter of system calls that refuses io_uring_setup (425 on x86-64 and ARM) with EPERM, as container runtimes do.
NO_IO_URING = """
import ctypes, os, struct, sys
codes = [(0x20, 0, 0, 0), (0x15, 0, 1, 425), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000)]
program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *code) for code in codes))
filter_ = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(codes), ctypes.addressof(program)))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, filter_, 0, 0) == 0, os.strerror(ctypes.get_errno())
os.execv(sys.argv[1], sys.argv[1:])
"""


def load(folder: Path, url: str, **options: Any) -> RunFolder:
    options = {"iops": 300.0, "duration_s": 1.0, "timeout_s": 3.0} | options
    return execute(folder / "run", block_load(url, **options), what={"name": "run"})


@pytest.fixture
def loop_device(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A loop device over a file of 8 MiB of ones, gone at the end."""
    if shutil.which("losetup") is None or not Path("/dev/loop-control").exists():
        pytest.skip("no loop devices here: install the package mount, and load the kernel's module loop")
    image = tmp_path / "disk"
    image.write_bytes(b"\1" * (8 * MIB))
    made = subprocess.run(["losetup", "--find", "--show", str(image)], capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"no loop device may be made here: {made.stderr.strip()}")
    device = made.stdout.strip()
    yield device, image
    subprocess.run(["losetup", "--detach", device], check=True)


def on_a_small_disk(folder: Path, *words: str) -> Command:
    (folder / "small").mkdir()
    before = ("unshare", "-m", "sh", "-c", ON_A_SMALL_DISK, "sh")
    return Command(folder, "load", *words, "--duration", "1s", "--json", "--out", "run", before=before)


@needs_root
@pytest.mark.lab
def test_a_file_that_does_not_fit_is_not_begun(tmp_path: Path) -> None:
    command = on_a_small_disk(
        tmp_path, "file:small/new", "--region-size", "8m", "--iops", "300", "--read-fraction", "0.5"
    )
    assert command.end() == 1 and "Traceback" not in command.said()
    for words in ("file:small/new", "No space left on device", "free space, or give a smaller --region-size"):
        assert words in command.said()
    assert (tmp_path / "listed").read_text() == "" and not (tmp_path / "run").exists() and command.left() == []


@needs_root
@pytest.mark.lab
@pytest.mark.parametrize("engine", ["auto", "psync"])
def test_a_file_system_that_fills_up_under_the_load_is_told(tmp_path: Path, engine: str) -> None:
    """A file with holes, eight times as long as there is room: its first writes fit."""
    make = 'mount -t tmpfs -o size=1m none small || exit 99; truncate -s 8m small/holes; "$@"'
    (tmp_path / "small").mkdir()
    command = Command(
        tmp_path, "load", "file:small/holes", "--iops", "1500", "--read-fraction", "0", "--duration", "1s",
        "--engine", engine, "--out", "run",
        before=("unshare", "-m", "sh", "-c", make, "sh"),
    )  # fmt: skip
    assert command.end() != 0 and "Traceback" not in command.said()
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["storage"]["errors"]["ENOSPC"] > 0 and manifest["storage"]["writes"] > 0
    assert not manifest["valid"] and any("with ENOSPC; no space left" in reason for reason in manifest["reasons"])
    assert command.left() == []


def test_a_file_system_without_direct_io_is_refused(tmp_path: Path) -> None:
    """/proc knows no O_DIRECT on any kernel."""
    with pytest.raises(SojournError, match="/proc/version.*refuses O_DIRECT.*leave --direct out"):
        load(tmp_path, "file:/proc/version", direct=True)
    assert not (tmp_path / "run").exists()


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="no tmpfs at /dev/shm")
def test_o_direct_on_a_file_system_in_memory_is_refused_or_told_to_be_cached() -> None:
    """tmpfs refuses O_DIRECT on older kernels, and takes it on newer ones, where everything is in the page cache all the same."""
    folder = Path("/dev/shm") / f"sojourn-test-{os.getpid()}"
    folder.mkdir()
    try:
        (folder / "img").write_bytes(os.urandom(MIB))
        try:
            run = load(folder, f"file:{folder / 'img'}", direct=True)
        except SojournError as error:
            assert "O_DIRECT" in str(error)
        else:
            assert "cached" in run.manifest["storage"]["status"]
    finally:
        shutil.rmtree(folder)


@pytest.mark.parametrize("engine", ["auto", "io_uring"])
def test_without_io_uring_threads_do_it_or_the_remedy_is_told(tmp_path: Path, engine: str) -> None:
    (tmp_path / "img").write_bytes(os.urandom(MIB))
    before = (sys.executable, "-c", NO_IO_URING)
    command = Command(
        tmp_path, "load", "file:img", "--iops", "300", "--duration", "1s", "--engine", engine, "--out", "run", before=before
    )  # fmt: skip
    code = command.end()
    assert "Traceback" not in command.said() and command.left() == []
    if engine == "io_uring":
        assert code != 0 and "--engine io_uring" in command.said() and "take --engine psync" in command.said()
        assert not (tmp_path / "run").exists()
    else:
        storage = json.loads((tmp_path / "run" / "manifest.json").read_text())["storage"]
        assert storage["engine"] == "psync" and storage["reads"] > 0 and storage["errors"] == {}


def test_a_rate_beyond_the_path_is_told_and_memory_stays_bounded(tmp_path: Path) -> None:
    """A server that answers 20 ms later, four at a time: 200 a second at most. The queue of 64 is full at once, and stays as it is."""
    server, most = EmbeddedNbd(memory_bytes=MIB, delay_s=0.02), list[int]()

    def look(_: object) -> None:
        most.append(max((peak_kib(pid) for pid in children(os.getpid())), default=0))

    try:
        config = block_load(server.url, iops=8000.0, duration_s=3.0, timeout_s=2.0, depth=4, queue=64)
        run = execute(tmp_path / "run", config, what={"name": "run"}, progress=look)
    finally:
        server.close()
    storage = run.manifest["storage"]
    assert storage["status"] == ["saturated"] and storage["completed"] <= 4 / 0.02 * 3.0 + 4
    # all but what was done, was under way or waited at the end, and may wait for slots that are free
    assert storage["refused"] >= storage["due"] - storage["completed"] - 2 * 4 - 64 > 20_000
    assert not run.manifest["valid"] and any(reason.startswith(BEYOND_CAPACITY) for reason in run.manifest["reasons"])
    assert most[-1] - most[1] < 16 << 10  # KiB, in two seconds in which 16 000 I/Os fell due


@needs_root
@pytest.mark.lab
def test_a_device_that_is_named_twice_is_written_to_and_no_other(tmp_path: Path, loop_device: tuple[str, Path]) -> None:
    device, image = loop_device
    with pytest.raises(InputError, match=f"--allow-writes-to {device}"):
        load(tmp_path, f"blk:{device}", read=0.5)
    with pytest.raises(InputError, match=f"--allow-writes-to {device}"):
        load(tmp_path, f"blk:{device}", read=0.5, yes_destroy="/dev/loop-other")
    assert image.read_bytes() == b"\1" * (8 * MIB) and not (tmp_path / "run").exists()
    run = load(
        tmp_path,
        f"blk:{device}",
        read=0.5,
        yes_destroy=device,
        span="2m",
        block="8k",
        direct=True,
        verify=True,
        fsync_every=20,
    )
    storage = run.manifest["storage"]
    assert storage["writes"] > 0 and storage["verified"] > 0 and storage["flushes"] > 0
    assert (storage["wrong"], storage["errors"], storage["span_bytes"]) == (0, {}, 2 * MIB)
    os.sync()
    after = image.read_bytes()
    assert after[: 2 * MIB] != b"\1" * (2 * MIB), "what was written is there"
    assert after[2 * MIB :] == b"\1" * (6 * MIB), "beyond the span nothing is"
    held = os.open(device, os.O_RDWR | os.O_EXCL)  # as one has it that mounts it
    try:
        with pytest.raises(SojournError, match="in use"):
            load(tmp_path / "other", f"blk:{device}", read=0.5, yes_destroy=device)
    finally:
        os.close(held)


def children(pid: int) -> list[int]:
    found: list[int] = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        found += [int(word) for word in path.read_text().split()]
    return found


def peak_kib(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)
