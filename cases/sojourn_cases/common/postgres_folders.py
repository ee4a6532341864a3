"""Private folders with short paths for sockets, and the removal of those whose owner is gone."""

from __future__ import annotations

import os
import pwd
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from sojourn.lab import make_owned_folder, owner_of, stale_folders
from sojourn_cases.common.postgres_processes import drop_shared_memory, end_left
from sojourn_cases.common.postgres_programs import reaches

PREFIX = "sojourn-pg-"
USUAL = "/tmp"
LONGEST = 60  # characters of the folder in which it is made; a socket's path has room for 107


def enterable_parent(user: pwd.struct_passwd | None) -> str | None:
    """Where to make temporary folders that `user` is to enter: the usual place (None) where that lets it in."""
    return None if reaches(user, Path(tempfile.gettempdir())) else USUAL


def short_place(user: pwd.struct_passwd | None) -> Path:
    """A new private folder of `user` with a short path, which says to which process it belongs."""
    fits = len(tempfile.gettempdir()) <= LONGEST
    place = make_owned_folder(PREFIX, enterable_parent(user) if fits else USUAL)
    if user:
        os.chown(place, user.pw_uid, user.pw_gid)
    return place


def user_of(data: Path, own: Path) -> int | None:
    """The living process whose server is at work on this data folder, unless its socket lies in `own`."""
    with suppress(OSError, ValueError, IndexError):
        place = Path((data / "postmaster.pid").read_text().splitlines()[4])
        return None if place == own else owner_of(place)
    return None


def remove_stale() -> None:
    """Removes the folders whose process is gone, and ends a server that it left in them."""
    for place in stale_folders(PREFIX, [USUAL]):
        with suppress(OSError, ValueError):  # gone meanwhile
            for data in _served(place):
                end_left(data)
            drop_shared_memory(place / "data", ())
            shutil.rmtree(place, ignore_errors=True)


def _served(place: Path) -> list[Path]:
    """The data folders of the servers that have sockets in a folder, from their lock files."""
    return [Path(lock.read_text().splitlines()[1]) for lock in place.glob(".s.PGSQL.*.lock")]
