"""`factorial`: the experiment of a section: effects, variation, residuals, and whether another scale is asked for.

Options: `section`, `factors`, and `by`: another factor, whose values are looked at one by one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from sojourn.design import additivity, factorial_effects
from sojourn.design.analyse.report_blocks import residual_figures, variation_figure
from sojourn.design.analyse.residuals import residuals_of_effects
from sojourn.errors import DesignError, StudyError
from sojourn.file_errors import meant
from sojourn.report import Section, Table, Text
from sojourn.report.document import Block
from sojourn.runs.run_folder import RunFolder
from sojourn.study.analysis import Analysis

if TYPE_CHECKING:
    from sojourn.study.checked_study import CheckedStudy
    from sojourn.study.study_findings import StudyFindings

RESPONSES = (("throughput", "throughput, 1/s", 1.0), ("response_time", "response time, ms", 1e3))
SHOWN = ("effect", "estimate", "low", "high", "share_of_total", "share_of_explained")
COLUMNS = ("effect", "estimate", "low", "high", "share of SST", "share of SST - SSE")
OPTIONS = {"section", "factors", "by"}


def factorial_analysis(found: StudyFindings, plan: CheckedStudy, options: Mapping[str, Any]) -> Analysis:
    """Effects on throughput and response time.

    Raises:
        StudyError: an option that is missing, unknown, or names what is not there.
    """
    check_options(options, plan.system.factors)
    section, factors, by = options["section"], options["factors"], options.get("by")
    blocks = tuple(effects_blocks(section, [run for run in found.of(section) if run.manifest["valid"]], factors, by))
    return Analysis(sections=(Section(f"Effects: {section}", "", blocks),) if blocks else ())


def check_options(options: Mapping[str, Any], known: Collection[str]) -> None:
    """Raises StudyError for what can be told before the first run; `known`: factors of the system."""
    section, factors, by = options.get("section"), options.get("factors"), options.get("by")
    if set(options) - OPTIONS or not isinstance(section, str) or not isinstance(factors, list) or not factors:
        raise StudyError(
            f"options {dict(options)}", "[[analysis]] factorial", "give section, factors, and optionally by"
        )
    if unknown := {*factors, *([by] if by else [])} - set(known):
        name = sorted(unknown)[0]
        raise StudyError(f"factor {name!r}", "[[analysis]] factorial", meant(name, known))


def effects_blocks(section: str, runs: list[RunFolder], factors: list[str], by: str | None) -> Iterator[Block]:
    """For each value of `by`."""
    groups: dict[str, list[RunFolder]] = {}
    for run in sorted(runs, key=lambda run: str(run.manifest["factors"].get(by or ""))):
        groups.setdefault(f"{section}, {run.manifest['factors'][by]}" if by else section, []).append(run)
    for where, own in groups.items():
        for metric, label, scale in RESPONSES:
            rows = [
                {**{name: run.manifest["factors"][name] for name in factors},
                 "y": scale * run.metrics().value(metric)}
                for run in own
            ]  # fmt: skip
            try:
                yield from _blocks(where, label, _numbered(pl.DataFrame(rows), factors), factors)
            except DesignError as error:
                yield Text(f"{where}, {label}: no effects ({error.value}).")


def _numbered(rows: pl.DataFrame, factors: list[str]) -> pl.DataFrame:
    """With repetitions, from 1."""
    return rows.with_columns(repetition=pl.int_range(1, pl.len() + 1).over(factors))


def _blocks(where: str, label: str, runs: pl.DataFrame, factors: list[str]) -> Iterator[Block]:
    title = f"{where}: {label}"
    effects = factorial_effects(runs, "y", factors)
    error = effects.sse / effects.sst if effects.sst > 0 else 0.0
    rest = (("error", None, None, None, error, None),)
    cells = tuple(effects.table.select(SHOWN).iter_rows())
    note = f"{effects.level:.0%} intervals, {effects.degrees} degrees of freedom; shares in both conventions."
    yield Table(title, COLUMNS, (*cells, *rest), note, ("", ".4g", ".4g", ".4g", ".1%", ".1%"))
    yield variation_figure(effects, title)
    if not effects.degrees:
        yield Text("One run of each combination: there are no errors to examine.")
        return
    check = residuals_of_effects(effects)
    yield from residual_figures(check, title, label)
    yield Text(
        f"Normal quantiles: correlation {check.straightness:.3f} (1 for normal errors). Size of the errors against the "
        f"predicted value: rank correlation {check.growth:.2f}; transformation: {check.suggestion}. Do effects add or "
        f"multiply: {additivity(runs, 'y', factors).suggestion}."
    )
