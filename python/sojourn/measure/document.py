"""Run folders as a report: verdict of each run, response time, throughput and utilisation against the rate."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from sojourn.measure.folder import RunFolder
from sojourn.report import Document, Figure, Section, Series, Table, Text
from sojourn.table import Metrics
from sojourn.units import per_second, percent, seconds

RATE = "requests per second"


def runs_document(paths: list[Path]) -> Document:
    """A report of the runs at `paths`."""
    runs = [RunFolder.open(path) for path in paths]
    tables = [Metrics.read(run.path / "metrics.parquet") for run in runs if (run.path / "metrics.parquet").exists()]
    invalid = [run for run in runs if not run.manifest.get("valid")]
    headline = f"{len(runs) - len(invalid)} of {len(runs)} runs are valid"
    metrics = Metrics.concat(tables)
    return Document(
        title="Measured runs",
        subtitle=", ".join(sorted({run.path.parent.name for run in runs})),
        verdict=[headline, *(f"{run.path.name}: {'; '.join(run.manifest.get('reasons', []))}" for run in invalid)],
        status="warn" if invalid else "ok",
        sections=(_figures(metrics), runs_section(runs)) if len(metrics) else (runs_section(runs),),
        footer={"kernel": str(runs[0].manifest.get("machine", {}).get("kernel", "")), "runs": str(len(runs))},
    )


def _series(
    metrics: Metrics, name: str, metric: str, station: str, q: float | None = None, scale: float = 1.0
) -> Series:
    rows = metrics.frame.filter((pl.col("metric") == metric) & (pl.col("station") == station))
    rows = rows.filter(pl.col("q") == q) if q is not None else rows
    x = "arrival"
    rates = metrics.frame.filter((pl.col("metric") == "arrival_rate") & (pl.col("station") == ""))
    rows = rows.join(rates.select("run", pl.col("value").alias(x)), on="run").sort(x)
    bounds = [[None if v is None else v * scale for v in rows[k]] for k in ("low", "high")]
    known = any(v is not None for v in bounds[0])
    values = [None if v is None else v * scale for v in rows["value"]]
    return Series(name, rows[x].to_list(), values, bounds[0] if known else None, bounds[1] if known else None, "points")


def _figures(metrics: Metrics) -> Section:
    cores = metrics.frame.filter(pl.col("metric") == "utilisation")["station"].unique().sort().to_list()
    response = (
        _series(metrics, "mean", "response_time", "", scale=1e3),
        _series(metrics, "p99", "response_time_quantile", "", 0.99, 1e3),
        _series(metrics, "mean from sent", "response_time", "service", scale=1e3),
    )
    busy = [_series(metrics, core, "utilisation", core) for core in cores]
    soft = [_series(metrics, f"{core}: interrupts", "softirq_utilisation", core) for core in cores]
    return Section(
        "What was measured",
        "Response times run from the moment a request was due; from sent beside it shows what the client's queue adds.",
        (
            Figure("response", "Response time", RATE, "ms", response),
            Figure(
                "throughput",
                "Throughput",
                RATE,
                "answers per second",
                (_series(metrics, "throughput", "throughput", ""),),
            ),
            Figure(
                "utilisation", "Utilisation of the cores", RATE, "busy share", tuple(busy + soft), y_limits=(0.0, 1.0)
            ),
        ),
    )


def runs_section(runs: list[RunFolder]) -> Section:
    """Throughput, response time and verdict of each run."""
    rows = []
    for run in runs:
        generator = run.manifest.get("generator") or {}
        latency = (generator.get("latency") or {}).get("from_intended", {}).get("to_done", {})
        rows.append((
            run.path.name, per_second(generator.get("achieved_per_s")), seconds(latency.get("mean_s")), seconds(latency.get("p99_s")),
            percent(run.manifest.get("checks", {}).get("failed share")),
            "yes" if run.manifest.get("valid") else "; ".join(run.manifest.get("reasons", [])),
        ))  # fmt: skip
    table = Table("Runs", ("run", "throughput", "mean", "p99", "failed", "valid"), tuple(rows))
    rule = "A run is valid if the generator kept its schedule, the response time was stationary, and nobody else used the machine."
    return Section("Runs", "", (table, Text(rule)))
