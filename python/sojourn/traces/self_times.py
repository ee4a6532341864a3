"""Self time: a span's duration without the time in which it has a child, children that run side by side counted once.

Self time is residence: waiting for a CPU, a lock or a worker is in it, so that it is no demand. A child of another service has
another clock: where it lies partly outside of its caller though it is no longer than that, it is moved inside, by the least that does it.
A child that is longer, or of the same clock, is cut off at the ends of its parent. A message's receiver takes no time from its sender.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sojourn.traces.linked_spans import LinkedSpans, is_asynchronous
from sojourn.traces.span_table import SpanTable

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ClockSkew:
    """Between two services: `calls` in all, `outside` of them lie outside of their caller, by `most_s`; `earlier`: how many begin
    before it, which only clocks explain."""

    calls: int
    outside: int
    earlier: int
    most_s: float


@dataclass(frozen=True)
class SelfTimes:
    """`self_s` (spans,): NaN where a time is not known, or the span belongs to no request. `parallel` (spans,): whether it ran
    beside another child of its parent; `outlived`: spans that end after a parent of the same clock; `untimed`: spans without times that
    make sense; `skews`: (caller's, callee's service) → how far their clocks are apart."""

    self_s: Array
    parallel: NDArray[np.bool_]
    outlived: int
    untimed: int
    skews: Mapping[tuple[int, int], ClockSkew]


def self_times(table: SpanTable, linked: LinkedSpans) -> SelfTimes:
    """Of all spans that belong to a request."""
    by_parent, edges = linked.children()
    own = np.full(len(table), np.nan)
    parallel = np.zeros(len(table), bool)
    outlived = untimed = 0
    moved: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for i in linked.order.tolist():
        start, end = int(table.start_ns[i]), int(table.end_ns[i])
        if start < 0:
            untimed += 1
            continue
        taken: list[tuple[int, int, int]] = []
        for child in by_parent[edges[i] : edges[i + 1]].tolist():
            low, high = int(table.start_ns[child]), int(table.end_ns[child])
            if low < 0 or is_asynchronous(table, i, child):
                continue
            if table.service[child] != table.service[i]:
                low, high = _inside(low, high, start, end, moved[int(table.service[i]), int(table.service[child])])
            outlived += high > end
            taken.append((max(low, start), min(high, end), child))
        covered, beside = _union(taken)
        parallel[beside] = True
        own[i] = (end - start - covered) * 1e-9
    skews = {
        pair: ClockSkew(n, outside, earlier, most_ns * 1e-9)
        for pair, (n, outside, earlier, most_ns) in moved.items()
        if outside
    }
    return SelfTimes(own, parallel, outlived, untimed, skews)


def _inside(low: int, high: int, start: int, end: int, counts: list[int]) -> tuple[int, int]:
    """A call on another clock, moved into its caller where it fits; `counts`: calls, outside, earlier, ns."""
    counts[0] += 1
    off = start - low if low < start else end - high if high > end else 0
    if not off:
        return low, high
    counts[1] += 1
    counts[2] += low < start
    counts[3] = max(counts[3], abs(off))
    return (low + off, high + off) if high - low <= end - start else (low, high)


def _union(taken: list[tuple[int, int, int]]) -> tuple[int, list[int]]:
    """How long at least one interval lasts, and which of them overlap another; `taken`: start, end, which."""
    covered, beside = 0, []
    until, last = -1, -1  # where the latest one so far ends, and which it is
    for low, high, which in sorted(taken):
        if high <= low:
            continue
        if low < until:
            beside += [which, last]
        covered += max(high - max(low, until), 0)
        if high > until:
            until, last = high, which
    return covered, beside
