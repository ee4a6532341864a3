"""What a middleware's log has before its clients came: zeros that lower a mean taken over the whole of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl


def startup(logs: Sequence[pl.DataFrame]) -> dict[str, float]:
    """`startup_s`: time in the log before the period of the first request, mean of all proxies; `mw_whole_per_s`:
    requests over the time from the first period to the last that has any, of all proxies together."""
    periods = [
        log.group_by("t_s").agg(pl.col("length_s").first(), pl.col("arrivals", "completions").sum()).sort("t_s")
        for log in logs
    ]
    found = [_of(p) for p in periods if p.height and p["completions"].sum()]
    if not found:
        return {}
    idle, whole = np.array(found).T
    return {"startup_s": float(idle.mean()), "mw_whole_per_s": float(whole.sum())}


def _of(periods: pl.DataFrame) -> tuple[float, float]:
    length, arrivals, done = (periods[c].to_numpy() for c in ("length_s", "arrivals", "completions"))
    first, last = int(np.argmax(arrivals > 0)), len(done) - int(np.argmax(done[::-1] > 0))
    return float(length[:first].sum()), float(done[:last].sum() / length[:last].sum())
