"""Response times of a study against the rate or the number of users: measured, and as they were predicted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sojourn.report.document import Figure, Series
from sojourn.runs.run_folder import RunFolder
from sojourn.study.sweep_figures import in_order
from sojourn.study.verdict import factors_text

if TYPE_CHECKING:
    from sojourn.study.study_findings import StudyFindings

LEVELS = {"rate_per_s": "requests per second", "users": "users"}
TOGETHER = 6  # series in a figure of all sections


def response_figures(found: StudyFindings, level: str) -> Iterator[Figure]:
    """Response time against the level, a series for each section and combination of the other factors; a figure for each section where one
    of all would have more than `TOGETHER` of them."""
    groups: dict[str, dict[str, list[RunFolder]]] = {}
    for run in found.runs:
        if level in run.manifest["factors"] and run.manifest["valid"]:
            others = {k: v for k, v in run.manifest["factors"].items() if k != level and k in found.varied}
            section = run.manifest["section"]
            name = f"{section} {factors_text(others, found.varied) if others else ''}".strip()
            groups.setdefault(section, {}).setdefault(name, []).append(run)
    bands = _bands(found, level)
    sections = list(groups)
    several = sum(map(len, groups.values())) > TOGETHER
    for own in [[section] for section in sections] if several else [sections]:
        series = [_points(name, runs, level) for section in own for name, runs in groups[section].items()]
        if len({x for one in series for x in one.x}) < 2:
            continue  # one level, as of the closed loops that saturate: the tables have it
        names = {one.name for one in series}
        series += [band for band in bands if band.group in names or not several]
        if several:
            series = _renamed(series, groups[own[0]], level)
        title = f"Response time: {own[0]}" if several else "Response time"
        yield Figure(f"response-{level}{'-' * several}{own[0] * several}", title, LEVELS[level], "ms", tuple(series))


def _renamed(series: list[Series], groups: Mapping[str, list[RunFolder]], level: str) -> list[Series]:
    """By what differs within a section."""
    each = {name: runs[0].manifest["factors"] for name, runs in groups.items()}
    first = next(iter(each.values()))
    varied = tuple(k for k in first if k != level and len({repr(one.get(k)) for one in each.values()}) > 1)
    found = []
    for one in sorted(series, key=lambda one: [in_order(each[one.group].get(name)) for name in varied]):
        name = factors_text(each[one.group], varied) if varied else ""
        predicted = one.style == "dashed"
        words = ", ".join(word for word in (name, "predicted" * predicted) if word)
        found.append(replace(one, name=words or "measured"))
    return found


def _points(name: str, runs: list[RunFolder], level: str) -> Series:
    rows = []
    for run in sorted(runs, key=lambda run: float(run.manifest["factors"][level])):
        metrics = run.metrics()
        value, (low, high) = metrics.value("response_time"), metrics.interval("response_time")
        rows.append((run.manifest["factors"][level], *(None if v is None else v * 1e3 for v in (value, low, high))))
    x, y, low_ms, high_ms = (list(column) for column in zip(*rows, strict=True))
    return Series(name, x, y, low_ms, high_ms, "points", group=name)


def _bands(found: StudyFindings, level: str) -> list[Series]:
    groups: dict[str, list[tuple[float, Mapping[str, Any]]]] = {}
    for one in found.predicted["configurations"] if found.predicted else ():
        if level not in one["factors"]:
            continue
        others = {k: v for k, v in one["factors"].items() if k != level and k in found.varied}
        name = f"{one['section']} {factors_text(others, found.varied) if others else ''}".strip()
        row = next(
            (r for r in one["rows"] if (r["station"], r["class"], r["metric"]) == ("", "", "response_time")), None
        )
        if row is not None:
            groups.setdefault(name, []).append((float(one["factors"][level]), row))
    found_series = []
    for name, rows in groups.items():
        rows.sort(key=lambda pair: pair[0])
        y, low, high = ([None if r[k] is None else r[k] * 1e3 for _, r in rows] for k in ("value", "low", "high"))
        found_series.append(Series(f"{name}, predicted", [x for x, _ in rows], y, low, high, "dashed", group=name))
    return found_series
