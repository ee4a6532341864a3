"""Analyses of the message study, for `[[analysis]]`: the service's curve, where the time goes, what limits, laws."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from sojourn.fit import FittedModel
from sojourn.model import LoadDependent, Model, replaced
from sojourn.report import Block, Cell, Figure, Section, Series, Table
from sojourn.study import Analysis, factors_text
from sojourn_cases.messages.message_figures import database_sections, share_figures
from sojourn_cases.messages.message_service_metrics import FACTORS, frame, where_valid
from sojourn_cases.messages.operational_analysis import BUSY, CPU, busy, laws, shares

if TYPE_CHECKING:
    from sojourn.study import CheckedStudy, StudyFindings

MS = 1e3
REFERENCE = "reference"  # the section
CENTRES = ("service", "database")  # of the model files: what the pools let requests into
PHASES = ("response_s", "mw_response_s", "dispatch_s", "queue_s", "parse_s", "wait_s", "database_s", "respond_s")


def service(found: StudyFindings, plan: CheckedStudy, options: Mapping[str, Any]) -> Analysis:
    """What the service completes with its pools full, by how many requests they let in, and what the models suppose."""
    if found.rivals is None:
        return Analysis()
    lead = (
        "Where all workers or all connections were in use for at least 90 % of the time, the throughput is what the service completes "
        "with that many requests in it. The curves are those of the fitted model files, for the largest number of "
        "clients (a service that batches is slower if fewer requests "
        "wait); the Telesto report's rule has the time in the database at the reference run."
    )
    return Analysis((), (Section("Service", lead, (_curve(found),)),))


def _curve(found: StudyFindings) -> Figure:
    assert found.rivals is not None
    x, y, low, high = _full(where_valid(frame(found.runs)))
    series = [Series("measured", x, y, low, high, "points")]
    sizes = np.arange(1, max(2, round(1.25 * max(x, default=1))) + 1).tolist()
    waiting = max((run.manifest["factors"]["clients"] for run in found.runs), default=1)
    for name, fitted in found.rivals.fitted.items():
        if isinstance(fitted, FittedModel) and not fitted.alternatives:
            rates = [_most_per_s(fitted.model, size, max(size, waiting)) for size in sizes]
            series.append(Series(name, sizes, rates, style="line"))
    note = "Means of configurations, with the smallest and the largest run where there are several."
    title, label = "Completions of the service", "completions/s"
    return Figure("service-curve", title, "requests admitted by the pools", label, tuple(series), note)


def _most_per_s(model: Model, size: int, clients: int) -> float:
    """What the service of a fitted model file completes with pools of this size in one middleware and so many clients at it."""
    sizes = {"parameters.workers": size, "parameters.connections": size, "parameters.middlewares": 1}
    there = replaced(model, {**sizes, "classes.client.population": clients})
    station = next(s for s in there.stations if s.name in CENTRES)
    assert isinstance(station, LoadDependent)
    return float(station.rates_per_s[-1])


def _full(seen: pl.DataFrame) -> tuple[list[float], list[float], list[float | None], list[float | None]]:
    """Of configurations whose pools were full: requests that they let in, mean throughput, the least and the largest."""
    full = seen.filter(pl.max_horizontal("connections_share", "workers_share") >= BUSY)
    inside = pl.min_horizontal("workers", "connections") * pl.col("middlewares")
    x = pl.col("throughput_per_s")
    several = pl.when(pl.len() > 1)
    means = (
        full.with_columns(inside=inside)
        .group_by(*FACTORS, "inside")
        .agg(x.mean().alias("x"), several.then(x.min()).alias("low"), several.then(x.max()).alias("high"))
        .sort("inside", "x")
    )
    return means["inside"].to_list(), means["x"].to_list(), means["low"].to_list(), means["high"].to_list()


def times(found: StudyFindings, plan: CheckedStudy, options: Mapping[str, Any]) -> Analysis:
    """Where the time goes, a table and figures of each section; the database of the reference run as M/M/m."""
    seen = where_valid(frame(found.runs))
    along = {part.name: _along(part) for part in (*plan.study.section, *plan.study.predict)}
    blocks: list[Block] = []
    for name in seen["section"].unique().sort():
        own = seen.filter(pl.col("section") == name)
        blocks += [_times(name, own), *share_figures(name, own, along.get(name, ()))]
    database = database_sections(seen.filter(pl.col("section") == REFERENCE))
    return Analysis((), (Section("Where the time goes", "", tuple(blocks)), *database))


def _along(part: Any) -> tuple[str, ...]:
    """The factor that a section of the study file names as its x, and those that follow it."""
    return () if part.x is None else (part.x, *(name for name, leader in part.follow.items() if leader == part.x))


def _times(name: str, rows: pl.DataFrame) -> Table:
    cells = [
        (label, mean["throughput_per_s"], mean["empty_share"], *(_ms(mean[phase]) for phase in (*PHASES, "p99_s")))
        for label, mean in configurations(rows)
    ]
    columns = ("configuration", "1/s", "empty takes", "client", "service", "dispatch", "queue", "parse", "wait",
               "database", "respond", "p99")  # fmt: skip
    note = "Times in ms, mean per request; wait: for a connection. Empty takes: share of all requests."
    return Table(name, columns, tuple(cells), note, ("", ".0f", ".1%", *[".3f"] * 9))


def _ms(value: float | None) -> float | None:
    return None if value is None else MS * value


def limits(found: StudyFindings, plan: CheckedStudy, options: Mapping[str, Any]) -> Analysis:
    """The bottleneck by utilisation, and who used the machine's cores."""
    cores = int(found.runs[0].manifest.get("machine", {}).get("cores") or 1)
    seen = where_valid(frame(found.runs))
    cells: list[tuple[Cell, ...]] = []
    for label, mean in configurations(seen):
        b, s = busy(mean, cores), shares(mean)
        parts = (b.dispatcher, b.workers, b.connections, b.client, b.cores)
        cells.append((label, *parts, b.limit, *(s[name] for name in CPU)))
    lead = (
        "Utilisation of each part: threads by their CPU time, workers and connections by how many were in use, cores by "
        "all processes of this machine. The limit is the first of client, dispatcher, cores, connections, workers that is at "
        "least 90 % busy; else the round trip. Shares of the used CPU time: where client and service take much of it, the "
        "measured curve belongs to a database that shares its cores."
    )
    columns = ("configuration", "dispatcher", "workers", "connections", "client", "cores", "limited by", "of CPU: client",
               "service", "database")  # fmt: skip
    table = Table("Utilisation", columns, tuple(cells), formats=("", *[".0%"] * 5, "", *[".0%"] * 3))
    return Analysis(tuple(_limited(seen, cores)), (Section("Limits", lead, (table,)),))


