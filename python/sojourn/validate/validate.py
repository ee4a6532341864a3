"""Predicted against measured: relative errors (predicted - measured)/measured per rate, configuration, and overall.

The quantities and the layout are those of Chen et al., ICPE 2014, Table 3. Chen et al. do not say how it averaged
over rates; here both the mean of |error| and the signed mean are given, over the rates that both tables have, and
overall is the mean over configurations, which is what reproduces its last column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from sojourn.errors import InputError
from sojourn.solve.status import OVERLOADED
from sojourn.table import Metrics
from sojourn.validate.measured_metrics import measured_metrics

if TYPE_CHECKING:
    from altair import LayerChart

QUANTITIES = {
    "response_time": ("", "response_time"),
    "throughput": ("", "throughput"),
    "utilisation_leading": ("leading", "utilisation"),
    "utilisation_trailing": ("trailing", "utilisation"),
}
_KEYS = ["cores", "nics", "rate_key", "station", "metric"]
MEANS = ("mean_abs", "mean_signed")
Summary = dict[str, Any]


@dataclass(frozen=True)
class Validation:
    """`frame`: a row per (cores, nics, rate_per_s, quantity) with measured, measured_low, measured_high, predicted,
    low, high (of the prediction), relative_error, within (the two intervals overlap; null without a prediction
    interval). Where the model calls a measured rate saturated, predicted is null, relative_error infinite and within false.
    `summary`: dicts per configuration and quantity, cores = nics = None for overall: points, saturated (how many of them are
    called so), median_abs and worst of all points (infinite where such a one is), mean_abs and mean_signed of the others (null
    where there are none), within (share of points). These errors have no intervals: the points of one fit share its error, so
    that resampling them tells none.
    `message`: what was left out."""

    frame: pl.DataFrame
    summary: tuple[Summary, ...]
    level: float
    message: str

    def of(self, quantity: str, cores: int | None = None, nics: int | None = None) -> Summary:
        """One line of the summary; InputError names what there is."""
        for line in self.summary:
            if (line["quantity"], line["cores"], line["nics"]) == (quantity, cores, nics):
                return line
        there = sorted({(line["quantity"], line["cores"] or 0, line["nics"] or 0) for line in self.summary})
        raise InputError((quantity, cores, nics), "validation", f"ask for one of {there} (0, 0: overall, as None)")

    def plot(self, quantity: str = "response_time") -> LayerChart:
        """Predicted against measured as an altair chart, a point a rate; InputError for a quantity that is not there."""
        from sojourn.report.chart import plot
        from sojourn.report.result_figures import agreement

        return plot(agreement(self.frame.filter(pl.col("quantity") == quantity), quantity, ("cores", "nics")))


def validate(
    measured: Metrics | pl.DataFrame,
    predicted: Metrics,
    *,
    up_to: float | None = None,
    level: float = 0.95,
    seed: int = 1,
) -> Validation:
    """Joins two tables (or observations and a table) on cores, nics, rate_per_s and compares `QUANTITIES`.

    up_to: only rates up to this share of the predicted saturation rate. level, seed: of the
    intervals of what was measured, where observations are given.
    Raises InputError where the tables share no point.
    """
    table = measured if isinstance(measured, Metrics) else measured_metrics(measured, level, seed)
    frame, message = _joined(table, predicted, up_to)
    return Validation(frame, tuple(_summaries(frame)), level, message)


def _joined(measured: Metrics, predicted: Metrics, up_to: float | None) -> tuple[pl.DataFrame, str]:
    real = _points(measured, "measured").filter(pl.col("measured").is_not_null())
    said = _points(predicted, "predicted")
    twice = said.select(_KEYS).is_duplicated()
    if twice.any():
        raise InputError("several values for one point", "predicted", "give one variant: predicted.where(variant=…)")
    real = real.rename({"low": "measured_low", "high": "measured_high"})
    both = real.join(said.drop("rate_per_s"), on=_KEYS, how="inner", maintain_order="left").filter(
        pl.col("measured") > 0
    )
    names = pl.DataFrame([{"quantity": q, "station": s, "metric": m} for q, (s, m) in QUANTITIES.items()])
    both = both.join(names, on=["station", "metric"], how="inner", maintain_order="left")
    unmatched = real.join(said, on=_KEYS, how="anti").select("cores", "nics", "rate_per_s").unique(maintain_order=True)
    notes = [f"not predicted, left out: {c} cores, {n} NICs at {r:g}/s" for c, n, r in unmatched.iter_rows()]
    if up_to is not None:
        both, note = _below(both, predicted, up_to)
        notes += note
    if both.is_empty():
        raise InputError(
            "no point in common", "validate", "predict at the cores, nics and rate_per_s that were measured"
        )
    error = pl.col("predicted") / pl.col("measured") - 1
    # a prediction leaves out the noise of the measurement, so the measurement brings its own interval
    top, bottom = (
        pl.col("measured_high").fill_null(pl.col("measured")),
        pl.col("measured_low").fill_null(pl.col("measured")),
    )
    reaches = pl.col("high").is_null() & pl.col("low").is_not_null()  # no upper limit
    within = (top >= pl.col("low") * (1 - 1e-9)) & (reaches | (bottom <= pl.col("high") * (1 + 1e-9)))
    within = pl.when(pl.col("predicted").is_null()).then(False).otherwise(within)
    error = pl.when(pl.col("predicted").is_null()).then(float("inf")).otherwise(error)
    columns = ["cores", "nics", "rate_per_s", "quantity", "measured", "measured_low", "measured_high", "predicted"]
    both = both.with_columns(error.alias("relative_error"), within.alias("within"))
    return both.select(*columns, "low", "high", "relative_error", "within"), "\n".join(notes)


def _points(metrics: Metrics, name: str) -> pl.DataFrame:
    lacking = [factor for factor in ("cores", "nics", "rate_per_s") if factor not in metrics.frame.columns]
    if lacking:
        raise InputError(f"no factor {', '.join(lacking)}", name, "add it: metrics.with_factors(cores=…, nics=…)")
    wanted = [(s, m) for s, m in QUANTITIES.values()]
    keep = pl.any_horizontal((pl.col("station") == s) & (pl.col("metric") == m) for s, m in wanted)
    return (
        metrics.frame.filter(
            keep & (pl.col("class") == "") & (pl.col("value").is_not_null() | pl.col("status").is_in(OVERLOADED))
        )
        .with_columns(
            pl.col("cores").cast(pl.Int64),
            pl.col("nics").cast(pl.Int64),
            pl.col("rate_per_s").cast(pl.Float64),
            rate_key=pl.col("rate_per_s").cast(pl.Float64).round_sig_figs(9),
        )
        .select(
            "cores", "nics", "rate_per_s", "rate_key", "station", "metric", pl.col("value").alias(name), "low", "high"
        )
    )


def _below(both: pl.DataFrame, predicted: Metrics, up_to: float) -> tuple[pl.DataFrame, list[str]]:
    limits = predicted.frame.filter((pl.col("metric") == "saturation_rate") & (pl.col("station") == ""))
    if limits.is_empty():
        raise InputError("no saturation_rate", "predicted", "leave up_to out, or give a prediction that has it")
    limit = (
        limits.group_by("cores", "nics")
        .agg(pl.col("value").min().alias("limit"))
        .cast({"cores": pl.Int64, "nics": pl.Int64})
    )
    marked = both.join(limit, on=["cores", "nics"], how="left", maintain_order="left")
    kept = marked.filter(pl.col("rate_per_s") <= up_to * pl.col("limit")).drop("limit")
    return kept, [f"only rates up to {up_to:.0%} of the predicted saturation rate"]


def _summaries(frame: pl.DataFrame) -> list[Summary]:
    found: list[Summary] = []
    for quantity in QUANTITIES:
        part = frame.filter(pl.col("quantity") == quantity)
        lines = []
        for (cores, nics), rows in part.group_by("cores", "nics", maintain_order=True):
            errors = rows["relative_error"].to_numpy()
            lines.append({"quantity": quantity, "cores": cores, "nics": nics, **_line(errors), **_share(rows)})
        lines.sort(key=lambda line: (line["nics"], line["cores"]))
        found += lines
        if lines:
            found.append(_overall(quantity, part, lines))
    return found


def _line(errors: np.ndarray) -> Summary:
    known = errors[np.isfinite(errors)]
    return {
        "mean_abs": float(np.abs(known).mean()) if known.size else None,
        "mean_signed": float(known.mean()) if known.size else None,
        "median_abs": float(np.median(np.abs(errors))),
        "worst": float(errors[np.argmax(np.abs(errors))]),
    }


def _share(rows: pl.DataFrame) -> Summary:
    known = rows["within"].drop_nulls()
    share = float(known.cast(pl.Float64).to_numpy().mean()) if len(known) else None
    return {"points": rows.height, "saturated": rows["predicted"].null_count(), "within": share}


def _overall(quantity: str, part: pl.DataFrame, lines: list[Summary]) -> Summary:
    """Means over the configurations in which any point is not called saturated; median and worst of all points."""
    known = [line for line in lines if line["mean_abs"] is not None]
    means = {name: float(np.mean([line[name] for line in known])) if known else None for name in MEANS}
    return (
        {"quantity": quantity, "cores": None, "nics": None}
        | _line(part["relative_error"].to_numpy())
        | means
        | _share(part)
    )
