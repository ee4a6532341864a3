"""The processes of a PostgreSQL server, and the shared memory that they leave when they are killed.

Every child of the server makes a session and a process group of its own, so the whole is found by parents, not by group.
"""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from sojourn.lab import GONE_S, alive, children, send, wait_until

SHM = Path("/dev/shm")
SEGMENT = "/dev/shm/PostgreSQL."


def name_of(pid: int) -> str:
    """What a child of the server does, from its title: `postgres checkpointer`, `postgres session 17`."""
    with suppress(OSError):
        title = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        if title.startswith("postgres: "):
            work = title.removeprefix("postgres: ")
            if " [local] " not in work and "(" not in work:
                return f"postgres {work}"
    return f"postgres session {pid}"


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


def working_in(data: Path) -> list[int]:
    """The processes of the server on this data folder, whoever started it: each of them works in it."""
    found = []
    for link in Path("/proc").glob("[0-9]*/cwd"):
        with suppress(OSError):  # gone, or another user's
            if link.readlink() == data.resolve() and alive(int(link.parent.name)):
                found.append(int(link.parent.name))
    return sorted(found)


def end_left(data: Path) -> None:
    """Ends the server on this data folder that nobody waits for, or what a killed one left, without a checkpoint."""
    segments = shared_memory(working_in(data))
    for what in (signal.SIGQUIT, signal.SIGKILL):
        send(working_in(data), what)
        if wait_until(lambda: not working_in(data), GONE_S):
            break
    drop_shared_memory(data, segments)


def shared_memory(pids: Iterable[int]) -> set[Path]:
    """The named segments that these processes have open; a killed server leaves them."""
    found = set()
    for pid in pids:
        with suppress(OSError):
            lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
            found |= {Path(line[line.index(SEGMENT) :].split()[0]) for line in lines if SEGMENT in line}
    return found


def orphaned(since_s: float, user: int, folder: Path = SHM) -> set[Path]:
    """Named segments of this user's, made after `since_s` (wall clock), that no process has open: of a server that was killed between
    making one and its first answer. Looked at twice: another server has its own open at once."""
    found: set[Path] | None = None
    for _ in range(2):
        made = set()
        for path in folder.glob(f"{Path(SEGMENT).name}*"):
            with suppress(OSError):
                if path.stat().st_uid == user and path.stat().st_ctime >= since_s:
                    made.add(path)
        made -= shared_memory(int(path.name) for path in Path("/proc").glob("[0-9]*"))
        found = made if found is None else found & made
        if not found:
            return set()
        time.sleep(0.05)
    return found or set()


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
