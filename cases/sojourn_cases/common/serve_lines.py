"""What the `sojourn serve` commands of the cases have in common: options checked, a line of the log, a summary in lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from sojourn.errors import InputError, SojournError
from sojourn.file_errors import mistake
from sojourn.terminal import say

NOT_KNOWN = "the service's counts are not known"
Options = TypeVar("Options", bound=BaseModel)


def options(kind: type[Options], place: str, **given: Any) -> Options:
    """`kind(**given)`.

    Raises:
        InputError: the first value that is wrong, named at `place`.
    """
    try:
        return kind(**given)
    except ValidationError as error:
        found = mistake(error, kind)
        raise InputError(f"{found.path} = {found.value}", place, found.remedy) from None


def event(level: str, name: str, **fields: object) -> None:
    """A line of the log on standard error, as the services' own processes write theirs."""
    at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
    words = "".join(f" {key}={json.dumps(str(value), ensure_ascii=False)}" for key, value in fields.items())
    say(f"{at} {level} {name}{words}", err=True)


def done(summary: Mapping[str, Any]) -> str:
    """How many requests, how fast, of which kinds."""
    kinds = ", ".join(f"{kind} {count}" for kind, count in summary["by_kind"].items() if count) or "none"
    return f"{summary['completions']} requests in {summary['seconds']:.1f} s ({summary['throughput']:.0f}/s): {kinds}"


def logged(log: Path | None, column: str, of: str = "sum") -> str:
    """How many requests the record log `log` tells of: the `sum` of a column, or its `last` value; it is written each period."""
    from sojourn.runs import read_log

    if log is None:
        return f"{NOT_KNOWN}: a log would keep count"
    try:
        counts = read_log(log)[0][column]
    except (OSError, SojournError):
        return NOT_KNOWN
    count = int(counts.sum() if of == "sum" else counts[-1]) if len(counts) else 0
    return f"{log} has {count} requests up to its last period"


def lost(summary: Mapping[str, Any]) -> list[str]:
    """A line for each record log that could not be written to the end, and how many rows that cost."""
    lines = [f"a log ends before the service did: {why}" for why in summary["lost_logs"]]
    return [*lines, f"{summary['lost_rows']} rows of logs were not written"] if lines else []


def times(found: Mapping[str, Any], names: Iterable[str]) -> list[str]:
    """A line for each distribution of times."""
    lines = []
    for name in names:
        at = " ".join(f"p{q} {found[name]['percentiles_s'][q] * 1e3:.3f}" for q in ("50", "90", "99"))
        mean, most = found[name]["mean_s"], found[name]["max_s"]
        lines.append(f"{name:8} ms: mean {mean * 1e3:.3f} {at} max {most * 1e3:.3f}")
    return lines
