"""The report of a study of any system, as a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from sojourn.diagnosis.oscillation_section import oscillation_section
from sojourn.measure.run_report import runs_section
from sojourn.report import Code, Document, Figure, Section, Series, Table, Text
from sojourn.study.analysis import TABLE_INDENT
from sojourn.study.counted_values import NO_UPPER_LIMIT, CountedValues, judged_text
from sojourn.study.evaluation import (
    BLIND,
    BLIND_AT_RATE,
    BLIND_AT_SPEED,
    HELD_OUT,
    METRICS,
    TRAINING,
    count_inside,
    error_range,
    median_error,
)
from sojourn.study.fit_templates import parts_of
from sojourn.study.predictions import is_interval
from sojourn.study.probed_runs import probe_section
from sojourn.study.response_figures import LEVELS, response_figures
from sojourn.study.sweep_figures import held_out_table, sweep_sections
from sojourn.study.verdict import UNITS, factors_text, guess
from sojourn.units import percent, quantity, seconds

if TYPE_CHECKING:
    from sojourn.study.checked_study import CheckedStudy
    from sojourn.study.study_findings import StudyFindings

LEAST_DRAWN = 2  # predictions in a figure
WIDE = 10.0  # the longest response time over the shortest from which its axes are logarithmic


def study_document(found: StudyFindings, plan: CheckedStudy, verdict: Sequence[str]) -> Document:
    """Verdict, predicted beside measured, what was fitted, what the system was busy with, all runs."""
    outside = bool((~found.blind["inside"].drop_nulls()).any()) or any(one.warn for one in found.analyses)
    invalid = any(not run.manifest["valid"] for run in found.runs)
    measured = [*sweep_sections(found, plan), _measured(found)] if found.runs else []
    sections = [*_lacking(found), *_predicted(found), *_choices(found), *measured, *_fitted(found)]
    sections += [section for one in found.analyses for section in one.sections]
    sections += filter(None, [oscillation_section(found.runs), probe_section(found.runs)])
    sections += [runs_section(found.runs)] if found.runs else []
    machine = found.runs[0].manifest.get("machine", {}) if found.runs else {}
    return Document(
        title=plan.study.title or plan.study.name,
        subtitle=f"a study of a system of kind {plan.study.system['kind']}",
        verdict=[line for line in verdict if not line.startswith(TABLE_INDENT)],
        status="warn" if outside or invalid or found.not_shown else "ok",
        sections=tuple(sections),
        footer={"kernel": str(machine.get("kernel", "")), "sojourn": str(machine.get("sojourn", "")),
                "runs": str(len(found.runs)), "plan": plan.fingerprint},
        numbers=_numbers(found),
    )  # fmt: skip


def _lacking(found: StudyFindings) -> list[Section]:
    lines = "\n".join(f"- {line}" for line in found.not_shown)
    return [Section("What could not be shown here", "", (Text(lines),))] if lines else []


def _numbers(found: StudyFindings) -> tuple[tuple[str, str], ...]:
    """How many blind values were inside their intervals, and how far off the response times were."""
    counted = CountedValues.of(found.asked)
    error = median_error(found.blind, "response_time")
    more = counted.asked - counted.judged
    note = f", {counted.open_above} of them with {NO_UPPER_LIMIT}" if counted.open_above else ""
    note += f"; {more} more were predicted, but could not be checked" if more else ""
    told_ = (
        [
            (
                f"{counted.inside} of {counted.judged}",
                f"measured values inside the intervals written before their runs{note}",
            )
        ]
        if counted.judged
        else []
    )
    return (*told_, *([(percent(error), "median error of predicted response times")] if error is not None else []))


def _predicted(found: StudyFindings) -> list[Section]:
    if found.predicted is None:
        return []
    factors = {run.path.name: run.manifest["factors"] for run in found.runs}
    rows = []
    for row in found.asked.iter_rows(named=True):
        said = judged_text(row)
        what = " ".join(filter(None, (row["metric"].replace("_", " "), row["class"])))
        unit = UNITS[row["metric"]]
        rows.append((
            row["section"], factors_text(factors[row["run"]], found.varied), what, guess(row, row["predicted"], unit),
            quantity(row["measured"], unit), _error(row["error"]), said,
        ))  # fmt: skip
    columns = ("prediction", "factors", "metric", "predicted", "measured", "error", "")
    note = f"Intervals are for a new run, at {percent(found.predicted['level'], 0)}; a row a run."
    table = Table("Predicted, then measured", columns, tuple(rows), note)
    return [
        Section(
            "Predicted before it was run",
            f"Written {found.predicted['written']}.",
            (*_against(found, found.predicted["level"]), table),
        )
    ]


def _against(found: StudyFindings, interval_level: float) -> list[Figure]:
    """Predicted against measured response times, ms; with intervals where they are known."""
    rows = [
        row
        for row in found.asked.iter_rows(named=True)
        if row["metric"] == "response_time"
        and row["valid"]
        and not row["class"]
        and None not in (row["predicted"], row["measured"])
    ]
    if len(rows) < LEAST_DRAWN:
        return []
    x, y, low, high = (
        [None if row[k] is None else 1e3 * row[k] for row in rows] for k in ("measured", "predicted", "low", "high")
    )
    told = any(is_interval(row["low"], row["high"]) for row in rows)
    measured = [1e3 * float(row["measured"]) for row in rows]
    ends = [min(measured), max(measured)]
    wide = ends[0] > 0 and ends[1] > WIDE * ends[0]
    series = (
        Series("predicted", x, y, low if told else None, high if told else None, "points"),
        Series("as measured", ends, ends, style="dashed"),
    )
    level = percent(interval_level, 0)
    note = f"Each point is a run. Bars are {level} intervals for a new run; a bar that crosses the dashed line holds the measured value."
    return [
        Figure("predicted-measured", "Response time, predicted before its run", "measured mean response time (ms)", "predicted (ms)",
               series, note, x_log=wide, y_log=wide)
    ]  # fmt: skip


def _choices(found: StudyFindings) -> list[Section]:
    """What each model holds for the best, and what was then measured."""
    if not found.choices:
        return []
    rows = []
    for one in found.choices:
        where = "" if one.best_factors is None else factors_text(one.best_factors, found.varied)
        low, high = one.interval or (None, None)
        rows.append(
            (
                one.model,
                factors_text(one.factors, found.varied),
                one.predicted,
                one.measured,
                where,
                one.best,
                one.regret,
                low,
                high,
            )
        )
    columns = ("model", "its best", "predicted", "measured", "best measured", "measured there", "regret", "low", "high")
    formats = ("", "", "", "", "", "", ".1%", ".1%", ".1%")
    note = "Regret: how much worse it is than the best measured one; its interval is a bootstrap over repetitions."
    lead = "Each model's choice was written to disk before it was run."
    return [Section("The best by each model", lead, (Table("Choices", columns, tuple(rows), note, formats),))]


def _measured(found: StudyFindings) -> Section:
    figures = [figure for level in LEVELS for figure in response_figures(found, level)]
    return Section("What was measured", "", (*figures, _resources(found)))


def _resources(found: StudyFindings) -> Table:
    rows = []
    for run in found.runs:
        frame = run.frame("metrics")
        for name in run.manifest.get("resources", {}) if frame is not None else ():
            here = frame.filter(pl.col("station") == name)  # type: ignore[union-attr]
            known = {row["metric"]: row["value"] for row in here.iter_rows(named=True)}
            if "utilisation" in known:
                rows.append((
                    run.manifest["section"], factors_text(run.manifest["factors"], found.varied), name, percent(known["utilisation"]),
                    seconds(known.get("service_demand")),
                ))  # fmt: skip
    note = (
        "Utilisation: share of the resource's capacity in use; service demand: its busy time for a successful request."
    )
    columns = ("section", "factors", "resource", "utilisation", "service demand")
    return Table("What a request takes", columns, tuple(rows), note)


def _error(error: float | None) -> str | None:
    return "said saturated" if error == float("inf") else percent(error, sign=True)


def _fitted(found: StudyFindings) -> list[Section]:
    if found.rivals is None:
        return []
    parts = [part for name, fitted in found.rivals.fitted.items() for part in parts_of(name, fitted).items()]
    blocks: list[Table | Text | Code] = [_values(name, fitted.estimates) for name, fitted in parts]
    blocks += [_errors(found), *held_out_table(found)]
    for best in parts_of(found.rivals.best, found.rivals.first).values():
        blocks.append(Text(best.message.replace("\n", "\n\n") or "–"))
        model = getattr(best, "model", None)
        if hasattr(model, "to_toml"):
            blocks.append(Code(model.to_toml()))  # type: ignore[union-attr]
    return [Section("What was fitted", found.why, tuple(blocks))]


def _values(name: str, estimates: Mapping[str, Any]) -> Table:
    ends = {path: (e.low, e.high) if is_interval(e.low, e.high) else (None, None) for path, e in estimates.items()}
    rows = tuple((path, e.value, *ends[path]) for path, e in estimates.items())
    return Table(f"Values found: {name}", ("number of the model", "value", "low", "high"), rows)


def _errors(found: StudyFindings) -> Table:
    """Median relative errors by model and kind, on the same points for all."""
    assert found.rivals is not None
    rows = []
    for kind in (TRAINING, HELD_OUT, BLIND, BLIND_AT_RATE, BLIND_AT_SPEED):
        for name in found.rivals.fitted:
            here = found.rows(kind, name)
            if here.is_empty():
                continue
            cells = []
            for metric in METRICS:
                middle, ends = median_error(here, metric), error_range(here, metric)
                cells.append(percent(middle) + (f" ({percent(ends[0])} to {percent(ends[1])})" if ends else ""))
            inside, known = count_inside(here)
            wrong = here.filter(pl.col("error").is_infinite()).height
            rows.append((kind, name, *cells, f"{inside} of {known}", str(wrong) if wrong else ""))
    note = (
        "Training: the runs that were fitted; held out: run together with them, but not fitted; blind: predicted and written before they "
        "were run. In brackets: smallest and largest value; the points of one fit share its errors, so the median has no interval."
    )
    columns = (
        "kind",
        "model",
        *(metric.replace("_", " ") for metric in METRICS),
        "in the interval",
        "wrongly saturated",
    )
    return Table("Median errors", columns, tuple(rows), note)
