"""What run folders look like: response times, throughput and utilisation against the load, of one run over its time; failures over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import polars as pl

from sojourn.diagnosis import Diagnosis
from sojourn.diagnosis.load_levels import load_of, read_level, setting_of
from sojourn.measure.objective_lines import limit_lines, time_limits
from sojourn.measure.one_run_figures import one_run_section
from sojourn.report import Figure, Section, Series, Text
from sojourn.runs.run_folder import RunFolder
from sojourn.units import quantile_name

RATE, USERS = "requests per second", "users"
QUANTILES = (0.5, 0.9, 0.99)
MOST_RUNS = 8  # whose failures are drawn
BINS = 60
FROM_WHEN = (
    "Response times run from when a request was due until its answer arrived at this host; times from sent "
    "show how much waiting in the client adds."
)
Table: TypeAlias = "list[tuple[float, pl.DataFrame]]"  # load → metrics of a run, in order of the load


def measured_section(runs: Sequence[RunFolder], found: Mapping[str, Diagnosis]) -> Section | None:
    """Figures against the rate or the users, of one run over its time; None where no run has Metrics. Of open and closed loops together
    the open ones are drawn."""
    runs = [run for run in runs if axis_label([run]) == RATE] or runs
    groups: dict[str, Table] = {}
    for run in sorted(runs, key=load_of):
        if (frame := run.frame("metrics")) is not None:
            groups.setdefault(setting_of(run), []).append((load_of(run), frame))
    if not groups:
        return None
    if len(runs) == 1:
        return one_run_section(runs[0], [*_busy(groups), *_watched(runs)])
    label = axis_label(runs)
    marks = tuple((at, "full") for at in _full(groups, found)) if label == RATE else ()
    response = _response(groups)
    response += limit_lines(time_limits(runs), response)
    figures = (
        Figure("response", "Response time", label, "ms", tuple(response), FROM_WHEN, vlines=marks),
        Figure(
            "throughput", "Throughput", label, "answers per second", tuple(_all(groups, "throughput")), vlines=marks
        ),
        Figure(
            "utilisation",
            "Utilisation",
            label,
            "busy share",
            (*_busy(groups), *_watched(runs)),
            y_limits=(0.0, 1.0),
            vlines=marks,
        ),
    )
    return Section("What was measured", "", tuple(f for f in figures if f.series))


def axis_label(runs: Sequence[RunFolder]) -> str:
    return USERS if any("users" in run.manifest.get("factors", {}) for run in runs) else RATE


def _full(groups: Mapping[str, Table], found: Mapping[str, Diagnosis]) -> list[float]:
    """Where a limit is reached, if that is not far beyond what was measured."""
    most = max(load for rows in groups.values() for load, _ in rows)
    ends = [one.saturation_rate_per_s[0] for one in found.values() if one.saturation_rate_per_s is not None]
    return [end for end in ends if end < 1.5 * most]


def series(
    name: str, rows: Table, metric: str, station: str = "", q: float | None = None, scale: float = 1.0
) -> Series:
    """One quantity over the load, with the interval of each run."""
    points = []
    for load, frame in rows:
        here = frame.filter(pl.col("metric") == metric, pl.col("station") == station, pl.col("class") == "")
        here = here.filter(pl.col("q").is_null() if q is None else pl.col("q") == q)
        for value, low, high in here.select("value", "low", "high").iter_rows():
            points.append((load, *(None if v is None else v * scale for v in (value, low, high))))
    x, y, low_, high_ = (list(column) for column in zip(*points, strict=True)) if points else ([], [], [], [])
    known = any(v is not None for v in low_)
    return Series(name, x, y, low_ if known else None, high_ if known else None, "points")


def _response(groups: Mapping[str, Table]) -> list[Series]:
    """Mean and quantiles; where the service ran in several settings, their means and p99. From sent where that is less."""
    quantiles = QUANTILES if len(groups) == 1 else QUANTILES[-1:]
    drawn = [series(f"mean {setting}".strip(), rows, "response_time", scale=1e3) for setting, rows in groups.items()]
    drawn += [
        series(f"{quantile_name(q)} {setting}".strip(), rows, "response_time_quantile", q=q, scale=1e3)
        for q in quantiles
        for setting, rows in groups.items()
    ]
    for whole, (setting, rows) in zip(drawn, groups.items(), strict=False):
        sent = series(f"mean from sent {setting}".strip(), rows, "response_time", "service", scale=1e3)
        if list(sent.x) == list(whole.x) and any(s < 0.95 * w for s, w in zip(sent.y, whole.y, strict=True) if s and w):
            drawn.append(sent)
    return [one for one in drawn if len(one.x)]


def _all(groups: Mapping[str, Table], metric: str) -> list[Series]:
    return [series(f"{metric} {setting}".strip(), rows, metric) for setting, rows in groups.items()]


def _busy(groups: Mapping[str, Table]) -> list[Series]:
    drawn = []
    for setting, rows in groups.items():
        stations = sorted({s for _, frame in rows for s in frame.filter(pl.col("metric") == "utilisation")["station"]})
        drawn += [series(f"{station} {setting}".strip(), rows, "utilisation", station) for station in stations]
        soft = [series(f"{s}: interrupts {setting}".strip(), rows, "softirq_utilisation", s) for s in stations]
        drawn += [one for one in soft if any(one.y)]
    return drawn


def _watched(runs: Sequence[RunFolder]) -> list[Series]:
    """Processes and the like, which are no rows of Metrics, as shares of their capacity."""
    points: dict[str, list[tuple[float, float]]] = {}
    for run in sorted(runs, key=load_of):
        level = read_level(run) if run.manifest.get("demands_s") else None
        for one in level.resources if level is not None else ():
            if one.kind != "thread":
                points.setdefault(f"{one.name} {setting_of(run)}".strip(), []).append((load_of(run), one.busy))
    return [Series(name, [x for x, _ in own], [y for _, y in own], style="points") for name, own in points.items()]


def errors_section(runs: Sequence[RunFolder]) -> Section | None:
    """Failures a second over the time of each run that has any; None where no run recorded requests."""
    counts, drawn = 0, []
    for run in runs:
        requests = run.columns("requests", ("intended_s", "failure"))
        if requests is None or requests.is_empty():
            continue
        counts += requests.height * run.sample_every
        if (requests["failure"] > 0).any():
            drawn.append(_failures(run, requests))
    if not counts:
        return None
    if not drawn:
        return Section("Errors", "", (Text(f"None of {counts} requests failed."),))
    worst = sorted(drawn, key=lambda one: -sum(filter(None, one.y)))[:MOST_RUNS]
    more = (
        ""
        if len(worst) == len(drawn)
        else f"The {MOST_RUNS} runs with the most failed requests, of {len(drawn)} with any."
    )
    figure = Figure(
        "errors", "Errors over time", "seconds since the run began", "failed requests per second", tuple(worst), more
    )
    return Section("Errors", _kinds(runs), (figure,))


def _failures(run: RunFolder, requests: pl.DataFrame) -> Series:
    due = requests["intended_s"].to_numpy() - float(requests["intended_s"].min() or 0.0)  # type: ignore[arg-type]
    edges = np.linspace(0.0, max(float(due.max()), 1e-9), BINS + 1)
    count, _ = np.histogram(due[(requests["failure"] > 0).to_numpy()], edges)
    return Series(
        run.path.name, ((edges[1:] + edges[:-1]) / 2).tolist(), (count * run.sample_every / np.diff(edges)).tolist()
    )


def _kinds(runs: Sequence[RunFolder]) -> str:
    total: dict[str, int] = {}
    for run in runs:
        for kind, count in ((run.manifest.get("generator") or {}).get("failures") or {}).items():
            total[kind] = total.get(kind, 0) + int(count)
    said = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in total.items() if count)
    return f"Failed requests of all runs: {said}." if said else ""
