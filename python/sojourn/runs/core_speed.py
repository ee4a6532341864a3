"""How fast each core was in a run: what the recorder's piece of work took there (crates/hostmetrics, `speed`)."""

from __future__ import annotations

import polars as pl

from sojourn.runs.host_samples import counter_changes
from sojourn.runs.run_folder import RunFolder

METRIC = "reference_work_time"
CORE = "core "


def core_work_s(host: pl.DataFrame, start_s: float, end_s: float) -> dict[int, float]:
    """By core the mean CPU time of the piece of work in [start_s, end_s], s: the longer, the slower was the core. Nothing of a run that
    did not record it."""
    work = counter_changes(host.filter(pl.col("source") == "speed"), start_s, end_s)
    found = {(int(core), item): change for core, item, change in work.select("key", "item", "change").iter_rows()}
    pieces = {core: count for (core, item), count in found.items() if item == "pieces" and count > 0}
    return {core: found[core, "cpu_s"] / count for core, count in pieces.items()}


def recorded_work_s(folder: RunFolder) -> dict[int, float]:
    """The same, as a run's Metrics have it."""
    frame = folder.frame("metrics")
    if frame is None:
        return {}
    rows = frame.filter(
        pl.col("metric") == METRIC, pl.col("station").str.starts_with(CORE), pl.col("value").is_not_null()
    )
    return {int(name.removeprefix(CORE)): value for name, value in rows.select("station", "value").iter_rows()}
