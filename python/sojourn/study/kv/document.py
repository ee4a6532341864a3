"""The report of a key-value study, and its verdict."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import polars as pl

from sojourn.design import factorial_effects
from sojourn.errors import DesignError
from sojourn.findings import findings_section
from sojourn.report import Document, Figure, Section, Series, Table, Text
from sojourn.report.document import Block, Cell
from sojourn.study.kv.analysis import knees, laws, too_small
from sojourn.study.kv.limits_section import limits_section
from sojourn.study.kv.model_section import models_section
from sojourn.study.kv.plan import KvPlan
from sojourn.study.kv.plan import Section as Planned
from sojourn.study.kv.run import KvFindings
from sojourn.study.kv.seen import configurations, name_of

MS = 1e3
QUIET = 0.05  # of the cores may be used by others


def verdict_lines(found: KvFindings) -> list[str]:
    """What came out, the most important first."""
    lines = []
    if found.seen.height:
        misses, errors = (int(found.seen[c].sum()) for c in ("misses", "errors"))
        checked = laws(found.seen)
        held = (checked["interactive"] == "holds").mean()
        lines.append(
            f"{found.seen.height} runs: {misses} misses, {errors} errors; the interactive law holds within 5 % in "
            f"{100 * float(held or 0.0):.0f} % of them"  # type: ignore[arg-type]
        )
        others = found.seen["others_cores"].fill_nan(None).median()
        if isinstance(others, float) and others > QUIET * found.cores:
            lines.append(f"disturbed: other processes of this machine used {others:.2f} cores in the median run")
        marked = sum(too_small(row, found.cores) for row in found.seen.to_dicts())
        lines.append(f"{marked} of them are limited by this machine ({found.cores} cores): see Limits")
    for j in found.models:
        middle, low, high = j.median_error()
        if j.points:
            lines.append(
                f"{j.model}: median error of throughput {100 * middle:.1f} % [{100 * low:.1f}, {100 * high:.1f}] at "
                f"{len(j.points)} points not fitted"
            )
    if found.document is not None:
        lines.append(f"{len(found.document)} statements in {found.tables} published tables break a law")
    return lines or ["nothing was asked for"]


def kv_document(found: KvFindings, plan: KvPlan, verdict: list[str]) -> Document:
    """All sections that have something to say."""
    sections = list(_sections(found, plan))
    bad = any(row["misses"] or row["errors"] for row in found.seen.to_dicts())
    foot = {
        "study": plan.study.name,
        "servers": found.server or "none",
        "cores": str(found.cores),
        "folder": found.folder.name,
    }
    return Document(
        plan.study.title, "quick" if plan.quick else "", verdict, "warn" if bad else "ok", tuple(sections), foot
    )


def _sections(found: KvFindings, plan: KvPlan) -> Iterator[Section]:
    for planned in plan.sections():
        rows = found.seen.filter(pl.col("section") == planned.name)
        if rows.height:
            yield _measured(planned, rows, found)
    if found.seen.height:
        yield _laws(found)
        yield limits_section(found.seen, found.cores, found.lab)
    if any(j.points for j in found.models):
        yield models_section(found)
    if found.document is not None:
        yield findings_section(found.document, found.tables)


def _measured(planned: Planned, rows: pl.DataFrame, found: KvFindings) -> Section:
    blocks: list[Block] = []
    if found.pings.get(planned.name):
        ping = found.pings[planned.name]
        blocks.append(Text(f"Round trip to a server before it: {1e6 * ping['median_s']:.0f} µs (median of 200)."))
    for workload in dict.fromkeys(rows["workload"].sort()):
        here = rows.filter(pl.col("workload") == workload)
        if here["clients"].n_unique() > 1:
            blocks += [_figure(planned.name, workload, here, *what) for what in FIGURES]
    if planned.factors:
        blocks += list(_effects(planned, rows))
    blocks += [_maxima(rows), _quantiles(rows)]
    return Section(planned.name, "", tuple(blocks))


FIGURES = (("throughput_per_s", "throughput, 1/s", 1.0), ("response_s", "response time, ms", MS))


def _figure(section: str, workload: str, rows: pl.DataFrame, column: str, label: str, scale: float) -> Figure:
    series = []
    for configuration, own in configurations(rows):
        grouped = own.group_by("clients").agg(
            m=pl.col(column).mean() * scale, low=pl.col(column).min() * scale, high=pl.col(column).max() * scale
        ).sort("clients")  # fmt: skip
        series.append(
            Series(
                name_of(configuration),
                grouped["clients"].to_list(),
                grouped["m"].to_list(),
                grouped["low"].to_list(),
                grouped["high"].to_list(),
                "line",
            )
        )
    note = "Shaded: smallest and largest of the repetitions."
    return Figure(
        f"{section}-{workload}-{column}", f"{section}, {workload}: {label}", "clients", label, tuple(series), note
    )


def _maxima(rows: pl.DataFrame) -> Table:
    cells: list[tuple[Cell, ...]] = [
        (k.configuration, k.maximum_per_s, k.at, MS * k.response_s, k.clients, f"{k.low} to {k.high}",
         ", ".join(f"{n} {state}" for n, state in k.states.items()))
        for k in knees(rows)
    ]  # fmt: skip
    columns = (
        "configuration",
        "most, 1/s",
        "at clients",
        "response, ms",
        "knee (asymptotes)",
        "knee lies in",
        "states",
    )
    return Table("Maximum throughput and knee", columns, tuple(cells), formats=("", ".0f", ".0f", ".3f", ".1f", "", ""))


def _quantiles(rows: pl.DataFrame) -> Table:
    names = ("response_s", "p25_s", "p50_s", "p75_s", "p90_s", "p99_s", "mw_response_s", "queue_s", "service_s")
    cells: list[tuple[Cell, ...]] = []
    for configuration, own in configurations(rows):
        busiest = own.filter(pl.col("clients") == own["clients"].max())
        means = [busiest[n].mean() for n in names]
        values = [MS * v if isinstance(v, float) and math.isfinite(v) else None for v in means]
        cells.append(
            (
                name_of(configuration),
                busiest["clients"][0],
                _mean(busiest, "throughput_per_s"),
                *values,
                _mean(busiest, "server_shares"),
            )
        )
    columns = (
        "configuration",
        "clients",
        "1/s",
        "mean",
        "p25",
        "p50",
        "p75",
        "p90",
        "p99",
        "middleware",
        "queue",
        "service",
        "balance",
    )
    note = "Times in ms. Middleware: received to sent back. Balance: the busiest server's share times the servers."
    return Table("At the most clients", columns, tuple(cells), note, ("", ".0f", ".0f", *[".3f"] * 10))


def _mean(rows: pl.DataFrame, column: str) -> float | None:
    value = rows[column].mean()
    return float(value) if isinstance(value, float) and math.isfinite(value) else None


def _effects(planned: Planned, rows: pl.DataFrame) -> Iterator[Block]:
    """Effects of the section's factors on throughput and response time, a table a workload."""
    for workload in dict.fromkeys(rows["workload"].sort()):
        for column, label, scale in FIGURES:
            own = rows.filter(pl.col("workload") == workload).with_columns((pl.col(column) * scale).alias("y"))
            try:
                effects = factorial_effects(own.select(*planned.factors, "repetition", "y"), "y", planned.factors)
            except DesignError as error:
                yield Text(f"{workload}: no effects ({error.value}).")
                continue
            cells = tuple(
                (
                    row["effect"],
                    row["estimate"],
                    row["low"],
                    row["high"],
                    row["share_of_total"],
                    row["share_of_explained"],
                )
                for row in effects.table.to_dicts()
            )
            columns = ("effect", "estimate", "low", "high", "share of SST", "share of SST - SSE")
            note = f"90 % intervals, {effects.degrees} degrees of freedom; errors explain {100 * effects.sse / effects.sst:.1f} %."
            yield Table(f"{workload}: {label}", columns, cells, note, ("", ".4g", ".4g", ".4g", ".1%", ".1%"))


def _laws(found: KvFindings) -> Section:
    checked = laws(found.seen)
    cells: list[tuple[Cell, ...]] = []
    for configuration, own in configurations(checked):
        judged = own.filter(pl.col("little").is_not_null())
        little = f"{(judged['little'] == 'holds').sum()} of {judged.height}" if judged.height else None
        worst = own["interactive_error"].abs().max()
        cells.append(
            (
                name_of(configuration),
                f"{(own['interactive'] == 'holds').sum()} of {own.height}",
                _number(worst),
                little,
                _number(judged["little_error"].abs().max()),
            )
        )
    lead = (
        "Interactive law: throughput × response time should be the clients, who do not think. Little's law on the "
        "middleware's queue: throughput × time in it should be its mean length, judged where that is 1 at least, within "
        "5 % and two standard errors of the length."
    )
    columns = ("configuration", "interactive law holds", "worst", "Little's law holds", "worst ")
    return Section(
        "Laws", lead, (Table("Laws, within 5 %", columns, tuple(cells), formats=("", "", ".1%", "", ".1%")),)
    )


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, float) else None
