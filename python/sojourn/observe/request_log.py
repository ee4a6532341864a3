"""A request log as CSV: when each request came, and how long it took or when it was answered.

A column says its unit in its name: `arrival_s`, `start_ms`, `response_s`, `latency_us`, `done_ms`. Two of the three (came, took, done) are
needed; where all are there, the two of the finest units are taken. A column `class` names the class; without one the file is one
class. A file packed by gzip is unpacked, within a limit.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sojourn.errors import InputError
from sojourn.files.reading import MIB, MOST_LOG_BYTES, opened
from sojourn.units import UNITS_S

Array = NDArray[np.float64]
UNITS = {name: UNITS_S[name] for name in ("s", "ms", "us", "ns")}
CAME = ("arrival", "start", "intended", "sent", "received", "time", "timestamp")
TOOK = ("response", "response_time", "latency", "duration", "elapsed")
DONE = ("done", "end", "completed")
CLASS = ("class", "label", "route", "handler")
TIMED = re.compile(r"(?P<name>[a-z_]+?)_(?P<unit>s|ms|us|ns)")
MOST_ROWS = 50_000_000
MOST_UNPACKED_BYTES = 2048 * MIB
# zstd and zlib, which polars would unpack without a limit
PACKED = (b"\x28\xb5\x2f\xfd", b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
LATEST_S = 1e11  # the year 5138: a later time is of another unit
MOST_CLASSES = 20
REMEDY = "name the columns with their units: arrival_s,response_s or start_ms,latency_ms or arrival_s,done_s, and class"


@dataclass(frozen=True)
class RequestLog:
    """Requests in order of arrival: `came_s` (Unix time, s), `took_s` (s), `of` (index into `classes`), each (requests,)."""

    came_s: Array
    took_s: Array
    of: NDArray[np.intp]
    classes: tuple[str, ...]

    def between(self, start_s: float, end_s: float) -> RequestLog:
        """Requests that came in [start_s, end_s), Unix time."""
        low, high = np.searchsorted(self.came_s, [start_s, end_s])
        return RequestLog(self.came_s[low:high], self.took_s[low:high], self.of[low:high], self.classes)


def read_csv(path: Path, remedy: str) -> pl.DataFrame:
    """All rows. InputError for what cannot be read as CSV with a header, and for more than MOST_ROWS rows."""
    try:
        found = pl.read_csv(_plain(path, remedy), n_rows=MOST_ROWS + 1, infer_schema_length=10_000, glob=False)
    except OSError as error:
        raise InputError(error.strerror or str(error), path, "give a CSV file that can be read") from None
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        raise InputError(f"not CSV: {str(error).splitlines()[0]}", path, remedy) from None
    if found.height > MOST_ROWS:
        raise InputError(f"more than {MOST_ROWS} rows", path, "give a part of it")
    names = [name.strip().lower() for name in found.columns]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"two columns {twice!r}", path, "remove or rename one")
    found.columns = names
    return found


def _plain(path: Path, remedy: str) -> Path | bytes:
    """What polars is to read: a plain file as it is, or what gzip packed. InputError for a pipe, a folder, and what is too large."""
    with opened(path, remedy, MOST_LOG_BYTES) as file:
        begin = file.peek(4)[:4]
        if begin.startswith(PACKED):
            raise InputError("packed, and not by gzip", path, "unpack it, or pack it by gzip")
        if not begin.startswith(b"\x1f\x8b"):
            return path
        try:
            held = gzip.GzipFile(fileobj=file).read(MOST_UNPACKED_BYTES + 1)
        except (OSError, EOFError, zlib.error) as failed:
            raise InputError(f"cannot be unpacked: {failed}", path, remedy) from None
    if held.startswith((b"\x1f\x8b", *PACKED)):
        raise InputError("packed twice", path, "unpack it once")
    if len(held) > MOST_UNPACKED_BYTES:
        raise InputError(f"more than {MOST_UNPACKED_BYTES // MIB} MiB unpacked", path, "give a part of it")
    return held


def is_request_log(columns: Sequence[str]) -> bool:
    """Whether a CSV with these columns has requests: it says how long each took, or when it was done and when it came."""
    there = _named(columns)
    return bool(there.keys() & set(TOOK)) or (bool(there.keys() & set(CAME)) and bool(there.keys() & set(DONE)))


def read_request_log(path: Path, frame: pl.DataFrame | None = None) -> RequestLog:
    """One file; its class is named after the file where no column says it.

    Raises:
        InputError: it is no CSV, lacks a column, has no row, a time that is no number or cannot be, or too many classes.
    """
    frame = read_csv(path, REMEDY) if frame is None else frame
    if frame.is_empty():
        raise InputError("no row", path, "give a log with requests")
    there = _named(frame.columns)
    parts = {
        kind: there[name] for kind, names in _KINDS.items() if (name := next((n for n in names if n in there), None))
    }
    finest = sorted(parts, key=lambda kind: _unit_s(parts[kind]))[:2]  # of equal ones as they stand in _KINDS
    given = {kind: _seconds(frame, parts[kind], path, LATEST_S if kind != "took" else np.inf) for kind in finest}
    if len(given) < 2:
        raise InputError(f"columns {', '.join(frame.columns)}", path, REMEDY)
    took = given["took"] if "took" in given else given["done"] - given["came"]
    came = given["came"] if "came" in given else given["done"] - took
    if (took < 0).any():
        row = int(np.flatnonzero(took < 0)[0])
        raise InputError(f"{took[row]:.6g} s", f"{path}: row {row + 2}", "give times that are not negative")
    names, of = _classes(frame, path)
    order = np.argsort(came, kind="stable")
    return RequestLog(came[order], took[order], of[order], names)


_KINDS: Mapping[str, Sequence[str]] = {"took": TOOK, "came": CAME, "done": DONE}


def _named(columns: Sequence[str]) -> dict[str, str]:
    """Name without its unit → column."""
    found = ((TIMED.fullmatch(one), one) for one in columns)
    return {match["name"]: one for match, one in reversed(list(found)) if match}


def _unit_s(column: str) -> float:
    return UNITS[column.rpartition("_")[2]]


def _seconds(frame: pl.DataFrame, column: str, path: Path, most_s: float) -> Array:
    """InputError for what is no number, and for one beyond `most_s`."""
    values = frame[column]
    if not values.dtype.is_numeric():
        raise InputError(f"a {column} that is no number", path, "give numbers; a time of day as Unix time")
    times = values.cast(pl.Float64).to_numpy() * _unit_s(column)
    if not np.isfinite(times).all():
        row = int(np.flatnonzero(~np.isfinite(times))[0])
        raise InputError(f"no {column}", f"{path}: row {row + 2}", "remove the row, or write the number")
    if (np.abs(times) > most_s).any():
        row = int(np.flatnonzero(np.abs(times) > most_s)[0])
        raise InputError(
            f"{times[row]:.4g} s", f"{path}: row {row + 2}, {column}", "name the column with its unit: _ms, _us, _ns"
        )
    return np.asarray(times, float)


def _classes(frame: pl.DataFrame, path: Path) -> tuple[tuple[str, ...], NDArray[np.intp]]:
    column = next((name for name in CLASS if name in frame.columns), None)
    if column is None:
        return (plain_name(path.name.split(".")[0]),), np.zeros(frame.height, np.intp)
    texts = frame[column].cast(pl.String).fill_null("none")
    names = texts.unique().sort().to_list()
    if len(names) > MOST_CLASSES:
        remedy = f"group them into at most {MOST_CLASSES} classes whose requests are alike"
        raise InputError(f"{len(names)} classes", f"{path}: column {column}", remedy)
    plain = tuple(plain_name(name) for name in names)
    index = {name: i for i, name in enumerate(names)}
    return plain, np.array([index[text] for text in texts], np.intp)


def plain_name(text: str) -> str:
    """A name that a model file can have as a key: letters, digits and underscores."""
    found = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")
    return found if found and not found[0].isdigit() else f"class_{found}"


def together(logs: Sequence[RequestLog]) -> RequestLog:
    """Several logs as one, in order of arrival; classes of one name are one."""
    names = tuple(dict.fromkeys(name for log in logs for name in log.classes))
    of = [np.array([names.index(name) for name in log.classes], np.intp)[log.of] for log in logs]
    came, took, index = (
        np.concatenate([log.came_s for log in logs]),
        np.concatenate([log.took_s for log in logs]),
        np.concatenate(of),
    )
    order = np.argsort(came, kind="stable")
    return RequestLog(came[order], took[order], index[order], names)
