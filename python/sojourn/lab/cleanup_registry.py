"""What the lab made, written down before it is made, so that the next start can remove what a crash left.

One file for each live lab, in a folder that only this user can write: what is in it was written by this user. An entry belongs to a
process by its id *and* its start time. Only names of the lab's own pattern are ever removed, and a process is only ended if it carries the
mark and began after the lab that made the mark.
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
from sojourn.files.private_folder import open_own, private_folder, read_own, what_is_wrong
from sojourn.files.writing import PRIVATE, write_whole
from sojourn.lab import loop_disk
from sojourn.lab.process_tree import GONE_S, STARTED, marked, name_of, stat, wait_until

MARK = (
    "SOJOURN_SERVICE"  # of the environment of every process of a user's service; its value is the token of a registry
)
TOKEN = re.compile("[0-9a-f]{6}")
HOST = r"((server|proxy|web|application|database)[1-9][0-9]?|client([2-9]|1[0-9]))"
PART = r"[a-z]{1,20}([1-9][0-9]?)?"  # of a service, as a case names it: database, application2
NAMESPACE = re.compile(rf"sojourn-[0-9a-f]{{6}}-(client|server|switch|{HOST})")
CGROUP = re.compile(rf"/sys/fs/cgroup/(?:(?!\.\./)[^/]+/)*sojourn-[0-9a-f]{{6}}(-{PART})?")
# An abstract address: every user sees it, and it is gone with the process that holds it.
MACHINE = "\0sojourn-measurement"
LOCK = "lock"  # a file in the folder of registries
KINDS = ("namespaces", "cgroups", "marks", "disks")
Listed = dict[str, list[str]]


def places() -> list[Path]:
    """Where registries of this user can be, the place of new ones first: /run/sojourn for root, else a folder in XDG_RUNTIME_DIR where
    that is set and this user's alone (XDG Base Directory Specification), else one in the folder for temporary files."""
    user = os.geteuid()
    if user == 0 and os.access("/run", os.W_OK):
        return [Path("/run/sojourn")]
    runtime = Path(os.environ.get("XDG_RUNTIME_DIR", ""))
    own = [runtime / "sojourn"] if runtime.is_absolute() and not what_is_wrong(runtime) else []
    return [*own, Path(tempfile.gettempdir()) / f"sojourn-{user}"]


def directory() -> Path:
    """Where the lab writes its registries.

    Raises:
        LabError: what is there is not this user's alone.
    """
    return private_folder(places()[0])


@contextmanager
def only_one(what: str) -> Iterator[None]:
    """Holds the lock that lets one measurement at a time use this machine.

    Raises:
        Busy: another process holds it; its id is named.
    """
    path = directory() / LOCK
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
        file.seek(0)
        file.truncate()
        file.write(f"process {os.getpid()}, {what}")
        file.flush()
        yield
        file.truncate(0)


def _opened(path: Path) -> IO[str]:
    try:
        return open(open_own(path, os.O_RDWR | os.O_CREAT), "r+")
    except OSError as error:
        raise LabError(error.strerror, str(path), "change its owner to yourself, or remove it") from None


def _busy(what: str, holder: str, place: str) -> Busy:
    return Busy(
        f"{what}: another measurement is running ({holder})",
        place,
        "wait for it (--wait 10m) or stop it; two at the same time would disturb each other",
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
        _remove(self.listed, self._began())
        if not _left(self.listed, self._began()):
            self.path.unlink(missing_ok=True)

    def _began(self) -> int:
        return int(start_time(os.getpid()) or 0)

    def _write(self) -> None:
        owner = {"pid": os.getpid(), "started": start_time(os.getpid()), "boot": boot()}
        write_whole(self.path, json.dumps({**owner, **self.listed}), PRIVATE)


def boot() -> str:
    """Of which start of the machine times since boot are; empty where it does not say."""
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return ""


def start_time(pid: int, proc: Path = Path("/proc")) -> str | None:
    """Start time of a process in clock ticks since boot, None if there is none."""
    columns = stat(pid, proc)
    return columns[STARTED] if columns else None


def clean_stale() -> list[str]:
    """Removes what labs of dead processes left behind; returns the names removed."""
    removed: list[str] = []
    for folder in dict.fromkeys([directory(), *(place for place in places() if not what_is_wrong(place))]):
        for path in folder.glob("lab-*.*"):
            if (found := _of_dead(path)) is None:
                continue
            removed += _remove(*found)
            if not _left(*found):
                path.unlink(missing_ok=True)
    return removed


def _of_dead(path: Path) -> tuple[Listed, int] | None:
    """What a registry lists, and when its lab began, in ticks since boot; None of one that lives, or cannot be read."""
    try:
        registry = json.loads(read_own(path))
        pid, started, since = int(registry["pid"]), registry.get("started"), int(registry.get("started") or 0)
        listed = {kind: [str(name) for name in registry.get(kind, [])] for kind in KINDS}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    if registry.get("boot", boot()) != boot():  # its processes are gone, and other ones have their ids and times
        return {**listed, "marks": []}, since
    return None if started is not None and start_time(pid) == started else (listed, since)


def _remove(listed: Listed, since: int) -> list[str]:
    removed = []
    for pid in _marked(listed["marks"], since):
        name = name_of(pid)
        removed += [f"process {pid} ({name})"] if _end(pid, listed["marks"], since) else []
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


def _marked(marks: list[str], since: int) -> list[int]:
    """The processes with one of the marks that began after the lab did: its own have no other way to the mark."""
    found = [pid for mark in marks if TOKEN.fullmatch(mark) for pid in marked(f"{MARK}={mark}")]
    return [pid for pid in found if pid != os.getpid() and int(start_time(pid) or -1) >= since]


def _end(pid: int, marks: list[str], since: int) -> bool:
    """Kills one, which is looked at again when its id can no longer become another's (pidfd_open(2))."""
    with suppress(OSError):
        handle = os.pidfd_open(pid)
        try:
            if pid in _marked(marks, since):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
                return True
        finally:
            os.close(handle)
    return False


def _left(listed: Listed, since: int) -> bool:
    left = [n for n in listed["namespaces"] if NAMESPACE.fullmatch(n) and Path("/run/netns", n).exists()]
    left += [c for c in listed["cgroups"] if CGROUP.fullmatch(c) and Path(c).exists()]
    left += [disk for disk in _disks(listed) if loop_disk.is_there(Path(disk))]
    wait_until(lambda: not _marked(listed["marks"], since), GONE_S)
    return bool(left or _marked(listed["marks"], since))
