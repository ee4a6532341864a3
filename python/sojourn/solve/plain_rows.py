"""The rows of one solved model as dicts: what `metric_rows.frame` makes, without polars, which takes longer to import than to solve most
models and to show the answer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sojourn.metric_names import UNITS
from sojourn.model.network_arrays import Array
from sojourn.solve.further_rows import LINE, PERVASIVE
from sojourn.table import COLUMNS

GIVEN = ("service_time", "arrival_rate")  # rows that repeat the model
Row = dict[str, Any]


@dataclass(frozen=True)
class MetricRow:
    """One line of the table at all points."""

    station: str
    cls: str
    metric: str
    value: Array
    low: Array | None = None
    high: Array | None = None
    why: str = "idle"  # the status of a number that is missing at a point that is ok


def plain_rows(lines: Iterable[MetricRow], more: Sequence[Mapping[str, Any]], status: Sequence[str]) -> list[Row]:
    """All columns of the lines of one point, then of what its method tells beside them."""
    own = status[0] if status else "ok"
    lacking: Row = dict.fromkeys(COLUMNS) | {"station": "", "class": "", "source": "analytic"}
    further = [_further(lacking | {key: row[key] for key in row if key in COLUMNS}, own) for row in more]
    first: dict[tuple[Any, ...], int] = {}
    for number, row in enumerate(further):
        first.setdefault(tuple(row[key] for key in LINE), number)
    further.sort(key=lambda row: first[tuple(row[key] for key in LINE)])
    return [*(_row(line, lacking, own) for line in lines), *further]


def _row(line: MetricRow, lacking: Row, own: str) -> Row:
    value, low, high = (None if x is None else float(x[0]) for x in (line.value, line.low, line.high))
    assert value is not None
    told = own if own in PERVASIVE and line.metric not in GIVEN else "ok"
    if not math.isfinite(value):
        told = own if own != "ok" else "no_moment" if value == math.inf else line.why
    return lacking | {
        "station": line.station, "class": line.cls, "metric": line.metric, "value": _finite(value), "low": _finite(low),
        "high": _finite(high), "unit": UNITS[line.metric], "status": told,
    }  # fmt: skip


def _further(row: Row, own: str) -> Row:
    row["value"] = _finite(row["value"])
    absent = "idle" if own == "ok" else own
    usual = own if own in PERVASIVE else "ok"
    row["status"] = row["status"] or (absent if row["value"] is None else usual)
    for name in ("q", "low", "high", "level"):
        row[name] = None if row[name] is None else float(row[name])
    return row | {"unit": UNITS[row["metric"]], "n": None if row["n"] is None else int(row["n"])}


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)
