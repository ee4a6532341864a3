"""Files that are there whole or not at all, and never written through somebody else's link.

What is written goes to a new file of a name that nobody can know before, beside the one that it is to be, and is renamed when it is
whole. A file that is there keeps its mode; a new one has what the umask leaves.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
USUAL, PRIVATE = 0o666, 0o600
MOST_LINKS = 40  # as the kernel: path_resolution(7)


@contextmanager
def whole_file(path: Path | str, mode: int = USUAL) -> Iterator[IO[bytes]]:
    """A new file that has the name `path` when the block has ended well; else nothing has changed. A link of that name is replaced, and
    not followed. OSError naming `path` where it cannot be written."""
    path = Path(path)
    new = path.with_name(f".{_name()}.new")
    kept = _mode_of(path)
    try:
        with open(os.open(new, NEW, mode), "wb") as file:
            if kept is not None:
                os.fchmod(file.fileno(), kept)
            yield file
        new.replace(path)
    except BaseException as error:
        with suppress(OSError):
            new.unlink()
        if isinstance(error, OSError) and error.filename in (None, str(new)):
            raise type(error)(error.errno, error.strerror or str(error), str(path)) from None
        raise


def _name() -> str:
    """One that nobody can know before: `secrets`, which does the same, is slow to import."""
    return os.urandom(8).hex()


def write_whole(path: Path | str, content: str | bytes, mode: int = USUAL) -> None:
    """Writes a file of a folder of ours, text as UTF-8: see `whole_file`."""
    with whole_file(path, mode) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def write_output(path: Path | str, content: str | bytes, mode: int = USUAL) -> None:
    """Writes where a user said, text as UTF-8: whole or not at all; into what is no ordinary file (`in_place`) as it is. A link is
    followed, unless another user may have planted it. OSError, which says so."""
    target = followed(Path(path))
    if not in_place(target):
        return write_whole(target, content, mode)
    with open(target, "wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)


def followed(path: Path) -> Path:
    """Where a link that a user gave leads, all links but those of /proc resolved.

    One in a folder that all may write, such as /tmp, is followed only where it is this user's or that of the folder's owner: the rule
    of `fs.protected_symlinks` (kernel, Documentation/admin-guide/sysctl/fs.rst), which not every kernel has on.

    Raises:
        PermissionError: another user's. OSError: a loop.
    """
    given = path
    for _ in range(MOST_LINKS):
        path = Path(os.path.realpath(path.parent), path.name)
        try:
            link, folder = path.lstat(), path.parent.stat()
        except (FileNotFoundError, NotADirectoryError):
            return path
        if not stat.S_ISLNK(link.st_mode) or path.is_relative_to("/proc"):
            return path
        shared = folder.st_mode & stat.S_ISVTX and folder.st_mode & stat.S_IWOTH
        if shared and link.st_uid not in (os.geteuid(), folder.st_uid):
            raise PermissionError(errno.EACCES, f"it is a link created by user {link.st_uid}", str(path))
        path = path.parent / path.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(given))


def in_place(target: Path) -> bool:
    """Whether a followed path is a device, a pipe or an open file of a process (/dev/stdout): nothing can be renamed onto these."""
    if target.is_relative_to("/proc"):
        return True
    with suppress(OSError):
        kind = target.lstat().st_mode
        return not (stat.S_ISREG(kind) or stat.S_ISDIR(kind) or stat.S_ISLNK(kind))
    return False


def _mode_of(path: Path) -> int | None:
    """Of an ordinary file of this user."""
    with suppress(OSError):
        there = path.lstat()
        return there.st_mode & 0o777 if stat.S_ISREG(there.st_mode) and there.st_uid == os.geteuid() else None
    return None
