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
    """`path`, and `head`: its first 64 KiB, unpacked, as text. `remedy`: what to give instead; `most_line_bytes`: the longest line."""

    path: Path
    head: str
    remedy: str = REMEDY
    most_line_bytes: int = MOST_LINE_BYTES

    @classmethod
    def of(cls, path: Path | str, remedy: str = REMEDY, most_line_bytes: int = MOST_LINE_BYTES) -> TextSource:
        """Raises InputError for what is no plain file, empty, or packed and damaged."""
        path = Path(path)
        with _bytes(path, remedy) as file:
            held = _read(file, HEAD_BYTES, path, remedy)
        if not held.strip():
            raise InputError("empty", path, remedy)
        return cls(path, held.decode("utf-8-sig", errors="replace"), remedy, most_line_bytes)

    def lines(self) -> Iterator[str]:
        """Line by line, without their ends. Raises InputError with the line for one that is too long, or where packed data end early."""
        for _, line in self.numbered():
            yield line.decode(errors="replace").rstrip("\r\n")

    def numbered(self) -> Iterator[tuple[int, bytes]]:
        """The same as bytes, numbered from 1."""
        total, number = 0, 0
        with _bytes(self.path, self.remedy) as file:
            while line := self._line(file, number + 1):
                number += 1
                total += len(line)
                if total > MOST_LOG_BYTES:
                    raise InputError(f"more than {MOST_LOG_BYTES // MIB} MiB unpacked", self.path, self.remedy)
                yield number, line

    def text(self) -> str:
        """All of it, where it is at most 64 MiB. Raises InputError for more."""
        with _bytes(self.path, self.remedy) as file:
            held = _read(file, MOST_JSON_BYTES + 1, self.path, self.remedy)
        if len(held) > MOST_JSON_BYTES:
            raise InputError(f"more than {MOST_JSON_BYTES // MIB} MiB", self.path, self.remedy)
        return held.decode("utf-8-sig", errors="replace")

    def _line(self, file: IO[bytes], number: int) -> bytes:
        try:
            line = file.readline(self.most_line_bytes + 1)
        except (OSError, EOFError, zlib.error) as failed:
            raise InputError(f"cannot be unpacked: {failed}", f"{self.path}:{number}", self.remedy) from None
        if len(line) > self.most_line_bytes:
            said = f"a line of more than {self.most_line_bytes // MIB} MiB"
            raise InputError(said, f"{self.path}:{number}", self.remedy)
        return line


@contextmanager
def _bytes(path: Path, remedy: str) -> Iterator[IO[bytes]]:
    with opened(path, remedy, MOST_LOG_BYTES) as file:
        if file.peek(2)[:2] != b"\x1f\x8b":
            yield file
            return
        with gzip.GzipFile(fileobj=file) as unpacked:
            yield cast("IO[bytes]", unpacked)


def _read(file: IO[bytes], most: int, path: Path, remedy: str) -> bytes:
    try:
        return file.read(most)
    except (OSError, EOFError, zlib.error) as failed:
        raise InputError(f"cannot be unpacked: {failed}", path, remedy) from None
