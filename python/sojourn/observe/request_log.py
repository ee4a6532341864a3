"""A request log as CSV: when each request came, and how long it took or when it was answered.

A column says its unit in its name: `arrival_s`, `start_ms`, `response_s`, `latency_us`, `done_ms`. Two of the three (came, took, done) are
needed; where all are there, the two of the finest units are taken. A column `class` names the class; without one the file is one
class. A file packed by gzip is unpacked, within a limit.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BufferedReader, BytesIO
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sojourn.errors import InputError
from sojourn.files.reading import MIB, MOST_LOG_BYTES, opened
from sojourn.observe.csv_rows import csv_parts
from sojourn.observe.growing_array import GrowingArray
from sojourn.units import UNITS_S

Array = NDArray[np.float64]
UNITS = {name: UNITS_S[name] for name in ("s", "ms", "us", "ns")}
CAME = ("arrival", "start", "intended", "sent", "received", "time", "timestamp")
TOOK = ("response", "response_time", "latency", "duration", "elapsed")
DONE = ("done", "end", "completed")
CLASS = ("class", "label", "route", "handler")
RENAMED = re.compile(r"_duplicated_\d+$")  # as polars calls the second column of a name
TIMED = re.compile(r"(?P<name>[a-z_]+?)_(?P<unit>s|ms|us|ns)")
MOST_ROWS = 50_000_000
MOST_UNPACKED_BYTES = 2048 * MIB
# zstd and zlib, which polars would unpack without a limit
PACKED = (b"\x28\xb5\x2f\xfd", b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
LATEST_S = 1e11  # the year 5138: a later time is of another unit
LONGEST_S = 1e7  # a response of months: the same
READABLE = "give a CSV file that can be read"
MOST_CLASSES = 20
REMEDY = "name the columns with their units: arrival_s,response_s or start_ms,latency_ms or arrival_s,done_s, and class"


@dataclass(frozen=True)
class RequestLog:
    """Requests in order of arrival: `came_s` (Unix time, s), `took_s` (s), `of` (index into `classes`), each (requests,)."""

    came_s: Array
    took_s: Array
    of: NDArray[np.integer[Any]]
    classes: tuple[str, ...]

    def between(self, start_s: float, end_s: float) -> RequestLog:
        """Requests that came in [start_s, end_s), Unix time."""
        low, high = np.searchsorted(self.came_s, [start_s, end_s])
        return RequestLog(self.came_s[low:high], self.took_s[low:high], self.of[low:high], self.classes)


def read_csv(path: Path, remedy: str) -> pl.DataFrame:
    """All rows; of a request log the columns that `read_request_log` reads. InputError for what cannot be read as CSV with a header, and
    for more than MOST_ROWS rows."""
    return pl.concat(_parts(path, remedy))


def _parts(path: Path, remedy: str) -> Iterator[pl.DataFrame]:
    """The same some rows at a time; one part at least."""
    rows = 0
    try:
        with opened(path, READABLE, MOST_LOG_BYTES) as file:
            for part in csv_parts(_plain(path, file), MOST_ROWS + 1, _wanted):
                rows += part.height
                if rows > MOST_ROWS:
                    raise InputError(f"more than {MOST_ROWS} rows", path, "give a part of it")
                names = [RENAMED.sub("", name).strip().lower() for name in part.columns]
                if len(names) == 1 and (other := next((sign for sign in ";\t|" if sign in names[0]), None)):
                    raise InputError(f"columns separated by {other!r}", path, "separate them by commas")
                if twice := next((name for name in names if names.count(name) > 1), None):
                    raise InputError(f"two columns {twice!r}", path, "remove or rename one")
                part.columns = names
                yield part
    except OSError as error:
        raise InputError(error.strerror or str(error), path, READABLE) from None
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        if "utf-8" in str(error):
            raise InputError(f"not UTF-8: {str(error).splitlines()[0]}", path, "save it as UTF-8") from None
        raise InputError(f"not CSV: {str(error).splitlines()[0]}", path, remedy) from None


def _wanted(columns: Sequence[str]) -> Sequence[str]:
    """Of a request log what is read of it; of all else everything."""
    plain = {RENAMED.sub("", name).strip().lower(): name for name in columns}
    if len(plain) < len(columns):
        return columns  # two of one name: an error of its own
    timed = _named(list(plain))
    needed = {timed[name] for name in (*CAME, *TOOK, *DONE) if name in timed} | (set(CLASS) & plain.keys())
    return [plain[name] for name in plain if name in needed] if is_request_log(list(plain)) else columns


def _plain(path: Path, file: BufferedReader) -> IO[bytes]:
    """What is to be read: a plain file as it is, or what gzip packed. InputError for what is packed otherwise, or too large."""
    begin = file.peek(4)[:4]
    if begin.startswith(PACKED):
        raise InputError("packed, and not by gzip", path, "unpack it, or pack it by gzip")
    if begin.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError("UTF-16", path, "save it as UTF-8")
    if not begin.startswith(b"\x1f\x8b"):
        return file
    try:
        held = gzip.GzipFile(fileobj=file).read(MOST_UNPACKED_BYTES + 1)
    except (OSError, EOFError, zlib.error) as failed:
        raise InputError(f"cannot be unpacked: {failed}", path, "copy the file again from its origin") from None
    if held.startswith((b"\x1f\x8b", *PACKED)):
        raise InputError("packed twice", path, "unpack it once")
    if len(held) > MOST_UNPACKED_BYTES:
        raise InputError(f"more than {MOST_UNPACKED_BYTES // MIB} MiB unpacked", path, "give a part of it")
    return BytesIO(held)


def is_request_log(columns: Sequence[str]) -> bool:
    """Whether a CSV with these columns has requests: it says how long each took, or when it was done and when it came."""
    there = _named(columns)
    return bool(there.keys() & set(TOOK)) or (bool(there.keys() & set(CAME)) and bool(there.keys() & set(DONE)))


def read_request_log(path: Path, frame: pl.DataFrame | None = None) -> RequestLog:
    """One file; its class is named after the file where no column says it.

    Raises:
        InputError: it is no CSV, lacks a column, has no row, a time that is no number or cannot be, or too many classes.
    """
    return _log_of(path, _parts(path, REMEDY) if frame is None else (frame,))


def read_log_or_series(path: Path) -> RequestLog | pl.DataFrame:
    """A request log, or all rows of what is none, as of a utilisation series. Raises as `read_request_log` and `read_csv` do."""
    parts = _parts(path, REMEDY)
    first = next(parts)
    return _log_of(path, chain((first,), parts)) if is_request_log(first.columns) else pl.concat([first, *parts])


def _log_of(path: Path, parts: Iterable[pl.DataFrame]) -> RequestLog:
    """Part by part into arrays that grow, so that no part stays beside them."""
    came, took, of = GrowingArray(np.float64), GrowingArray(np.float64), GrowingArray(np.uint8)
    codes: dict[str, int] = {}
    for part in parts:
        if part.is_empty():
            continue
        of.add(_classes(part, path, came.count, codes))
        came_s, took_s = _times(part, path, came.count)
        came.add(came_s)
        took.add(took_s)
    if not came.count:
        raise InputError("no row", path, "give a log with requests")
    names = sorted(codes)
    place = np.array([names.index(name) for name in codes], np.uint8)
    plain = tuple(plain_name(name) for name in names) or (plain_name(path.name.split(".")[0]),)
    which = of.whole()
    return _in_order(RequestLog(came.whole(), took.whole(), place[which] if len(names) > 1 else which, plain))


def _in_order(log: RequestLog) -> RequestLog:
    came = log.came_s
    if (came[1:] >= came[:-1]).all():
        return log
    order = np.argsort(came, kind="stable")
    return RequestLog(came[order], log.took_s[order], log.of[order], log.classes)


_KINDS: Mapping[str, Sequence[str]] = {"took": TOOK, "came": CAME, "done": DONE}


def _named(columns: Sequence[str]) -> dict[str, str]:
    """Name without its unit → column."""
    found = ((TIMED.fullmatch(one), one) for one in columns)
    return {match["name"]: one for match, one in reversed(list(found)) if match}


def _unit_s(column: str) -> float:
    return UNITS[column.rpartition("_")[2]]


def _times(part: pl.DataFrame, path: Path, before: int) -> tuple[Array, Array]:
    """When requests came and how long they took, s. `before`: how many rows of the file stand before these."""
    there = _named(part.columns)
    parts = {
        kind: there[name] for kind, names in _KINDS.items() if (name := next((n for n in names if n in there), None))
    }
    finest = sorted(parts, key=lambda kind: _unit_s(parts[kind]))[:2]  # of equal ones as they stand in _KINDS
    given = {k: _seconds(part[parts[k]], path, before, LATEST_S if k != "took" else LONGEST_S) for k in finest}
    if len(given) < 2:
        raise InputError(f"columns {', '.join(part.columns)}", path, REMEDY)
    took = given["took"] if "took" in given else given["done"] - given["came"]
    came = given["came"] if "came" in given else given["done"] - took
    if (took < 0).any():
        row = int(np.flatnonzero(took < 0)[0])
        raise InputError(f"{took[row]:.6g} s", f"{path}: row {before + row + 2}", "give times that are not negative")
    return came, took


def _seconds(values: pl.Series, path: Path, before: int, most_s: float) -> Array:
    """InputError for what is no number, and for one beyond `most_s`."""
    column = values.name
    numbers = values.cast(pl.Float64, strict=False)
    times = np.asarray(numbers.to_numpy() * _unit_s(column), float)
    if not np.isfinite(times).all():
        row = int(np.flatnonzero(~np.isfinite(times))[0])
        place = f"{path}: row {before + row + 2}"
        if values[row] is None:
            raise InputError(f"no {column}", place, "remove the row, or write the number")
        remedy = "give numbers; a time of day as Unix time; remove rows without an answer"
        raise InputError(f"{column} {str(values[row])[:40]!r} is no number", place, remedy)
    beyond = np.abs(times) > most_s
    if beyond.any():
        row = int(np.flatnonzero(beyond)[0])
        place = f"{path}: row {before + row + 2}, {column}"
        raise InputError(f"{times[row]:.4g} s", place, "name the column with its unit: _ms, _us, _ns")
    return times


def _classes(part: pl.DataFrame, path: Path, before: int, codes: dict[str, int]) -> NDArray[np.uint8]:
    """Which class each request is of, as `codes` have it; names that are new get the next number."""
    column = next((name for name in CLASS if name in part.columns), None)
    if column is None:
        return np.zeros(part.height, np.uint8)
    texts = part[column].cast(pl.String).fill_null("none")
    for name in texts.unique(maintain_order=True).to_list():
        codes.setdefault(name, len(codes))
    if len(codes) > MOST_CLASSES:
        remedy = f"group them into at most {MOST_CLASSES} classes whose requests are alike"
        raise InputError(f"{len(codes)} classes in {before + part.height} rows", f"{path}: column {column}", remedy)
    found = texts.replace_strict(list(codes), list(codes.values()), return_dtype=pl.UInt8).to_numpy()
    return np.asarray(found, np.uint8)


def plain_name(text: str) -> str:
    """A name that a model file can have as a key: letters, digits and underscores."""
    found = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")
    return found if found and not found[0].isdigit() else f"class_{found}"


def together(logs: Sequence[RequestLog]) -> RequestLog:
    """Several logs as one, in order of arrival; classes of one name are one."""
    if len(logs) == 1 and len(set(logs[0].classes)) == len(logs[0].classes):
        return logs[0]
    names = tuple(dict.fromkeys(name for log in logs for name in log.classes))
    of = [np.array([names.index(name) for name in log.classes], np.uint16)[log.of] for log in logs]
    came, took = np.concatenate([log.came_s for log in logs]), np.concatenate([log.took_s for log in logs])
    return _in_order(RequestLog(came, took, np.concatenate(of), names))
