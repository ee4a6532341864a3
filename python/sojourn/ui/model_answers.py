"""What the page of a model shows: its drawing and its numbers, curves over its load, and the band of a fit. Pure functions of texts and
numbers, so that they run in a worker process, which is ended where they take too long."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import polars as pl

from sojourn.errors import InputError, SojournError
from sojourn.fit.fitted_model import FittedModel
from sojourn.fit.predict_model import BEYOND, OUTSIDE
from sojourn.model import Model
from sojourn.model.unknown_parameters import replaced, unknowns
from sojourn.solve import sweep
from sojourn.solve.status import OVERLOADED
from sojourn.table import Metrics
from sojourn.ui.model_figures import NumberAxis, drawn, model_figures
from sojourn.ui.model_numbers import ModelNumber, model_numbers
from sojourn.ui.network_drawing import network_drawing
from sojourn.ui.saturation import full_at
from sojourn.units import USUAL_LEVEL

POINTS, BAND_POINTS = 40, 14
BUDGET_S = 0.05  # of an exact method: a slider is being moved
NEARLY_FULL = 0.995
NEAR, FAR = (
    1.5,
    8.0,
)  # times the largest load that was measured: of curves of the numbers that were fitted, and of others
PAST = "the last points of the curve are at or beyond saturation, or may be"
_ALONE = "the best model alone: its intervals, and the average with models that predict as well, follow when the slider rests\n"
Settings = Mapping[str, float]


def answered(function: Any, *arguments: Any) -> dict[str, Any]:
    """What it answers; an error of ours as a table, with the line of the file where it names one."""
    try:
        found: dict[str, Any] = function(*arguments)
        return found
    except SojournError as error:
        return {"error": error_table(error)}
    except (ArithmeticError, MemoryError, RecursionError) as error:
        return {
            "error": {
                "value": str(error) or type(error).__name__,
                "place": "",
                "remedy": "give smaller numbers",
                "line": None,
            }
        }


def error_table(error: SojournError) -> dict[str, Any]:
    place = str(error.place)
    line = re.search(r"\.toml:(\d+)|^\w*:(\d+)", place)
    number = next((int(n) for n in line.groups() if n), None) if line else None
    return {"value": str(error.value), "place": place, "remedy": error.remedy, "line": number}


@lru_cache(maxsize=8)
def read_model(text: str, name: str) -> Model:
    return Model.parse(text, name)


@lru_cache(maxsize=4)
def read_fitted(text: str, name: str) -> FittedModel:
    return FittedModel.parse(text, name)


def described(text: str, name: str) -> dict[str, Any]:
    """Drawing, sliders, what may be on the x axis. ModelError for a text that is no model."""
    model = read_model(text, name)
    numbers = model_numbers(model)
    fitted = is_fitted(text)
    found: dict[str, Any] = {
        "name": model.name, "drawing": network_drawing(model), "numbers": [one.to_dict() for one in numbers], "fitted": fitted,
        "x": _usual_x(numbers), "unknown": list(unknowns(model)), "intervals": {}, "told": "",
    }  # fmt: skip
    if fitted:
        fit = read_fitted(text, name)
        found["intervals"] = {path: [one.low, one.high] for path, one in fit.estimates.items()}
        found["told"] = str(fit)
        found["averaged"] = _averaged(fit)
        found["factors"] = sorted({key for one in fit.configurations for key in one})
        found["configurations"] = [dict(one) for one in fit.configurations]
        known = [
            one
            for one in (c.get(k) for c in fit.configurations for k in ("rate_per_s", "users"))
            if isinstance(one, int | float)
        ]
        found["most"] = max(known, default=None)
        if known and any(one.load for one in numbers):
            found["start"] = sorted(known)[len(known) // 2]
    return found


def _averaged(fit: FittedModel) -> dict[str, list[tuple[float, float]]]:
    """Path of a whole number → its values in the models that are averaged, each with their weight, where these differ."""
    found: dict[str, dict[float, float]] = {}
    for weight, one in fit.weighted:
        for number in model_numbers(one.model):
            if number.whole and not number.load:
                values = found.setdefault(number.path, {})
                values[number.value] = values.get(number.value, 0.0) + weight
    return {path: sorted(values.items()) for path, values in found.items() if len(values) > 1}


def is_fitted(text: str) -> bool:
    return "\n[fit]" in text


def _usual_x(numbers: Sequence[ModelNumber]) -> str:
    return next((one.path for one in numbers if one.load), numbers[0].path if numbers else "")


def curves(
    text: str,
    name: str,
    settings: Settings,
    x: str,
    width_px: int,
    measured: Sequence[Mapping[str, Any]] = (),
    most: float | None = None,
    objectives: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Response time, throughput and utilisation over `x` at the settings, as figures; what is said of the point itself."""
    model, axis = _at(text, name, settings, x, most, POINTS)
    result, now = _over(model, axis)
    figures = model_figures(model, result, axis, measured, {}, objectives, measured_name(text, model, settings))
    return {
        "figures": drawn(figures, width_px), "method": result.method, "message": _ALONE * is_fitted(text) + note_of(result, now),
        "now": _told(now),
        "busy": _busy(now), "x": [axis.values[0], axis.values[-1]],
    }  # fmt: skip


