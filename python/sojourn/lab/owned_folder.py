"""Temporary folders that say whose they are: the next start removes those whose process was killed.

The folder may have been given to a service's user; the file that says so stays this user's. Only that is believed: others can make a folder
of such a name, and write such a file, but not one of this user's.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sojourn.files.private_folder import read_own
from sojourn.files.reading import parse_json
from sojourn.lab.cleanup_registry import start_time

OWNER = "owner.json"


def make_owned_folder(prefix: str, parent: str | None = None) -> Path:
    """A new private folder below `parent` (the usual one for temporary files) that names this process."""
    place = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    (place / OWNER).write_text(json.dumps({"pid": os.getpid(), "started": start_time(os.getpid())}))
    return place


def owner_of(place: Path) -> int | None:
    """The process that a folder belongs to, if it lives.

    Raises:
        OSError, ValueError: it does not say, or another user says so.
    """
    if not stat.S_ISDIR(place.lstat().st_mode):
        raise NotADirectoryError(errno.ENOTDIR, "it is a link, not a folder", str(place))
    owner = parse_json(read_own(place / OWNER))
    pid = int(owner["pid"])
    started = start_time(pid)  # None: it is gone, whatever is known of when it began
    return pid if started is not None and started == owner["started"] else None


def stale_folders(prefix: str, parents: Iterable[str] = ()) -> Iterator[Path]:
    """The folders below the usual one and `parents` whose process is gone; those that do not say are left alone."""
    for parent in {tempfile.gettempdir(), *parents}:
        for place in Path(parent).glob(f"{prefix}*"):
            with suppress(OSError, ValueError, KeyError, TypeError):  # not ours to read, or just being made
                if owner_of(place) is None:
                    yield place


def remove_stale_folders(prefix: str, parents: Iterable[str] = ()) -> list[Path]:
    """Removes them; which there were."""
    found = list(stale_folders(prefix, parents))
    for place in found:
        shutil.rmtree(place, ignore_errors=True)
    return found


@contextmanager
def owned_folder(prefix: str) -> Iterator[Path]:
    """One that is removed at the end, as are those that others were killed in."""
    remove_stale_folders(prefix)
    made = make_owned_folder(prefix)
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)
