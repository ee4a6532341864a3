"""Reads the append-only record logs that Rust writes (crates/record) and turns them into Parquet.

A log is one JSON header line and packed little-endian rows: after a crash everything up to the last whole row is
readable. Parquet, which is unreadable without its last bytes, is made when a run has ended.
"""

from __future__ import annotations

import errno
import mmap
import os
from collections.abc import Callable, Iterator
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
    with opened(path, "run the measurement again", MOST_LOG_BYTES, error=RunFolderError) as file:
        header = _header(path, file.readline(MOST_HEADER_BYTES))
        parts = [_columns(b"", header["kinds"]), *_rows(file, header["kinds"])]
    return pl.concat(parts), header.get("meta", {})


def _rows(file: IO[bytes], kinds: np.dtype[np.void]) -> Iterator[pl.DataFrame]:
    """The rows from here on, some at a time."""
    while len(data := file.read(ROWS_AT_ONCE * kinds.itemsize)) >= kinds.itemsize:
        yield _columns(data, kinds)


def _columns(data: bytes, kinds: np.dtype[np.void]) -> pl.DataFrame:
    rows = np.frombuffer(data[: len(data) // kinds.itemsize * kinds.itemsize], dtype=kinds)
    return pl.DataFrame({name: np.ascontiguousarray(rows[name]) for name in kinds.names or ()})


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


def thinned(frame: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """A systematic sample from rows whose `weight` grew while they were written (crates/record/src/row_sampling.rs): the rows of
    requests 0, w, 2 w, … where w is the last weight; and w."""
    if "weight" not in frame.columns or frame.is_empty():
        return frame, 1
    last = int(frame["weight"][-1])
    return _every(frame, last, 0)[0], last


def _every(frame: pl.DataFrame, last: int, before: int) -> tuple[pl.DataFrame, int]:
    """The rows of requests 0, w, 2 w, … of those that stand behind `before` requests, with w, the last weight; and how many requests then
    are before the next rows."""
    weight = frame["weight"].cast(pl.Int64)
    number = weight.cum_sum() - weight + before  # requests before the row
    kept = frame.filter(number % last == 0).with_columns(weight=pl.lit(last).cast(frame["weight"].dtype))
    return kept, before + int(weight.sum())


def to_parquet(log: Path, path: Path) -> dict[str, Any]:
    """Writes what `read_thinned` reads of `log` as Parquet, some rows at a time, whole or not at all; returns its `meta`.

    Raises:
        RunFolderError: as `read_log` does, and where it cannot be written.
    """
    with opened(log, "run the measurement again", MOST_LOG_BYTES, error=RunFolderError) as file:
        header = _header(log, file.readline(MOST_HEADER_BYTES))
        kinds, begin = header["kinds"], file.tell()
        count = (os.fstat(file.fileno()).st_size - begin) // kinds.itemsize
        every, empty = 1, _columns(b"", kinds)
        if "weight" in empty.columns and count:
            file.seek(begin + (count - 1) * kinds.itemsize)
            every = int(_columns(file.read(kinds.itemsize), kinds)["weight"][0])
            file.seek(begin)

        def parts() -> Iterator[pl.DataFrame]:
            before = 0
            for part in _rows(file, kinds):
                if every > 1:
                    part, before = _every(part, every, before)
                yield part

        if count <= ROWS_AT_ONCE:
            write_parquet(pl.concat([empty, *parts()]), path)
        else:
            _stream(empty.schema, parts, path)
    return {"sample_every": every, **header.get("meta", {})}


def read_thinned(log: Path) -> tuple[pl.DataFrame, dict[str, Any]]:
    """The rows of `log`, thinned to one weight, and its `meta`, with the weight as `sample_every`. Raises as `read_log` does."""
    frame, meta = read_log(log)
    frame, every = thinned(frame)
    return frame, {"sample_every": every, **meta}


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
