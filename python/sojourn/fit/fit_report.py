"""A fitted model beside runs as a section of a report: curves with their intervals, what was measured, where it saturates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from sojourn.fit.fit_runs import FitRuns
from sojourn.fit.validate_model import scores
from sojourn.report import Document, Figure, Section, Series, Table, Text
from sojourn.report.markup import unmarked
from sojourn.table import Metrics
from sojourn.units import USUAL_LEVEL, percent, prediction, quantity

if TYPE_CHECKING:
    from sojourn.fit.fitted_model import FittedModel

LOADS = {"rate_per_s": "requests per second", "users": "users"}
UNITS = {"response_time": "s", "throughput": "1/s", "utilisation": "share"}
POINTS, BEYOND = 16, 1.2  # of a curve; how far it goes beyond what was measured
Told = Mapping[
    str, tuple[Mapping[str, Any], Metrics]
]  # setting → its factors without the load, what is predicted over the load


def fitted_document(fitted: FittedModel, level: float = USUAL_LEVEL) -> Document:
    """What was found, and what is predicted at the loads that were fitted and somewhat above, without any measurement."""
    first, *rest = str(fitted).splitlines()
    factors = fitted.configurations
    load = next((name for name in LOADS if all(name in one for one in factors)), None)
    rows = tuple((path, e.value, e.low, e.high) for path, e in fitted.estimates.items())
    found = Table(
        "Found", ("number", "value", "from", "to"), rows, note=f"Intervals at {percent(fitted.level, 0)}; SI units."
    )
    figures: tuple[Figure, ...] = ()
    if load:
        told = dict(_told(fitted, factors, load, level))
        marks = tuple(_saturation(told)) if load == "rate_per_s" else ()
        series = tuple(_curve(name, metrics, "response_time", "", load, 1e3) for name, (_, metrics) in told.items())
        lows = [v for one in series for v in one.y if v is not None]
        limits = (0.0, 3 * median(lows) if lows else None)
        figure = Figure(
            "predicted", "Predicted response time", LOADS[load], "ms", series, vlines=marks, y_limits=limits
        )
        figures = (figure,)
    return Document(
        title=fitted.model.name or "A fitted model", subtitle="", status="warn" if fitted.cautions else "ok",
        verdict=[unmarked(line.strip()) for line in (*fitted.warnings, first, *rest)],
        sections=(Section("Predicted", f"Intervals are for a new run, at {percent(level, 0)}.", (*figures, found)),),
    )  # fmt: skip


def model_section(fitted: FittedModel, runs: FitRuns, level: float = USUAL_LEVEL) -> Section:
    """Predicted and measured over the load, a curve a setting of the service, and a row a run."""
    judged = fitted.validate(runs, level)
    load = next((name for name in LOADS if all(name in run.factors for run in runs.runs)), None)
    figures = tuple(_figures(fitted, runs, judged, load, level)) if load else ()
    found = Text(
        f"{fitted.model.name or 'The model'}, fitted: {_values(fitted)}."
    )  # below: the figure is on the first screen
    return Section("Measured against predicted", f"{scores(judged, level)}.", (*figures, found, _table(judged, level)))


def _values(fitted: FittedModel) -> str:
    return "; ".join(f"{path} {e.value:.4g} ({e.low:.4g} … {e.high:.4g})" for path, e in fitted.estimates.items())


def _figures(fitted: FittedModel, runs: FitRuns, judged: pl.DataFrame, load: str, level: float) -> Iterator[Figure]:
    told = dict(_told(fitted, [run.factors for run in runs.runs], load, level))
    marks = tuple(_saturation(told)) if load == "rate_per_s" else ()
    for metric, station in judged.select("metric", "station").unique(maintain_order=True).iter_rows():
        scale, unit = (
            (1e3, "ms") if metric == "response_time" else (1.0, "1/s" if metric == "throughput" else "busy share")
        )
        series = []
        for setting, (others, metrics) in told.items():
            here = judged.filter(metric=metric, station=station, **{"class": ""})
            for name, value in others.items():
                here = here.filter(pl.col(name) == value)
            series += _pair(setting, here, metrics, metric, station, load, scale)
        title = metric.replace("_", " ").capitalize() + (f" of {station}" if station else "")
        highest = max((v for s in series if s.style == "points" for v in s.y if v is not None), default=0.0)
        limits = (0.0, 1.0) if metric == "utilisation" else (0.0, 2 * highest or None)
        yield Figure(
            f"predicted-{metric}-{station}", title, LOADS[load], unit, tuple(series), vlines=marks, y_limits=limits
        )


def _told(
    fitted: FittedModel, factors: Sequence[Mapping[str, Any]], load: str, level: float
) -> Iterator[tuple[str, tuple[Mapping[str, Any], Metrics]]]:
    loads: dict[str, tuple[dict[str, Any], list[float]]] = {}
    varied = {k for one in factors for k in one if len({repr(other.get(k)) for other in factors}) > 1} - {load}
    for one in factors:
        others = {k: v for k, v in one.items() if k in varied}
        name = ", ".join(f"{k} = {v}" for k, v in others.items())
        loads.setdefault(name, (others, []))[1].append(float(one[load]))
    for name, (others, seen) in loads.items():
        grid = np.linspace(min(seen), BEYOND * max(seen), POINTS)
        values = sorted({round(v) for v in grid}) if load == "users" else grid.tolist()
        constant = {k: v for k, v in factors[0].items() if k not in varied and k != load}
        yield name, (others, fitted.predict({**constant, **others, load: values}, level))


def _saturation(told: Told) -> Iterator[tuple[float, str]]:
    for setting, (_, metrics) in told.items():
        found = metrics.frame.filter(pl.col("metric") == "saturation_rate")["value"].drop_nulls()
        if len(found):
            yield float(found[0]), f"saturates {setting}".strip()


def _pair(
    setting: str, judged: pl.DataFrame, metrics: Metrics, metric: str, station: str, load: str, scale: float
) -> list[Series]:
    curve = _curve(setting, metrics, metric, station, load, scale)
    x, y, low, high = (
        judged[n].cast(pl.Float64).to_list() for n in (load, "measured", "measured_low", "measured_high")
    )
    known = any(v is not None for v in low)
    least, most = (_times(low, scale), _times(high, scale)) if known else (None, None)
    return [curve, Series(f"measured {setting}".strip(), x, _times(y, scale), least, most, "points", curve.group)]


def _curve(setting: str, metrics: Metrics, metric: str, station: str, load: str, scale: float) -> Series:
    said = metrics.frame.filter(metric=metric, station=station, **{"class": ""}).sort(load)
    x, y, low, high = (said[name].cast(pl.Float64).to_list() for name in (load, "value", "low", "high"))
    group = setting or "predicted"  # it stands beside the curve
    return Series(
        f"predicted {setting}".strip(), x, _times(y, scale), _times(low, scale), _times(high, scale), "line", group
    )


def _times(values: Sequence[float | None], scale: float) -> list[float | None]:
    return [None if v is None else v * scale for v in values]


def _table(judged: pl.DataFrame, level: float) -> Table:
    rows = []
    for row in judged.iter_rows(named=True):
        unit = UNITS[row["metric"]]
        name = row["metric"].replace("_", " ") + "".join(f" of {row[k]}" for k in ("station", "class") if row[k])
        said = prediction(row["predicted"], row["low"], row["high"], unit)
        error = "–" if row["error"] is None else percent(row["error"], sign=True)
        held = "inside" if row["inside_interval"] else "outside"
        rows.append((row["run"], name, said, quantity(row["measured"], unit), error, held))
    note = f"Intervals are for a new run, at {percent(level, 0)}."
    return Table("Run by run", ("run", "", "predicted", "measured", "error", ""), tuple(rows), note)
