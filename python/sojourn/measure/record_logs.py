"""Reads the append-only record logs that Rust writes (crates/record) and turns them into Parquet.

A log is one JSON header line and packed little-endian rows: after a crash everything up to the last whole row is
readable. Parquet, which is unreadable without its last bytes, is made when a run has ended.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sojourn.errors import FULL, RunFolderError, StorageFull

FORMAT, VERSION = "sojourn-record", 1


def read_log(path: Path) -> tuple[pl.DataFrame, dict[str, Any]]:
    """The rows of a record log and the `meta` of its header; a cut-off last row is left out.

    Raises:
        RunFolderError: not a record log, or one of another version.
    """
    with open(path, "rb") as file:
        header = _header(path, file.readline())
        kinds = np.dtype([(name, "<" + code) for name, code in header["columns"]])
        data = file.read()
    rows = np.frombuffer(data[: len(data) // kinds.itemsize * kinds.itemsize], dtype=kinds)
    names = kinds.names or ()
    return pl.DataFrame({name: np.ascontiguousarray(rows[name]) for name in names}), header.get("meta", {})


def _header(path: Path, line: bytes) -> dict[str, Any]:
    try:
        header: dict[str, Any] = json.loads(line)
        version = (header["format"], header["version"])
    except (ValueError, KeyError, TypeError):
        raise RunFolderError(f"{line[:40]!r}", str(path), "this is no record log; run the measurement again") from None
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
    weight = frame["weight"].cast(pl.Int64)
    last = int(weight[-1])
    number = weight.cum_sum() - weight  # requests before the row
    return frame.filter(number % last == 0).with_columns(weight=pl.lit(last).cast(frame["weight"].dtype)), last


def log_to_parquet(log: Path, parquet: Path) -> dict[str, Any]:
    """Writes the rows of `log` as Parquet, thinned to one weight, and removes the log; returns the log's `meta`, with the weight
    as `sample_every`."""
    frame, meta = read_log(log)
    frame, every = thinned(frame)
    meta = {"sample_every": every, **meta}
    write_parquet(frame, parquet)
    log.unlink()
    return meta


def cannot_write(error: OSError, path: Path) -> RunFolderError:
    """What to raise where something of a run folder could not be written; polars tells the reason in its text alone."""
    why = error.strerror or str(error)
    if any(text in str(error) for text in FULL):
        return StorageFull(why, str(path), "free space on the disk, or choose another folder")
    return RunFolderError(why, str(path), "choose a folder you can write to")


def write_parquet(frame: pl.DataFrame, path: Path) -> None:
    """Writes a Parquet file so that it is there whole or not at all."""
    temporary = path.with_suffix(".tmp")
    try:
        frame.write_parquet(temporary, compression="zstd")
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise cannot_write(error, path) from None
