"""Predicted beside measured: a row a run, model and metric, and whether the run lies in the interval that was predicted for it.

`kind`: training (the runs that were fitted), held out (run with them, not fitted), blind (predicted and written before they
were run), and blind, at the run's core speed: by the same models, as they were written, for cores as fast as the recorder's piece of
work says that they were in the run; and blind, at the achieved rate: by the same models, for as many requests as came in the run.
Errors of different kinds are never averaged together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from sojourn.fit.fitted_model_data import FittedModelData
from sojourn.fit.measured_saturation import same_but_load
from sojourn.fit.realised_rate import came_per_s
from sojourn.runs.run_folder import RunFolder
from sojourn.study.fit_templates import FittedProtocol, RivalModels
from sojourn.study.predictions import NO_WIDTH, Prediction, is_interval, predicted_rows
from sojourn.study.study_points import SATURATION
from sojourn.study.system import Point
from sojourn.units import USUAL_LEVEL

METRICS = ("throughput", "response_time")
FEWEST_FITS = 5  # of which a median has an interval
TRAINING, HELD_OUT, BLIND = "training", "held out", "blind"
BLIND_AT_SPEED = "blind, at the run's core speed"
BLIND_AT_RATE = "blind, at the achieved rate"
ONCE = ("run", "class", "metric", "model", "kind")  # a saturation rate is predicted for each rate of a configuration
SCHEMA = {
    "section": pl.String, "run": pl.String, "valid": pl.Boolean, "class": pl.String, "metric": pl.String,
    "predicted": pl.Float64, "low": pl.Float64, "high": pl.Float64, "status": pl.String, "measured": pl.Float64,
    "error": pl.Float64, "inside": pl.Boolean, "model": pl.String, "kind": pl.String,
}  # fmt: skip
Row = dict[str, Any]


def evaluated(found: Prediction, folders: list[RunFolder]) -> pl.DataFrame:
    """The runs that were predicted. Columns as in SCHEMA; `error` relative to measured, infinite where saturation was
    predicted for a run that was not saturated, null for a throughput that all models take from the rate offered;
    `inside` null where there was no interval or the run is not valid. Where no
    upper end was predicted (`open_above`), everything above the lower one is inside, also where there is no value because it more
    likely saturates."""
    rows: list[Row] = []
    for one in found["configurations"]:
        of_model = {found.get("best", ""): one["rows"], **one.get("rivals", {})}
        for folder in folders:
            manifest = folder.manifest
            if manifest["section"] == one["section"] and manifest["factors"] == one["factors"]:
                for model, predicted in of_model.items():
                    rows += _of_run(folder, predicted, model, BLIND)
            elif manifest["section"] == SATURATION and same_but_load(manifest["factors"], one["factors"]):
                for model, predicted in of_model.items():
                    rows += _of_saturation(folder, predicted, model)
    return _told(rows).unique(ONCE, keep="first", maintain_order=True)


def evaluated_again(rivals: RivalModels, folders: Iterable[RunFolder], level: float, fitted: Any) -> pl.DataFrame:
    """The runs that were made before the fit, by every rival: `fitted(section, factors)` says which were fitted. Runs of
    another section at a configuration that was fitted are not held out; of those that a model does not know (its `knows`) nothing
    is told."""
    rows: list[Row] = []
    known: dict[tuple[str, str], list[Row]] = {}
    folders = list(folders)
    of_fit = [f.manifest["factors"] for f in folders if fitted(f.manifest["section"], f.manifest["factors"])]
    for folder in folders:
        section, factors = folder.manifest["section"], folder.manifest["factors"]
        if section == SATURATION:
            continue
        kind = TRAINING if factors in of_fit else HELD_OUT
        for name, model in rivals.fitted.items():
            if not model.knows(factors):
                continue
            key = (name, repr(sorted(factors.items())))
            if key not in known:
                known[key] = predicted_rows(model, Point(section, factors), level)
            rows += _of_run(folder, known[key], name, kind)
    return _told(rows)


def evaluated_at_speed(
    rivals: RivalModels,
    folders: Iterable[RunFolder],
    level: float,
    conditions: Callable[[RunFolder], Mapping[str, float]],
) -> pl.DataFrame:
    """Runs that were predicted, again, by the models as they were written, in the `conditions` of each run; nothing of runs without, and
    nothing by models that these change nothing in."""
    rows: list[Row] = []
    for folder in folders:
        known = conditions(folder)
        factors = folder.manifest["factors"]
        for name, model in rivals.fitted.items():
            own = _of_model(model, known, factors)
            if own:
                point = Point(folder.manifest["section"], factors | own)
                rows += _of_run(folder, predicted_rows(model, point, level), name, BLIND_AT_SPEED)
    return _told(rows)


def evaluated_at_rate(rivals: RivalModels, folders: Iterable[RunFolder], level: float) -> pl.DataFrame:
    """Runs of open loads that were predicted, again, by the models as they were written, for the rate at which requests came: arrivals are
    random, and what came is counted."""
    rows: list[Row] = []
    for folder in folders:
        section, factors = folder.manifest["section"], folder.manifest["factors"]
        came = came_per_s(factors.get("rate_per_s"), measured(folder, "arrival_rate"))
        if came is None or section == SATURATION:
            continue
        own = {**factors, "rate_per_s": came}
        manifest = {**folder.manifest, "factors": own}
        for name, model in rivals.fitted.items():
            for row in predicted_rows(model, Point(section, own), level):
                if row["station"] == "" and row["metric"] in METRICS:
                    seen = measured(folder, row["metric"], row["class"])
                    rows.append(row_of(manifest, folder.path.name, row, name, BLIND_AT_RATE, seen))
    return _told(rows)


def _of_model(model: FittedProtocol, known: Mapping[str, float], factors: Mapping[str, Any]) -> dict[str, float]:
    """Those conditions that the model has as parameters; a template knows its own."""
    if not isinstance(model, FittedModelData):
        return dict(known)
    return {name: value for name, value in known.items() if name in model.at(factors).template.parameters}


def _told(rows: list[Row]) -> pl.DataFrame:
    """All rivals on the same points: what only repeats the rate that was offered is no error of any model, unless another says of
    that run that it cannot keep up; then it is one of all."""
    place = ("run", "class", "metric", "kind")
    foretold = {tuple(row[key] for key in place) for row in rows if not row["given"]}
    for row in rows:
        if tuple(row[key] for key in place) not in foretold:
            row["error"] = None
    return pl.DataFrame([{key: row[key] for key in SCHEMA} for row in rows], schema=SCHEMA)


def _of_run(folder: RunFolder, predicted: Iterable[Row], model: str, kind: str) -> list[Row]:
    return [_row(folder, row, model, kind) for row in predicted if row["station"] == "" and row["metric"] in METRICS]


def _of_saturation(folder: RunFolder, predicted: Iterable[Row], model: str) -> list[Row]:
    rows = [row for row in predicted if row["metric"] == "saturation_rate"]
    return [_row(folder, row, model, BLIND, measured_as="throughput") for row in rows]


def _row(folder: RunFolder, row: Row, model: str, kind: str, measured_as: str = "") -> Row:
    seen = measured(folder, measured_as or row["metric"], row["class"])
    return row_of(folder.manifest, folder.path.name, row, model, kind, seen)


def row_of(run: Mapping[str, Any], name: str, row: Row, model: str, kind: str, measured: float | None) -> Row:
    """A row of SCHEMA: the run (its manifest) and its name, a predicted row, and what was measured; and `given`: the value was
    offered, and not foretold."""
    value, low, high = row["value"], row["low"], row["high"]
    valid = bool(run["valid"])
    known = valid and measured is not None
    none = row["metric"] == "response_time" and value is None
    saturated = known and none and row["status"] in ("unstable", "open_above")
    error = float("inf") if saturated else None
    given = not is_prediction(row, run["factors"])
    if known and value is not None and measured:
        error = value / measured - 1
    judged = known and not given and measured is not None and low is not None and is_interval(low, high)
    inside = low <= measured and (high is None or measured <= high) if judged else None
    if saturated and low is None:
        inside = False
    return {
        "section": run["section"], "run": name, "valid": valid, "class": row["class"],
        "metric": row["metric"], "predicted": value, "low": low, "high": high, "status": row["status"],
        "measured": measured, "error": error, "inside": inside, "model": model, "kind": kind, "given": given,
    }  # fmt: skip


def is_prediction(row: Mapping[str, Any], factors: Mapping[str, Any]) -> bool:
    """Whether it says more than what was given: the throughput of an open system that keeps up is the rate it is offered."""
    if row["metric"] != "throughput" or row["value"] is None:
        return True
    given = factors.get("rate_per_s")
    return given is None or abs(row["value"] - given) > NO_WIDTH * given


def measured(folder: RunFolder, metric: str, cls: str = "") -> float | None:
    """What a run's Metrics have of the whole system."""
    if folder.frame("metrics") is None:
        return None
    frame = folder.metrics().frame
    here = frame.filter(pl.col("metric") == metric, pl.col("station") == "", pl.col("class") == cls)
    return None if here.is_empty() else here["value"][0]


