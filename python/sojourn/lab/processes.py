"""Processes by their parents: whose children they are, and how a whole tree of them is ended."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

GONE_S = 10.0
POLL_S = 0.02
PROC = Path("/proc")


def parents(proc: Path = PROC) -> dict[int, int]:
    """Process → its parent, of all that have not ended."""
    found = {}
    for stat in proc.glob("[0-9]*/stat"):
        with suppress(OSError):
            state, above, *_ = stat.read_text().rpartition(")")[2].split()
            if state not in "ZX":
                found[int(stat.parent.name)] = int(above)
    return found


def children(parent: int) -> list[int]:
    """The processes whose parent this is, ended ones excepted."""
    return sorted(pid for pid, above in parents().items() if above == parent)


def descendants(root: int) -> list[int]:
    """Children of a process, their children, and so on."""
    above = parents()
    found: list[int] = []
    level = {root}
    while level := {pid for pid, parent in above.items() if parent in level}:
        found += sorted(level)
    return found


def alive(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False


def name_of(pid: int) -> str:
    """The name of its program, as `ps` has it; empty when it is gone."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


def send(pids: Iterable[int], what: signal.Signals) -> None:
    """Signals those of them that are still there."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, what)


def wait_until(met: Callable[[], bool], most_s: float) -> bool:
    """Whether it is so within `most_s`."""
    deadline = time.monotonic() + most_s
    while not met():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_S)
    return True


def marked(mark: str, proc: Path = PROC) -> list[int]:
    """The processes that inherited `NAME=VALUE` in their environment, as far as this user may read it."""
    found = []
    for path in proc.glob("[0-9]*/environ"):
        with suppress(OSError):
            if mark.encode() in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
    return sorted(found)
