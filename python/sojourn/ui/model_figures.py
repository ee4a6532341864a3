"""Curves of a model over one of its numbers as figures, with what was measured behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from sojourn.model import Closed, Model
from sojourn.report.chart import specification
from sojourn.report.document import Figure, Series
from sojourn.report.figure_channels import PAGE
from sojourn.table import Metrics
from sojourn.ui.model_numbers import ModelNumber

MOST_CLASSES, MOST_STATIONS = 4, 8  # that are drawn
FARTHEST = 1.1  # of an axis, to which the mark of a saturation rate makes it longer
LOADS = {"rate_per_s": "requests per second", "population": "users"}


@dataclass(frozen=True)
class NumberAxis:
    """Values of the x axis."""

    number: ModelNumber
    values: list[float]

    @property
    def label(self) -> str:
        return LOADS.get(
            self.number.path.rpartition(".")[2], f"{self.number.label} ({self.number.unit})".removesuffix(" ()")
        )


def model_figures(
    model: Model, result: Metrics, axis: NumberAxis, measured: Sequence[Mapping[str, Any]], columns: Mapping[str, str],
    objectives: Sequence[Mapping[str, Any]] = (), name: str = "measured",
) -> list[Figure]:  # fmt: skip
    """Response time, throughput and utilisation over the axis. `columns`: what the result calls a path of the model. `objectives`: that the
    runs were judged by, drawn where the axis is the load, those of a quantile with what was measured of it. `name`: of what was
    measured."""
    frame, x = result.frame, columns.get(axis.number.path, axis.number.path)
    scale, unit = _scale(frame)
    marks = _saturation(frame, axis)
    points = measured if axis.number.load else ()
    response = [*_by_class(model, frame, x, "response_time", scale), *_points(points, "response_s", scale, name)]
    for key in dict.fromkeys(one["figure"] for one in objectives):
        response += _points(points, f"{key}_s", scale, name.replace("measured", f"measured {key}"))
    top = _ceiling(response, model, axis)
    response += _limits(objectives, response, top, scale) if axis.number.load else []
    label = axis.label
    return [
        Figure("response", "Response time", label, f"mean response time ({unit})", tuple(response), vlines=marks, y_limits=(0.0, top)),
        Figure("throughput", "Throughput", label, "answers per second",
               (*_by_class(model, frame, x, "throughput", 1.0), *_points(points, "throughput_per_s", 1.0, name)), vlines=marks),
        Figure("utilisation", "Utilisation", label, "busy share", tuple(_by_station(model, frame, x)), vlines=marks, y_limits=(0.0, 1.0)),
    ]  # fmt: skip


def _scale(frame: pl.DataFrame) -> tuple[float, str]:
    shown = frame.filter((pl.col("metric") == "response_time") & (pl.col("station") == ""))["value"].drop_nulls()
    return (1e3, "ms") if len(shown) and float(shown.min() or 0.0) < 0.5 else (1.0, "s")  # type: ignore[arg-type]


def _ceiling(series: Sequence[Series], model: Model, axis: NumberAxis) -> float | None:
    """Of a curve that grows without bound: what was measured, or what it is at nine tenths of the load, fills most of the figure."""
    if not axis.number.load or isinstance(
        next((c for c in model.classes if c.name == axis.number.path.split(".")[1]), None), Closed
    ):
        return None
    shown = [v for one in series if one.style == "points" for v in (one.high or one.y) if v is not None]
    curve = [v for one in series if one.style != "points" for v in one.y[: int(0.93 * len(one.y))] if v is not None]
    return max([1.6 * max(shown, default=0.0), *curve], default=0.0) or None


def _saturation(frame: pl.DataFrame, axis: NumberAxis) -> tuple[tuple[float, str], ...]:
    found = frame.filter((pl.col("metric") == "saturation_rate") & (pl.col("station") == ""))["value"].drop_nulls()
    if len(found) and axis.number.load:
        rate = float(found[0])
        return ((rate, "saturates"),) if rate <= FARTHEST * axis.values[-1] else ()
    return ((axis.number.value, "now"),) if axis.values[0] <= axis.number.value <= axis.values[-1] else ()


def _rows(frame: pl.DataFrame, x: str, metric: str, station: str, cls: str) -> pl.DataFrame:
    here = frame.filter(
        (pl.col("metric") == metric) & (pl.col("station") == station) & (pl.col("class") == cls) & pl.col("q").is_null()
    )
    return here.sort(x)


def _curve(name: str, rows: pl.DataFrame, x: str, scale: float) -> Series:
    columns = (rows[key].cast(pl.Float64).to_list() for key in (x, "value", "low", "high"))
    xs, ys, low, high = (
        [None if v is None else v * s for v in column]
        for column, s in zip(columns, (1.0, scale, scale, scale), strict=True)
    )
    known = any(a is not None and a != b for a, b in zip(low, high, strict=True))
    return Series(name, xs, ys, low if known else None, high if known else None)


def _by_class(model: Model, frame: pl.DataFrame, x: str, metric: str, scale: float) -> list[Series]:
    names = [c.name for c in model.classes]
    found = []
    for name in names[:MOST_CLASSES] if len(names) > 1 else [""]:
        rows = _rows(frame, x, metric, "", name)
        if rows.is_empty() and not name:
            rows = _rows(frame, x, metric, "", names[0])
        if not rows.is_empty():
            found.append(_curve(f"model, {name}" if name else "model", rows, x, scale))
    return found


def _by_station(model: Model, frame: pl.DataFrame, x: str) -> list[Series]:
    found = []
    for station in [s.name for s in model.stations if s.kind not in ("delay", "pool")][:MOST_STATIONS]:
        rows = _rows(frame, x, "utilisation", station, "")
        if rows.is_empty():
            rows = _rows(frame, x, "utilisation", station, model.classes[0].name)
        if not rows.is_empty():
            found.append(_curve(station, rows, x, 1.0))
    return found


def _limits(
    objectives: Sequence[Mapping[str, Any]], drawn: Sequence[Series], top: float | None, scale: float
) -> list[Series]:
    """Lines of the objectives, but for those far above what is drawn."""
    xs = [x for one in drawn for x in one.x if x is not None]
    highest = top or max((y for one in drawn for y in one.y if y is not None), default=0.0)
    near = [one for one in objectives if xs and one["limit_s"] * scale <= highest]
    return [
        Series(f"objective {one['text']}", [min(xs), max(xs)], [one["limit_s"] * scale] * 2, style="dashed")
        for one in near
    ]


def _points(measured: Sequence[Mapping[str, Any]], key: str, scale: float, name: str) -> list[Series]:
    known = [one for one in measured if one.get("load") is not None and one.get(key) is not None]
    if not known:
        return []
    xs, ys = [one["load"] for one in known], [one[key] * scale for one in known]
    ends = [
        [None if one.get(f"{key}_{end}") is None else one[f"{key}_{end}"] * scale for one in known]
        for end in ("low", "high")
    ]
    told = any(v is not None for v in ends[0])
    return [Series(name, xs, ys, ends[0] if told else None, ends[1] if told else None, "points")]


def drawn(figures: Sequence[Figure], width_px: int) -> list[dict[str, Any]]:
    return [
        {"id": one.id, "title": one.title, "x": one.x_label, "y": one.y_label,
         "spec": specification(one, PAGE, width_px, interactive=True)}
        for one in figures if one.series
    ]  # fmt: skip
