"""A text file of somebody else, perhaps packed by gzip, read line by line within limits: how long, how long a line, how much unpacked."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from sojourn.errors import InputError
from sojourn.files.reading import MIB, MOST_JSON_BYTES, MOST_LOG_BYTES, opened

HEAD_BYTES = 64 << 10
MOST_LINE_BYTES = MIB
REMEDY = "give a complete file of results; `sojourn check --help` lists the formats"


@dataclass(frozen=True)
class TextSource:
    """`path`, and `head`: its first 64 KiB, unpacked, as text."""

    path: Path
    head: str

    @classmethod
    def of(cls, path: Path | str) -> TextSource:
        """Raises InputError for what is no plain file, empty, or packed and damaged."""
        path = Path(path)
        with _bytes(path) as file:
            held = _read(file, HEAD_BYTES, path)
        if not held.strip():
            raise InputError("empty", path, REMEDY)
        return cls(path, held.decode("utf-8-sig", errors="replace"))

    def lines(self) -> Iterator[str]:
        """Line by line, without their ends. Raises InputError with the line for one that is too long, or where packed data end early."""
        for _, line in self.numbered():
            yield line.decode(errors="replace").rstrip("\r\n")

    def numbered(self) -> Iterator[tuple[int, bytes]]:
        """The same as bytes, numbered from 1."""
        total, number = 0, 0
        with _bytes(self.path) as file:
            while line := _readline(file, self.path, number + 1):
                number += 1
                total += len(line)
                if len(line) > MOST_LINE_BYTES:
                    raise InputError(
                        f"a line of more than {MOST_LINE_BYTES // MIB} MiB", f"{self.path}:{number}", REMEDY
                    )
                if total > MOST_LOG_BYTES:
                    raise InputError(f"more than {MOST_LOG_BYTES // MIB} MiB unpacked", self.path, REMEDY)
                yield number, line

    def text(self) -> str:
        """All of it, where it is at most 64 MiB. Raises InputError for more."""
        with _bytes(self.path) as file:
            held = _read(file, MOST_JSON_BYTES + 1, self.path)
        if len(held) > MOST_JSON_BYTES:
            raise InputError(f"more than {MOST_JSON_BYTES // MIB} MiB", self.path, REMEDY)
        return held.decode("utf-8-sig", errors="replace")


@contextmanager
def _bytes(path: Path) -> Iterator[IO[bytes]]:
    with opened(path, REMEDY, MOST_LOG_BYTES) as file:
        if file.peek(2)[:2] != b"\x1f\x8b":
            yield file
            return
        with gzip.GzipFile(fileobj=file) as unpacked:
            yield cast("IO[bytes]", unpacked)


def _read(file: IO[bytes], most: int, path: Path) -> bytes:
    try:
        return file.read(most)
    except (OSError, EOFError, zlib.error) as failed:
        raise InputError(f"cannot be unpacked: {failed}", path, REMEDY) from None


def _readline(file: IO[bytes], path: Path, number: int) -> bytes:
    try:
        return file.readline(MOST_LINE_BYTES + 1)
    except (OSError, EOFError, zlib.error) as failed:
        raise InputError(f"cannot be unpacked: {failed}", f"{path}:{number}", REMEDY) from None
