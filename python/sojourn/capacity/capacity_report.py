"""An answer as a report: the lines that were printed, response times against the rate beside the model's, the runs, what was run where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

import numpy as np

from sojourn.capacity.capacity_result import Capacity, CapacityRun
from sojourn.errors import SojournError
from sojourn.measure.run_report import runs_document
from sojourn.plan.objective import Quantity
from sojourn.plan.predictor import predictor_of
from sojourn.query.objectives import Objective, read_objectives
from sojourn.report import Document, Figure, JunitCase, Section, Series, Table, Text, write_html
from sojourn.report.markup import unmarked
from sojourn.runs.disturbances import BESIDE_TEXT
from sojourn.runs.run_folder import RunFolder
from sojourn.units import per_second, seconds

DRAWS, POINTS = 60, 20
BEYOND = 1.15  # the rates that are drawn, over the largest that matters


def write_report(found: Capacity, asked: str, where: Path) -> Path:
    """`report.html` in the folder of the runs."""
    return write_html(capacity_document(found, asked, where), where / "report.html")


def answer_document(found: Capacity) -> Document:
    """The answer alone, with its figures."""
    return capacity_document(found, found.folder or "the service")


def capacity_document(found: Capacity, asked: str, where: Path | None = None) -> Document:
    """The answer first. `asked`: what was loaded. `where`: the folder of the runs, whose own sections follow; None: the answer alone."""
    numbers = []
    if found.rate_per_s is not None:
        numbers.append(
            (per_second(found.rate_per_s.value), f"meet {found.objective}" if found.objective else "are borne")
        )
    if found.saturation_per_s is not None:
        numbers.append((per_second(found.saturation_per_s.value), "where it saturates"))
    elif found.saturation_at_least_per_s is not None:
        numbers.append(
            (per_second(found.saturation_at_least_per_s), "at least, held by --max-rate; saturation not seen")
        )
    sections = [*_figures(found), _runs(found)]
    footer = {}
    paths = [folder.path for folder in _folders(where / "runs")] if where else []
    if paths:
        measured = runs_document(paths)
        sections += measured.sections
        footer = measured.footer
    return Document(
        title=f"Capacity of {asked}", subtitle=where.name if where else "", verdict=[unmarked(line) for line in found.lines()],
        status=_status(found), sections=tuple(sections),
        footer=footer, numbers=tuple(numbers),
    )  # fmt: skip


def _status(found: Capacity) -> Literal["ok", "warn", "invalid"]:
    if found.outcome == "missed":
        return "invalid"
    disturbed = any(note.startswith(BESIDE_TEXT) for note in found.notes)
    return "warn" if disturbed or found.outcome == "unknown" else "ok"


def junit_cases(found: Capacity) -> list[JunitCase]:
    """The answer for a test reporter: whether there is one, or whether at least what was asked is met."""
    objective = f" within {found.objective}" if found.objective else ""
    name = (
        f"at least {per_second(found.required_rate_per_s)}"
        if found.required_rate_per_s
        else "a rate with a lower and an upper end"
    )
    outcome = "unknown" if found.service_failed else found.outcome
    return [JunitCase(name + objective, outcome, str(found), found.elapsed_s)]


def _folders(where: Path) -> Iterator[RunFolder]:
    for path in sorted(where.glob("*/manifest.json")):
        with suppress(SojournError):
            yield RunFolder.open(path.parent)


def _runs(found: Capacity) -> Section:
    figures = list(dict.fromkeys(name for run in found.runs for name in run.objective_values))
    shown = {one.figure: one for one in _objectives(found)}
    rows = tuple(_row(run, figures, shown) for run in found.runs)
    columns = ("run", "asked", "came", "mean", *(name for name in figures if name != "mean"), "objective", "valid")
    note = "in the order in which they were made"
    return Section(
        "The runs of the search", "", (Table("", columns, rows, note=note),) if rows else (Text("No run was made."),)
    )


def _row(run: CapacityRun, figures: Sequence[str], shown: dict[str, Objective]) -> tuple[str, ...]:
    told = [shown[name].show(run.objective_values[name]) for name in figures if name != "mean"]
    valid = "yes" if run.valid else "; ".join(run.reasons)
    return (
        run.name, per_second(run.rate_per_s), per_second(run.achieved_per_s), seconds(run.response_s), *told,
        {True: "met", False: "missed", None: "cannot tell"}[run.objective_met], valid,
    )  # fmt: skip


def _objectives(found: Capacity) -> list[Objective]:
    return read_objectives([found.objective]) if found.objective else []


def _figures(found: Capacity) -> list[Section]:
    """Mean and quantiles: measured, by the model where it tells them, and their limits."""
    runs = [run for run in found.runs if run.response_s]
    if not runs:
        return []
    times = [one for one in _objectives(found) if one.figure != "errors"]
    marks = [(one.value, text) for one, text in ((found.rate_per_s, "answer"), (found.saturation_per_s, "full")) if one]
    most = BEYOND * max([run.rate_per_s for run in runs] + [at for at, text in marks if text == "answer"])
    rates = np.linspace(min(run.rate_per_s for run in runs) / 2, most, POINTS)
    drawn = [
        _figure(found, runs, name, [one.limit for one in times if one.figure == name], rates, marks)
        for name in dict.fromkeys([*(one.figure for one in times), "mean"])
    ]
    lead = (
        "Points are runs; the line is the model with its interval; an answer for a quantile also uses the quantiles "
        "that the runs measured."
    )
    return [Section("Response time against the rate", lead, tuple(drawn))]


def _figure(
    found: Capacity, runs: Sequence[CapacityRun], name: str, limits: Sequence[float], rates: np.ndarray,
    marks: Sequence[tuple[float, str]],
) -> Figure:  # fmt: skip
    values = [run.response_s if name == "mean" else run.objective_values.get(name) for run in runs]
    series = [Series("measured", [r.rate_per_s for r in runs], [v and 1e3 * v for v in values], style="points")]
    if (model := _model(found, name, rates)) is not None:
        low, middle, high = 1e3 * model
        series.append(Series("model", rates.tolist(), middle.tolist(), low.tolist(), high.tolist(), style="line"))
    ends = [float(rates[0]), float(rates[-1])]
    series += [Series(f"objective {seconds(one)}", ends, [1e3 * one] * 2, style="dashed") for one in limits]
    seen = [1e3 * v for v in [*values, *limits] if v]
    highest = 2 * max(seen) if seen else None
    inside = tuple((at, text) for at, text in marks if at <= rates[-1])
    return Figure(
        f"response-{name}", name, "requests per second", "ms", tuple(series), vlines=inside, y_limits=(0.0, highest)
    )


def _model(found: Capacity, name: str, rates: np.ndarray) -> np.ndarray | None:
    """Lower end, median and upper end in s, by rate; None where the model does not tell the figure."""
    if found.fitted is None:
        return None
    wanted = Quantity("response_time", q=None if name == "mean" else round(float(name[1:]) / 100, 9))
    try:
        predictor = predictor_of(found.fitted, {})
        drawn = predictor.values([{}], rates, [wanted], min(DRAWS, predictor.draws))[wanted][:, 0, :]
    except SojournError:
        return None
    drawn = np.where(np.isnan(drawn), np.inf, drawn)
    tail = (1 - found.level) / 2
    return np.asarray(np.quantile(drawn, [tail, 0.5, 1 - tail], axis=0, method="nearest"))
