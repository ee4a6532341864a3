"""What a controlled run is judged by: violations, core-hours, changes, reversals, the longest time out of the objective."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn.control.decision import Decision
from sojourn.control.load_trace import Array

if TYPE_CHECKING:
    from sojourn.control.varying_queue import VaryingQueue
    from sojourn.query.objectives import Objective

WINDOW_S = 10.0


@dataclass(frozen=True)
class ControlMetrics:
    """`late_requests`: share above the objective's limit; `late_windows`: share of windows of 10 s (with requests) in which more than the
    objective allows are; `worst_window`: the largest such share. `core_hours`: of workers set, and of those that end their last
    request. `reversals`: changes against the one before. `longest_s`: the longest run of late windows, the time to settle after
    the worst disturbance."""

    requests: int
    late_requests: float
    late_windows: float
    worst_window: float
    core_hours: float
    changes: int
    reversals: int
    longest_s: float

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def figures(
    arrivals: Array, response: Array, queue: VaryingQueue, log: Sequence[Decision], duration_s: float, aim: Objective
) -> ControlMetrics:
    """Of all requests that arrived; a window's are those that arrived in it. Costs end with the load."""
    late = response > aim.limit
    count = int(np.ceil(duration_s / WINDOW_S))
    which = np.minimum((arrivals / WINDOW_S).astype(int), count - 1)
    came, missed = np.bincount(which, minlength=count), np.bincount(which, late, minlength=count)
    shares = np.divide(missed, came, out=np.zeros(count), where=came > 0)
    bad = shares > 1 - aim.q + 1e-12
    steps = [one.workers - one.observed.workers for one in log if one.workers != one.observed.workers]
    after_s = max(queue.now_s - (log[-1].observed.window_end_s if log else 0.0), 0.0) * len(queue.free)
    return ControlMetrics(
        len(arrivals), float(late.mean()) if len(late) else 0.0, float(bad.sum() / max((came > 0).sum(), 1)),
        float(shares.max(initial=0.0)), (queue.worker_s - after_s) / 3600, len(steps),
        sum(a * b < 0 for a, b in pairwise(steps)), WINDOW_S * _longest(bad.tolist()),
    )  # fmt: skip


def _longest(bad: Iterable[bool]) -> int:
    longest = now = 0
    for one in bad:
        now = now + 1 if one else 0
        longest = max(longest, now)
    return longest
