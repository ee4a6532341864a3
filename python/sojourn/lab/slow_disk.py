"""A disk as slow as one wants, whose busy time is true: the kernel's counter of the time in which it had something to do.

A loop device over a file that is served at a rate, one request after the other (slow_file.py). So requests wait in the loop device, as they
do in front of a disk, and its busy time (`io_ticks`) is that of a disk which needs bytes / rate for a request.
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

from sojourn.errors import InputError
from sojourn.lab import loop_disk
from sojourn.lab.cleanup_registry import MARK, CleanupRegistry, clean_stale
from sojourn.lab.loop_disk import RATE
from sojourn.lab.process_tree import PR_SET_PDEATHSIG, send

LEAST_BPS, MOST_DISK_BPS = 1e4, 1e9
LEAST_BYTES, MOST_BYTES = 8_000_000, 1_000_000_000_000
USUAL_BYTES = 1_000_000_000
HEEDED_S, GRACE_S = 0.5, 30.0  # a terminal's Ctrl-C has reached the command, too


@dataclass(frozen=True)
class SlowDisk:
    """A mounted one. `folder`: for files; `device`: its name in /proc/diskstats, as loop0."""

    folder: Path
    device: str
    _made: loop_disk.LoopDisk
    _token: str

    @classmethod
    def make(
        cls, registry: CleanupRegistry, token: str, bps: float | None, size_bytes: int, at: Path | None = None
    ) -> SlowDisk:
        """Makes it in a new folder in `at` (the usual one for temporary files); `registry` removes it.

        Raises:
            InputError: a rate or size out of range, no such folder. LabError: this machine lacks something.
        """
        check(bps, size_bytes)
        loop_disk.check_machine()
        parent = Path(at or tempfile.gettempdir()).resolve()
        if not parent.is_dir():
            raise InputError("no such folder", parent, "give an --image-folder that exists")
        place = parent / f"{loop_disk.PREFIX}{token}"
        registry.add(disk=str(place), mark=token)
        made = loop_disk.make(place, size_bytes)
        disk = cls(made.files, made.device, made, token)
        disk.set_rate(bps)
        return disk

    def set_rate(self, bps: float | None) -> None:
        """Bytes per second from now on, read and written together; None: as fast as the file below."""
        check(bps, LEAST_BYTES)
        with open(self._made.rate, "r+b") as file:
            file.write(RATE.pack(bps or 0.0))

    def close(self) -> None:
        """Ends who served it, when it is unmounted."""
        self._made.server.close()

    def run(self, words: Sequence[str]) -> int:
        """Runs a command, `{}` in it replaced by the folder, until it ends; its exit code (of a signal 128 + its number).

        It finds the folder and the device also in its environment, as SOJOURN_DISK and SOJOURN_DISK_DEVICE.

        Raises:
            InputError: it cannot be started.
        """
        argv = [word.replace("{}", str(self.folder)) for word in words]
        told = {"SOJOURN_DISK": str(self.folder), "SOJOURN_DISK_DEVICE": self.device, MARK: self._token}

        def prepare() -> None:
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)

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
    if bps is not None and not LEAST_BPS <= bps <= MOST_DISK_BPS:
        raise InputError(f"{bps:g} bytes/s", "--bytes-per-s", f"give {LEAST_BPS:g} to {MOST_DISK_BPS:g}, such as 20M")
    if not LEAST_BYTES <= size_bytes <= MOST_BYTES:
        raise InputError(f"{size_bytes:g} bytes", "--size", f"give {LEAST_BYTES:g} to {MOST_BYTES:g}, such as 1G")


@contextmanager
def slow_disk(bps: float | None, size_bytes: int = USUAL_BYTES, at: Path | None = None) -> Iterator[SlowDisk]:
    """A slow disk for as long as the block lasts; what a killed start left is removed first. Arguments and errors: `SlowDisk.make`.

    At the end a command that `run` left behind is killed, and the disk with all that is on it is gone.
    """
    clean_stale()
    token = secrets.token_hex(3)
    registry = CleanupRegistry(token)
    disk: SlowDisk | None = None
    try:
        disk = SlowDisk.make(registry, token, bps, size_bytes, at)
        yield disk
    finally:
        if disk:
            disk.set_rate(None)  # nobody waits for what the kernel has still to write
        registry.close()
        if disk:
            disk.close()
