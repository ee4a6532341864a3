"""Reads the append-only record logs that Rust writes (crates/record) and turns them into Parquet.

A log is one JSON header line and packed little-endian rows: after a crash everything up to the last whole row is
readable. Parquet, which is unreadable without its last bytes, is made when a run has ended.
"""

from __future__ import annotations

import errno
import mmap
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl

from sojourn.errors import FULL, RunFolderError, StorageFull
from sojourn.files.reading import MOST_LOG_BYTES, opened, parse_json
from sojourn.files.writing import whole_file

FORMAT, VERSION = "sojourn-record", 1
CODES = {code: code for code in ("f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1")}
MOST_HEADER_BYTES = 1 << 20
ROWS_AT_ONCE = 65_536  # of a log: its bytes are not in memory beside its columns; and of a row group of Parquet


def read_log(path: Path) -> tuple[pl.DataFrame, dict[str, Any]]:
    """The rows of a record log and the `meta` of its header; a cut-off last row is left out.

    Raises:
        RunFolderError: not a record log, or one of another version.
    """
    with _opened(path) as log:
        return pl.concat(log.parts(thin=False)), log.meta


@dataclass(frozen=True)
class _OpenLog:
    """Of a log whose header was read: where its rows begin, of which types, how many are whole, and the weight of the last (1: of all)."""

    file: IO[bytes]
    kinds: np.dtype[np.void]
    meta: dict[str, Any]
    begin: int
    count: int
    last: int

    @property
    def schema(self) -> pl.Schema:
        """Of all columns."""
        return _columns(b"", self.kinds, self.kinds.names or ()).schema

    def parts(self, wanted: Collection[str] | None = None, thin: bool = True) -> Iterator[pl.DataFrame]:
        """The rows some at a time, thinned to the last weight, of the columns that are `wanted` and there; one part at least."""
        every, before = self.last if thin else 1, 0
        names = [name for name in self.kinds.names or () if wanted is None or name in wanted]
        read = names if every == 1 else list(dict.fromkeys([*names, "weight"]))
        if not self.count:
            yield _columns(b"", self.kinds, names)
        self.file.seek(self.begin)
        while len(data := self.file.read(ROWS_AT_ONCE * self.kinds.itemsize)) >= self.kinds.itemsize:
            part = _columns(data, self.kinds, read)
            if every > 1:
                part, before = _every(part, every, before)
            yield part if part.columns == names else part.select(names)


@contextmanager
def _opened(path: Path) -> Iterator[_OpenLog]:
    with opened(path, "run the measurement again", MOST_LOG_BYTES, error=RunFolderError) as file:
        header = _header(path, file.readline(MOST_HEADER_BYTES))
        kinds, begin, last = header["kinds"], file.tell(), 1
        count = (os.fstat(file.fileno()).st_size - begin) // kinds.itemsize
        if "weight" in kinds.names and count:
            file.seek(begin + (count - 1) * kinds.itemsize)
            last = int(_columns(file.read(kinds.itemsize), kinds, ["weight"])["weight"][0])
        yield _OpenLog(file, kinds, header.get("meta", {}), begin, count, last)


