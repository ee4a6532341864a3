"""Observations (one row per run and block) → the measured Metrics of each configuration and rate, with intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from sojourn.errors import InputError
from sojourn.fit.bootstrap import sample
from sojourn.fit.observation_rows import checked, per_run
from sojourn.table import Metrics

ROWS = (
    ("response_s", "", "response_time"),
    ("throughput_per_s", "", "throughput"),
    ("util_leading", "leading", "utilisation"),
    ("softirq_leading", "leading", "softirq_utilisation"),
    ("util_trailing", "trailing", "utilisation"),
)


def measured_metrics(observations: pl.DataFrame, level: float = 0.95, seed: int = 1, resamples: int = 300) -> Metrics:
    """Rows per (cores, nics, rate_per_s), valid runs only, replications averaged; low and high by block bootstrap.

    Runs above saturation are kept. Raises InputError where no run is valid.
    """
    frame = checked(observations)
    good = per_run(frame).filter(pl.col("valid"))
    if good.is_empty():
        raise InputError("no valid run", "observations", "see the verdict of each run, and measure again")
    drawn = sample(frame.join(good.select("run"), on="run", how="semi", maintain_order="left"), resamples, seed)
    rows: list[dict[str, Any]] = []
    tails = [(1 - level) / 2, (1 + level) / 2]
    for number in range(int(drawn.cell.max()) + 1):
        members = np.flatnonzero(drawn.cell == number)
        factors = drawn.runs.row(int(members[0]), named=True)
        at = {name: factors[name] for name in ("rate_per_s", "cores", "nics")}
        rows.append({"metric": "arrival_rate", "value": at["rate_per_s"], **at})
        for column, station, metric in ROWS:
            value = float(np.mean(drawn.mean[column][members]))
            if not np.isfinite(value) or (station == "trailing" and at["cores"] == at["nics"]):
                continue
            weight = drawn.weight[:, members]
            spread = (drawn.means[column][:, members] * weight).sum(axis=1) / weight.sum(axis=1)
            low, high = np.quantile(spread, tails)
            rows.append(
                {"station": station, "metric": metric, "value": value, "low": low, "high": high, "level": level, **at}
            )
    return Metrics.of([{**row, "source": "measured"} for row in rows], "measured, block bootstrap")
