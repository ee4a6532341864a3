"""Figures of results that a user holds: a sweep, and predicted against measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import polars as pl

from sojourn.errors import InputError
from sojourn.metric_names import UNITS
from sojourn.report.document import Figure, Series

AXIS_UNITS = (("_per_s", "1/s"), ("_s", "s"))


class SweepResult(Protocol):
    """`Metrics`, as far as a figure needs it."""

    method: str

    @property
    def frame(self) -> pl.DataFrame: ...

    @property
    def factors(self) -> list[str]: ...


def sweep(result: SweepResult, metric: str = "response_time", station: str = "", title: str = "") -> Figure:
    """`metric` of `station` ("": the whole system) over the first factor that varies; a line a class and a combination
    of the others. Raises InputError where nothing varies, the first is no number, or no row is left."""
    frame = result.frame.filter((pl.col("station") == station) & (pl.col("metric") == metric))
    if frame.is_empty():
        there = ", ".join(
            f"{m} of {s or 'the system'}" for s, m in result.frame.select("station", "metric").unique().rows()
        )
        raise InputError(f"{metric} of {station or 'the system'}", "plot", f"use one of {there or 'no rows'}")
    varied = [name for name in result.factors if frame[name].n_unique() > 1]
    if not varied:
        raise InputError("one point", "plot", "vary a factor, as sojourn.sweep does")
    if not frame[varied[0]].dtype.is_numeric():
        raise InputError(varied[0], "plot", "vary a number first: it is the x axis")
    if frame["class"].n_unique() == 2:  # the rows over all classes say the same
        frame = frame.filter(pl.col("class") != "")
    keys = [*(name for name in ("q", "n") if frame[name].n_unique() > 1), *varied[1:]]
    parts = frame.sort(varied[0], maintain_order=True).group_by("class", *keys, maintain_order=True)
    series = [_line(key, part, varied[0], keys) for key, part in parts]
    return Figure("sweep", title or _words(metric), _axis(varied[0]), _label(metric), tuple(series), note=result.method)


def agreement(rows: pl.DataFrame, metric: str, by: Sequence[str] = ()) -> Figure:
    """Predicted (with low and high) against measured: a point a row, and the line on which both are alike.

    by: columns that tell series apart. Raises InputError where no row has both numbers.
    """
    known = rows.filter(pl.col("measured").is_not_null() & pl.col("predicted").is_not_null())
    if known.is_empty():
        raise InputError(metric, "plot", "nothing was predicted and measured; choose another metric, or other runs")
    keys = [pl.col(name) for name in by] or [pl.lit(0)]
    series = [_points(key, part, by) for key, part in known.group_by(keys, maintain_order=True)]
    ends = [known["measured"].min(), known["measured"].max()]
    same = Series("predicted = measured", ends, ends, style="dashed")  # type: ignore[arg-type]
    title = f"{_words(metric).capitalize()}, predicted against measured"
    label = _label(metric)
    return Figure("agreement", title, f"measured {label}", f"predicted {label}", (*series, same))


def _line(key: tuple[Any, ...], part: pl.DataFrame, x: str, others: Sequence[str]) -> Series:
    told = [f"{name.rpartition('.')[2]} {value}" for name, value in zip(others, key[1:], strict=True)]
    name = ", ".join([str(key[0]) or "all classes", *told])
    low, high = (part[end].to_list() if part[end].is_not_null().any() else None for end in ("low", "high"))
    return Series(name, part[x].to_list(), part["value"].to_list(), low, high)


def _points(key: tuple[Any, ...], part: pl.DataFrame, by: Sequence[str]) -> Series:
    name = ", ".join(f"{column} {value}" for column, value in zip(by, key, strict=False) if value != "") or "runs"
    low, high = (part[end].to_list() for end in ("low", "high"))
    return Series(name, part["measured"].to_list(), part["predicted"].to_list(), low, high, style="points")


def _words(name: str) -> str:
    return name.replace(".", " ").replace("_", " ")


def _axis(path: str) -> str:
    """`classes.user.rate_per_s` as "rate of user (1/s)"."""
    *_, owner, name = ["", *path.split(".")]
    stem, unit = next(((name.removesuffix(end), unit) for end, unit in AXIS_UNITS if name.endswith(end)), (name, ""))
    return _words(stem) + (f" of {owner}" if owner else "") + (f" ({unit})" if unit else "")


def _label(metric: str) -> str:
    unit = UNITS.get(metric, "1")
    return _words(metric) + (f" ({unit})" if unit != "1" else "")
