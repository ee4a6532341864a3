"""Is what was put in what comes out? How often intervals hold the known parameters of simulated studies.

A 95 % interval must have the known value in 95 of 100 studies; how far a count may lie from that by chance, the binomial
distribution says.
"""

from __future__ import annotations

import polars as pl

LEVEL = 0.95


def coverage(rows: pl.DataFrame, sure: float = 0.99) -> pl.DataFrame:
    """A row for each configuration and time: studies, how many covered it, the band [low, high] of such counts, whether
    it lies inside, and the mean relative error of the estimates (bias). `sure`: of all rows together being inside when
    each interval is right (Bonferroni)."""
    found = rows.group_by("configuration", "time", maintain_order=True).agg(
        studies=pl.len(), covered=pl.col("covered").sum(), bias=(pl.col("estimate") / pl.col("truth") - 1).mean()
    )
    from scipy.stats import binom  # half a second to import

    tail = (1 - sure) / 2 / max(found.height, 1)
    band = [binom.ppf((tail, 1 - tail), n, LEVEL) for n in found["studies"]]
    low, high = (pl.Series([int(b[k]) for b in band]) for k in (0, 1))
    return found.with_columns(low=low, high=high).with_columns(
        inside=(pl.col("covered") >= pl.col("low")) & (pl.col("covered") <= pl.col("high"))
    )