def count_inside(rows: pl.DataFrame) -> tuple[int, int]:
    """How many of the values that have an interval lie in it, and how many have one."""
    known = rows.filter(pl.col("inside").is_not_null())
    return int(known["inside"].sum()), known.height


def median_error(rows: pl.DataFrame, metric: str) -> float | None:
    """Median of |relative error| of all classes together."""
    errors = _sizes(rows, metric)
    return float(np.median(errors)) if len(errors) else None


def of_means(rows: pl.DataFrame, configurations: Mapping[str, str]) -> pl.DataFrame:
    """A row a configuration that was run more than once: `error` of what was predicted (the mean, where runs differ in the speed of
    their cores) against the mean of its valid runs.
    `configurations`: run → its configuration (names of runs are shortened where they are long, and do not tell)."""
    same = ("configuration", "class", "metric", "model", "kind")
    known = rows.filter(pl.col("error").is_finite()).with_columns(
        configuration=pl.col("run").replace_strict(configurations, return_dtype=pl.String)
    )
    means = known.group_by(same, maintain_order=True).agg(pl.len(), pl.col("predicted", "measured").mean())
    return means.filter(pl.col("len") > 1).with_columns(error=pl.col("predicted") / pl.col("measured") - 1)


def error_range(rows: pl.DataFrame, metric: str) -> tuple[float, float, int] | None:
    """The least and the largest of these errors, and of how many points. No interval: the points of one fit share the errors of
    its parameters, so that resampling them says nothing of how the median would differ after another fit."""
    errors = _sizes(rows, metric)
    return (float(errors.min()), float(errors.max()), len(errors)) if len(errors) else None


def median_interval(fits: Sequence[pl.DataFrame], metric: str, draws: int = 2000) -> tuple[float, float] | None:
    """Interval of the median over independent fits, by a bootstrap that draws whole fits (A. C. Davison, D. V. Hinkley,
    Bootstrap Methods and their Application (1997), 3.8); None with fewer than `FEWEST_FITS`."""
    errors = [each for each in (_sizes(rows, metric) for rows in fits) if len(each)]
    if len(errors) < FEWEST_FITS:
        return None
    chosen = np.random.default_rng(1).integers(0, len(errors), (draws, len(errors)))
    medians = [np.median(np.concatenate([errors[k] for k in row])) for row in chosen]
    low, high = np.quantile(medians, ((1 - USUAL_LEVEL) / 2, (1 + USUAL_LEVEL) / 2), method="nearest")
    return float(low), float(high)


def _sizes(rows: pl.DataFrame, metric: str) -> np.ndarray:
    errors = rows.filter(pl.col("metric") == metric, pl.col("class") == "", pl.col("error").is_not_null())["error"]
    return np.abs(errors.to_numpy())
