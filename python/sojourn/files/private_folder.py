"""Folders and files that are this user's alone: checked by what is there, never by their name."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from sojourn.errors import LabError

OTHERS = 0o077


def private_folder(path: Path) -> Path:
    """`path`, made with mode 0700 where there is nothing of that name.

    Raises:
        LabError: it cannot be made, or what is there is a link, no folder, another user's, or open to others: they may have put into it
            whatever they liked.
    """
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        pass
    except OSError as error:
        raise LabError(error.strerror or str(error), path, "change its owner to yourself, or remove it") from None
    if wrong := what_is_wrong(path):
        raise LabError(wrong, path, "have it removed, or set TMPDIR to a folder that you own")
    return path


def what_is_wrong(path: Path, closed_to: int = OTHERS) -> str:
    """Why a folder is not this user's alone; empty where it is. `closed_to`: the bits of its mode that must be 0."""
    try:
        found = path.lstat()
    except OSError as error:
        return error.strerror or str(error)
    if not stat.S_ISDIR(found.st_mode):
        return "it is a link" if stat.S_ISLNK(found.st_mode) else "it is no folder"
    if found.st_uid != os.geteuid():
        return f"it belongs to user {found.st_uid}"
    return f"it is open to others (mode {found.st_mode & 0o777:04o})" if found.st_mode & closed_to else ""


def open_own(path: Path, flags: int) -> int:
    """A descriptor of an ordinary file of this user that has no other name; made with mode 0600 where `flags` say so.

    Raises:
        OSError: there is none, or it is a link, another user's, or something else.
    """
    file = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
    found = os.fstat(file)
    if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and found.st_nlink == 1:
        return file
    os.close(file)
    raise PermissionError(errno.EACCES, "it is not an ordinary file of this user, or it has further links", str(path))


def read_own(path: Path) -> str:
    """The text of such a file. Raises as `open_own` does, and UnicodeDecodeError."""
    with open(open_own(path, os.O_RDONLY), encoding="utf-8") as file:
        return file.read()
