"""Response times of one run by bins, client and middleware alike, in its folder: histograms.parquet.

Bins are those of the middleware's log: 5 µs wide up to 10 ms, 0.1 ms up to 1 s, one above whose end is infinite. Both
sides have only what was answered in the window of the run; the middleware's edges are those of its log's periods. The
client's times are those that it sees itself: from sent to read.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from sojourn.files import NUMBER, TEXT, read_parquet
from sojourn.runs import RunFolder, write_parquet

FINE_S, FINE_END_S, STEP_S, END_S = 5e-6, 10e-3, 1e-4, 1.0
CLIENT, MIDDLEWARE = "client", "middleware"
FILE = "histograms.parquet"
COLUMNS = {"low_s": NUMBER, "high_s": NUMBER, "count": NUMBER, "side": TEXT}
EDGES = np.concatenate([
    np.arange(round(FINE_END_S / FINE_S)) * FINE_S,
    np.arange(round(FINE_END_S / STEP_S), round(END_S / STEP_S) + 1) * STEP_S, [np.inf],
])  # fmt: skip


def keep(folder: RunFolder, logs: Sequence[pl.DataFrame], bins: Sequence[pl.DataFrame]) -> None:
    """Writes both sides of a run, of each middleware its log and its bins; nothing where there is no middleware."""
    if bins:
        sides = {CLIENT: of_client(folder), MIDDLEWARE: of_middleware(logs, bins, *folder.manifest["window_s"])}
        rows = pl.concat(frame.with_columns(side=pl.lit(name)) for name, frame in sides.items())
        write_parquet(rows, folder.path / FILE)


def read(folders: Sequence[Path]) -> dict[str, pl.DataFrame]:
    """The sides of runs, pooled; empty where any of them has none."""
    paths = [folder / FILE for folder in folders]
    if not paths or not all(path.exists() for path in paths):
        return {}
    rows = pl.concat(read_parquet(path, COLUMNS, "measure again", needed=len(COLUMNS)) for path in paths)
    return {side: pooled(rows.filter(pl.col("side") == side)) for side in (CLIENT, MIDDLEWARE)}


def pooled(rows: pl.DataFrame) -> pl.DataFrame:
    """Counts of equal bins added."""
    return rows.group_by("low_s", "high_s").agg(pl.col("count").sum()).sort("low_s")


def of_client(folder: RunFolder) -> pl.DataFrame:
    """From the records; each counts for as many as it was sampled from."""
    start_s, end_s = folder.manifest["window_s"]
    records = folder.frame("requests")
    assert records is not None
    done = records.filter((pl.col("done_s") >= start_s) & (pl.col("done_s") < end_s) & (pl.col("failure") == 0))
    return of_times((done["done_s"] - done["sent_s"]).to_numpy(), folder.sample_every)


def of_times(times_s: np.ndarray, each: int = 1) -> pl.DataFrame:
    """Times in bins; `each` counts `each` times."""
    counts = np.histogram(times_s, EDGES)[0] * each
    frame = pl.DataFrame({"low_s": EDGES[:-1], "high_s": EDGES[1:], "count": counts.astype(np.uint64)})
    return frame.filter(pl.col("count") > 0)


def of_middleware(
    logs: Sequence[pl.DataFrame], bins: Sequence[pl.DataFrame], start_s: float, end_s: float
) -> pl.DataFrame:
    """All middlewares together, from the periods of their logs that lie whole in the window."""
    inside = []
    for log, own in zip(logs, bins, strict=True):
        whole = log.filter((pl.col("t_s") - pl.col("length_s") >= start_s) & (pl.col("t_s") <= end_s))
        inside.append(own.filter(pl.col("t_s").is_in(whole["t_s"].unique().to_list())))
    return pooled(pl.concat(inside))


def quantiles(bins: pl.DataFrame, qs: Sequence[float]) -> list[float]:
    """Straight within a bin, s; NaN where it lies in the overflow, or nothing was counted."""
    counts = bins["count"].to_numpy().astype(float)
    if not counts.sum():
        return [float("nan")] * len(qs)
    ends = np.cumsum(counts) / counts.sum()
    found = []
    for q in qs:
        k = min(int(np.searchsorted(ends, q)), len(ends) - 1)
        low, high = bins["low_s"][k], bins["high_s"][k]
        inside = (q - (ends[k - 1] if k else 0.0)) * counts.sum() / counts[k]
        found.append(float(low + (high - low) * inside) if np.isfinite(high) else float("nan"))
    return found


def steps(bins: pl.DataFrame, last_s: float) -> tuple[np.ndarray, int, int]:
    """Counts at 0.1 ms up to `last_s`; how many lie beyond it, and how many of those in the overflow."""
    count = round(last_s / STEP_S)
    at = (bins["low_s"].to_numpy() / STEP_S + 1e-6).astype(int)
    counts = bins["count"].to_numpy().astype(int)
    shown = np.bincount(at[at < count], counts[at < count], count).astype(int)
    return shown, int(counts[at >= count].sum()), int(counts[~np.isfinite(bins["high_s"].to_numpy())].sum())
