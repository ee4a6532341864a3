"""Predicted beside measured: a row a run and metric, and whether the run lies in the interval that was predicted for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from sojourn.measure.folder import RunFolder
from sojourn.study.engine.predictions import Predicted
from sojourn.table import Metrics

METRICS = ("throughput", "response_time")
NO_WIDTH = 1e-6
SCHEMA = {
    "section": pl.String, "run": pl.String, "valid": pl.Boolean, "class": pl.String, "metric": pl.String,
    "predicted": pl.Float64, "low": pl.Float64, "high": pl.Float64, "status": pl.String, "measured": pl.Float64,
    "error": pl.Float64, "inside": pl.Boolean,
}  # fmt: skip


def judged(found: Predicted, folders: list[RunFolder]) -> pl.DataFrame:
    """Columns as in SCHEMA; `error` relative to measured and `inside` null where there was no interval or the run is not valid.
    Where no upper end was predicted (`open_above`), everything above the lower one is inside."""
    rows: list[dict[str, Any]] = []
    for one in found["configurations"]:
        for folder in folders:
            manifest = folder.manifest
            if manifest["section"] == one["section"] and manifest["factors"] == one["factors"]:
                rows += [_row(one["section"], folder, row) for row in one["rows"] if _is_judged(row)]
    return pl.DataFrame(rows, schema=SCHEMA)


def _is_judged(row: dict[str, Any]) -> bool:
    return row["station"] == "" and row["metric"] in METRICS


def _row(section: str, folder: RunFolder, row: dict[str, Any]) -> dict[str, Any]:
    value, low, high = row["value"], row["low"], row["high"]
    measured = _measured(folder, row["metric"], row["class"])
    valid = bool(folder.manifest["valid"])
    judged = valid and measured is not None and is_interval(low, high)
    return {
        "section": section, "run": folder.path.name, "valid": valid, "class": row["class"], "metric": row["metric"],
        "predicted": value, "low": low, "high": high, "status": row["status"], "measured": measured,
        "error": value / measured - 1 if judged and value is not None and measured else None,
        "inside": low <= measured and (high is None or measured <= high) if judged else None,
    }  # fmt: skip


def is_interval(low: float | None, high: float | None) -> bool:
    """Whether it is more than a point."""
    return low is not None and (high is None or high - low > NO_WIDTH * high)


def is_prediction(metric: str, value: float | None, low: float | None, high: float | None) -> bool:
    """Whether it says more than what was given: the throughput of an open system that keeps up is the rate it is offered."""
    return metric != "throughput" or value is None or is_interval(low, high)


def _measured(folder: RunFolder, metric: str, cls: str) -> float | None:
    if folder.frame("metrics") is None:
        return None
    frame = Metrics.read(folder.path / "metrics.parquet").frame
    here = frame.filter(pl.col("metric") == metric, pl.col("station") == "", pl.col("class") == cls)
    return None if here.is_empty() else here["value"][0]


def count_inside(rows: pl.DataFrame) -> tuple[int, int]:
    """How many of the values that have an interval lie in it, and how many have one."""
    known = rows.filter(pl.col("inside").is_not_null())
    return int(known["inside"].sum()), known.height


def median_error(rows: pl.DataFrame, metric: str) -> float | None:
    """Of all classes together."""
    errors = rows.filter(pl.col("metric") == metric, pl.col("class") == "", pl.col("error").is_not_null())["error"]
    return float(np.median(np.abs(errors.to_numpy()))) if len(errors) else None
