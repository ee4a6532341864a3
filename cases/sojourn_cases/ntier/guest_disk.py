"""The disk of the database's guest, and three ways to write to it, after the hypervisors of the second source document (section V).

- `one_core`: past the host's page cache, one queue, and the database on the first virtual CPU alone, which is the one that waits.
- `spread`: past the host's page cache, a queue a virtual CPU, and the database on all of them.
- `batch`: as `spread`, but into the host's page cache; the host writes what it holds now and then.

The image lies on a slow disk of the host (lab/slow_disk.py), whose busy time is that of a disk of this rate. QEMU handles the device in a
thread of its own.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sojourn.lab import GuestDisk, SlowDisk

MEMORY = "memory"
ONE_CORE, SPREAD, BATCH = STRATEGIES = ("one_core", "spread", "batch")
IMAGE = "board"
BATCH_S = 2.0  # between two times at which the host writes


@dataclass(frozen=True)
class WrittenDisk:
    """`disk`: of the guest; `cpus`: virtual CPUs of the database, none: all."""

    on: SlowDisk
    disk: GuestDisk
    cpus: tuple[int, ...] = ()

    @contextmanager
    def at(self, bps: float) -> Iterator[None]:
        """While a run lasts: the host's disk has this rate, 0: none, and the host writes what it holds in batches."""
        ended = threading.Event()
        writer = threading.Thread(target=self._write, args=(ended,), daemon=True)
        self.on.set_rate(bps or None)
        try:
            if self.disk.cached:
                writer.start()
            yield
        finally:
            ended.set()
            self.on.set_rate(None)
            if writer.ident:
                writer.join()

    def _write(self, ended: threading.Event) -> None:
        with open(self.disk.path, "rb") as file:
            while not ended.wait(BATCH_S):
                os.fdatasync(file.fileno())


@contextmanager
def guest_disk(on: SlowDisk, strategy: str, cpus: int) -> Iterator[WrittenDisk]:
    """A place for the image of a guest with so many virtual CPUs; what is made there is gone at the end."""
    path = on.folder / IMAGE
    queues = 1 if strategy == ONE_CORE else cpus
    try:
        yield WrittenDisk(
            on, GuestDisk(str(path), queues, strategy == BATCH, own_thread=True), (0,) if strategy == ONE_CORE else ()
        )
    finally:
        path.unlink(missing_ok=True)
