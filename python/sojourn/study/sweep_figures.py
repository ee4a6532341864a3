"""Measured and by each model: figures along the factor that a section names as `x`, and a row for each configuration that was
not fitted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING, Any

import polars as pl

from sojourn.report import Figure, Section, Series, Table
from sojourn.report.document import Cell
from sojourn.runs.run_folder import RunFolder
from sojourn.study.evaluation import BLIND_AT_RATE, BLIND_AT_SPEED, HELD_OUT, METRICS, measured
from sojourn.study.file_schema import StudySection as Part
from sojourn.study.verdict import factors_text

if TYPE_CHECKING:
    from sojourn.study.checked_study import CheckedStudy
    from sojourn.study.study_findings import StudyFindings

SHOWN = {"throughput": ("throughput", "1/s", 1.0), "response_time": ("response time", "ms", 1e3)}
AFTERWARDS = (BLIND_AT_SPEED, BLIND_AT_RATE)  # kinds of predictions that know something of the run
Lines = dict[str, list[RunFolder]]


def sweep_sections(found: StudyFindings, plan: CheckedStudy) -> Iterator[Section]:
    """A section of the report for each of the file that has an `x` and a valid run."""
    for part in (*plan.study.section, *plan.study.predict):
        runs = [run for run in found.of(part.name) if run.manifest["valid"]]
        if part.x is not None and runs:
            yield Section(part.name, "", tuple(_figures(part, part.x, runs, found)))


def _figures(part: Part, x: str, runs: list[RunFolder], found: StudyFindings) -> Iterator[Figure]:
    """For each combination of values of `by` one a metric."""
    groups: dict[str, list[RunFolder]] = {}
    for run in runs:
        words = [word for name in part.divided_by if (word := _named(name, run.manifest["factors"].get(name)))]
        groups.setdefault(", ".join([part.name, *words]), []).append(run)
    for name, own in sorted(groups.items()):
        yield from (_figure(name, x, _lines(part, own), found, metric) for metric in METRICS)


def _named(factor: str, value: Any) -> str:
    """In a title: a text by itself, a number with its factor; nothing where a run has no such factor."""
    if value is None or isinstance(value, str):
        return value or ""
    return factors_text({factor: value}, (factor,))


def _lines(part: Part, runs: list[RunFolder]) -> Lines:
    """The runs of each combination of what else varies."""
    factors = [run.manifest["factors"] for run in runs]
    along = {part.x, *(name for name, leader in part.follow.items() if leader == part.x)}
    varied = [k for k in factors[0] if k not in along and len({repr(one.get(k)) for one in factors}) > 1]
    lines: Lines = {}
    in_order = sorted(
        zip(runs, factors, strict=True), key=lambda pair: _in_order(pair[1], varied)
    )  # they were run at random
    for run, one in in_order:
        name = factors_text({k: one[k] for k in varied}, tuple(varied)) if varied else ""
        lines.setdefault(f", {name}" if name else "", []).append(run)
    return lines


def _in_order(factors: Mapping[str, Any], names: Sequence[str]) -> list[tuple[bool, float, str]]:
    """Numbers by their value, before texts."""
    return [in_order(factors[name]) for name in names]


def in_order(value: Any) -> tuple[bool, float, str]:
    """What values of a factor are sorted by: numbers before texts."""
    return (False, float(value), "") if isinstance(value, int | float) else (True, 0.0, str(value))


def _figure(title: str, x: str, lines: Lines, found: StudyFindings, metric: str) -> Figure:
    name, unit, scale = SHOWN[metric]
    series = []
    for line, runs in lines.items():
        series.append(_measured(line, runs, x, metric, scale))
        models = [_model(model, line, runs, x, found, metric, scale) for model in _models(found)]
        series += [one for one in models if any(y is not None for y in one.y)]  # a model may not know such runs
    modelled = any(one.style != "points" for one in series)
    series = series if modelled else [replace(one, joined=True) for one in series]
    note = (
        "Measured: mean, smallest and largest of the repetitions."
        + " Shaded: the interval of the model that is drawn whole." * modelled
    )
    return Figure(f"{title}-{metric}", f"{title}: {name}", _axis(x), f"{name}, {unit}", tuple(series), note)


def _axis(factor: str) -> str:
    """A factor with its unit, as the label of an axis."""
    if factor == "rate_per_s":
        return "requests per second"
    return factor.removesuffix("_s").replace("_", " ") + ", s" * factor.endswith("_s")


def _measured(line: str, runs: list[RunFolder], x: str, metric: str, scale: float) -> Series:
    values: dict[float, list[float]] = {}
    for run in runs:
        if (value := measured(run, metric)) is not None:
            values.setdefault(float(run.manifest["factors"][x]), []).append(scale * value)
    ends = {at: (min(v), max(v)) if len(v) > 1 else (None, None) for at, v in values.items()}  # one run has no spread
    rows = [(at, fmean(v), *ends[at]) for at, v in sorted(values.items())]
    at, mean, low, high = (list(column) for column in zip(*rows, strict=True)) if rows else ([], [], [], [])
    return Series(f"measured{line}", at, mean, low, high, "points", group=line.removeprefix(", "))


def _model(
    model: str, line: str, runs: list[RunFolder], x: str, found: StudyFindings, metric: str, scale: float
) -> Series:
    at = {run.path.name: float(run.manifest["factors"][x]) for run in runs}
    here = found.evaluation.filter(pl.col("model") == model, pl.col("metric") == metric, pl.col("class") == "")
    here = here.filter(~pl.col("kind").is_in(AFTERWARDS))
    once = {at[row["run"]]: row for row in here.iter_rows(named=True) if row["run"] in at}
    rows = [once[k] for k in sorted(once)]
    y, low, high = (_scaled(rows, key, scale) for key in ("predicted", "low", "high"))
    best = found.rivals is not None and model == found.rivals.best
    if not best:
        low = high = None  # shading of several models covers what was measured
    style = "line" if best else "dashed"
    return Series(f"{model}{line}", sorted(once), y, low, high, style, group=line.removeprefix(", "))  # type: ignore[arg-type]


def _scaled(rows: Sequence[Mapping[str, Any]], key: str, scale: float) -> list[float | None] | None:
    return [None if row[key] is None else scale * row[key] for row in rows]


def _models(found: StudyFindings) -> tuple[str, ...]:
    return tuple(found.rivals.fitted) if found.rivals else ()


def held_out_table(found: StudyFindings) -> list[Table]:
    """A row for each configuration that was run with those that were fitted: its mean, and the errors of each model."""
    rows = found.evaluation.filter(pl.col("kind") == HELD_OUT, pl.col("class") == "", pl.col("valid"))
    if rows.is_empty():
        return []
    models = _models(found)
    factors = {run.path.name: factors_text(run.manifest["factors"], found.varied) for run in found.runs}
    named = rows.with_columns(configuration=pl.col("run").replace_strict(factors, return_dtype=pl.String))
    cells = [_held_out(here, models) for here in named.partition_by("section", "configuration")]
    columns: list[str] = ["section", "configuration"]
    for k, metric in enumerate(METRICS):
        columns += [SHOWN[metric][1], *(f"{model}{' ' * k}" for model in models)]
    note = "Means of the repetitions, and the relative error of each model."
    errors = ["+.1%"] * len(models)
    formats = ("", "", ".0f", *errors, ".3f", *errors)
    return [Table("Where nothing was fitted", tuple(columns), tuple(cells), note, formats)]


def _held_out(here: pl.DataFrame, models: tuple[str, ...]) -> tuple[Cell, ...]:
    cells: list[Cell] = [here["section"][0], here["configuration"][0]]
    for metric in METRICS:
        rows = here.filter(pl.col("metric") == metric)
        mean = rows["measured"].mean()
        cells.append(SHOWN[metric][2] * mean if isinstance(mean, float) else None)
        for model in models:
            told_ = rows.filter(pl.col("model") == model)["predicted"]
            known = isinstance(mean, float) and mean > 0 and len(told_) > 0 and told_[0] is not None
            cells.append(told_[0] / mean - 1 if known else None)
    return tuple(cells)
