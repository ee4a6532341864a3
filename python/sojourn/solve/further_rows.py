"""Rows that a method tells beside its arrays: quantiles, probabilities."""

from __future__ import annotations

import polars as pl

from sojourn.metric_names import UNITS
from sojourn.solve.solution import Solution
from sojourn.table import column_types

PERVASIVE = ("approximate", "not_converged", "bounds")  # what is true of every number of such a point
LINE = ("station", "class", "metric", "q", "n")


def further(s: Solution) -> pl.DataFrame:
    """`Solution.more` as rows, those of one line together; a number that is missing says why."""
    rows = pl.DataFrame(s.more, infer_schema_length=None)
    lacking = {"station": "", "class": "", "point": 0, "source": "analytic"}
    there = rows.columns
    rows = rows.with_columns((pl.col(k).fill_null(v) if k in there else pl.lit(v)).alias(k) for k, v in lacking.items())
    types = column_types()
    rows = rows.with_columns(pl.lit(None, dtype=t).alias(k) for k, t in types.items() if k not in rows.columns)
    rows = rows.with_columns(pl.col(k).cast(t) for k, t in types.items())
    names = pl.Series(s.status or ["ok"])
    own = names.gather(rows["point"].cast(pl.Int64)) if s.status else pl.Series(["ok"] * rows.height)
    value = pl.when(pl.col("value").is_finite()).then(pl.col("value"))
    usual = pl.when(own.is_in(PERVASIVE)).then(own).otherwise(pl.lit("ok"))
    absent = pl.when(own == "ok").then(pl.lit("idle")).otherwise(own)
    return rows.with_columns(
        value=value,
        unit=pl.col("metric").replace_strict(UNITS),
        point=pl.col("point").cast(pl.Int64),
        status=pl.col("status").fill_null(pl.when(value.is_null()).then(absent).otherwise(usual)),
    ).sort(pl.int_range(pl.len()).min().over(*LINE), "point", maintain_order=True)
