"""What the lab made, written down before it is made, so that the next start can remove what a crash left.

One file for each live lab, in a directory of its own; an entry belongs to a process by its id *and* its start
time. Only names of the lab's own pattern are ever removed.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sojourn.errors import Busy

NAMESPACE = re.compile(r"sojourn-[0-9a-f]{6}-(client|server)")
CGROUP = re.compile(r"/sys/fs/cgroup/(?:[a-z,]+/)?sojourn-[0-9a-f]{6}")


def directory() -> Path:
    """Where the lab keeps its books: /run/sojourn for root, else a private directory for this user."""
    root = os.geteuid() == 0 and os.access("/run", os.W_OK)
    path = Path("/run/sojourn") if root else Path(tempfile.gettempdir()) / f"sojourn-{os.geteuid()}"
    path.mkdir(mode=0o700, exist_ok=True)
    return path


@contextmanager
def only_one(what: str) -> Iterator[None]:
    """Holds the lock that lets one measurement at a time use this machine.

    Raises:
        Busy: another process holds it; its id is named.
    """
    path = directory() / "lock"
    with open(path, "a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            holder = file.read().strip() or "an unknown process"
            raise Busy(
                f"{what}: another measurement is running ({holder})",
                str(path),
                "wait for it or end it; two at once would disturb each other",
            ) from None
        file.truncate(0)
        file.write(f"process {os.getpid()}, {what}")
        file.flush()
        yield
        file.truncate(0)


class Book:
    """The list of one live lab's namespaces and control groups."""

    def __init__(self, token: str) -> None:
        self.path = directory() / f"lab-{token}.json"
        self.namespaces: list[str] = []
        self.cgroups: list[str] = []
        self._write()

    def add(self, *, namespace: str | None = None, cgroup: str | None = None) -> None:
        self.namespaces += [namespace] if namespace else []
        self.cgroups += [cgroup] if cgroup else []
        self._write()

    def close(self) -> None:
        """Removes everything on the list, then the list."""
        _remove(self.namespaces, self.cgroups)
        self.path.unlink(missing_ok=True)

    def _write(self) -> None:
        owner = {"pid": os.getpid(), "started": start_time(os.getpid())}
        text = json.dumps({**owner, "namespaces": self.namespaces, "cgroups": self.cgroups})
        temporary = self.path.with_suffix(".tmp")
        temporary.write_text(text)
        temporary.replace(self.path)


def start_time(pid: int, proc: Path = Path("/proc")) -> str | None:
    """Start time of a process in clock ticks since boot (field 22 of its stat), None if there is none."""
    try:
        stat = (proc / str(pid) / "stat").read_text()
    except OSError:
        return None
    return stat.rpartition(")")[2].split()[19]


def clean_stale() -> list[str]:
    """Removes what labs of dead processes left behind; returns the names removed."""
    removed: list[str] = []
    for path in directory().glob("lab-*.json"):
        try:
            book = json.loads(path.read_text())
        except (OSError, ValueError):
            continue
        if book.get("started") is not None and start_time(int(book["pid"])) == book["started"]:
            continue
        removed += _remove(book.get("namespaces", []), book.get("cgroups", []))
        path.unlink(missing_ok=True)
    return removed


def _remove(namespaces: list[str], cgroups: list[str]) -> list[str]:
    removed = []
    for name in namespaces:
        if NAMESPACE.fullmatch(name) and Path("/run/netns", name).exists():
            done = subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)
            removed += [name] if done.returncode == 0 else []
    for group in cgroups:
        if CGROUP.fullmatch(group):
            with suppress(OSError):
                Path(group).rmdir()
                removed.append(group)
    return removed
