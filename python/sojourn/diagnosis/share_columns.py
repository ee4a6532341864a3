"""Busy shares in time from two columns of a CSV file, of any monitoring that samples often enough."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from sojourn.errors import InputError
from sojourn.stats.circular_shift import Array

TIMES = ("t_s", "time_s", "t", "time", "timestamp")
UNEVEN = 0.5  # of the interval: by this two samples may be nearer or farther
MOST_UNEVEN = 0.02  # of the samples


def share_columns(
    path: Path, names: tuple[str, str], time: str = "", interval_s: float | None = None, percent: bool = False
) -> tuple[Array, float]:
    """Columns `names`, shape (2, n), and the interval between two samples, s: `interval_s`, or that of the column `time` (of seconds or
    dates; one of `TIMES` where none is named). `percent`: the columns are in [0, 100].

    Raises:
        InputError: no CSV file, no such column, a cell that is no number, or times that are not even.
    """
    try:
        frame = pl.read_csv(path, try_parse_dates=True, infer_schema_length=None)
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error).splitlines()[0][:100]
        raise InputError(reason or "cannot be read", path, "give a CSV file with a line of names") from None
    shares = np.stack([_numbers(frame, name, path) for name in names])
    if interval_s is None:
        interval_s = _interval_s(_times(frame, time, path), path)
    return shares / (100.0 if percent else 1.0), interval_s


def _column(frame: pl.DataFrame, name: str, path: Path) -> pl.Series:
    if name not in frame.columns:
        raise InputError(f"no column {name!r}", path, f"it has {', '.join(frame.columns)}")
    return frame[name]


def _numbers(frame: pl.DataFrame, name: str, path: Path) -> Array:
    column = _column(frame, name, path)
    values = column.cast(pl.Float64, strict=False)
    bad = (values.is_null() | values.is_nan()).arg_max() if values.len() else None
    if bad is not None and (values[bad] is None or values[bad] != values[bad]):
        raise InputError(f"{column[bad]!r} in {name}", f"{path}:{bad + 2}", "every line needs a number")
    return values.to_numpy().astype(float)


def _times(frame: pl.DataFrame, name: str, path: Path) -> Array:
    found = name or next((column for column in frame.columns if column.lower() in TIMES), "")
    if not found:
        remedy = f"give --sample-interval 100ms, or --time-column COLUMN; the columns: {', '.join(frame.columns)}"
        raise InputError("no column of times", path, remedy)
    column = _column(frame, found, path)
    if column.dtype.is_temporal():
        frame = frame.with_columns(column.cast(pl.Datetime("us")).cast(pl.Int64) / 1e6)
    return _numbers(frame, found, path)


def _interval_s(times: Array, path: Path) -> float:
    if times.size < 2:
        raise InputError(f"{times.size} samples", path, "give more")
    steps = np.diff(times)
    usual = float(np.median(steps))
    if usual <= 0 or (steps < 0).any():
        at = int(np.argmax(steps <= 0)) + 3
        raise InputError("times do not grow", f"{path}:{at}", "give samples in order of time, in seconds")
    uneven = np.abs(steps - usual) > UNEVEN * usual
    if uneven.mean() > MOST_UNEVEN:
        at = int(np.argmax(uneven)) + 3
        found = f"{steps[at - 3]:g} s from one sample to the next, where {usual:g} s is usual"
        raise InputError(found, f"{path}:{at}", f"sample evenly: {uneven.mean():.0%} of the steps are not")
    return usual
