"""The models' section of the report: errors where nothing was fitted, point by point, and the one-station models."""

from __future__ import annotations

import math
from collections.abc import Iterator

import polars as pl

from sojourn.report import Section, Table
from sojourn.report.document import Cell
from sojourn.study.kv.modelled import shape_of
from sojourn.study.kv.models import Judgement, fit_times, station_table
from sojourn.study.kv.models.times import Estimate
from sojourn.study.kv.run import KvFindings
from sojourn.study.kv.sections.words import MS, three
from sojourn.study.kv.seen import configurations, name_of


def models_section(found: KvFindings) -> Section:
    lead = (
        "Parameters come from instrumented times of every second client count (the fewest and the most among them); the "
        "other counts are predicted. The network of queues has constant times; the second model stretches CPU times by "
        "the cores that client, net thread, workers and servers share."
    )
    tables = (_summary(found.models), _fitted(found.models), *(_points(j) for j in found.models if j.points))
    return Section("Models", lead, (*tables, *_stations(found)))


FITTED = ("network", "net thread", "worker, outside the servers", "servers (CPU)")


def _fitted(models: list[Judgement]) -> Table:
    """The times with their intervals, once for each configuration: all models have the same."""
    fits = dict(fit for j in models for fit in j.fits)
    cells = tuple(
        (name, *three(t.network_s, MS), *_three(t.means.get("net_s")), *_three(t.held_s), *_three(t.means.get("server_cpu_s")))
        for name, t in fits.items()
    )  # fmt: skip
    spaces = [" " * k for k in range(len(FITTED))]
    columns = (
        "configuration",
        *(c for what, s in zip(FITTED, spaces, strict=True) for c in (what, f"low{s}", f"high{s}")),
    )
    note = (
        "ms an operation, 95 % intervals: network and worker over the runs at the fewest clients, less the waiting for a "
        "server that the model has there; the others over all fitted runs, each client count a stratum. No interval where "
        "there is one run."
    )
    return Table("Fitted times", columns, cells, note, ("", *[".4f"] * 12))


def _three(e: Estimate | None) -> tuple[float | None, float | None, float | None]:
    return three(e, MS) if e else (None, None, None)


def _summary(models: list[Judgement]) -> Table:
    cells: list[tuple[Cell, ...]] = [
        (j.model, len(j.points), *j.median_error(), *j.median_error("response_error")) for j in models if j.points
    ]
    columns = ("model, design", "points", "throughput", "low", "high", "response time", "low ", "high ")
    note = "Median of the absolute relative errors at points that were not fitted, 95 % bootstrap intervals."
    return Table("Errors where nothing was fitted", columns, tuple(cells), note, ("", ".0f", *[".1%"] * 6))


def _points(j: Judgement) -> Table:
    cells = tuple(
        (p.configuration, p.clients, p.throughput_per_s, p.predicted.throughput_per_s, p.throughput_error,
         MS * p.response_s, MS * p.predicted.response_s, p.response_error, p.predicted.bottleneck)
        for p in j.points
    )  # fmt: skip
    columns = ("configuration", "clients", "1/s", "model", "error", "ms", "model ", "error ", "busiest")
    return Table(j.model, columns, cells, formats=("", ".0f", ".0f", ".0f", "+.1%", ".3f", ".3f", "+.1%", ""))


def _stations(found: KvFindings) -> Iterator[Table]:
    """M/M/1 and M/M/m of the staged configurations: response and queue times at the measured arrival rates."""
    cells: list[tuple[Cell, ...]] = []
    for configuration, own in configurations(found.seen.filter(pl.col("design") == "staged")):
        if own["clients"].n_unique() < 3:
            continue
        light = own.filter(pl.col("clients").is_in(own["clients"].unique().sort()[::2].to_list()))
        for row in station_table(fit_times(light), shape_of(configuration), own):
            values = [MS * row[n] if math.isfinite(row[n]) else None for n in STATION]
            cells.append((name_of(configuration), row["clients"], *values))
    if cells:
        columns = ("configuration", "clients", "measured", "M/M/1", "M/M/m", "in queue", "M/M/1 ", "M/M/m ")
        note = "Response time of the middleware and time in its queue, ms; a dash where the model is saturated."
        yield Table("One station", columns, tuple(cells), note, ("", ".0f", *[".3f"] * 6))


STATION = ("mw_response_s", "mm1_response_s", "mmm_response_s", "queue_s", "mm1_queue_s", "mmm_queue_s")
