"""`kv.models`: errors of the models by design of whole configurations that were held out; the one-station models; the network of queues.

M/M/1 and M/M/m: one station that stands for the whole middleware, at the measured arrival rate (`sojourn.solve.single.mmm`). The
service rate comes from instrumented times: a worker is held `service_s` at the fewest clients, so m workers serve
m/service_s, and never more than the net thread lets through. Limits: open models of a closed system: near saturation they say too
much, and at saturation nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from sojourn.report import Cell, Section, Table
from sojourn.solve import MMm
from sojourn.study import HELD_OUT, Analysis, error_range, median_error
from sojourn_cases.kv.middleware import CONFIGURATION, configurations, frame, name_of
from sojourn_cases.kv.network_of_queues import network_sections
from sojourn_cases.kv.table_cells import MS

if TYPE_CHECKING:
    from sojourn.study import CheckedStudy, StudyFindings

LEAD = "Parameters come from the runs that were fitted; whole configurations were held out, and are predicted."
METRICS = ("throughput", "response_time")
COUNTS = 3


def models_analysis(found: StudyFindings, plan: CheckedStudy, options: Mapping[str, Any]) -> Analysis:
    """A line for each model and design."""
    lines: list[str] = []
    cells: list[tuple[Cell, ...]] = []
    rows = frame(found.runs)
    held = held_out(found.evaluation, rows)
    for (model, design), own in held.partition_by("model", "design", as_dict=True, maintain_order=True).items():
        errors = [(median_error(own, metric), *(error_range(own, metric) or (None, None))[:2]) for metric in METRICS]
        name, points = f"{model}, {design}", own.filter(pl.col("metric") == METRICS[0]).height
        cells.append((name, points, *(value for one in errors for value in one)))
        lines.append(_line(name, points, *errors[0]))
    blocks = [table for table in (_stations(rows),) if table is not None]
    if found.rivals is not None and cells:
        blocks = [_summary(cells), *blocks]
    models = (Section("Models", LEAD, tuple(blocks)),) if blocks else ()
    return Analysis(tuple(lines), (*models, *network_sections(rows)))


def _summary(cells: list[tuple[Cell, ...]]) -> Table:
    columns = ("model, design", "points", "throughput", "least", "largest", "response time", "least ", "largest ")
    note = "Absolute relative errors of configurations that were not fitted: median, smallest and largest."
    return Table("Errors of held-out configurations", columns, tuple(cells), note, ("", ".0f", *[".1%"] * 6))


def held_out(judged: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """A row for each model, configuration, client count and metric: predicted, mean of what was measured, relative error."""
    key = ("model", *CONFIGURATION, "clients", "metric")
    known = judged.filter(pl.col("kind") == HELD_OUT, pl.col("error").is_not_null(), pl.col("class") == "")
    joined = known.join(rows.select("run", *CONFIGURATION, "clients"), on="run")
    means = joined.group_by(key, maintain_order=True).agg(pl.col("predicted").first(), pl.col("measured").mean())
    error = pl.col("predicted") / pl.col("measured") - 1
    return means.with_columns(error.alias("error"), pl.lit("").alias("class")).sort(key)


def _line(name: str, points: int, middle: float | None, low: float | None, high: float | None) -> str:
    ends = f" ({100 * low:.1f} to {100 * high:.1f})" if low is not None and high is not None else ""
    return f"{name}: median error of throughput {100 * (middle or 0.0):.1f} %{ends} at {points} points not fitted"


STATION = ("mw_response_s", "mm1_response_s", "mmm_response_s", "queue_s", "mm1_queue_s", "mmm_queue_s")


def _stations(rows: pl.DataFrame) -> Table | None:
    """M/M/1 and M/M/m of the staged configurations: response and queue times at the measured arrival rates."""
    cells: list[tuple[Cell, ...]] = []
    for configuration, own in configurations(rows.filter(pl.col("design") == "staged")):
        if own["clients"].n_unique() < COUNTS:
            continue
        light = own.filter(pl.col("clients").is_in(own["clients"].unique().sort()[::2].to_list()))
        for row in station_table(light, own):
            values = [MS * row[n] if math.isfinite(row[n]) else None for n in STATION]
            cells.append((name_of(configuration), row["clients"], *values))
    columns = ("configuration", "clients", "measured", "M/M/1", "M/M/m", "in queue", "M/M/1 ", "M/M/m ")
    note = "Response time of the middleware and time in its queue, ms; a dash means that the model is saturated."
    return Table("One station", columns, tuple(cells), note, ("", ".0f", *[".3f"] * 6)) if cells else None


def station_table(light: pl.DataFrame, rows: pl.DataFrame) -> list[dict[str, Any]]:
    """One row a client count of a configuration: measured and predicted response time and time in queue of the middleware, s; the times of
    service are those of the runs `light`."""
    held = float(light.filter(pl.col("clients") == pl.col("clients").min())["service_s"].mean())  # type: ignore[arg-type]
    net = light["net_s"].drop_nulls().mean()
    proxies, workers = int(rows["proxies"][0]), int(rows["workers"][0] * rows["proxies"][0])
    capacity = workers / held
    if isinstance(net, float) and net > 0:
        capacity = min(capacity, proxies / net)
    columns = ("mw_throughput_per_s", "mw_response_s", "queue_s")
    found = []
    for row in rows.group_by("clients").agg(pl.col(columns).mean()).drop_nulls().sort("clients").to_dicts():
        rate = row["mw_throughput_per_s"]
        one, many = MMm(rate, 1 / capacity, 1), MMm(rate, held, workers)
        found.append(row | {
            "mm1_response_s": float(one.response_s[0]), "mm1_queue_s": float(one.waiting_s[0]),
            "mmm_response_s": float(many.response_s[0]), "mmm_queue_s": float(many.waiting_s[0]),
        })  # fmt: skip
    return found
