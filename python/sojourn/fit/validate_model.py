"""A fitted model beside runs: what was predicted for each, with the interval of a new run, and what was measured.

Open arrivals are random: a run that was asked for 290/s may have got 304/s, which near saturation changes all. How many came is counted,
so that the model is asked for that rate; what it says of the rate that was asked is beside it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import polars as pl
from scipy.special import stdtrit

from sojourn.errors import InputError, SojournError
from sojourn.fit.factor_mapping import applied, factors_of
from sojourn.fit.fit_runs import FitRun, FitRuns
from sojourn.fit.fitted_model_data import FittedModelData
from sojourn.fit.parameter_estimate import check_level
from sojourn.fit.predict_model import predict
from sojourn.fit.realised_rate import run_came_per_s
from sojourn.fit.watched_servers import watched_servers
from sojourn.former_keyword import former_keyword
from sojourn.model.parameters import LOADS, NumberByFactor
from sojourn.solve.status import OVERLOADED
from sojourn.stats.batch_means import BATCHES
from sojourn.stats.student import student_quantile
from sojourn.units import USUAL_LEVEL, percent

Row = dict[str, Any]
Spread = dict[tuple[str, str, str], tuple[float, int]]  # (station, class, metric) → relative spread, degrees of freedom


@former_keyword(up_to="max_saturation_share", changed="changed_settings")
def validate(
    fitted: FittedModelData,
    runs: FitRuns,
    level: float = USUAL_LEVEL,
    changed_settings: Mapping[str, Any] | None = None,
    max_saturation_share: float | None = None,
) -> pl.DataFrame:
    """A row a run, class, station and metric (response_time, s; throughput, 1/s; utilisation), in the order of the levels.

    Columns: run, its factors, class, station, metric, predicted, low, high, status, measured, measured_low, measured_high,
    error (relative; infinite where the model calls saturated what was not), inside_interval, in_validated_range,
    arrival_rate_per_s (the rate that is predicted for, that of the arrivals of one open class; null where it is the one that was
    asked, or there is none), predicted_at_asked_rate (for the rate that was asked). The interval of a measured value is by what
    repetitions differ by, where there are any, else the run's own. changed_settings: path → value, where these runs differ from those
    fitted. max_saturation_share: only runs below this share of the predicted saturation rate. Runs that no model is of (`Model.where`) are
    left out. Raises InputError for a level, for `max_saturation_share`, and where no row is left.
    """
    check_level(level)
    if max_saturation_share is not None:
        check_share(max_saturation_share, "max_saturation_share")
    spread = {key: own for one in (fitted, *fitted.models_of_other_runs) for key, own in _repeated(one, runs).items()}
    whole = fitted
    rows: list[Row] = []
    for run in sorted(runs.runs, key=_level):
        factors = {**run.factors, **(changed_settings or {})}
        if not any(one.model.is_of(factors) for one in (whole, *whole.models_of_other_runs)):
            continue
        fitted = whole.at(factors)
        point = {**_factors(fitted, run, changed_settings), **(changed_settings or {})}
        asked = told = _told(fitted, point, level)
        came = run_came_per_s(run, fitted.model) if "rate_per_s" not in (changed_settings or {}) else None
        if came is not None:
            point |= {"rate_per_s": came}
            told = _told(fitted, point, level)
        if max_saturation_share is not None and _beyond(run, told, max_saturation_share):
            continue
        alike = _watched_alike(fitted, run, point)
        if len(alike.alternatives) < len(fitted.alternatives):
            told |= {key: row for key, row in _told(alike, point, level).items() if key[2] == "utilisation"}
        for key, measured, error in _measured(fitted, run, _servers(fitted, point)):
            if (row := told.get(key)) is not None:
                half = _half(error, spread.get(key), level)
                beside = {
                    "arrival_rate_per_s": came,
                    "predicted_at_asked_rate": asked[key]["value"] if key in asked else None,
                    # arrivals at random are a little more or fewer than asked: a fitted run is no other configuration for that
                    "in_validated_range": asked.get(key, row)["in_validated_range"],
                }
                rows.append({"run": run.name, **run.factors} | _row(key, row, measured, half) | beside)
    if not rows:
        raise InputError(
            "no run is left", "validate", "give runs of what the model has, or a larger --max-share-of-saturation-rate"
        )
    return pl.DataFrame(rows, infer_schema_length=None)


def _factors(fitted: FittedModelData, run: FitRun, changed: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Of the run; where it is said what changed, without those that neither the model nor the runs that were fitted have."""
    if not changed:
        return run.factors
    model = fitted.template
    own = {v.factor if isinstance(v, NumberByFactor) else name for name, v in model.parameters.items()}
    known = {*model.factors, *own, *LOADS, *(name for one in fitted.configurations for name in one)}
    return {name: value for name, value in run.factors.items() if name in known}


def _told(fitted: FittedModelData, point: Mapping[str, Any], level: float) -> dict[tuple[str, str, str], Row]:
    rows = predict(fitted, point, level).frame.iter_rows(named=True)
    return {(row["station"], row["class"], row["metric"]): row for row in rows}


def _watched_alike(fitted: FittedModelData, run: FitRun, point: Mapping[str, Any]) -> FittedModelData:
    """With those of its alternatives whose stations are as many servers of the same resources: another means another utilisation."""

    def watched(model: FittedModelData) -> dict[str, tuple[float, int | None]]:
        servers = _servers(model, point)
        return {station: (busy, servers.get(station)) for station, busy in run.busy_at(model.model).items()}

    same, own = [], watched(fitted)
    for weight, model in fitted.alternatives:
        with suppress(SojournError):  # it has no such path, and is not in the mixture either
            if watched(model) == own:
                same.append((weight, model))
    return fitted.averaged_with(same)


