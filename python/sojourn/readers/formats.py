"""Which format a file has, by what is in it, and its reader.

A format is a module with `NAME`: of lines, with `matches` (the first 64 KiB) and `read`; or of one JSON object, with `claims` (the object)
and `read_summary`.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.errors import InputError
from sojourn.files.reading import parse_json
from sojourn.readers import (
    access_log,
    csv_columns,
    fio,
    gatling,
    histogram_log,
    http_summaries,
    http_texts,
    jmeter,
    k6,
    locust,
    memtier,
    sadf,
    vegeta,
    wrk,
    ycsb,
)
from sojourn.readers.observation import Observation
from sojourn.readers.run_folder_reader import read_folders
from sojourn.readers.text_source import TextSource

Summary = Callable[[TextSource, Mapping[str, Any]], list[Observation]]


@dataclass(frozen=True)
class LineFormat:
    """`matches` says from the beginning of a file whether it is one; `read` reads it."""

    name: str
    matches: Callable[[str], bool]
    read: Callable[[TextSource], list[Observation]]


@dataclass(frozen=True)
class JsonFormat:
    """`claims` says from the whole object whether it is one; `read` takes it."""

    name: str
    claims: Callable[[Any], bool]
    read: Summary


LINES: tuple[LineFormat, ...] = (
    LineFormat(k6.NAME, k6.matches, k6.read),
    LineFormat(gatling.NAME, gatling.matches, gatling.read),
    LineFormat(jmeter.NAME, jmeter.matches, jmeter.read),
    LineFormat(vegeta.NAME, vegeta.matches, vegeta.read),
    LineFormat(wrk.NAME, wrk.matches, wrk.read),
    LineFormat(http_texts.AB, http_texts.is_ab, http_texts.read_ab),
    LineFormat(http_texts.HEY, http_texts.is_hey, http_texts.read_hey),
    LineFormat(http_texts.HEY_CSV, http_texts.is_hey_csv, http_texts.read_hey_csv),
    LineFormat(ycsb.NAME, ycsb.matches, ycsb.read),
    LineFormat(locust.NAME, locust.matches, locust.read),
    LineFormat(histogram_log.NAME, histogram_log.matches, histogram_log.read),
    LineFormat(access_log.NAME, access_log.matches, access_log.read),
    LineFormat(csv_columns.NAME, csv_columns.matches, csv_columns.read),
)
SUMMARIES: tuple[JsonFormat, ...] = (
    JsonFormat("k6-summary", k6.claims, k6.read_summary),
    JsonFormat("vegeta-report", vegeta.claims, vegeta.read_report),
    JsonFormat(http_summaries.OHA, http_summaries.claims_oha, http_summaries.read_oha),
    JsonFormat(http_summaries.BOMBARDIER, http_summaries.claims_bombardier, http_summaries.read_bombardier),
    JsonFormat(memtier.NAME, memtier.claims, memtier.read),
    JsonFormat(fio.NAME, fio.claims, fio.read),
    JsonFormat(sadf.NAME, sadf.claims, sadf.read),
)
NAMES = (*(one.name for one in LINES), *(one.name for one in SUMMARIES))
NOT_A_NUMBER = re.compile(r"(?<=[:,\[\s])[-+]?nan(?=[,\s}\]])")  # memtier writes it
MOST = 1e15
DAMAGED = "the file is damaged: write it again, or remove what is wrong in it"
KNOWN = f"the formats are {', '.join(NAMES)}, and run folders of sojourn"


def read_observations(path: Path | str, format_name: str | None = None) -> list[Observation]:
    """What a file tells, of each load in it. `format_name`: one of `NAMES`; None: found from what is in it.

    Raises:
        InputError: no plain file, too large, of no known format, cut off, or damaged; with the place and the remedy.
    """
    if format_name is not None and format_name not in NAMES:
        raise InputError(format_name, "--input-format", KNOWN)
    try:
        found = read_folders(Path(path)) if Path(path).is_dir() else _read(TextSource.of(path), format_name)
    except InputError:  # which is a ValueError
        raise
    except (ArithmeticError, LookupError, TypeError, ValueError, RecursionError, csv.Error) as failed:
        raise InputError(str(failed)[:80] or type(failed).__name__, path, DAMAGED) from None
    for one in found:
        _check_figures(one)
    return found


def _check_figures(one: Observation) -> None:
    """Raises InputError for a number that no load has: what computes with it could overflow."""
    known = {**vars(one), **{f"quantile {q}": value for q, value in one.quantiles.items()}, **one.busy}
    for name, value in known.items():
        if isinstance(value, int | float) and not abs(value) < MOST:
            raise InputError(f"{name} is {str(value)[:20]}", one.label, DAMAGED)


def _read(source: TextSource, format_name: str | None) -> list[Observation]:
    for lines in LINES:
        if lines.name == format_name or (format_name is None and lines.matches(source.head)):
            return lines.read(source)
    data = _json(source, format_name)
    for summary in SUMMARIES:
        if summary.name == format_name or (format_name is None and summary.claims(data)):
            return summary.read(source, data)
    if format_name is None and (bare := csv_columns.without_unit(source.head)):
        remedy = f"say the unit of each time in the header, such as {bare[0]}_s, or {bare[-1]}_ms for milliseconds"
        raise InputError(f"a CSV file, and no unit of {' and '.join(bare)}", f"{source.path}:1", remedy)
    raise InputError("none of the known formats", source.path, f"{KNOWN}; --input-format says which one it is")


def _json(source: TextSource, format_name: str | None) -> Mapping[str, Any]:
    begins = re.search(r"^[ \t]*[{\[]", source.head, re.MULTILINE)  # fio may print warnings before it
    if begins is None:
        if format_name is not None:
            raise InputError("not JSON", source.path, f"it is no {format_name} file: leave out --input-format")
        return {}
    text = source.text()[begins.end() - 1 :]
    try:
        data = parse_json(NOT_A_NUMBER.sub("null", text) if "nan" in text else text)
    except json.JSONDecodeError as failed:
        line = source.head.count("\n", 0, begins.end()) + failed.lineno
        raise InputError(f"not JSON: {failed.msg}", f"{source.path}:{line}", DAMAGED) from None
    except ValueError as failed:  # a number of too many digits
        raise InputError(f"not JSON: {str(failed)[:80]}", source.path, "write it again") from None
    return data if isinstance(data, Mapping) else {"": data}
