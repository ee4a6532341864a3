"""`[draw] system = {…}` and `--random-configurations N`: N systems at random, each studied by itself, then judged together.

What was drawn is not known to the fit: each draw is measured, fitted, predicted (written before it is run) and run in a folder
of its own. The counts below are over all of them; a draw that could not be fitted is named, and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from sojourn.errors import SojournError, StudyError
from sojourn.files.writing import write_whole
from sojourn.report import Document, Section, Table, write_html
from sojourn.report.result_figures import agreement
from sojourn.study.analysis import RecoveredParameter
from sojourn.study.checked_study import CheckedStudy
from sojourn.study.evaluation import SCHEMA, count_inside, median_error
from sojourn.study.study_findings import BLIND, StudyFindings
from sojourn.study.study_folder import Say, open_study, save_state
from sojourn.study.study_points import values_drawn
from sojourn.study.study_result import StudyResult
from sojourn.study.verdict import error_texts
from sojourn.units import percent

SATURATION_RATE = "saturation_rate"
METRICS = ("response_time", "throughput", SATURATION_RATE)
DRAWN, PARAMETERS = "drawn.csv", "parameters.csv"
StudyOf = Callable[[Mapping[str, Any], int, Path], StudyFindings]


@dataclass(frozen=True)
class DrawnSystem:
    """One system: its options, what was found of it, or why nothing was. `rows`: blind ones of its best model."""

    name: str
    options: Mapping[str, Any]
    rows: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=SCHEMA))
    parameters: tuple[RecoveredParameter, ...] = ()
    level: float = 0.0
    refused: str = ""


def study_draws(plan: CheckedStudy, count: int, study_of: StudyOf, out: Path | None, say: Say) -> StudyResult:
    """`count` systems of `[draw]`, each by `study_of(options, seed, folder)`: findings, verdict, report.

    Raises:
        StudyError: a range that is none. SojournError: of the first draw, as the others would fail alike.
    """
    assert plan.study.draw is not None, "read_plan checks it"
    with open_study(out, plan, say) as folder:
        return _each_draw(plan, values_drawn(plan.study.draw.system, count, plan.seed, "system"), study_of, folder, say)


def _each_draw(
    plan: CheckedStudy, systems: Iterable[Mapping[str, Any]], study_of: StudyOf, folder: Path, say: Say
) -> StudyResult:
    draws: list[DrawnSystem] = []
    runs = []
    for number, options in enumerate(systems, 1):
        name = f"draw-{number:02}"
        say(f"{name}: {_told(options)}")
        try:
            found = study_of(options, plan.seed + number, folder / name)
        except SojournError as error:
            if isinstance(error, StudyError) or not draws:
                raise
            draws.append(DrawnSystem(name, options, refused=str(error)))
            continue
        runs += found.runs
        draws.append(_draw(name, options, found))
    rows = pl.concat([one.rows.with_columns(section=pl.lit(one.name)) for one in draws])
    verdict = verdict_of(draws)
    write_whole(folder / "verdict.txt", "\n".join(verdict) + "\n")
    write_whole(folder / "validation.csv", rows.write_csv())
    write_whole(folder / DRAWN, pl.DataFrame([{"draw": one.name, **one.options} for one in draws]).write_csv())
    write_whole(folder / PARAMETERS, _parameter_rows(draws).write_csv())
    document = _document(plan, draws, rows, verdict)
    report = write_html(document, folder / "report.html")
    save_state(folder, plan, finished=True, verdict=verdict)
    return StudyResult(folder, verdict, report, StudyFindings(folder, runs, evaluation=rows), document)


def _draw(name: str, options: Mapping[str, Any], found: StudyFindings) -> DrawnSystem:
    known = tuple(parameter for one in found.analyses for parameter in one.parameters)
    level = float(found.predicted["level"]) if found.predicted else 0.0
    return DrawnSystem(name, options, found.rows(BLIND), known, level)


def verdict_of(draws: Sequence[DrawnSystem]) -> list[str]:
    """How many measured values lie in their intervals, errors, how wide the intervals are, known parameters; draw by draw."""
    rows = pl.concat([one.rows for one in draws])
    inside, known = count_inside(rows)
    level = next((percent(one.level, 0) for one in draws if one.level), "")
    lines = [
        f"{len(draws)} random systems: {inside} of {known} measured values lie in the {level} intervals that were "
        f"written before they were run"
    ]
    parts = error_texts([one.rows for one in draws], METRICS, ends=True)
    lines += [f"blind error: {'; '.join(parts)}"] if parts else []
    if (width := half_width(rows, "response_time")) is not None:
        lines.append(f"half-width of response-time intervals: median {percent(width)}")
    fitted = [one for one in draws if one.parameters]
    if fitted:
        each = [parameter.covered for one in fitted for parameter in one.parameters]
        whole = sum(all(p.covered for p in one.parameters) for one in fitted)
        lines.append(
            f"known parameters in their intervals: {sum(each)} of {len(each)}; all parameters of a fit in {whole} of {len(fitted)} fits"
        )
    lines += [_line(one) for one in draws]
    return lines


def half_width(rows: pl.DataFrame, metric: str) -> float | None:
    """Median of (high - low)/2 over the predicted value; None without an interval."""
    finite = rows.filter(pl.col("metric") == metric, pl.col("high").is_not_null() & pl.col("predicted").is_not_null())
    if finite.is_empty():
        return None
    return float(((finite["high"] - finite["low"]) / 2 / finite["predicted"]).median())  # type: ignore[arg-type]


def _line(one: DrawnSystem) -> str:
    if one.refused:
        return f"{one.name} ({_told(one.options)}): {one.refused}"
    inside, known = count_inside(one.rows)
    invalid = int((~one.rows["valid"]).sum())
    said = [f"{inside} of {known} inside", *error_texts([one.rows], METRICS)]
    said += [f"{invalid} values of runs that are not valid"] if invalid else []
    said += [f"{p.name} off by {percent(p.value / p.truth - 1, sign=True)}" for p in one.parameters if not p.covered]
    return f"{one.name} ({_told(one.options)}): {'; '.join(said)}"


def _told(options: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in options.items())


def _parameter_rows(draws: Sequence[DrawnSystem]) -> pl.DataFrame:
    schema = {"draw": pl.String, "name": pl.String} | dict.fromkeys(("truth", "value", "low", "high"), pl.Float64)
    rows = [(one.name, p.name, p.truth, p.value, p.low, p.high) for one in draws for p in one.parameters]
    return pl.DataFrame(rows, schema=schema, orient="row")


def _document(plan: CheckedStudy, draws: Sequence[DrawnSystem], rows: pl.DataFrame, verdict: Sequence[str]) -> Document:
    inside, known = count_inside(rows)
    middle = median_error(rows, "response_time")
    numbers = [(f"{inside} of {known}", "measured values inside the intervals that were written before")]
    numbers += [(percent(middle), "median error of response time")] if middle is not None else []
    return Document(
        title=plan.study.title or plan.study.name,
        subtitle=f"{len(draws)} systems of kind {plan.study.system['kind']}, random, seed {plan.seed}",
        verdict=list(verdict),
        status="warn" if any(one.refused for one in draws) or inside < known else "ok",
        sections=(_table(draws), *_figures(rows)),
        footer={"plan": plan.fingerprint, "draws": str(len(draws))},
        numbers=tuple(numbers),
    )


def _figures(rows: pl.DataFrame) -> list[Section]:
    found = []
    for metric in ("response_time", SATURATION_RATE):
        of = rows.filter(pl.col("metric") == metric, pl.col("class") == "", pl.col("valid"))
        if of.filter(pl.col("measured").is_not_null() & pl.col("predicted").is_not_null()).height:
            found.append(Section(metric.replace("_", " ").capitalize(), "", (agreement(of, metric),)))
    return found


def _table(draws: Sequence[DrawnSystem]) -> Section:
    names = list(draws[0].options)
    columns = ("draw", *names, "inside", "of", *(f"{m.replace('_', ' ')}, median error" for m in METRICS), "note")
    rows = []
    for one in draws:
        inside, known = count_inside(one.rows)
        errors = [median_error(one.rows, metric) for metric in METRICS]
        rows.append((one.name, *one.options.values(), inside, known, *errors, one.refused))
    formats = ("", *("" for _ in names), ".0f", ".0f", *(".1%" for _ in METRICS), "")
    return Section("Each system", "", (Table("", columns, tuple(map(_cells, rows)), "", formats),))


def _cells(row: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(value if value is None or isinstance(value, int | float | str) else str(value) for value in row)
