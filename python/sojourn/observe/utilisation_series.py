"""A utilisation series as CSV: a column of times (`end_ms`, `start_s`, `time_s`), and one a resource with the share of it that was in use.

Values are in [0, 1]; a column whose name ends in `_percent` is in [0, 100]. A time is where an interval ends, unless its column says
`start`; an interval is as long as the step between two times.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sojourn.errors import InputError
from sojourn.observe.request_log import TIMED, UNITS, plain_name, read_csv

Array = NDArray[np.float64]
TIMES = ("end", "time", "timestamp", "start")
REMEDY = "give a CSV with a column end_s (or end_ms, start_s) and one a resource, its utilisation in [0, 1]"
SLACK = 0.05  # of a share: meters round, and may count a little more time than there is
COVERED = 0.9  # of a window, by intervals of the series


@dataclass(frozen=True)
class UtilisationSeries:
    """`end_s` (n,): Unix time at which each interval ends, `step_s`: how long it is; `shares`: resource → (n,), in [0, 1], NaN where
    nothing was recorded."""

    end_s: Array
    step_s: float
    shares: Mapping[str, Array]

    def over(self, start_s: float, end_s: float) -> dict[str, float]:
        """Means over [start_s, end_s), by resource; none of those that were recorded in less than nine tenths of it. An interval that lies
        across an end of the window counts with the part inside."""
        inside = np.minimum(self.end_s, end_s) - np.maximum(self.end_s - self.step_s, start_s)
        inside = np.maximum(inside, 0.0)
        found = {}
        for name, share in self.shares.items():
            weight = np.where(np.isnan(share), 0.0, inside)
            if weight.sum() >= COVERED * (end_s - start_s):
                found[name] = float(np.nansum(weight * share) / weight.sum())
        return found


def read_utilisation(path: Path, frame: pl.DataFrame | None = None) -> UtilisationSeries:
    """One file.

    Raises:
        InputError: no CSV, no time, no resource, fewer than two rows, or a share that cannot be.
    """
    frame = read_csv(path, REMEDY) if frame is None else frame
    timed = {match["name"]: name for name in frame.columns if (match := TIMED.fullmatch(name))}
    name = next((one for one in TIMES if one in timed), None)
    if name is None or frame.height < 2:
        raise InputError(f"{frame.height} rows of {', '.join(frame.columns)}", path, REMEDY)
    column = timed[name]
    resources = [one for one in frame.columns if one != column and frame[one].dtype.is_numeric()]
    if not resources and frame.width > 1:
        empty = ", ".join(one for one in frame.columns if one != column)
        raise InputError(f"no number in {empty}", path, "write shares in [0, 1], or in [0, 100] in a column …_percent")
    if not resources or not frame[column].dtype.is_numeric():
        raise InputError(f"columns {', '.join(frame.columns)}", path, REMEDY)
    frame = frame.drop_nulls(column).sort(column)
    times = frame[column].cast(pl.Float64).to_numpy() * UNITS[column.rpartition("_")[2]]
    step = float(np.median(np.diff(times)))
    if step <= 0:
        raise InputError("the same time again and again", f"{path}: {column}", "give one row a time")
    ends = times + step if name == "start" else times
    return UtilisationSeries(ends, step, dict(_shares(frame, one, path) for one in resources))


def _shares(frame: pl.DataFrame, column: str, path: Path) -> tuple[str, Array]:
    scale = 0.01 if column.endswith("_percent") else 1.0
    values = frame[column].cast(pl.Float64).fill_null(float("nan")).to_numpy() * scale
    wrong = np.flatnonzero((values < -SLACK) | (values > 1 + SLACK))
    if wrong.size:
        remedy = (
            "give shares in [0, 1], or name the column …_percent; divide the cores in use by the cores that there are"
        )
        raise InputError(f"{values[wrong[0]]:.4g}", f"{path}: row {wrong[0] + 2}, {column}", remedy)
    name = plain_name(column.removesuffix("_percent").removesuffix("_utilisation").removesuffix("_share"))
    return "cpu" if name == "utilisation" else name, np.clip(values, 0.0, 1.0)
