"""`kv.measured`: by section of the plan, maxima with knees, curves by clients, CPU in time, and times at the most clients."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import TYPE_CHECKING, Any

import polars as pl

from sojourn.report import Block, Cell, Section, Table, Text
from sojourn.runs import RunFolder
from sojourn.study import Analysis
from sojourn_cases.kv.crossover import crossover_blocks
from sojourn_cases.kv.kv_laws import knees
from sojourn_cases.kv.measured_figures import client_figures, load_figures
from sojourn_cases.kv.middleware import configurations, frame, name_of
from sojourn_cases.kv.table_cells import MS, mean

if TYPE_CHECKING:
    from sojourn.study import CheckedStudy, StudyFindings


def measured_analysis(found: StudyFindings, plan: CheckedStudy, options: Mapping[str, Any]) -> Analysis:
    """A section of the report for each section of the plan."""
    names = [part.name for part in plan.study.section]
    return Analysis(sections=tuple(_section(name, runs) for name in names if (runs := found.of(name))))


def _section(name: str, runs: list[RunFolder]) -> Section:
    rows = frame(runs)
    blocks: list[Block] = []
    pings = [run.manifest["ping"]["median_s"] for run in runs if "ping" in run.manifest]
    if pings:
        blocks.append(
            Text(
                f"Round trip to a server before each run: {1e6 * median(pings):.0f} µs (medians of 200, their median)."
            )
        )
    if knees(rows):
        folders = {run.path.name: run for run in runs}
        blocks += [maxima(rows), *crossover_blocks(name, rows), *client_figures(name, rows)]
        blocks += load_figures(name, rows, folders)
    return Section(f"{name}: maxima and percentiles", "", (*blocks, quantiles(rows)))


def maxima(rows: pl.DataFrame) -> Table:
    """A row a configuration that has three client counts at least."""
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


TIMES = ("response_s", "p25_s", "p50_s", "p75_s", "p90_s", "p99_s", "mw_response_s", "queue_s", "service_s")
COLUMNS = ("mean", "p25", "p50", "p75", "p90", "p99", "middleware", "queue", "service")


def quantiles(rows: pl.DataFrame) -> Table:
    """Times of each configuration at its most clients."""
    cells: list[tuple[Cell, ...]] = []
    for configuration, own in configurations(rows):
        busiest = own.filter(pl.col("clients") == own["clients"].max())
        first = (name_of(configuration), busiest["clients"][0], mean(busiest, "throughput_per_s"))
        times = (mean(busiest, name, MS) for name in TIMES)
        cells.append((*first, *times, mean(busiest, "server_shares")))
    columns = ("configuration", "clients", "1/s", *COLUMNS, "balance")
    note = (
        "Times in ms. Middleware: time from received to sent back. Balance: the busiest server's share of the "
        "requests, times the number of servers."
    )
    formats = ("", ".0f", ".0f", *[".3f"] * len(TIMES), ".2f")
    return Table("At the most clients", columns, tuple(cells), note, formats)
