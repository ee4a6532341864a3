"""Run folders as observations for fitting: one row for each block of time in each run.

Blocks are what a bootstrap resamples: requests inside a queue are correlated, blocks much longer than a busy
period hardly are.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sojourn.measure.folder import RunFolder
from sojourn.measure.host import BUSY, EVERYTHING
from sojourn.measure.window import in_window, responses

BLOCKS = 20


def observe(folders: list[Path] | list[RunFolder], blocks: int = BLOCKS) -> pl.DataFrame:
    """Observations of the runs, columns: run, cores, nics, rate_per_s, block, requests, response_s, throughput_per_s,
    duration_s, util_leading, util_trailing, softirq_leading, valid (units in the names; shares in [0, 1])."""
    frames = [_blocks(f if isinstance(f, RunFolder) else RunFolder.open(f), blocks) for f in folders]
    return pl.concat([frame for frame in frames if not frame.is_empty()], how="vertical_relaxed")


def _blocks(folder: RunFolder, blocks: int) -> pl.DataFrame:
    records = folder.frame("requests")
    start, end = folder.manifest.get("window_s", (0.0, 0.0))
    if records is None or end <= start:
        return pl.DataFrame()
    requests = responses(records)
    host = folder.frame("host")
    edges = np.linspace(start, end, blocks + 1)
    leading, trailing = core_groups(folder.manifest)
    rows = []
    for block in range(blocks):
        window = (float(edges[block]), float(edges[block + 1]))
        good = in_window(requests, window).filter(pl.col("failure") == 0)
        answered = requests.filter((pl.col("failure") == 0) & pl.col("end_s").is_between(*window)).height
        rows.append({
            "block": block,
            "requests": good.height,
            "response_s": float(good["response_s"].mean()) if good.height else None,  # type: ignore[arg-type]
            "throughput_per_s": answered / (window[1] - window[0]),
            "duration_s": window[1] - window[0],
        })  # fmt: skip
    frame = pl.DataFrame(rows).with_columns(**_constants(folder))
    shares = _shares(folder, host, edges, leading, trailing)
    return frame.with_columns(**{name: pl.Series(values, dtype=pl.Float64) for name, values in shares.items()})


def _constants(folder: RunFolder) -> dict[str, Any]:
    factors = folder.manifest.get("factors", {})
    load = folder.manifest.get("load", {})
    rate = factors.get("rate_per_s", sum(lane.get("arrivals", {}).get("rate_per_s", 0.0) for lane in load.get("lanes", [])))
    return {
        "run": pl.lit(folder.path.name),
        "cores": pl.lit(int(factors.get("cores", 1))),
        "nics": pl.lit(int(factors.get("nics", 1))),
        "rate_per_s": pl.lit(float(rate)),
        "valid": pl.lit(bool(folder.manifest.get("valid", False))),
    }


def core_groups(manifest: dict[str, Any]) -> tuple[list[int], list[int]]:
    """The leading cores (they take interrupts) and the trailing ones of a run; without a placement, all lead."""
    placement = manifest.get("placement")
    if not placement:
        return list((manifest.get("host") or {}).get("cores", [])), []
    leading = list(dict.fromkeys(placement["interrupts"]))
    return leading, [core for core in placement["server"] if core not in leading]


def _shares(
    folder: RunFolder, host: pl.DataFrame | None, edges: np.ndarray, leading: list[int], trailing: list[int]
) -> dict[str, list[float | None]]:
    """Busy and soft-interrupt shares a block. Busy time is the spinner's loss where there are spinners (exact),
    otherwise ticks. Counters are interpolated at the block edges, so that no sample is lost between blocks."""
    blocks = len(edges) - 1
    nothing: list[float | None] = [None] * blocks
    if host is None or not leading:
        return {"util_leading": nothing, "util_trailing": nothing, "softirq_leading": nothing}
    busy, soft = _series(folder, host, edges)

    def mean(series: dict[int, np.ndarray], cores: list[int]) -> list[float | None]:
        known = [series[core] for core in cores if core in series]
        return [float(x) for x in np.mean(known, axis=0)] if known else nothing

    return {
        "util_leading": mean(busy, leading),
        "util_trailing": mean(busy, trailing),
        "softirq_leading": mean(soft, leading),
    }


def _series(
    folder: RunFolder, host: pl.DataFrame, edges: np.ndarray
) -> tuple[dict[int, np.ndarray], dict[int, np.ndarray]]:
    busy: dict[int, np.ndarray] = {}
    soft: dict[int, np.ndarray] = {}
    cpu = host.filter(pl.col("source") == "cpu")
    for (key,), group in cpu.group_by("key"):
        state = {item: _growth(part, edges) for (item,), part in group.group_by("item")}
        total = np.sum([state[item] for item in EVERYTHING if item in state], axis=0)
        total = np.where(total > 0, total, np.nan)
        core = int(str(key))
        busy[core] = np.sum([state[item] for item in BUSY if item in state], axis=0) / total
        soft[core] = (state["softirq"] + state["irq"]) / total
    return busy | _spinner_series(folder, host, edges), soft


def _spinner_series(folder: RunFolder, host: pl.DataFrame, edges: np.ndarray) -> dict[int, np.ndarray]:
    pid = folder.manifest.get("pids", {}).get("spinners")
    if pid is None:
        return {}
    threads = host.filter((pl.col("source") == "thread") & pl.col("key").str.starts_with(f"{pid}/"))
    found = {}
    for (key,), group in threads.group_by("key"):
        if key == f"{pid}/{pid}":
            continue
        core = int(group.filter(pl.col("item") == "core")["value"][0])
        found[core] = 1.0 - _growth(group.filter(pl.col("item") == "run_s"), edges) / np.diff(edges)
    return found


def _growth(series: pl.DataFrame, edges: np.ndarray) -> np.ndarray:
    """By how much a counter grew in each block, linear between samples."""
    ordered = series.sort("t_s")
    return np.diff(np.interp(edges, ordered["t_s"].to_numpy(), ordered["value"].to_numpy()))
