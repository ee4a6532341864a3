"""A disk as slow as one wants, whose busy time is true: the kernel's counter of the time in which it had something to do.

A loop device over a file; the rate is a limit of a control group (kernel: Documentation/admin-guide/cgroup-v1/blkio-controller.rst,
cgroup-v2.rst, "IO") on the disk *below* it, for what its members wrote: the loop device's worker writes in the name of who asked. So
requests wait in the loop device, and its busy time (`io_ticks`) is that of a disk of this rate. A limit on the loop device itself would
hold them before its queue, where nothing counts.

Only members of the group have a slow disk. With control groups of version 1 what the kernel writes back by itself, 30 s later, is nobody's
and has no limit; what is flushed (fsync), written with O_DIRECT or read is limited with both versions. Reading and writing have the rate
each.
"""

from __future__ import annotations

import ctypes
import os
import secrets
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sojourn.errors import InputError, LabError
from sojourn.lab import loop_disk
from sojourn.lab.cgroups import make_group, write
from sojourn.lab.cleanup_registry import CleanupRegistry, clean_stale
from sojourn.lab.process_tree import PR_SET_PDEATHSIG, send

LEAST_BPS, MOST_BPS = 1e4, 1e11
LEAST_BYTES, MOST_BYTES = 8_000_000, 1_000_000_000_000
USUAL_BYTES = 1_000_000_000
WAYS = ("read", "write")
HEEDED_S, GRACE_S = 0.5, 30.0  # a terminal's Ctrl-C has reached the command, too


@dataclass(frozen=True)
class SlowDisk:
    """A mounted one. `folder`: for files; `device`: its name in /proc/diskstats, as loop0; `cgroup`: whose members have
    the rate; `bps`: in bytes/s, None: as fast as the disk below, which wrote `below_bps` when this one was made."""

    folder: Path
    device: str
    cgroup: Path
    bps: float | None
    below: str
    below_bps: float

    @classmethod
    def make(
        cls, registry: CleanupRegistry, token: str, bps: float | None, size_bytes: int, at: Path | None = None
    ) -> SlowDisk:
        """Makes it in a new folder in `at` (the usual one for temporary files); `registry` removes it.

        Raises:
            InputError: a rate or size out of range. LabError: this machine lacks something, or the disk below is slower.
        """
        check(bps, size_bytes)
        loop_disk.check_machine()
        parent = Path(at or tempfile.gettempdir()).resolve()
        if not parent.is_dir():
            raise InputError("no such folder", parent, "give --at a folder that exists")
        below = loop_disk.disk_below(parent)
        group = make_group(
            registry, f"sojourn-{token}", lambda made: set_rate(made, below, bps), "a rate of a disk (CONFIG_BLK_DEV_THROTTLING)", "blkio"
        )  # fmt: skip
        place = parent / f"{loop_disk.PREFIX}{token}"
        registry.add(disk=str(place))
        made = loop_disk.make(place, size_bytes)
        if bps is not None and made.below_bps < bps:
            found = f"{bps / 1e6:g} MB/s wanted; the disk below wrote {made.below_bps / 1e6:.3g} MB/s"
            raise LabError(found, parent, "give a lower --bps, or --at a folder on a faster disk")
        return cls(made.files, made.device, group, bps, below, made.below_bps)

    def add(self, pid: int) -> None:
        """Takes a process with all its threads; children that it has already stay where they are."""
        write(self.cgroup / "cgroup.procs", str(pid))

    def set_rate(self, bps: float | None) -> None:
        """Another rate from now on; None: no limit."""
        check(bps, LEAST_BYTES)
        set_rate(self.cgroup, self.below, bps)

    def run(self, words: Sequence[str]) -> int:
        """Runs a command as a member, `{}` in it replaced by the folder, until it ends; its exit code (of a signal 128 + its number).

        It finds the folder and the device also in its environment, as SOJOURN_DISK and SOJOURN_DISK_DEVICE.

        Raises:
            InputError: it cannot be started.
        """
        argv = [word.replace("{}", str(self.folder)) for word in words]
        told = {"SOJOURN_DISK": str(self.folder), "SOJOURN_DISK_DEVICE": self.device}

        def prepare() -> None:
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
            self.add(os.getpid())

        try:
            process = subprocess.Popen(argv, env={**os.environ, **told}, preexec_fn=prepare)
        except OSError as error:
            raise InputError(f"{argv[0]}: {error.strerror}", "lab disk", "give a program that runs here") from None
        try:
            code = process.wait()
        except BaseException:
            _end(process)
            raise
        return code if code >= 0 else 128 - code


def _end(process: subprocess.Popen[bytes]) -> None:
    """Waits for one that has heard of the end, and tells one that has not; the registry kills what is left."""
    for wait_s in (HEEDED_S, GRACE_S):
        with suppress(subprocess.TimeoutExpired):
            process.wait(wait_s)
            return
        send([process.pid], signal.SIGTERM)
    process.kill()
    process.wait()


def check(bps: float | None, size_bytes: int) -> None:
    """InputError for a rate or a size out of range."""
    if bps is not None and not LEAST_BPS <= bps <= MOST_BPS:
        raise InputError(f"{bps:g} bytes/s", "--bps", f"give {LEAST_BPS:g} to {MOST_BPS:g}, such as 20M")
    if not LEAST_BYTES <= size_bytes <= MOST_BYTES:
        raise InputError(f"{size_bytes:g} bytes", "--size", f"give {LEAST_BYTES:g} to {MOST_BYTES:g}, such as 1G")


def set_rate(group: Path, disk: str, bps: float | None) -> None:
    """The limit of a control group on `disk` (major:minor), of either version; None takes it away.

    Raises:
        OSError: the group has none for disks.
    """
    if (group / "io.max").exists():
        rate = "max" if bps is None else f"{bps:.0f}"
        write(group / "io.max", f"{disk} rbps={rate} wbps={rate}")
        return
    for way in WAYS:
        write(group / f"blkio.throttle.{way}_bps_device", f"{disk} {bps or 0:.0f}")


@contextmanager
def slow_disk(bps: float | None, size_bytes: int = USUAL_BYTES, at: Path | None = None) -> Iterator[SlowDisk]:
    """A slow disk for as long as the block lasts; what a killed start left is removed first. Arguments and errors: `SlowDisk.make`.

    Whatever is in its control group at the end is killed, and the disk with all that is on it is gone.
    """
    clean_stale()
    token = secrets.token_hex(3)
    registry = CleanupRegistry(token)
    try:
        yield SlowDisk.make(registry, token, bps, size_bytes, at)
    finally:
        registry.close()
