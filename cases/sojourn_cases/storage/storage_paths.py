"""The ways that a storage study compares: to one file directly or through a server started for a run, or to a device attached before."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict

from sojourn.errors import InputError, LabError, ServiceError
from sojourn.lab import make_owned_folder, stale_folders
from sojourn_cases.storage.nbd_server import EmbeddedNbd
from sojourn_cases.storage.qemu_nbd import QemuNbd, qemu_nbd_program

SERVER, NBD = "server", "qemu-nbd"
EMBEDDED = "embedded"
PREFIX, FILE = "sojourn-storage-", "data"
CHUNK_BYTES = 4 << 20
ALIGN_BYTES = 1 << 20
LEFT_FREE = 0.05  # of the disk


class PathServer(Protocol):
    """A server between generator and file."""

    kind: str

    @property
    def url(self) -> str: ...

    @property
    def pids(self) -> dict[str, int]: ...

    def stop(self) -> dict[str, Any]: ...


class StoragePath(BaseModel):
    """A path leads to the study's file, or to a `url` that somebody else serves (nbd://HOST:PORT/EXPORT, blk:/dev/DEVICE). A path to
    the file goes through a `server` that the study starts, or is direct (`none`). The study writes to a URL only if `yes_destroy`
    repeats the URL. With `quick_ack`, segments of an answer are acknowledged immediately."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    server: Literal["none", "qemu-nbd", "embedded"] = "none"
    url: str | None = None
    yes_destroy: str | None = None
    quick_ack: bool = True

    def check(self, place: str) -> None:
        """InputError for what contradicts itself."""
        if self.url is not None and self.server != "none":
            raise InputError(f"url and server = {self.server!r}", place, "give one of them")
        if self.yes_destroy is not None and self.yes_destroy not in (self.url, *(self.url or "").split(":", 1)[1:]):
            raise InputError(f"yes_destroy = {self.yes_destroy!r}", place, "write the device or the export as in url")

    @property
    def may_write(self) -> bool:
        """Whether what is there may be overwritten: our own file, or what was named twice."""
        return self.url is None or self.yes_destroy is not None

    @property
    def device(self) -> str | None:
        """The device that may be overwritten, for a generator that wants it named again."""
        return self.yes_destroy if self.url is not None and self.url.startswith("blk:") else None

    def lacking(self) -> str:
        """What this machine has not, with how to get it; empty where nothing is missing."""
        if self.server == NBD:
            try:
                qemu_nbd_program()
            except ServiceError as error:
                return f"{error.value}: {error.remedy}"
        return ""


@contextmanager
def serve(path: StoragePath, file: Path | None, cgroup: str | None) -> Iterator[PathServer | None]:
    """The path's server for as long as the block lasts, in the control group `cgroup`; None where it has none.

    Raises:
        ServiceError: it does not start.
    """
    if path.server == "none" or file is None:
        yield None
        return
    server = QemuNbd(file, cgroup=cgroup) if path.server == NBD else EmbeddedNbd(file=file, direct=True, cgroup=cgroup)
    try:
        yield server
    finally:
        server.close()


@contextmanager
def filled_file(folder: Path, size_bytes: int) -> Iterator[Path]:
    """A file of `size_bytes` in a folder of its own below `folder`, of bytes at random, on the disk and not in memory; gone at the end, as
    are those of killed starts.

    Raises:
        LabError: no such folder, no room, or it takes no O_DIRECT.
    """
    if size_bytes < ALIGN_BYTES or size_bytes % ALIGN_BYTES:
        raise LabError(f"size = {size_bytes} bytes", "[system]", "give whole MiB, such as 256Mi")
    for stale in stale_folders(PREFIX, [str(folder)]):
        shutil.rmtree(stale, ignore_errors=True)
    try:
        usage = shutil.disk_usage(folder)
        if usage.free - size_bytes < LEFT_FREE * usage.total:
            raise LabError(f"{usage.free >> 20} MiB are free", str(folder), "give a smaller size, or another folder")
        made = make_owned_folder(PREFIX, str(folder))
    except OSError as error:
        raise LabError(
            error.strerror or str(error), str(folder), "give an existing folder that may be written"
        ) from None
    try:
        yield _filled(made / FILE, size_bytes)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _filled(file: Path, size_bytes: int) -> Path:
    try:
        with open(file, "wb") as out:
            for start in range(0, size_bytes, CHUNK_BYTES):
                out.write(os.urandom(min(CHUNK_BYTES, size_bytes - start)))
            out.flush()
            os.fsync(out.fileno())
            os.posix_fadvise(out.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(os.open(file, os.O_RDWR | os.O_DIRECT))
    except OSError as error:
        raise LabError(
            error.strerror or str(error), str(file), "give a folder on a disk that takes O_DIRECT (no tmpfs)"
        ) from None
    return file