def scores(found: pl.DataFrame, level: float) -> str:
    """How many measured values lie in their intervals, and the median error, by quantity; an infinite one counts."""
    parts = []
    for (metric,), rows in found.group_by("metric", maintain_order=True):
        errors = rows["error"].drop_nulls().abs().to_numpy()
        median = f", median error {percent(float(np.median(errors)))}" if len(errors) else ""
        beyond = int(np.isinf(errors).sum())
        saturated = f", {beyond} falsely predicted as saturated" if beyond else ""
        inside = f"{rows['inside_interval'].sum()} of {rows.height}"
        parts.append(f"{str(metric).replace('_', ' ')} {inside}{median}{saturated}")
    return f"in their {percent(level, 0)} prediction intervals: {'; '.join(parts)}"


def at_asked_rates(found: pl.DataFrame) -> str:
    """What `validate` would have said of response times at the rates that were asked; empty where as many came."""
    rows = found.filter(pl.col("arrival_rate_per_s").is_not_null(), pl.col("metric") == "response_time")
    if rows.is_empty():
        return ""
    off = float((rows["arrival_rate_per_s"] / rows["rate_per_s"] - 1).abs().max())  # type: ignore[arg-type]
    error = rows.select(
        (pl.col("predicted_at_asked_rate") / pl.col("measured") - 1).abs().fill_null(math.inf)
    ).to_series()
    median = percent(float(np.median(error.to_numpy())))
    return (
        f"predicted at the achieved rates, at most {percent(off)} from the requested "
        f"rates; at the requested rates the median error is {median}"
    )


def check_share(share: float, place: str) -> None:
    """Raises InputError for what is no share of the saturation rate, such as a rate."""
    if not 0 < share <= 1:
        raise InputError(
            share, place, "give a share of the saturation rate, above 0 and at most 1, such as 0.8 for 80 %"
        )


def _level(run: FitRun) -> tuple[Any, ...]:
    """Numbers by size before texts, factor by factor."""
    return tuple((isinstance(v, str), v) for v in run.factors.values()), run.name


def _beyond(run: FitRun, told: Mapping[tuple[str, str, str], Row], max_saturation_share: float) -> bool:
    limit = told.get(("", "", "saturation_rate"))
    if limit is None:
        raise InputError(
            f"max_saturation_share = {max_saturation_share:g}",
            "validate",
            "leave it out: this model has no saturation rate",
        )
    rate = run.factors.get("rate_per_s", run.means.get(("", "throughput"), (0.0, 0.0))[0])
    return bool(rate > max_saturation_share * limit["value"])


def _measured(
    fitted: FittedModelData, run: FitRun, servers: Mapping[str, int]
) -> Iterator[tuple[tuple[str, str, str], float, float]]:
    """Station, class and metric; value, relative standard error (NaN where nobody knows)."""
    opened = all(c.kind == "open" for c in fitted.model.classes)
    for (cls, metric), (value, error) in run.means.items():
        if not (metric == "throughput" and opened):  # as many leave as come
            yield ("", cls, metric), value, error
    for station, busy in run.busy_at(fitted.model).items():
        if station in servers:
            yield (station, "", "utilisation"), busy / servers[station], math.nan


def _servers(fitted: FittedModelData, point: Mapping[str, Any]) -> dict[str, int]:
    """Of each station, or part of one, that has servers, in the configuration of a run."""
    factors = {k: v for k, v in point.items() if "." not in k}
    paths = {k: v for k, v in point.items() if "." in k}
    model = applied(fitted.model, factors_of(fitted.model, [factors]), factors, paths)
    return watched_servers(model)


def _repeated(fitted: FittedModelData, runs: FitRuns) -> Spread:
    """What repetitions of a configuration differ by, of the logarithm, over all configurations that were repeated."""
    found: dict[tuple[str, str, str], dict[str, list[float]]] = {}
    for run in runs.runs:
        for key, value, _ in _measured(fitted, run, dict.fromkeys(fitted.model.observed, 1)):
            found.setdefault(key, {}).setdefault(run.configuration, []).append(math.log(value))
    spread: Spread = {}
    for key, groups in found.items():
        degrees = sum(len(g) - 1 for g in groups.values())
        if degrees:
            squares = sum(float(np.var(g)) * len(g) for g in groups.values())
            spread[key] = math.sqrt(squares / degrees), degrees
    return spread


def _half(error: float, repeated: tuple[float, int] | None, level: float) -> float:
    """Half the width of the interval of a logarithm; NaN where neither repetitions nor the run itself tell."""
    if repeated is not None:
        return repeated[0] * float(stdtrit(repeated[1], (1 + level) / 2))
    return error * student_quantile((1 + level) / 2, BATCHES - 1) if error > 0 else math.nan


def _row(key: tuple[str, str, str], told: Row, measured: float, half: float) -> Row:
    station, cls, metric = key
    value, low, high = told["value"], told["low"], told["high"]
    known = not math.isnan(half)
    saturated = told["status"] in OVERLOADED or (value is None and low is not None)
    error = (math.inf if saturated else None) if value is None else value / measured - 1
    return {
        "class": cls, "station": station, "metric": metric, "predicted": value, "low": low, "high": high,
        "status": told["status"], "measured": measured,
        "measured_low": measured * math.exp(-half) if known else None,
        "measured_high": measured * math.exp(half) if known else None,
        "error": error,
        "inside_interval": bool(low is not None and low <= measured and (high is None or measured <= high)),
        "in_validated_range": told["in_validated_range"],
    }  # fmt: skip