def _limited(seen: pl.DataFrame, cores: int) -> Iterator[str]:
    reference = seen.filter(pl.col("section") == REFERENCE).to_dicts()
    if reference:
        row, limit = reference[0], [busy(one, cores).limit for one in reference]
        pools = f"{row['workers']} workers, {row['connections']} connections, {row['clients']} clients"
        x = fmean(one["throughput_per_s"] for one in reference)
        yield f"reference ({pools}): {x:.0f} requests/s, limited by {max(set(limit), key=limit.count)}"
    rows = seen.to_dicts()
    full = sum(busy(row, cores).cores >= BUSY for row in rows)
    if full:
        parts = ", ".join(f"{name} {100 * fmean(shares(row)[name] for row in rows):.0f} %" for name in CPU)
        yield f"{full} of {len(rows)} runs used all {cores} cores, which client, service and database share ({parts} of the CPU time)"


def checked_laws(found: StudyFindings, plan: CheckedStudy, options: Mapping[str, Any]) -> Analysis:
    """The interactive law and Little's law on the pool, a row a section; errors and wrong messages of all runs."""
    seen = laws(frame(found.runs))
    cells: list[tuple[Cell, ...]] = []
    for (name,), own in seen.partition_by("section", as_dict=True, maintain_order=True).items():
        sampled = own.filter(pl.col("little").is_not_null())
        cells.append((str(name), *_held(own, "interactive"), *_held(sampled, "little")))
    lead = (
        "Interactive law: throughput × (response time + share of empty takes × retry delay + the client's own time) "
        "should equal the number of "
        "clients. Little's law on the pool: throughput × time in the database should equal the sampled number of connections in "
        "use; it is checked where at least one is in use, and holds if the difference is within 5 % and "
        "the interval of the samples."
    )
    columns = ("section", "interactive law holds", "worst", "Little's law holds", "worst ")
    table = Table("Laws, within 5 %", columns, tuple(cells), formats=("", "", ".1%", "", ".1%"))
    errors, wrong = (int(seen[name].sum()) for name in ("errors", "wrong"))
    held = float((seen["interactive"] == "holds").mean() or 0.0)  # type: ignore[arg-type]
    line = (
        f"{seen.height} runs: {errors} errors, {wrong} wrong messages; the interactive law holds within 5 % in "
        f"{100 * held:.0f} % of them"
    )
    return Analysis((line, *_system(found)), (Section("Laws", lead, (table,)),), warn=bool(errors or wrong))


def _held(rows: pl.DataFrame, law: str) -> tuple[Cell, Cell]:
    worst = rows[f"{law}_error"].fill_nan(None).abs().max()
    said = f"{(rows[law] == 'holds').sum()} of {rows.height}" if rows.height else None
    return said, float(worst) if isinstance(worst, float) else None


def _system(found: StudyFindings) -> Iterator[str]:
    lab = found.runs[0].manifest.get("lab", {})
    if "flush_s" in lab:
        yield f"on {lab['database']}, a flush to disk takes {MS * lab['flush_s']:.2f} ms"


def configurations(seen: pl.DataFrame) -> Iterator[tuple[str, dict[str, Any]]]:
    """The means of each configuration, all its runs together, named by the factors that vary among them."""
    varied = tuple(name for name in FACTORS if seen[name].n_unique() > 1)
    for key, rows in seen.sort(*FACTORS).partition_by(*FACTORS, as_dict=True, maintain_order=True).items():
        numbers = [name for name, kind in rows.schema.items() if kind.is_numeric()]
        mean = rows.select(pl.col(numbers).cast(pl.Float64).fill_nan(None).mean()).to_dicts()[0]
        yield factors_text(dict(zip(FACTORS, key, strict=True)), varied), mean
