"""Run folders as observations for fitting: one row for each block of time in each run.

Blocks are what a bootstrap resamples: requests inside a queue are correlated, blocks much longer than a busy
period hardly are.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sojourn.errors import RunFolderError
from sojourn.runs.core_utilisation import busy_shares, core_groups, meter_errors, softirq_shares
from sojourn.runs.measurement_window import in_window, responses
from sojourn.runs.run_folder import RunFolder

BLOCKS = 20


def observe(folders: list[Path] | list[RunFolder], blocks: int = BLOCKS) -> pl.DataFrame:
    """Observations of the runs, columns: run, cores, nics, rate_per_s, block, requests, response_s, throughput_per_s,
    duration_s, util_leading, util_trailing, softirq_leading, valid (units in the names; shares in [0, 1]), and
    util_leading_error, softirq_leading_error: what these meters may be off in all runs alike, relative.

    Raises:
        RunFolderError: a folder that cannot be read, or none that has a window of measured requests.
    """
    opened = [f if isinstance(f, RunFolder) else RunFolder.open(f) for f in folders]
    frames = [frame for frame in (_blocks(folder, blocks) for folder in opened) if not frame.is_empty()]
    if not frames:
        raise RunFolderError(*_nothing(opened))
    return pl.concat(frames, how="vertical_relaxed")


def _nothing(folders: list[RunFolder]) -> tuple[str, str, str]:
    """Why there is nothing to observe: value, place, remedy."""
    if not folders:
        return "no open-loop run", "runs", "give runs at known rates, as `sojourn measure` makes them"
    first = folders[0].manifest
    reasons = first.get("reasons") or [f"its status is {first['status']!r}"]
    others = f" (and {len(folders) - 1} more)" if len(folders) > 1 else ""
    return "; ".join(reasons), f"{folders[0].path}{others}", "measure again, or give runs that are complete"


def _blocks(folder: RunFolder, blocks: int) -> pl.DataFrame:
    records = folder.frame("requests")
    start, end = folder.manifest.get("window_s", (0.0, 0.0))
    if records is None or end <= start:
        return pl.DataFrame()
    requests = responses(records)
    host = folder.frame("host")
    edges = np.linspace(start, end, blocks + 1)
    leading, trailing = core_groups(folder.manifest)
    every = folder.sample_every
    rows = []
    for block in range(blocks):
        window = (float(edges[block]), float(edges[block + 1]))
        good = in_window(requests, window).filter(pl.col("failure") == 0)
        answered = requests.filter((pl.col("failure") == 0) & pl.col("end_s").is_between(*window)).height
        rows.append({
            "block": block,
            "requests": good.height,
            "response_s": float(good["response_s"].mean()) if good.height else None,  # type: ignore[arg-type]
            "throughput_per_s": every * answered / (window[1] - window[0]),
            "duration_s": window[1] - window[0],
        })  # fmt: skip
    frame = pl.DataFrame(rows).with_columns(**_constants(folder))
    shares = _shares(folder, host, edges, leading, trailing)
    return frame.with_columns(**{name: pl.Series(values, dtype=pl.Float64) for name, values in shares.items()})


def _constants(folder: RunFolder) -> dict[str, Any]:
    factors = folder.manifest.get("factors", {})
    load = folder.manifest.get("load", {})
    taking = len((folder.manifest.get("placement") or {}).get("interrupts", ())) or 1  # cores that take interrupts
    rate = factors.get(
        "rate_per_s", sum(lane.get("arrivals", {}).get("rate_per_s", 0.0) for lane in load.get("lanes", []))
    )
    return {
        "run": pl.lit(folder.path.name),
        "cores": pl.lit(int(factors.get("cores", 1))),
        "nics": pl.lit(int(factors.get("nics", taking))),
        "rate_per_s": pl.lit(float(rate)),
        "valid": pl.lit(bool(folder.manifest.get("valid", False))),
        **{name: pl.lit(bound) for name, bound in meter_errors(folder.manifest).items()},
    }


def _shares(
    folder: RunFolder, host: pl.DataFrame | None, edges: np.ndarray, leading: list[int], trailing: list[int]
) -> dict[str, list[float | None]]:
    """Busy and soft-interrupt shares a block; counters are interpolated at the block edges, so that none is lost."""
    nothing: list[float | None] = [None] * (len(edges) - 1)
    if host is None or not leading:
        return {"util_leading": nothing, "util_trailing": nothing, "softirq_leading": nothing}
    busy, soft = busy_shares(host, folder.manifest, edges), softirq_shares(host, edges)

    def mean(series: dict[int, np.ndarray], cores: list[int]) -> list[float | None]:
        known = [series[core] for core in cores if core in series]
        shares = np.mean(known, axis=0) if known else np.full(len(nothing), np.nan)
        # a block shorter than a tick of an idle core has no share
        return [float(x) if np.isfinite(x) else None for x in shares]

    return {
        "util_leading": mean(busy, leading),
        "util_trailing": mean(busy, trailing),
        "softirq_leading": mean(soft, leading),
    }
