"""HdrHistogram interval logs (`.hlog`) as an observation: a window an interval. The file does not say its unit: ns are taken."""

from __future__ import annotations

import numpy as np

from sojourn.errors import InputError
from sojourn.readers.observation import INTENDED, REQUESTS, THINK, USERS, Observation, Windows
from sojourn.readers.text_source import TextSource
from sojourn.runs.interval_log import read_interval_log

NAME = "hlog"
QUANTILES = (0.5, 0.9, 0.95, 0.99, 0.999)
UNIT = "the unit of its values: ns are taken"


def matches(head: str) -> bool:
    return head.startswith("#[") or '"StartTimestamp","Interval_Length"' in head


def read(source: TextSource) -> list[Observation]:
    """All tags together."""
    found = [one for one in read_interval_log(source.path) if one.counts.sum()]
    if not found:
        raise InputError("no interval with a value", source.path, "give the log of a run that sent something")
    values = np.concatenate([(one.low_s + one.high_s) / 2 for one in found])
    counts = np.concatenate([one.counts for one in found])
    order = np.argsort(values)
    values, counts = values[order], counts[order]
    share, total = np.cumsum(counts) / counts.sum(), int(counts.sum())
    length = np.array([one.length_s for one in found])
    means = np.array([np.average((one.low_s + one.high_s) / 2, weights=one.counts) for one in found])
    windows = Windows(
        np.array([one.start_s for one in found]),
        length,
        completed=np.array([float(one.counts.sum()) for one in found]),
        mean_s=means,
    )
    return [
        Observation(
            str(source.path), NAME, length_s=float(length.sum()) or None, completed=total,
            throughput_per_s=total / float(length.sum()) if length.sum() else None, mean_s=float(np.average(values, weights=counts)),
            least_s=float(values[0]), most_s=float(values[-1]), quantiles={q: float(values[np.searchsorted(share, q)]) for q in QUANTILES},
            rounding=0.01, windows=windows, unknown=(INTENDED, REQUESTS, USERS, THINK, UNIT),
        )
    ]  # fmt: skip
