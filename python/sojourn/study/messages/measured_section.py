"""Sections of the report on what was measured: a sweep with its predictions, what limits, laws."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import polars as pl

from sojourn.report import Figure, Section, Series, Table
from sojourn.report.document import Cell
from sojourn.study.messages.analysis import busy, laws, shares
from sojourn.study.messages.plan import Section as Planned
from sojourn.study.messages.run import MessagesFindings
from sojourn.study.messages.seen import CONFIGURATION, configurations, name_of

MS = 1e3
LABELS = {"retry_s": "retry delay, s"}


def measured_section(planned: Planned, rows: pl.DataFrame, found: MessagesFindings) -> Section:
    """The sweep: throughput and response time, measured and predicted at the same points."""
    blocks = [_figure(planned, rows, found, *what) for what in FIGURES]
    return Section(planned.name, "", (*blocks, _phases(rows)))


FIGURES = (
    ("throughput_per_s", "throughput, requests/s", 1.0, ("low_per_s", "high_per_s")),
    ("response_s", "response time, ms", MS, ("low_s", "high_s")),
)


def _figure(
    planned: Planned, rows: pl.DataFrame, found: MessagesFindings, column: str, label: str, scale: float,
    ends: tuple[str, str],
) -> Figure:  # fmt: skip
    series = []
    for name, own in _lines(planned, rows):
        grouped = own.group_by(planned.vary).agg(
            m=pl.col(column).mean() * scale, low=pl.col(column).min() * scale, high=pl.col(column).max() * scale
        ).sort(planned.vary)  # fmt: skip
        x = grouped[planned.vary].to_list()
        low, high = grouped["low"].to_list(), grouped["high"].to_list()
        series.append(Series(f"measured{name}", x, grouped["m"].to_list(), low, high, "points"))
        series += [_predicted(planned.vary, model, name, own, found, column, scale, ends) for model in found.outcomes]
    note = "Measured: mean, smallest and largest of the repetitions. Shaded: 95 % intervals of the parameters."
    title = f"{planned.name}: {label}"
    axis = LABELS.get(planned.vary, planned.vary)
    return Figure(f"{planned.name}-{column}", title, axis, label, tuple(series), note)


def _lines(planned: Planned, rows: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """One line for each combination of what else varies."""
    linked = {"connections"} if planned.together else set()
    others = [c for c in CONFIGURATION if c != planned.vary and c not in linked and rows[c].n_unique() > 1]
    if not others:
        yield "", rows
        return
    for key, own in rows.sort(*others).partition_by(others, as_dict=True, maintain_order=True).items():
        yield ", " + ", ".join(f"{n} {v:g}" for n, v in zip(others, key, strict=True)), own


def _predicted(
    vary: str, model: str, name: str, rows: pl.DataFrame, found: MessagesFindings, column: str, scale: float,
    ends: tuple[str, str],
) -> Series:  # fmt: skip
    known = sorted((c[vary], found.outcomes[model][tuple(c.values())]) for c, _ in configurations(rows))
    x = [at for at, _ in known]
    y, low, high = ([scale * getattr(o, attribute) for _, o in known] for attribute in (column, *ends))
    style = "dashed" if model == "document" else "line"
    return Series(f"{model} model{name}", x, y, low, high, style)  # type: ignore[arg-type]


PHASES = ("response_s", "mw_response_s", "dispatch_s", "queue_s", "parse_s", "wait_s", "database_s", "respond_s")


def _phases(rows: pl.DataFrame) -> Table:
    cells: list[tuple[Cell, ...]] = []
    varies = [name for name in CONFIGURATION if rows[name].n_unique() > 1] or CONFIGURATION
    for c, own in configurations(rows):
        values = [own[n].fill_nan(None).mean() for n in (*PHASES, "p99_s")]
        times = [MS * v if isinstance(v, float) else None for v in values]
        cells.append((name_of(c, varies), _mean(own, "throughput_per_s"), _mean(own, "empty_share"), *times))
    columns = ("configuration", "1/s", "empty takes", "client", "service", "dispatch", "queue", "parse", "wait",
               "database", "respond", "p99")  # fmt: skip
    note = "Times in ms, means of a request; wait: for a connection. Empty takes: of all requests."
    return Table("Where the time goes", columns, tuple(cells), note, ("", ".0f", ".1%", *[".3f"] * 9))


def _mean(rows: pl.DataFrame, column: str) -> float | None:
    value = rows[column].fill_nan(None).mean()
    return float(value) if isinstance(value, float) else None


def limits_section(found: MessagesFindings) -> Section:
    """The bottleneck by utilisation, and who used the machine's cores."""
    cells: list[tuple[Cell, ...]] = []
    for c, own in configurations(found.seen):
        row = _means(own)
        b, s = busy(row, found.cores), shares(row)
        parts = (b.dispatcher, b.workers, b.connections, b.client, b.cores)
        cells.append(
            (name_of(c), *map(_number, parts), b.limit, *(_number(s[k]) for k in ("client", "service", "database")))
        )
    lead = (
        "How busy each part was: threads by their CPU time, workers and connections by how many were held, cores by all "
        "processes of this machine. What limits is the first of client, dispatcher, cores, connections, workers that is busy "
        "for 90 %; else the round trip. The last columns are shares of the CPU time used: where client and service take "
        "much of it, the database's curve is that of a database that shares its cores."
    )
    columns = ("configuration", "dispatcher", "workers", "connections", "client", "cores", "limited by", "of CPU: client",
               "service", "database")  # fmt: skip
    table = Table("Utilisation", columns, tuple(cells), formats=("", *[".0%"] * 5, "", *[".0%"] * 3))
    return Section("Limits", lead, (table,))


def _means(rows: pl.DataFrame) -> dict[str, Any]:
    numbers = [c for c, kind in rows.schema.items() if kind.is_numeric()]
    means = rows.select(pl.col(numbers).cast(pl.Float64).fill_nan(None).mean()).to_dicts()[0]
    return {name: math.nan if value is None else value for name, value in means.items()}


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def laws_section(found: MessagesFindings) -> Section:
    """A row a section."""
    checked = laws(found.seen)
    cells: list[tuple[Cell, ...]] = []
    for key, own in checked.partition_by("section", as_dict=True, maintain_order=True).items():
        held = f"{(own['interactive'] == 'holds').sum()} of {own.height}"
        sampled = own.filter(pl.col("little").is_not_null())
        little = f"{(sampled['little'] == 'holds').sum()} of {sampled.height}" if sampled.height else None
        cells.append((str(key[0]), held, _worst(own, "interactive_error"), little, _worst(sampled, "little_error")))
    lead = (
        "Interactive law: throughput × (response time + share of empty takes × retry delay) should be the clients. Little's "
        "law on the pool: throughput × time in the database should be the connections in use, of which samples are taken; "
        "judged where one is in use at least, within 5 % and two standard errors of the samples."
    )
    columns = ("section", "interactive law holds", "worst", "Little's law holds", "worst ")
    return Section(
        "Laws", lead, (Table("Laws, within 5 %", columns, tuple(cells), formats=("", "", ".1%", "", ".1%")),)
    )


def _worst(rows: pl.DataFrame, column: str) -> float | None:
    worst = rows[column].fill_nan(None).abs().max()
    return float(worst) if isinstance(worst, float) else None
