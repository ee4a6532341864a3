"""What the lab made, written down before it is made, so that the next start can remove what a crash left.

One file for each live lab, in a directory of its own; an entry belongs to a process by its id *and* its start
time. Only names of the lab's own pattern are ever removed.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import socket
import struct
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from sojourn.errors import Busy, LabError
from sojourn.lab import loop_disk
from sojourn.lab.process_tree import GONE_S, STARTED, marked, name_of, send, stat, wait_until

HOST = r"(server|proxy)[1-9][0-9]?"
MARK = (
    "SOJOURN_SERVICE"  # of the environment of every process of a user's service; its value is the token of a registry
)
TOKEN = re.compile("[0-9a-f]{6}")
PART = r"nginx|application[1-9][0-9]?|database|server|client"
NAMESPACE = re.compile(rf"sojourn-[0-9a-f]{{6}}-(client|server|switch|{HOST})")
CGROUP = re.compile(rf"/sys/fs/cgroup/(?:(?!\.\./)[^/]+/)*sojourn-[0-9a-f]{{6}}(-({HOST}|{PART}))?")
# An abstract address: every user sees it, and it is gone with the process that holds it.
MACHINE = "\0sojourn-measurement"
KINDS = ("namespaces", "cgroups", "marks", "disks")
Listed = dict[str, list[str]]


def directory() -> Path:
    """Where the lab keeps its registries: /run/sojourn for root, else a private directory for this user."""
    root = os.geteuid() == 0 and os.access("/run", os.W_OK)
    path = Path("/run/sojourn") if root else Path(tempfile.gettempdir()) / f"sojourn-{os.geteuid()}"
    try:
        path.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise LabError(error.strerror, str(path), "make it yours, or remove it") from None
    return path


@contextmanager
def only_one(what: str) -> Iterator[None]:
    """Holds the lock that lets one measurement at a time use this machine.

    Raises:
        Busy: another process holds it; its id is named.
    """
    path = directory() / "lock"
    with _opened(path) as file, socket.socket(socket.AF_UNIX) as everyone:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            raise _busy(what, file.read().strip() or "an unknown process", str(path)) from None
        try:
            everyone.bind(MACHINE)
            everyone.listen()
        except OSError:
            raise _busy(what, _holder(), "this machine") from None
        file.truncate(0)
        file.write(f"process {os.getpid()}, {what}")
        file.flush()
        yield
        file.truncate(0)


def _opened(path: Path) -> IO[str]:
    try:
        return open(path, "a+")
    except OSError as error:
        raise LabError(error.strerror, str(path), "make it yours, or remove it") from None


def _busy(what: str, holder: str, place: str) -> Busy:
    return Busy(
        f"{what}: another measurement is running ({holder})",
        place,
        "wait for it or end it; two at once would disturb each other",
    )


def _holder() -> str:
    """Who holds the machine, where it is another user whose registry cannot be read."""
    with suppress(OSError), socket.socket(socket.AF_UNIX) as question:
        question.settimeout(1)
        question.connect(MACHINE)
        size = struct.calcsize("iII")
        pid, uid, _ = struct.unpack("iII", question.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
        return f"process {pid} of user {uid}"
    return "a process of another user"


class CleanupRegistry:
    """The list of one live lab's namespaces, control groups, marks of processes, and folders of disks."""

    def __init__(self, token: str) -> None:
        self.path = directory() / f"lab-{token}.json"
        self.listed: Listed = {kind: [] for kind in KINDS}
        self._write()

    def add(
        self,
        *,
        namespace: str | None = None,
        cgroup: str | None = None,
        mark: str | None = None,
        disk: str | None = None,
    ) -> None:
        for kind, name in zip(KINDS, (namespace, cgroup, mark, disk), strict=True):
            self.listed[kind] += [name] if name else []
        self._write()

    def close(self) -> None:
        """Removes everything on the list, then the list; what resists stays listed for the next start."""
        _remove(self.listed)
        if not _left(self.listed):
            self.path.unlink(missing_ok=True)

    def _write(self) -> None:
        owner = {"pid": os.getpid(), "started": start_time(os.getpid())}
        text = json.dumps({**owner, **self.listed})
        temporary = self.path.with_suffix(".tmp")
        try:
            temporary.write_text(text)
            temporary.replace(self.path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def start_time(pid: int, proc: Path = Path("/proc")) -> str | None:
    """Start time of a process in clock ticks since boot, None if there is none."""
    columns = stat(pid, proc)
    return columns[STARTED] if columns else None


def clean_stale() -> list[str]:
    """Removes what labs of dead processes left behind; returns the names removed."""
    removed: list[str] = []
    for path in directory().glob("lab-*.*"):
        try:
            registry = json.loads(path.read_text())
        except (OSError, ValueError):
            continue
        if registry.get("started") is not None and start_time(int(registry["pid"])) == registry["started"]:
            continue
        listed = {kind: registry.get(kind, []) for kind in KINDS}
        removed += _remove(listed)
        if not _left(listed):
            path.unlink(missing_ok=True)
    return removed


def _remove(listed: Listed) -> list[str]:
    removed = []
    for pid in _marked(listed["marks"]):
        removed.append(f"process {pid} ({name_of(pid)})")
        send([pid], signal.SIGKILL)
    for name in listed["namespaces"]:
        if NAMESPACE.fullmatch(name) and Path("/run/netns", name).exists():
            # in a session of its own: a second Ctrl-C must not end it half-way
            done = subprocess.run(
                ["ip", "netns", "delete", name], capture_output=True, check=False, start_new_session=True
            )
            removed += [name] if done.returncode == 0 else []
    removed += [group for group in listed["cgroups"] if CGROUP.fullmatch(group) and _remove_group(Path(group))]
    # last: whoever was in those groups no longer uses them
    removed += [disk for disk in _disks(listed) if loop_disk.remove(Path(disk))]
    return removed


def _disks(listed: Listed) -> list[str]:
    return [disk for disk in listed["disks"] if loop_disk.PLACE.fullmatch(disk)]


def _remove_group(group: Path) -> bool:
    """Removes a control group; members that outlived their lab are ended first. False if there was none."""
    for _ in range(40):
        try:
            group.rmdir()
            return True
        except FileNotFoundError:
            return False
        except OSError:
            with suppress(OSError):
                for member in (group / "cgroup.procs").read_text().split():
                    os.kill(int(member), signal.SIGKILL)
            time.sleep(0.05)
    return False


def _marked(marks: list[str]) -> list[int]:
    return [pid for mark in marks if TOKEN.fullmatch(mark) for pid in marked(f"{MARK}={mark}") if pid != os.getpid()]


def _left(listed: Listed) -> bool:
    left = [n for n in listed["namespaces"] if NAMESPACE.fullmatch(n) and Path("/run/netns", n).exists()]
    left += [c for c in listed["cgroups"] if CGROUP.fullmatch(c) and Path(c).exists()]
    left += [disk for disk in _disks(listed) if Path(disk).exists()]
    wait_until(lambda: not _marked(listed["marks"]), GONE_S)
    return bool(left or _marked(listed["marks"]))
