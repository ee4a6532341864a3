"""A slow disk has the rate asked for and a true busy time, and is gone however its maker ends."""

from __future__ import annotations

import mmap
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from machine import MAIN

from sojourn.lab.cleanup_registry import clean_stale
from sojourn.lab.loop_disk import attached
from sojourn.lab.process_tree import wait_until
from sojourn.lab.slow_disk import SlowDisk, slow_disk

pytestmark = [pytest.mark.live, pytest.mark.lab]
BPS, BLOCK = 10e6, 1 << 20
SIZE = 64_001_000  # not in whole pages
WRITTEN = 24  # blocks: 2.5 s
COMMAND = [sys.executable, "-c", MAIN, "lab", "disk"]

WRITER = """
import mmap, os, sys, time
way, path = sys.argv[1:]
block = mmap.mmap(-1, BLOCK)
block.write(os.urandom(BLOCK))
file = os.open(path, os.O_CREAT | os.O_WRONLY | (os.O_DIRECT if way == "direct" else 0), 0o600)
began = time.monotonic()
for k in range(COUNT):
    os.pwrite(file, block, k * BLOCK)
    if way == "flushed":
        os.fsync(file)
print(time.monotonic() - began)
""".replace("BLOCK", str(BLOCK)).replace("COUNT", str(WRITTEN))


def busy_s(device: str) -> float:
    """The time in which it had something to do: field 13 of /proc/diskstats, ms."""
    rows = (line.split() for line in Path("/proc/diskstats").read_text().splitlines())
    return next(float(row[12]) for row in rows if row[2] == device) / 1e3


@pytest.fixture(scope="module")
def disk() -> Iterator[SlowDisk]:
    with slow_disk(BPS, SIZE) as made:
        yield made


@pytest.mark.alone
@pytest.mark.parametrize("way", ["direct", "flushed"])
def test_the_rate_is_as_asked_and_the_disk_is_busy_meanwhile(disk: SlowDisk, way: str) -> None:
    tries = []
    for _ in range(3):
        before = busy_s(disk.device)
        told = subprocess.run(
            [sys.executable, "-c", WRITER, way, str(disk.folder / way)], capture_output=True, text=True, check=True
        )
        tries.append((float(told.stdout), busy_s(disk.device) - before))
        if tries[-1][1] > 0.98 * tries[-1][0]:
            break
    # The writer can be kept from a core between two writes, in which the disk is idle: the least of three.
    took_s, busy = min(tries, key=lambda one: one[0] - one[1])
    assert WRITTEN * BLOCK / took_s == pytest.approx(BPS, rel=0.05)
    assert busy == pytest.approx(took_s, rel=0.02)


@pytest.mark.alone
def test_a_disk_that_has_less_to_do_is_less_busy(disk: SlowDisk) -> None:
    """Utilisation law: 40 writes of 100 kB in 2 s are 2 MB/s of 10; a page of the file system is the least that is written."""
    size, count = 25 * 4096, 40
    between_s = 0.0507  # not in step with the kernel's tick of 4 ms, which rounds busy times
    with mmap.mmap(-1, size) as block:
        block.write(os.urandom(size))
        file = os.open(disk.folder / "spaced", os.O_CREAT | os.O_WRONLY | os.O_DIRECT, 0o600)
        before, began_s = busy_s(disk.device), time.monotonic()
        for k in range(count):
            time.sleep(max(0.0, began_s + k * between_s - time.monotonic()))
            os.pwrite(file, block, k * size)
        os.close(file)
    assert busy_s(disk.device) - before == pytest.approx(count * size / BPS, rel=0.15)


@pytest.mark.alone
def test_the_limit_can_be_taken_away(disk: SlowDisk) -> None:
    disk.set_rate(None)
    for way in ("direct", "flushed"):
        (disk.folder / way).unlink()
    began_s = time.monotonic()
    assert disk.run([sys.executable, "-c", WRITER, "direct", "{}/free"]) == 0
    assert time.monotonic() - began_s < 0.5 * WRITTEN * BLOCK / BPS
    disk.set_rate(BPS)


def test_its_size_is_kept(disk: SlowDisk) -> None:
    with open(disk.folder / "full", "wb") as file, pytest.raises(OSError, match="No space left"):
        file.write(bytes(2 * SIZE))
    (disk.folder / "full").unlink()


def test_an_error_leaves_nothing() -> None:
    with pytest.raises(ZeroDivisionError), slow_disk(BPS, SIZE) as made:
        assert os.path.ismount(made.folder)
        raise ZeroDivisionError
    assert gone(made.folder)


def gone(files: Path) -> bool:
    slow = files.parent / "slow"
    return (
        not files.parent.exists() and str(files.parent) not in Path("/proc/mounts").read_text() and not attached(slow)
    )


def ended(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 130


def killed(process: subprocess.Popen[str]) -> None:
    """By the next start."""
    process.kill()
    process.wait()
    removed = clean_stale()
    assert any("sojourn-disk-" in name for name in removed)


@pytest.mark.parametrize("end", [ended, killed])
@pytest.mark.usefixtures("own_registries")
def test_nothing_is_left_however_it_ends(end: Callable[[subprocess.Popen[str]], None], tmp_path: Path) -> None:
    told = tmp_path / "told"
    script = f"cd {{}}; echo $SOJOURN_DISK $$ > {told}.new; mv {told}.new {told}; exec sleep 60"
    process = subprocess.Popen([*COMMAND, "--bytes-per-s", "10M", "--size", "64M", "--", "sh", "-c", script], text=True)
    assert wait_until(told.exists, 20)
    files, pid = told.read_text().split()
    assert os.path.ismount(files)
    end(process)
    assert gone(Path(files))
    assert wait_until(lambda: not Path("/proc", pid).exists(), 5)


def test_the_command_says_how_it_ended(tmp_path: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "--size", "64M", "--", "sh", "-c", "echo {}; exit 3"], capture_output=True, text=True
    )
    assert done.returncode == 3 and not Path(done.stdout.strip()).exists()
    assert "no limit" in done.stderr