def _columns(data: bytes, kinds: np.dtype[np.void], names: Sequence[str]) -> pl.DataFrame:
    rows = np.frombuffer(data[: len(data) // kinds.itemsize * kinds.itemsize], dtype=kinds)
    return pl.DataFrame({name: np.ascontiguousarray(rows[name]) for name in names})


def _header(path: Path, line: bytes) -> dict[str, Any]:
    try:
        header: dict[str, Any] = parse_json(line)
        version = (header["format"], header["version"])
        columns = [(str(name), "<" + CODES[code]) for name, code in header["columns"]]
        if not columns:
            raise ValueError("no columns")
        header["kinds"] = np.dtype(columns)  # a ValueError where two have one name
    except (ValueError, KeyError, TypeError):
        raise RunFolderError(
            f"{line[:40]!r}", str(path), "this is not a record log; run the measurement again"
        ) from None
    if version != (FORMAT, VERSION):
        raise RunFolderError(
            f"{version[0]} version {version[1]}", str(path), f"this program reads {FORMAT} version {VERSION}"
        )
    return header


def _every(frame: pl.DataFrame, last: int, before: int) -> tuple[pl.DataFrame, int]:
    """The rows of requests 0, w, 2 w, … of those that stand behind `before` requests, with w, the last weight; and how many requests then
    are before the next rows."""
    weight = frame["weight"].cast(pl.Int64)
    number = weight.cum_sum() - weight + before  # requests before the row
    kept = frame.filter(number % last == 0).with_columns(weight=pl.lit(last).cast(frame["weight"].dtype))
    return kept, before + int(weight.sum())


def to_parquet(log: Path, path: Path) -> dict[str, Any]:
    """Writes what `log_parts` reads of `log` as Parquet, some rows at a time, whole or not at all; returns its `meta` as `log_meta` does.

    Raises:
        RunFolderError: as `read_log` does, and where it cannot be written.
    """
    with _opened(log) as found:
        if found.count <= ROWS_AT_ONCE:
            write_parquet(pl.concat(found.parts()), path)
        else:
            _stream(found.schema, found.parts, path)
        return _meta(found)


def log_meta(log: Path) -> dict[str, Any]:
    """The `meta` of a log, with the weight that its rows are thinned to as `sample_every`. Raises as `read_log` does."""
    with _opened(log) as found:
        return _meta(found)


def log_rows(log: Path) -> int:
    """How many whole rows it has, before they are thinned. Raises as `read_log` does."""
    with _opened(log) as found:
        return found.count


def _meta(log: _OpenLog) -> dict[str, Any]:
    return {"sample_every": log.last, **log.meta}


def log_parts(
    log: Path, wanted: Collection[str] | None = None, check: Callable[[pl.Schema], object] = lambda schema: None
) -> Iterator[pl.DataFrame]:
    """The rows of `log`, some at a time, one part at least, of the columns that are `wanted` and there. `check` is told the types of all
    columns first.

    Rows whose `weight` grew while they were written (crates/record/src/row_sampling.rs) are thinned to a systematic sample: the rows of
    requests 0, w, 2 w, … where w is the last weight. Raises as `read_log` does."""
    with _opened(log) as found:
        check(found.schema)
        yield from found.parts(wanted)


def read_thinned(log: Path) -> tuple[pl.DataFrame, dict[str, Any]]:
    """All that `log_parts` reads, and `log_meta`."""
    with _opened(log) as found:
        return pl.concat(found.parts()), _meta(found)


def cannot_write(error: Exception, path: Path) -> RunFolderError:
    """What to raise where something of a run folder could not be written; polars tells the reason in its text alone."""
    why = getattr(error, "strerror", None) or str(error)
    if any(text in str(error) for text in FULL):
        return StorageFull(why, str(path), "free space on the disk, or choose another folder")
    return RunFolderError(why, str(path), "choose a folder you can write to")


def write_parquet(frame: pl.DataFrame, path: Path) -> None:
    """Writes a Parquet file so that it is there whole or not at all. RunFolderError where it cannot be written."""
    _write(lambda file: frame.write_parquet(file, compression="zstd"), path)


def _stream(schema: pl.Schema, parts: Callable[[], Iterator[pl.DataFrame]], path: Path) -> None:
    """The same of frames that come one after the other, each a row group or some."""
    from polars.io.plugins import register_io_source

    def source(*_: Any) -> Iterator[pl.DataFrame]:
        yield from parts()

    frame = register_io_source(source, schema=schema)
    _write(lambda file: frame.sink_parquet(file, compression="zstd", row_group_size=ROWS_AT_ONCE), path)


def _write(write: Callable[[IO[bytes]], object], path: Path) -> None:
    try:
        with whole_file(path) as file:
            try:
                write(file)
            except pl.exceptions.ComputeError as error:  # polars' own, whose text may hide that the disk is full
                raise OSError(errno.ENOSPC, FULL[0]) if _is_full(path.parent) else error from None
    except (OSError, pl.exceptions.ComputeError) as error:
        raise cannot_write(error, path) from None


def _is_full(folder: Path) -> bool:
    """Whether nobody but root can write another page there."""
    place = os.statvfs(folder)
    return place.f_bavail * place.f_frsize < mmap.PAGESIZE
