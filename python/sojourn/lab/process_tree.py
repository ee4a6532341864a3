"""Processes by their parents: whose children they are, and how a whole tree of them is ended."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

GONE_S = 10.0
POLL_S = 0.02
PROC = Path("/proc")
PR_SET_PDEATHSIG = 1
STATE, PARENT, SESSION, TIMES, STARTED = (
    0,
    1,
    3,
    slice(11, 15),
    19,
)  # columns of `stat`; TIMES: utime, stime, cutime, cstime
ENDED = "ZX"


def entries(folder: str, proc: Path = PROC) -> Iterator[tuple[int, Path]]:
    """What is in /proc/PID/FOLDER of each process, such as `task` or `fd`, with its pid. Processes end meanwhile, at which `Path.glob`
    fails (CPython 3.11)."""
    for process in proc.iterdir():
        if process.name.isdigit():
            with suppress(OSError):
                yield from [(int(process.name), one) for one in (process / folder).iterdir()]


def stat(pid: int, proc: Path = PROC) -> list[str]:
    """The columns of /proc/PID/stat behind the name, which may hold anything: state, parent … (proc_pid_stat(5), from its third);
    empty where there is no such process."""
    with suppress(OSError):
        return quick_read(f"{proc}/{pid}/stat").rpartition(")")[2].split()
    return []


def process_ids(proc: Path = PROC) -> list[int]:
    """Of all processes, ended ones that nobody waited for included."""
    with os.scandir(proc) as every:
        return [int(one.name) for one in every if one.name.isdigit()]


def quick_read(path: str) -> str:
    """A file of /proc in 5 µs, where `Path.read_text` takes 15: hundreds of them are read before and after a run."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts = [os.read(handle, 4096)]
        while parts[-1]:
            parts.append(os.read(handle, 4096))
    finally:
        os.close(handle)
    return b"".join(parts).decode(errors="replace")


def stats(proc: Path = PROC) -> dict[int, list[str]]:
    """Those of all processes, ended ones that nobody waited for included."""
    each = ((pid, stat(pid, proc)) for pid in process_ids(proc))
    return {pid: columns for pid, columns in each if columns}


def parents(proc: Path = PROC) -> dict[int, int]:
    """Process → its parent, of all that have not ended."""
    return {pid: int(columns[PARENT]) for pid, columns in stats(proc).items() if columns[STATE] not in ENDED}


def children(parent: int) -> list[int]:
    """The processes whose parent this is, ended ones excepted."""
    return sorted(pid for pid, above in parents().items() if above == parent)


def session(leader: int, proc: Path = PROC) -> list[int]:
    """The processes of the session that `leader` began, of whatever process group, ended ones excepted."""
    every = stats(proc).items()
    return sorted(pid for pid, columns in every if int(columns[SESSION]) == leader and columns[STATE] not in ENDED)


def descendants(root: int) -> list[int]:
    """Children of a process, their children, and so on."""
    above = parents()
    found: list[int] = []
    level = {root}
    while level := {pid for pid, parent in above.items() if parent in level}:
        found += sorted(level)
    return found


def service_tree(roots: Iterable[int], proc: Path = PROC) -> list[int]:
    """Processes and all that they started, smallest first, but for this process and what it started, where a service started that (a
    notebook that measures its own server); `roots` themselves always."""
    above, tree = parents(proc), set(roots)
    level, ours = set(tree), os.getpid()
    while level := {pid for pid, parent in above.items() if parent in level and parent != ours and pid != ours} - tree:
        tree |= level
    return sorted(tree)


def alive(pid: int) -> bool:
    columns = stat(pid)
    return bool(columns) and columns[STATE] not in ENDED


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


def how_ended(code: int) -> str:
    """What the return code of a process says."""
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with {code}"