def band(
    text: str,
    name: str,
    settings: Settings,
    x: str,
    width_px: int,
    measured: Sequence[Mapping[str, Any]] = (),
    most: float | None = None,
    objectives: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """The same of a fitted model, with its intervals for a new run."""
    model, axis = _at(text, name, settings, x, most, BAND_POINTS)
    fitted = read_fitted(text, name)
    key = factor_of(model, axis.number.path)
    given: dict[str, Any] = {factor_of(model, path): [value] for path, value in settings.items() if path != x}
    told = fitted.predict({**given, key: axis.values}, USUAL_LEVEL)
    now = fitted.predict({**given, key: [axis.number.value]}, USUAL_LEVEL)
    figures = model_figures(
        model, told, axis, measured, {axis.number.path: key}, objectives, measured_name(text, model, settings)
    )
    return {
        "figures": drawn(figures, width_px),
        "method": told.method,
        "message": note_of(told, now),
        "now": _told(now),
        "busy": _busy(now),
        "length_s": fitted.run_length_s,
    }


def changed(model: Model, settings: Settings) -> bool:
    """Whether more than the load is another than what was measured."""
    return not {one.path for one in model_numbers(model) if one.load}.issuperset(settings)


def measured_name(text: str, model: Model, settings: Settings) -> str:
    """What measured points are called beside curves of these settings."""
    whose = "fitted numbers" if is_fitted(text) else "numbers of the file"
    return f"measured with the {whose}" if changed(model, settings) else "measured"


def note_of(result: Metrics, now: Metrics) -> str:
    """The message of a curve, without what is true of a part of it only and not of the point of the settings."""
    here = set(now.frame["status"])
    far = [name for name in (*OVERLOADED, "open_above") if name in set(result.frame["status"]) - here]
    lines = [line for line in result.message.splitlines() if not line.startswith(tuple(f"{name}: " for name in far))]
    if BEYOND in lines and "in_validated_range" in now.frame.columns and now.frame["in_validated_range"].all():
        lines[lines.index(BEYOND)] = f"part of the curve lies {OUTSIDE}; a model can be further off there"
    return "\n".join([*([PAST] if far else []), *lines])


def _over(model: Model, axis: NumberAxis) -> tuple[Metrics, Metrics]:
    """The curves, and the point of the settings: of one sweep where it lies on the axis, as each sweep has a cost of its own."""
    path, value = axis.number.path, axis.number.value
    if not axis.values[0] <= value <= axis.values[-1]:
        return sweep(model, {path: axis.values}, exact_time_limit_s=BUDGET_S), sweep(
            model, {path: [value]}, exact_time_limit_s=BUDGET_S
        )
    result = sweep(model, {path: sorted({*axis.values, value})}, exact_time_limit_s=BUDGET_S)
    return result, Metrics(result.frame.filter(pl.col(path) == value), result.method, message=result.message)


def changed_text(text: str, name: str, settings: Settings) -> dict[str, Any]:
    """The model as a file with the numbers of the settings; of a fitted one without its fit, whose numbers these are no longer."""
    return {"text": replaced(read_model(text, name), typed(read_model(text, name), settings)).to_toml()}


def _at(text: str, name: str, settings: Settings, x: str, most: float | None, points: int) -> tuple[Model, NumberAxis]:
    model = read_model(text, name)
    model = replaced(model, typed(model, settings)) if settings else model
    numbers = model_numbers(model)
    number = next((one for one in numbers if one.path == x), None)
    if number is None:
        known = ", ".join(one.path for one in numbers) or "none: the model has no number"
        raise InputError(repr(x)[:80], "x axis", f"use one of {known}")
    return model, NumberAxis(number, _values(model, number, most, points, FAR if changed(model, settings) else NEAR))


def typed(model: Model, settings: Settings) -> dict[str, float | int]:
    """Whole numbers where only those can stand. InputError for a path that no slider has."""
    known = {one.path: one for one in model_numbers(model)}
    for path, value in settings.items():
        if path not in known:
            raise InputError(repr(path)[:80], "settings", "use a path that the model has")
        if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) < 1e12:
            raise InputError(repr(value)[:80], path, "give a number below 1e12")
    return {path: round(value) if known[path].whole else float(value) for path, value in settings.items()}


