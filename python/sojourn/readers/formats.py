"""Which format a file has, by what is in it, and its reader.

A format is a module with `NAME`: of lines, with `matches` (the first 64 KiB) and `read`; or of one JSON object, with `claims` (the object)
and `read_summary`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.errors import InputError
from sojourn.files.reading import parse_json
from sojourn.readers import k6, wrk
from sojourn.readers.observation import Observation
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
    LineFormat(wrk.NAME, wrk.matches, wrk.read),
)
SUMMARIES: tuple[JsonFormat, ...] = (JsonFormat("k6-summary", k6.claims, k6.read_summary),)
NAMES = (*(one.name for one in LINES), *(one.name for one in SUMMARIES))
KNOWN = f"the formats are {', '.join(NAMES)}, and run folders of sojourn"


def read_observations(path: Path | str, format_name: str | None = None) -> list[Observation]:
    """What a file tells, of each load in it. `format_name`: one of `NAMES`; None: found from what is in it.

    Raises:
        InputError: no plain file, too large, of no known format, cut off, or damaged; with the place and the remedy.
    """
    if format_name is not None and format_name not in NAMES:
        raise InputError(format_name, "--format", KNOWN)
    source = TextSource.of(path)
    for lines in LINES:
        if lines.name == format_name or (format_name is None and lines.matches(source.head)):
            return lines.read(source)
    data = _json(source, format_name)
    for summary in SUMMARIES:
        if summary.name == format_name or (format_name is None and summary.claims(data)):
            return summary.read(source, data)
    raise InputError("none of the known formats", source.path, f"{KNOWN}; --format says which one it is")


def _json(source: TextSource, format_name: str | None) -> Mapping[str, Any]:
    first = source.head.lstrip()[:1]
    if first not in ("{", "["):
        if format_name is not None:
            raise InputError("not JSON", source.path, f"it is no {format_name} file: leave out --format")
        return {}
    text = source.text()
    try:
        data = parse_json(text)
    except json.JSONDecodeError as failed:
        raise InputError(
            f"not JSON: {failed.msg}",
            f"{source.path}:{failed.lineno}",
            "the file was cut off, or damaged: write it again",
        ) from None
    except ValueError as failed:  # a number of too many digits
        raise InputError(f"not JSON: {str(failed)[:80]}", source.path, "write it again") from None
    return data if isinstance(data, Mapping) else {"": data}
