"""Processes that are kept on some cores."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def pin(pids: Iterable[int], cores: Iterable[int]) -> None:
    """Keeps processes, with all the threads that they have now and will start, on `cores`."""
    wanted = set(cores)
    for pid in pids:
        for task in Path(f"/proc/{pid}/task").glob("*"):
            with suppress(ProcessLookupError):  # a thread that ended meanwhile
                os.sched_setaffinity(int(task.name), wanted)
