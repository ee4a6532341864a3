"""The verdict of a study of any system: the answer first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from sojourn.measure.folder import RunFolder
from sojourn.study.engine.judge import METRICS, count_inside, is_prediction, median_error
from sojourn.units import interval, per_second, percent, quantity

if TYPE_CHECKING:
    from sojourn.study.engine.study import Findings

UNITS = {"response_time": "s", "throughput": "1/s", "saturation_rate": "1/s"}


def verdict_lines(found: Findings) -> list[str]:
    """Headline, what was fitted, each prediction with what was then measured, what is worth knowing."""
    lines = [_headline(found), *_fitted(found), *_predictions(found)]
    warnings = dict.fromkeys(text for run in found.runs for text in run.manifest.get("warnings", ()))
    lines += [f"note: {text}" for text in warnings]
    return lines + _left_out(found.runs)


def _headline(found: Findings) -> str:
    valid = sum(bool(run.manifest["valid"]) for run in found.runs)
    ran = f"{valid} of {len(found.runs)} runs are valid"
    if found.predicted is None:
        return ran
    inside, known = count_inside(found.judged)
    level = percent(found.predicted["level"], 0)
    held = f"{inside} of {known} measured values lie in the {level} intervals that were written before they were run"
    errors = {metric: median_error(found.judged, metric) for metric in METRICS}
    parts = [
        f"median error of {metric.replace('_', ' ')} {percent(e)}" for metric, e in errors.items() if e is not None
    ]
    if not parts:
        return f"nothing that was predicted could be judged; {ran}"
    return "; ".join([*([held] if known else []), *parts])


def _fitted(found: Findings) -> list[str]:
    if found.fitted is None:
        return []
    named = [f"{path} {e.value:.4g} ({e.low:.4g} … {e.high:.4g})" for path, e in found.fitted.estimates.items()]
    lines = [f"fitted, intervals at {percent(found.fitted.level, 0)}: {', '.join(named)}"]
    lines.append(
        f"the model's own error, from configurations left out: {percent(found.fitted.model_error)} of all demands"
    )
    return lines + ([found.why] if found.why else [])


def _predictions(found: Findings) -> list[str]:
    if found.predicted is None:
        return []
    lines, last = [f"predictions written {found.predicted['written']}, before their runs"], None
    for one in found.predicted["configurations"]:
        rows = [row for row in one["rows"] if row["station"] == "" and row["class"] == "" and _is_told(row)]
        runs = [run.path.name for run in found.runs if run.manifest["factors"] == one["factors"]]
        here = found.judged.filter(
            pl.col("section") == one["section"], pl.col("class") == "", pl.col("run").is_in(runs)
        )
        limit = next((row["value"] for row in rows if row["metric"] == "saturation_rate"), None)
        said = [_told_row(row, here) for row in rows if row["metric"] != "saturation_rate" or limit != last]
        lines.append(f"{one['section']}, {told(one['factors'], found.varied)}: {'; '.join(said)}")
        last = limit
    return lines


def _is_told(row: Mapping[str, Any]) -> bool:
    return is_prediction(row["metric"], row["value"], row["low"], row["high"])


def _told_row(row: Mapping[str, Any], here: pl.DataFrame) -> str:
    name, unit = row["metric"].replace("_", " "), UNITS.get(row["metric"], "1")
    said = guess(row, row["value"], unit)
    runs = here.filter(pl.col("metric") == row["metric"])
    if runs.is_empty():
        return f"{name} predicted {said}"
    seen = ", ".join(_seen(run, unit) for run in runs.iter_rows(named=True))
    return f"{name} predicted {said}, measured {seen}"


def guess(row: Mapping[str, Any], value: float | None, unit: str) -> str:
    """A predicted value with its interval, whose upper end may be open; None: it is saturated there."""
    if value is None:
        return "saturated"
    if row["low"] is not None and row["high"] is None:
        return f"{quantity(value, unit)} (above {quantity(row['low'], unit)})"
    return interval(value, row["low"], row["high"], unit)


def _seen(run: Mapping[str, Any], unit: str) -> str:
    value = quantity(run["measured"], unit)
    if not run["valid"]:
        return f"{value} in a run that is not valid"
    return value if run["inside"] is None else f"{value} ({'inside' if run['inside'] else 'outside'})"


def told(factors: Mapping[str, Any], varied: tuple[str, ...]) -> str:
    """The factors that differ within the study."""
    named = {name: value for name, value in factors.items() if name in varied} or factors
    return ", ".join(
        f"{per_second(value)}"
        if name == "rate_per_s"
        else f"{name} {value:g}"
        if isinstance(value, float)
        else f"{name} {value}"
        for name, value in named.items()
    )


def _left_out(runs: list[RunFolder]) -> list[str]:
    bad = [run for run in runs if not run.manifest["valid"]]
    first = f": {bad[0].path.name}: {'; '.join(bad[0].manifest['reasons'])}" if bad else ""
    return [f"{len(bad)} of {len(runs)} runs are not valid and are left out{first}"] if bad else []
