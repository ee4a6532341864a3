"""The verdict of a study of any system: the answer first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import polars as pl

from sojourn.fit.fitted_file import NO_ERROR
from sojourn.fit.measured_saturation import same_but_load
from sojourn.fit.parameter_estimate import ParameterEstimate
from sojourn.fit.run_mean_error import MISFIT
from sojourn.runs.disturbances import ONLY_BESIDE, beside_in_one_line
from sojourn.runs.run_folder import RunFolder
from sojourn.study.counted_values import INSIDE, NO_UPPER_LIMIT, OUTSIDE, CountedValues, misses_first
from sojourn.study.evaluation import (
    BLIND,
    BLIND_AT_RATE,
    BLIND_AT_SPEED,
    HELD_OUT,
    METRICS,
    TRAINING,
    count_inside,
    error_range,
    is_prediction,
    median_error,
    median_interval,
    of_means,
)
from sojourn.study.fit_templates import FittedProtocol, parts_of
from sojourn.study.predictions import is_interval
from sojourn.study.study_points import SATURATION
from sojourn.units import interval, per_second, percent, prediction, quantity

if TYPE_CHECKING:
    from sojourn.study.study_findings import StudyFindings

FEW = 4  # configurations of a section that the verdict tells one by one
MOST_LEFT_OUT = 8  # runs that are not valid, named one by one
MOST_NAMED = 12  # numbers that fit in a line
UNITS = {"response_time": "s", "throughput": "1/s", "saturation_rate": "1/s"}


def verdict_lines(found: StudyFindings) -> list[str]:
    """That no model fits, headline, what was fitted, each prediction with what was measured, analyses, what is worth knowing."""
    lines = [one.headline for one in found.analyses if one.headline] + ([headline(found)] if found.runs else [])
    lines += [*_fitted(found), *_errors(found), *predicted_lines(found), *_choices(found)]
    lines += [line for one in found.analyses for line in one.lines]
    beside = beside_in_one_line([run.manifest for run in found.runs])
    each = dict.fromkeys(text for run in found.runs for text in run.manifest.get("warnings", ()))
    warnings = [text for text in each if not (beside and text.startswith(ONLY_BESIDE))] + beside
    lines += [f"note: {text}" for text in warnings]
    lines += [f"not shown here: {what}" for what in found.not_shown]
    return misses_first(lines + left_out(found))


def headline(found: StudyFindings) -> str:
    """How many measured values lie in their intervals, and the errors; without a prediction how many runs are valid."""
    valid = sum(bool(run.manifest["valid"]) for run in found.runs)
    ran = f"{valid} of {len(found.runs)} runs are valid"
    if found.predicted is None:
        return ran
    counted = CountedValues.of(found.asked)
    parts = error_texts([found.blind])
    if not parts and not counted.judged:
        return f"none of {counted.asked} predicted values could be checked; {ran}"
    return "; ".join(filter(None, [counted.text(found.predicted["level"]), *parts]))


def error_texts(fits: Sequence[pl.DataFrame], metrics: Sequence[str] = METRICS, ends: bool = False) -> list[str]:
    """The median error of each metric over the rows of all `fits`, where there is one. With `ends` also the interval of the median
    over independent fits; where there are too few for one the least and the largest error."""
    each = {metric: error_text(fits, metric, ends) for metric in metrics}
    return [f"median error of {metric.replace('_', ' ')} {said}" for metric, said in each.items() if said is not None]


def error_text(fits: Sequence[pl.DataFrame], metric: str, ends: bool = False) -> str | None:
    """The median error of one metric, as `error_texts` says it; None where nothing was judged."""
    rows = pl.concat(fits)
    if (error := median_error(rows, metric)) is None:
        return None
    least, most, points = error_range(rows, metric) or (error, error, 1)
    between = median_interval(fits, metric) if ends else None
    said = f" [{percent(between[0])}, {percent(between[1])}]" if between else ""
    said = said or (f" ({percent(least)} to {percent(most)} at {points} points)" if ends and points > 1 else "")
    return f"{percent(error)}{said}"


def _fitted(found: StudyFindings) -> list[str]:
    if found.fitted is None:
        return []
    parts = parts_of("", found.fitted)
    lines = [f"{name}: {line}" if len(parts) > 1 else line for name, one in parts.items() for line in _of_fit(one)]
    return lines + ([found.why] if found.why else [])


def _of_fit(fitted: FittedProtocol) -> list[str]:
    named = [f"{path} {estimate_text(e)}" for path, e in fitted.estimates.items()]
    if len(named) > MOST_NAMED:
        named = [f"{len(named)} numbers, see the report"]
    lines = [f"fitted, intervals at {percent(fitted.level, 0)}: {', '.join(named)}"] if named else []
    own = fitted.model_error
    lines.append(NO_ERROR if own is None else f"the model's own error: {percent(own)} of {fitted.error_of}")
    return lines + [line for line in fitted.message.splitlines() if line.startswith(MISFIT)]


def estimate_text(e: ParameterEstimate) -> str:
    """Value and interval; without one where it has no width."""
    return (
        f"{e.value:.4g} ({e.low:.4g} … {e.high:.4g})" if is_interval(e.low, e.high) else f"{e.value:.4g} (no interval)"
    )


def _errors(found: StudyFindings) -> list[str]:
    """Errors of each model by kind; training errors only where nothing better is known."""
    if found.rivals is None:
        return []
    kinds = [kind for kind in (BLIND, BLIND_AT_RATE, BLIND_AT_SPEED, HELD_OUT) if not found.rows(kind).is_empty()] or [
        TRAINING
    ]
    lines = []
    for kind in kinds:
        if kind in (BLIND, BLIND_AT_RATE, BLIND_AT_SPEED):
            lines += _of_means(found, kind)
        if kind == BLIND and len(found.rivals.fitted) == 1:
            continue  # the headline has it
        names = [found.rivals.best] if kind == BLIND_AT_RATE else list(found.rivals.fitted)  # the report has the others
        for what, each in _errors_by_metric(found, kind, names).items():
            named = [f"{name} {said}" if len(found.rivals.fitted) > 1 else said for name, said in each.items()]
            lines.append(f"{kind} error{what and f', {what}'}: {', '.join(named)}")
    return lines


def _errors_by_metric(found: StudyFindings, kind: str, names: Sequence[str]) -> dict[str, dict[str, str]]:
    """What is in error -> model -> its median error, so that rivals stand in one line beside each other."""
    lines: dict[str, dict[str, str]] = {}
    for name in names:
        rows = found.rows(kind, name)
        for metric in METRICS:
            if (said := error_text([rows], metric, ends=True)) is not None:
                lines.setdefault(f"median of {metric.replace('_', ' ')}", {})[name] = said
        if wrong := rows.filter(pl.col("error").is_infinite()).height:
            lines.setdefault("points falsely predicted as saturated", {})[name] = f"{wrong}"
        inside, known = count_inside(rows) if kind in (BLIND_AT_RATE, BLIND_AT_SPEED) else (0, 0)
        if known:
            lines.setdefault("", {})[name] = f"{inside} of {known} inside"
    return lines


def _of_means(found: StudyFindings, kind: str) -> list[str]:
    assert found.rivals is not None
    same = {
        run.path.name: repr((run.manifest["section"], sorted(run.manifest["factors"].items()))) for run in found.runs
    }
    each = {name: error_texts([of_means(found.rows(kind, name), same)], ends=True) for name in found.rivals.fitted}
    return [f"{name}, {kind} error of means of repeated runs: {'; '.join(said)}" for name, said in each.items() if said]


def predicted_lines(found: StudyFindings) -> list[str]:
    """When predictions were written, then each with what was measured; of many configurations a line a section."""
    if found.predicted is None:
        return []
    lines = [f"predictions written {found.predicted['written']}, before their runs"]
    for section, each in groupby(found.predicted["configurations"], key=lambda one: one["section"]):
        configurations = list(each)
        told_of = _section if len(configurations) > FEW else _one_by_one
        lines += told_of(found, section, configurations)
    return lines


def _section(found: StudyFindings, section: str, configurations: Sequence[Mapping[str, Any]]) -> list[str]:
    """One line for many configurations: the report has them one by one."""
    here, said = found.blind.filter(pl.col("class") == ""), []
    for metric in METRICS:
        rows = here.filter(pl.col("section") == section, pl.col("metric") == metric)
        middle, (inside, known) = median_error(rows, metric), count_inside(rows)
        if middle is not None:
            worst = rows.filter(pl.col("error").is_not_null()).sort(pl.col("error").abs())["error"][-1]
            many = f", {inside} of {known} measured values inside" if known else ""
            said.append(
                f"{metric.replace('_', ' ')} median error {percent(middle)}, worst {percent(worst, sign=True)}{many}"
            )
    limits = [
        row for row in configurations[0]["rows"] if row["metric"] == "saturation_rate" and row["value"] is not None
    ]
    said += [_told_row(row, _saturated(found, here, configurations[0]["factors"])) for row in limits]
    return [f"{section}, {len(configurations)} configurations: {'; '.join(said) or 'no valid run'}"]


def _saturated(found: StudyFindings, rows: pl.DataFrame, factors: Mapping[str, Any]) -> pl.DataFrame:
    """Of judged rows those of the closed loop of a configuration; two of them may be predicted to saturate alike."""
    of = [run.path.name for run in found.of(SATURATION) if same_but_load(run.manifest["factors"], factors)]
    return rows.filter(pl.col("run").is_in(of))


def _one_by_one(found: StudyFindings, section: str, configurations: Sequence[Mapping[str, Any]]) -> list[str]:
    lines, last, here = [], None, found.blind.filter(pl.col("class") == "")
    for one in configurations:
        rows = [r for r in one["rows"] if r["station"] == "" and r["class"] == "" and is_prediction(r, one["factors"])]
        rows = [row for row in rows if row["metric"] in UNITS]
        runs = [run.path.name for run in found.runs if run.manifest["factors"] == one["factors"]]
        of_run = here.filter(pl.col("section") == section, pl.col("run").is_in(runs))
        limit = next((row["value"] for row in rows if row["metric"] == "saturation_rate"), None)
        said = []
        for row in rows:
            if row["metric"] != "saturation_rate":
                said.append(_told_row(row, of_run))
            elif limit != last:
                said.append(_told_row(row, _saturated(found, here, one["factors"])))
        lines.append(f"{section}, {factors_text(one['factors'], found.varied)}: {'; '.join(said)}")
        last = limit
    return lines


def _choices(found: StudyFindings) -> list[str]:
    lines = []
    for one in found.choices:
        said = f"best by {one.model}: {factors_text(one.factors, found.varied)}"
        if one.regret is not None and one.best_factors is not None:
            ends = f" [{percent(one.interval[0])}, {percent(one.interval[1])}]" if one.interval else ""
            said += f"; {percent(one.regret)}{ends} from the best measured one ({factors_text(one.best_factors, found.varied)})"
        lines.append(said)
    return lines


def _told_row(row: Mapping[str, Any], here: pl.DataFrame) -> str:
    name, unit = row["metric"].replace("_", " "), UNITS.get(row["metric"], "1")
    said = guess(row, row["value"], unit)
    runs = here.filter(pl.col("metric") == row["metric"])
    if runs.is_empty():
        return f"{name} predicted {said}"
    seen = ", ".join(_seen(run, unit) for run in runs.iter_rows(named=True))
    return f"{name} predicted {said}, measured {seen}"


def guess(row: Mapping[str, Any], value: float | None, unit: str) -> str:
    """A predicted value with its interval, whose upper end may be open; None: it is saturated there, or more likely so than not."""
    if value is None:
        return prediction(None, row["low"], None, unit)
    if not is_interval(row["low"], row["high"]):
        return quantity(value, unit)
    if row["high"] is None:
        return f"{quantity(value, unit)} (above {quantity(row['low'], unit)})"
    return interval(value, row["low"], row["high"], unit)


def _seen(run: Mapping[str, Any], unit: str) -> str:
    value = quantity(run["measured"], unit)
    if not run["valid"]:
        return f"{value} in a run that is not valid"
    if run["inside"] is None:
        return value
    limit = f", {NO_UPPER_LIMIT}" if run["inside"] and run["high"] is None else ""
    return f"{value} ({INSIDE if run['inside'] else OUTSIDE}{limit})"


def factors_text(factors: Mapping[str, Any], varied: tuple[str, ...]) -> str:
    """The factors that differ within the study, always in one order."""
    named = {name: factors[name] for name in varied if name in factors} or factors
    return ", ".join(
        f"{per_second(value)}"
        if name == "rate_per_s"
        else f"{name} {value:g}"
        if isinstance(value, float)
        else f"{name} {value}"
        for name, value in named.items()
    )


def left_out(found: StudyFindings) -> list[str]:
    """How many are not valid, in one count: of these some are not used, and some are used in the fit all the same; each by name with its
    reasons."""
    bad = [run for run in found.runs if not run.manifest["valid"]]
    used = [run for run in bad if run.path.name in found.used_anyway]
    out = [run for run in bad if run not in used]
    many = f"{len(bad)} of {len(found.runs)} runs are not valid"
    if used and out:
        head = f"{many}: {len(out)} left out, {len(used)} used in the fit with their errors"
    else:
        head = f"{many}, and are used in the fit with their errors" if used else f"{many} and are left out"
    return [head, *_named(out, "left out"), *_named(used, "used")] if bad else []


def _named(runs: list[RunFolder], which: str) -> list[str]:
    more = len(runs) - MOST_LEFT_OUT
    return [
        *(f"{which}: {run.path.name}: {'; '.join(run.manifest['reasons'])}" for run in runs[:MOST_LEFT_OUT]),
        *([f"{which}: {more} more, see the report"] if more > 0 else []),
    ]
