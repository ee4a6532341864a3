"""HdrHistogram interval logs (`.hlog`) as an observation: a window an interval. The file does not say its unit: ns are taken."""

from __future__ import annotations

import numpy as np

from sojourn.errors import InputError
from sojourn.readers.observation import INTENDED, REQUESTS, THINK, USERS, Observation, WindowSeries
from sojourn.readers.text_source import TextSource
from sojourn.runs.interval_log import IntervalHistogram, intervals

NAME = "hlog"
QUANTILES = (0.5, 0.9, 0.95, 0.99, 0.999)
UNIT = "the unit of its values: ns are taken"
MOST_BUCKETS, OF_AN_INTERVAL = 20_000_000, 50  # 24 bytes each, and what an interval takes besides


def matches(head: str) -> bool:
    return head.startswith("#[") or '"StartTimestamp","Interval_Length"' in head


def read(source: TextSource) -> list[Observation]:
    """All tags together."""
    found = _intervals(source)
    values = np.concatenate([(one.low_s + one.high_s) / 2 for one in found])
    counts = np.concatenate([one.counts for one in found]).astype(float)  # whole numbers would begin again at 2^63
    order = np.argsort(values)
    values, counts = values[order], counts[order]
    total = float(counts.sum())
    share = np.cumsum(counts) / total
    length = np.array([one.length_s for one in found])
    means = np.array([np.average((one.low_s + one.high_s) / 2, weights=one.counts.astype(float)) for one in found])
    windows = WindowSeries(
        np.array([one.start_s for one in found]),
        length,
        completed=np.array([float(one.counts.astype(float).sum()) for one in found]),
        mean_s=means,
    )
    return [
        Observation(
            str(source.path), NAME, length_s=float(length.sum()) or None, completed=int(total),
            throughput_per_s=total / float(length.sum()) if length.sum() else None, mean_s=float(np.average(values, weights=counts)),
            least_s=float(values[0]), most_s=float(values[-1]),
            quantiles={q: float(values[min(int(np.searchsorted(share, q)), values.size - 1)]) for q in QUANTILES},
            rounding=0.01, windows=windows, missing_values=(INTENDED, REQUESTS, USERS, THINK, UNIT),
        )
    ]  # fmt: skip


def _intervals(source: TextSource) -> list[IntervalHistogram]:
    """Those that hold anything."""
    found, held = [], 0
    for one in intervals(source.lines(), source.path):
        held += one.counts.size + OF_AN_INTERVAL
        if held > MOST_BUCKETS:
            remedy = "give a part of it, or a log of longer intervals"
            raise InputError(f"more than {MOST_BUCKETS} buckets that hold anything", source.path, remedy)
        if one.counts.size:
            found.append(one)
    if not found:
        raise InputError("no interval with a value", source.path, "give the log of a run that sent something")
    return found
