"""A run folder whose requests are not all in `requests.parquet`, as a source: the histograms of `latency.hlog`, and its Metrics.

A histogram knows how many answers of a second took between two times, and nothing else: no order, no class, no states. Within a
bucket times are taken as uniform; buckets of `sojourn load` are at most 0.1 % wide. A second belongs to the batch in which it ends.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sojourn.errors import RunFolderError
from sojourn.query.sources.batch_means_law import BATCHES
from sojourn.query.sources.batched import BatchedLaw
from sojourn.query.sources.convolved import convolved
from sojourn.query.sources.rows import RowSource
from sojourn.query.sources.source import Source
from sojourn.query.values import Estimate, Events, Law
from sojourn.runs.interval_log import IntervalHistogram, read_interval_log
from sojourn.runs.run_folder import RunFolder
from sojourn.table import Metrics

LOG = "latency.hlog"
TAGS = {"": "", "service": "sent"}  # of stations of response_time: from when it was due, from when it was sent
REMEDY = (
    "this run has histograms of its response times only: measure again, with fewer requests, so that each is recorded"
)


class HistogramSource(Source):
    """Raises RunFolderError where the log is missing, damaged or empty."""

    def __init__(self, folder: RunFolder) -> None:
        self.name, self.kind = folder.path.name, "histogram"
        folder.check()
        intervals = read_interval_log(folder.path / LOG)
        window = folder.manifest.get("window_s")
        begin = float((folder.manifest.get("generator") or {}).get("start_s", 0.0))
        times = (window[0] - begin, window[1] - begin) if window else (0.0, math.inf)
        self.intervals = [
            x for x in intervals if x.start_s >= times[0] - 1e-9 and x.start_s + x.length_s <= times[1] + 1e-9
        ]
        if not any(len(x.counts) for x in self.intervals):
            raise RunFolderError("no request was answered in its window", str(folder.path / LOG), "measure longer")
        self.timeout_s = float((folder.manifest.get("load") or {}).get("timeout_s") or math.inf)
        metrics = folder.frame("metrics")
        self.rows = None if metrics is None else RowSource(Metrics(metrics), self.name)

    def time(self, time: str, station: str, cls: str) -> Law:
        if time != "response_time" or station not in TAGS or cls:
            self.refuse(" of ".join(x for x in (time, station or cls) if x), REMEDY)
        return self._law([x for x in self.intervals if x.tag == TAGS[station]])

    def _law(self, own: Sequence[IntervalHistogram]) -> BatchedLaw:
        """Answers at the time-out and later are failures: later than all."""
        low, high, counts = (np.concatenate([getattr(x, name) for x in own]) for name in ("low_s", "high_s", "counts"))
        at = np.repeat(np.arange(len(own)) * min(BATCHES, len(own)) // len(own), [len(x.counts) for x in own])
        failed = high > self.timeout_s
        low, high = (np.where(failed, math.inf, x) for x in (low, high))
        spent = sum(x.length_s for x in own)
        batches = min(BATCHES, len(own))
        return BatchedLaw(
            low,
            high,
            counts.astype(float),
            at,
            spent,
            "response_time",
            of_finite=True,
            batches=batches,
            seen=int(counts.sum()),
        )

    def convolution(self, a: Law, b: Law) -> Law:
        return convolved(a, b)

    def measure(self, metric: str, station: str, cls: str) -> Estimate:
        if self.rows is None:
            self.refuse(metric, REMEDY)
        return self.rows.measure(metric, station, cls)

    def rate(self, events: Events) -> Estimate:
        if self.rows is None:
            self.refuse(f"rate of {events}", REMEDY)
        return self.rows.rate(events)

    def share(self, part: Events, whole: Events) -> Estimate:
        if self.rows is None:
            self.refuse(f"share of {part}", REMEDY)
        return self.rows.share(part, whole)
