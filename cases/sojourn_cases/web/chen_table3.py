"""Predicted against measured in the layout of Chen et al. 2014, Table 3: quantities down, configurations across, overall last.

Errors are relative, (predicted - measured)/measured. Chen et al. do not say how they averaged over rates; here a cell is the mean over
the rates that both tables have, of sizes or with signs, and overall is the mean over configurations, which reproduces their last column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from sojourn import Metrics
from sojourn.errors import InputError

LABELS = {
    "response_time": "Response Time",
    "throughput": "Throughput",
    "utilisation_leading": "Util. Core 0 to m-1",
    "utilisation_trailing": "Util. Core m to n-1",
}
QUANTITIES = {
    "response_time": ("", "response_time"),
    "throughput": ("", "throughput"),
    "utilisation_leading": ("leading", "utilisation"),
    "utilisation_trailing": ("trailing", "utilisation"),
}
KINDS = ("absolute", "signed")
WHERE = ("cores", "nics", "rate_key", "quantity")


def relative_errors(measured: Metrics, predicted: Metrics) -> pl.DataFrame:
    """Columns cores, nics, rate_per_s, quantity, measured, predicted, error: a row for each number that both have; error is infinite
    where the model calls saturated what was measured.

    Raises:
        InputError: the tables share no point.
    """
    real, said = _points(measured, "measured"), _points(predicted, "predicted")
    both = real.filter(pl.col("measured") > 0).join(
        said.drop("rate_per_s"), on=WHERE, how="inner", maintain_order="left"
    )
    if both.is_empty():
        raise InputError(
            "no point in common", "validate", "predict at the cores, nics and rate_per_s that were measured"
        )
    error = (pl.col("predicted") / pl.col("measured") - 1).fill_null(float("inf"))
    return both.with_columns(error=error).drop("rate_key")


def _points(metrics: Metrics, name: str) -> pl.DataFrame:
    parts = [
        metrics.frame.filter(pl.col("station") == station, pl.col("metric") == metric, pl.col("class") == "").select(
            pl.col("cores", "nics").cast(pl.Int64),
            pl.col("rate_per_s").cast(pl.Float64),
            pl.col("rate_per_s").cast(pl.Float64).round_sig_figs(9).alias("rate_key"),
            pl.lit(quantity).alias("quantity"),
            pl.col("value").alias(name),
        )
        for quantity, (station, metric) in QUANTITIES.items()
    ]
    return pl.concat(parts)


def cells(errors: pl.DataFrame, quantity: str, kind: str = "absolute") -> dict[tuple[int, int], float]:
    """(nics, cores) → mean over the rates there."""
    own = errors.filter(pl.col("quantity") == quantity)
    value = pl.col("error").abs() if kind == "absolute" else pl.col("error")
    means = own.group_by("nics", "cores").agg(value.mean()).sort("nics", "cores")
    return {(nics, cores): mean for nics, cores, mean in means.iter_rows()}


def table3(errors: pl.DataFrame, kind: str = "absolute") -> list[dict[str, Any]]:
    """One dict per quantity that was compared: "quantity", then "NICs/cores" columns such as "1/2", then "overall".

    Cells are relative errors (0.159 is 15.9 %): mean of |error|, or the signed mean; None where a configuration has no such
    cores. InputError for another `kind`.
    """
    if kind not in KINDS:
        raise InputError(repr(kind), "kind", f"use one of {', '.join(KINDS)}")
    places = sorted(errors.select("nics", "cores").unique().rows())
    found = []
    for quantity, label in LABELS.items():
        if known := cells(errors, quantity, kind):
            each = {f"{nics}/{cores}": known.get((nics, cores)) for nics, cores in places}
            found.append({"quantity": label, **each, "overall": sum(known.values()) / len(known)})
    return found


def lines_of(rows: Sequence[Mapping[str, Any]], ends: Sequence[str], kind: str = "absolute") -> list[str]:
    """Rows of such a table as aligned lines, in percent, with Chen et al.'s two head lines; `ends`: columns after those of
    configurations."""
    columns = [name for name in rows[0] if name not in ("quantity", *ends)] if rows else []
    sizes = [name.split("/") for name in columns]
    heads = [f"{nics} NIC{'s' * (nics != '1')}" for nics, _ in sizes]
    heads = ["" if k and heads[k - 1] == head else head for k, head in enumerate(heads)]
    body = [[row["quantity"], *(_cell(row[name], kind) for name in [*columns, *ends])] for row in rows]
    cores = ["Num. of Cores", *(count for _, count in sizes), *[""] * len(ends)]
    lines = [["", *heads, *(end.capitalize() for end in ends)], cores, *body]
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    return [
        "  ".join([line[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True))]).rstrip()
        for line in lines
    ]


def _cell(value: float | None, kind: str) -> str:
    if value == float("inf"):
        return "∞"
    return "-" if value is None else f"{100 * value:{'+' if kind == 'signed' else ''}.1f}"
