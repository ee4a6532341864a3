"""Requests of a run in the window that counts, and what a person would call their response time."""

from __future__ import annotations

import numpy as np
import polars as pl

from sojourn.runs.request_times import end, in_window, response_s, succeeded
from sojourn.runs.run_folder import RunFolder
from sojourn.stats.stationarity import at_edge, warm_up

__all__ = ["choose_window", "in_window", "responses"]
LEAST_WARM_UP_S = 0.5


def responses(requests: pl.DataFrame) -> pl.DataFrame:
    """Adds `end_s` (kernel receive where there is one, else done), `response_s` (from intended to it),
    `service_response_s` (from sent to it) and `lateness_s`, in order of intended time."""
    return (
        requests.sort("intended_s")  # before columns are added, which it would copy
        .with_columns(end())
        .with_columns(
            response_s=pl.col("end_s") - pl.col("intended_s"),
            service_response_s=pl.col("end_s") - pl.col("sent_s"),
            lateness_s=pl.col("sent_s") - pl.col("intended_s"),
        )
    )


LONG = "the warm-up may last longer: its end was found at a fifth of the run, the latest allowed position; run longer"


def choose_window(folder: RunFolder, requests: pl.DataFrame) -> tuple[tuple[float, float], list[str]]:
    """The window [start, end] in s of CLOCK_MONOTONIC: after the warm-up (`stationary.warm_up`, and at least the `warm_up_s` of
    the manifest, else 0.5 s) until the last intended request; of users in sessions what is between the ramps. And what is
    worth knowing of the cut."""
    if sessions := (folder.manifest.get("generator") or {}).get("sessions"):
        return (float(sessions["run_start_s"]), float(sessions["run_end_s"])), []
    good = succeeded(requests)
    first, last = float(requests["intended_s"][0]), float(requests["intended_s"][-1])
    summary = folder.manifest.get("generator") or {}
    first, last = float(summary.get("start_s", first)), min(float(summary.get("end_s", last)), last)
    cut = warm_up(response_s(good).to_numpy().astype(np.float64, copy=False))
    told = [LONG] if at_edge(cut, good.height) else []
    steady = float(good["intended_s"][cut]) if good.height else first
    start = max(steady, first + float(folder.manifest.get("warm_up_s", LEAST_WARM_UP_S)))
    return ((start, last) if start < last else (first, last)), told
