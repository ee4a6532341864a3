"""Private folders with short paths for sockets, and the removal of those whose owner is gone."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from sojourn.lab.processes import alive
from sojourn.lab.registry import start_time
from sojourn.testbed.postgres_processes import drop_shared_memory
from sojourn.testbed.postgres_programs import reaches

PREFIX = "sojourn-pg-"
OWNER = "owner.json"
USUAL = "/tmp"
LONGEST = 60  # characters of the folder in which it is made; a socket's path has room for 107


def short_place(user: pwd.struct_passwd | None) -> Path:
    """A new private folder of `user` with a short path, which says to which process it belongs."""
    asked = tempfile.gettempdir()
    fits = len(asked) <= LONGEST and reaches(user, Path(asked))
    place = Path(tempfile.mkdtemp(prefix=PREFIX, dir=asked if fits else USUAL))
    (place / OWNER).write_text(json.dumps({"pid": os.getpid(), "started": start_time(os.getpid())}))
    if user:
        os.chown(place, user.pw_uid, user.pw_gid)
    return place


def remove_stale() -> None:
    """Removes the folders whose process is gone, unless a server is still at work in them."""
    for parent in {tempfile.gettempdir(), USUAL}:
        for place in Path(parent).glob(f"{PREFIX}*"):
            with suppress(OSError, ValueError):  # not ours to read, or just being made
                owner = json.loads((place / OWNER).read_text())
                if start_time(int(owner["pid"])) == owner["started"] or any(map(alive, _servers(place))):
                    continue
                drop_shared_memory(place / "data", ())
                shutil.rmtree(place, ignore_errors=True)


def _servers(place: Path) -> list[int]:
    """The processes that hold the sockets in a folder, from their lock files."""
    return [int(lock.read_text().split()[0]) for lock in place.glob(".s.PGSQL.*.lock")]
