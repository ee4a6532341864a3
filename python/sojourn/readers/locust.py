"""Locust: `--csv`: PREFIX_stats.csv (a row an endpoint, and Aggregated) and PREFIX_stats_history.csv (a row a second).

Source: docs.locust.io, "Retrieve test statistics in CSV format".
Times in ms. Quantiles are rounded to two digits, in the history of the last
ten seconds; those are not read.
"""

from __future__ import annotations

import csv
import re
from typing import Any

import numpy as np

from sojourn.errors import InputError
from sojourn.readers.observation import INTENDED, REQUESTS, THINK, USERS, Observation, WindowSeries
from sojourn.readers.text_source import TextSource

NAME = "locust"
MS = 1e-3
QUANTILE = re.compile(r"(\d+(?:\.\d+)?)%")
MOST_ROWS, MOST_ENDPOINTS = 1_000_000, 10_000
TOTALS = ("Timestamp", "Total Request Count", "Total Failure Count")
CUT = "the file was cut off: run Locust again"


def matches(head: str) -> bool:
    first = head.partition("\n")[0]
    return first.startswith("Type,Name,Request Count") or is_history(head)


def is_history(head: str) -> bool:
    return head.startswith("Timestamp,User Count,Type,Name")


def read(source: TextSource) -> list[Observation]:
    """Aggregated first, as the whole, then each endpoint; of a history the whole alone."""
    rows = csv.DictReader(source.lines())
    if is_history(source.head):
        return [_history(source, rows)]
    found: list[Observation] = []
    for number, row in enumerate(rows, 2):
        if len(found) >= MOST_ENDPOINTS:
            raise InputError(f"more than {MOST_ENDPOINTS} rows", source.path, "give fewer")
        found.append(_one(str(source.path), row, number))
    return sorted(found, key=lambda one: one.name != "")


def _one(path: str, row: dict[str, Any], number: int) -> Observation:
    done, bad, rate = (_number(row, name) for name in ("Request Count", "Failure Count", "Requests/s"))
    if done is None or rate is None or None in row.values():
        raise InputError("a row without Request Count or Requests/s, or its end", f"{path}:{number}", CUT)
    name = "" if row.get("Name") == "Aggregated" else f"{row.get('Type', '')} {row.get('Name', '')}".strip()
    return Observation(
        path, NAME, name, completed=int(done - (bad or 0)), failed=int(bad or 0), throughput_per_s=rate,
        length_s=done / rate if rate else None, mean_s=_ms(row, "Average Response Time"), least_s=_ms(row, "Min Response Time"),
        most_s=_ms(row, "Max Response Time"), quantiles=_quantiles(row), counts_failures=True, rounding_s=MS / 2, rounding=0.05,
        missing_values=(INTENDED, REQUESTS, USERS, THINK),
    )  # fmt: skip


def _history(source: TextSource, rows: csv.DictReader[Any]) -> Observation:
    kept = []
    for number, row in enumerate(rows, 2):
        if number > MOST_ROWS:
            raise InputError(f"more than {MOST_ROWS} rows", source.path, "give fewer")
        if None in row.values():
            raise InputError("a row that does not end", f"{source.path}:{number}", CUT)
        if row.get("Name") == "Aggregated":
            if any(_number(row, name) is None for name in TOTALS):
                raise InputError(f"a row without {', '.join(TOTALS)}", f"{source.path}:{number}", CUT)
            kept.append(row)
    if len(kept) < 2:
        raise InputError("fewer than two rows Aggregated", source.path, "give the history of a longer run")

    def column(name: str) -> Any:
        return np.array([v if (v := _number(row, name)) is not None else np.nan for row in kept])

    at_s, total, bad = column("Timestamp"), column("Total Request Count"), column("Total Failure Count")
    mean = column("Total Average Response Time") * MS  # of all so far
    sums = np.nan_to_num(mean * total)
    done = np.diff(total)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(done > 0, np.diff(sums) / done, np.nan)
    windows = WindowSeries(
        at_s[:-1], np.diff(at_s), completed=done, failed=np.diff(bad), mean_s=means, users=column("User Count")[1:]
    )
    length, last = float(at_s[-1] - at_s[0]), kept[-1]
    return Observation(
        str(source.path), NAME, length_s=length or None, start_s=float(at_s[0]),
        users=float(np.nanmean(column("User Count"))),
        completed=int(total[-1] - bad[-1]), failed=int(bad[-1]),
        throughput_per_s=float((total[-1] - total[0]) / length) if length else None,
        mean_s=_ms(last, "Total Average Response Time"), least_s=_ms(last, "Total Min Response Time"),
        most_s=_ms(last, "Total Max Response Time"), rounding_s=MS / 2, stamp_s=1.0, windows=windows,
        counts_failures=True, missing_values=(INTENDED, REQUESTS, THINK),
    )  # fmt: skip


def _quantiles(row: dict[str, Any]) -> dict[float, float]:
    found = {round(float(q[1]) / 100, 9): _ms(row, name) for name in row if name and (q := QUANTILE.fullmatch(name))}
    return {q: value for q, value in found.items() if value is not None and q < 1}


def _ms(row: dict[str, Any], name: str) -> float | None:
    value = _number(row, name)
    return None if value is None else value * MS


def _number(row: dict[str, Any], name: str) -> float | None:
    try:
        value = float(row[name])
    except (ValueError, KeyError, TypeError):
        return None
    return value if abs(value) < 1e300 else None
