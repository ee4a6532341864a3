"""What the engine recorded of one or more runs, as arrays; runs of one model are brought to the same batches.

A table is (R, B, K + 1, C): R runs, B batches of `batch_s` of simulated time, K stations and the whole system as the
last, C classes. `histograms[key]` is (edges, counts (R, G, n)) of response times, in G groups of `group_s`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sojourn.stats.batch_means import Array

TABLES = (
    "completions",
    "response_s",
    "response_s2",
    "waiting_s",
    "waiting_s2",
    "waited",
    "present",
    "busy",
    "blocked",
    "arrivals",
    "losses",
)


@dataclass
class EngineRecord:
    batch_s: float
    tables: dict[str, Array]
    limits: dict[str, Array] = field(default_factory=dict)
    histograms: dict[str, tuple[Array, Array, float]] = field(default_factory=dict)
    events: int = 0
    ended: bool = False  # nothing will ever happen again in any run: traces are over, or all are blocked
    passes: int = 0  # completed by the run that has fewest, warm-up included

    @property
    def runs(self) -> int:
        return int(self.tables["completions"].shape[0])

    @property
    def batches(self) -> int:
        return int(self.tables["completions"].shape[1])

    @property
    def length_s(self) -> float:
        """Simulated time of one run in whole batches."""
        return self.batches * self.batch_s

    def after(self, cut: int) -> EngineRecord:
        """Without the first `cut` batches; groups of a histogram that begin before the cut go too."""
        histograms = {}
        for key, (edges, counts, group_s) in self.histograms.items():
            first = min(int(np.ceil(cut * self.batch_s / group_s - 1e-9)), counts.shape[1] - 1)
            histograms[key] = (edges, counts[:, max(first, 0) :], group_s)
        return EngineRecord(
            self.batch_s,
            {name: table[:, cut:] for name, table in self.tables.items()},
            {name: table[:, cut:] for name, table in self.limits.items()},
            histograms,
            self.events,
            self.ended,
            self.passes,
        )


def in_few_bytes(counts: Array) -> Array:
    """In as few bytes as hold them: they are most of a record, which goes from process to process."""
    return counts.astype(np.min_scalar_type(int(counts.max(initial=0))))


def together(parts: Sequence[EngineRecord]) -> EngineRecord:
    """Runs side by side: batches merged to the longest `batch_s` (powers of two apart), cut to the shortest run."""
    if len(parts) == 1:
        return parts[0]
    longest = max(part.batch_s for part in parts)
    parts = [_coarser(part, longest) for part in parts]
    fewest = min(part.batches for part in parts)
    histograms = {}
    for key in (key for key in parts[0].histograms if all(key in part.histograms for part in parts)):
        edges = np.unique(np.concatenate([part.histograms[key][0] for part in parts]))
        group_s = max(part.histograms[key][2] for part in parts)
        histograms[key] = (edges, _side_by_side([part.histograms[key] for part in parts], group_s, edges), group_s)
    return EngineRecord(
        longest,
        {name: np.concatenate([p.tables[name][:, :fewest] for p in parts]) for name in parts[0].tables},
        {name: np.concatenate([p.limits[name][:, :fewest] for p in parts]) for name in parts[0].limits},
        histograms,
        sum(part.events for part in parts),
        all(part.ended for part in parts),
        min(part.passes for part in parts),
    )


def _coarser(part: EngineRecord, batch_s: float) -> EngineRecord:
    by = round(batch_s / part.batch_s)
    if by == 1:
        return part
    tables = {name: _merged(table, by) for name, table in part.tables.items()}
    limits = {name: _merged(table, by) for name, table in part.limits.items()}
    return EngineRecord(batch_s, tables, limits, part.histograms, part.events, part.ended, part.passes)


def _side_by_side(histograms: Sequence[tuple[Array, Array, float]], group_s: float, edges: Array) -> Array:
    """Counts over all `edges`, cut to the fewest groups; those of a run are a stretch of them, because bins are the same
    everywhere."""
    merged = [_merged(counts, by) if (by := round(group_s / own_s)) > 1 else counts for _, counts, own_s in histograms]
    runs, least = sum(len(counts) for counts in merged), min(counts.shape[1] for counts in merged)
    found = np.zeros((runs, least, len(edges) - 1), np.result_type(*merged))
    first = 0
    for (own, _, _), counts in zip(histograms, merged, strict=True):
        before = int(np.searchsorted(edges, own[0]))
        found[first : first + len(counts), :, before : before + counts.shape[2]] = counts[:, :least]
        first += len(counts)
    return found


def _merged(table: Array, by: int) -> Array:
    count = table.shape[1] // by
    return table[:, : count * by].reshape(table.shape[0], count, by, *table.shape[2:]).sum(axis=2)
