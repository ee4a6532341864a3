"""What was measured in one section of the plan: curves over clients, maxima with knees, percentiles at the most clients."""

from __future__ import annotations

import polars as pl

from sojourn.report import Figure, Section, Series, Table, Text
from sojourn.report.document import Block, Cell
from sojourn.study.kv.analysis import knees
from sojourn.study.kv.plan import Section as Planned
from sojourn.study.kv.run import KvFindings
from sojourn.study.kv.sections.factorial import effects_blocks
from sojourn.study.kv.sections.multiget import multiget_blocks
from sojourn.study.kv.sections.words import MS, mean
from sojourn.study.kv.seen import configurations, name_of

CURVES = (("throughput_per_s", "throughput, 1/s", 1.0), ("response_s", "response time, ms", MS))


def measured_section(planned: Planned, rows: pl.DataFrame, found: KvFindings) -> Section:
    """`rows` are those of this section of the plan."""
    blocks: list[Block] = []
    if found.pings.get(planned.name):
        ping = found.pings[planned.name]
        blocks.append(Text(f"Round trip to a server before it: {1e6 * ping['median_s']:.0f} µs (median of 200)."))
    for workload in dict.fromkeys(rows["workload"].sort()):
        here = rows.filter(pl.col("workload") == workload)
        if here["clients"].n_unique() > 1:
            blocks += [_curve(planned.name, workload, here, *what) for what in CURVES]
    if planned.factors:
        blocks += list(effects_blocks(planned, rows))
    blocks += [maxima(rows)] if knees(rows) else []
    blocks += [quantiles(rows), *multiget_blocks(planned.name, rows, found.folder)]
    return Section(planned.name, "", tuple(blocks))


def _curve(section: str, workload: str, rows: pl.DataFrame, column: str, label: str, scale: float) -> Figure:
    series = []
    for configuration, own in configurations(rows):
        y = pl.col(column) * scale
        points = own.group_by("clients").agg(mean=y.mean(), low=y.min(), high=y.max()).sort("clients")
        x, mid, low, high = (points[name].to_list() for name in ("clients", "mean", "low", "high"))
        series.append(Series(name_of(configuration), x, mid, low, high))
    title, note = f"{section}, {workload}: {label}", "Shaded: smallest and largest of the repetitions."
    return Figure(f"{section}-{workload}-{column}", title, "clients", label, tuple(series), note)


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
    note = "Times in ms. Middleware: received to sent back. Balance: the busiest server's share times the servers."
    formats = ("", ".0f", ".0f", *[".3f"] * len(TIMES), ".2f")
    return Table("At the most clients", columns, tuple(cells), note, formats)
