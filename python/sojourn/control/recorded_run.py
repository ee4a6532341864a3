"""The windows of a measured or simulated run folder, as a policy would have seen them.

From the begins and ends of its requests: with `workers` servers in order of arrival it is known when each request was served, and so how
busy they were. Exact for a pool that serves so; for another service it is what such a pool would have shown.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from sojourn.control.decision import Seen
from sojourn.control.load_trace import Array
from sojourn.errors import InputError, RunFolderError
from sojourn.query.sources.station import begins
from sojourn.runs.measurement_window import responses
from sojourn.runs.run_folder import RunFolder


def is_run_folder(path: Path | str) -> bool:
    return Path(path, "manifest.json").is_file()


def recorded_windows(path: Path | str, period_s: float, workers: int) -> Iterator[Seen]:
    """Whole windows of `period_s` from its first request to its last; times from the first. Requests that failed count as arrivals alone.

    Raises:
        RunFolderError: it is none, or not every request was recorded. InputError: it is shorter than a window, or workers < 1.
    """
    if workers < 1:
        raise InputError(workers, "--recorded-workers", "give 1 or more")
    folder = RunFolder.open(path)
    records = folder.frame("requests")
    if records is None or records.is_empty() or folder.sample_every > 1:
        raise RunFolderError("only some of its requests are recorded", str(path), "give a folder with requests.parquet")
    found = responses(records)
    came = found["intended_s"].to_numpy()
    first_s, span_s = float(came[0]), float(came[-1] - came[0])
    if span_s < period_s:
        raise InputError(f"{span_s:g} s of requests", path, f"give a run of at least a period, {period_s:g} s")
    yield from windows(found, first_s, period_s, workers, range(int(span_s / period_s + 1e-9)))


def windows(found: pl.DataFrame, first_s: float, period_s: float, workers: int, numbers: range) -> Iterator[Seen]:
    """Of the requests `found`, as `responses` gives them, the windows with these `numbers`, from `first_s`."""
    came, good = found["intended_s"].to_numpy() - first_s, (found["failure"] == 0).to_numpy()
    begin, end = came[good], found["end_s"].fill_nan(math.inf).to_numpy()[good] - first_s
    served = begins(begin, end, workers)
    for k in numbers:
        window = (k * period_s, (k + 1) * period_s)
        left = (end >= window[0]) & (end < window[1])
        busy = float(_inside(served, end, window)) / period_s / workers
        yield Seen(
            window_end_s=window[1], window_s=period_s, workers=workers, ready_workers=workers,
            rate_per_s=float(((came >= window[0]) & (came < window[1])).sum()) / period_s,
            throughput_per_s=float(left.sum()) / period_s, utilisation=min(busy, 1.0),
            in_system=float(_inside(begin, end, window)) / period_s,
            waiting=float(((begin < window[1]) & (served >= window[1])).sum()),
            response_s=float((end[left] - begin[left]).mean()) if left.any() else None,
        )  # fmt: skip


def _inside(begin: Array, end: Array, window: tuple[float, float]) -> float:
    """Time that lies in the window, summed over the requests."""
    return float(np.maximum(np.minimum(end, window[1]) - np.maximum(begin, window[0]), 0.0).sum())
