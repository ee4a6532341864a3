"""How long a disk takes to have what was written."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path

PAGE = b"\0" * 8192  # of a database's log


def flush_s(folder: Path, times: int = 200) -> float:
    """Median time of writing a page of 8 KiB and its fdatasync, again and again over the same place of a file in
    `folder`, as a database does with its log, s."""
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        file.write(PAGE)
        os.fsync(file.fileno())
        taken = [_once(file.fileno()) for _ in range(times)]
    return statistics.median(taken)


def _once(file: int) -> float:
    begun = time.perf_counter()
    os.pwrite(file, PAGE, 0)
    os.fdatasync(file)
    return time.perf_counter() - begun