def _values(model: Model, number: ModelNumber, most: float | None, points: int, reach: float = NEAR) -> list[float]:
    """From almost nothing to where the model is full, or `reach` times as far as what was measured."""
    if number.whole:
        last = max(round(1.6 * number.value), round(1.2 * (most or 0)) if number.load else 0, 8)
        step = max(1, last // points)
        return [*range(1, last + 1, step)]
    top = number.high
    if number.load:
        full = full_at(model, number)
        top = full if full is not None else max(2 * number.value, 1.2 * (most or 0))
        if most and full is not None:
            top = min(full, max(reach * most, max(1.2, reach - 1) * number.value))
        return [top * NEARLY_FULL * (k + 1) / points for k in range(points)]
    low = number.low
    return (
        [low + (top - low) * k / (points - 1) for k in range(points)]
        if low or number.value
        else [top * k / (points - 1) for k in range(points)]
    )


def factor_of(model: Model, path: str) -> str:
    """What `predict` calls a load: the factor of the runs."""
    loads = {"rate_per_s": "rate_per_s", "population": "users"}
    part, _, rest = path.partition(".")
    one_class = part == "classes" and len(model.classes) == 1
    return loads.get(rest.rpartition(".")[2], path) if one_class else path


def _told(now: Metrics) -> list[dict[str, Any]]:
    """The whole system at the settings: metric, value, interval, unit, status."""
    rows = now.frame.filter(
        (pl.col("station") == "")
        & pl.col("metric").is_in(["response_time", "throughput", "saturation_rate"])
        & pl.col("q").is_null()
    )
    keep = ("metric", "class", "value", "low", "high", "level", "unit", "status")
    rows = (
        rows
        if (rows["class"] != "").n_unique() == 1 or rows.filter(pl.col("class") != "")["class"].n_unique() > 1
        else rows.filter(pl.col("class") == "")
    )
    busy = now.frame.filter(
        (pl.col("metric") == "utilisation") & (pl.col("station") != "") & pl.col("value").is_not_null()
    )
    found = [{key: row[key] for key in keep} for row in rows.iter_rows(named=True)]
    if busy.height:
        most = busy.sort("value", descending=True).row(0, named=True)
        found.append({**{key: most[key] for key in keep}, "class": "", "metric": f"utilisation of {most['station']}"})
    return found


def _busy(now: Metrics) -> list[tuple[str, float]]:
    """Station → how busy it is at the settings."""
    rows = now.frame.filter((pl.col("metric") == "utilisation") & (pl.col("station") != "") & (pl.col("class") == ""))
    return [(name, value) for name, value in rows.select("station", "value").iter_rows() if value is not None]
