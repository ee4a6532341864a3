"""How many times one configuration is another, from runs that were made in blocks.

Source: repetitions are blocks, and within one both were run near each other: the logarithms of the ratios of each block
have a mean and a Student's t interval; its ends as powers of e. Limits: positive values; no interval with one block.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from sojourn.study.kv.models.times import Estimate, estimate


def paired_ratio(above: pl.DataFrame, below: pl.DataFrame, column: str, level: float = 0.95) -> Estimate | None:
    """Geometric mean of above/below over the repetitions that both have; None without any."""
    means = [rows.group_by("repetition").agg(pl.col(column).mean()) for rows in (above, below)]
    both = means[0].join(means[1], on="repetition", suffix="_below")
    ratios = (both[column] / both[f"{column}_below"]).to_numpy()
    ratios = ratios[np.isfinite(ratios) & (ratios > 0)]
    if not len(ratios):
        return None
    e = estimate(np.log(ratios), level)
    return Estimate(*(float(np.exp(v)) for v in (e.value, e.low, e.high)))
