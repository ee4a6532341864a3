"""The processes of a PostgreSQL server, and the shared memory that they leave when they are killed.

Every child of the server makes a session and a process group of its own, so the whole is found by parents, not by group.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

GONE_S = 10.0
SEGMENT = "/dev/shm/PostgreSQL."


def children(parent: int) -> list[int]:
    """The processes whose parent this is, ended ones excepted."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, above, *_ = stat.read_text().rpartition(")")[2].split()
            if int(above) == parent and state not in "ZX":
                found.append(int(stat.parent.name))
    return sorted(found)


def alive(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False


def name_of(pid: int) -> str:
    """What a child of the server does, from its title: `postgres checkpointer`, `postgres session 17`."""
    with suppress(OSError):
        title = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        if title.startswith("postgres: "):
            work = title.removeprefix("postgres: ")
            if " [local] " not in work and "(" not in work:
                return f"postgres {work}"
    return f"postgres session {pid}"


def send(pids: Iterable[int], what: signal.Signals) -> None:
    """Signals those of them that are still there."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, what)


def end_all(server: subprocess.Popen[bytes]) -> None:
    """Kills the server and its children, and returns when none of them is left."""
    left: list[int] = []
    if server.poll() is None:
        send([server.pid], signal.SIGSTOP)  # or it would start new ones for those that die
        left = children(server.pid)
        send([*left, server.pid], signal.SIGKILL)
    server.wait()
    deadline = time.monotonic() + GONE_S
    while any(map(alive, left)) and time.monotonic() < deadline:
        time.sleep(0.005)


def shared_memory(pids: Iterable[int]) -> set[Path]:
    """The named segments that these processes have open; a killed server leaves them."""
    found = set()
    for pid in pids:
        with suppress(OSError):
            lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
            found |= {Path(line[line.index(SEGMENT) :].split()[0]) for line in lines if SEGMENT in line}
    return found


def drop_shared_memory(data: Path, segments: Iterable[Path]) -> None:
    """Removes what the killed server of this data folder left outside it: named segments, and the one of System V."""
    for segment in segments:
        segment.unlink(missing_ok=True)
    try:
        lines = (data / "postmaster.pid").read_text().splitlines()
        pid, identifier = int(lines[0]), lines[6].split()[1]
    except (OSError, IndexError, ValueError):
        return  # ended in good order, or never begun
    if not alive(pid):
        subprocess.run(["ipcrm", "-m", identifier], capture_output=True, check=False)
        (data / "postmaster.pid").unlink(missing_ok=True)
