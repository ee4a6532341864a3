"""The core of a load generator on the service's own machine: one that the service does not use, where there is one."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable
from pathlib import Path

from sojourn.measure.cpu_time import core_times

LOOK_S = 0.2
CLEARLY = 0.2  # of a core: what others use there


def client_cores(
    service: Iterable[int], lanes: int = 1, available: Collection[int] | None = None, *, look_s: float = LOOK_S,
    proc: Path = Path("/proc"),
) -> tuple[int, ...]:  # fmt: skip
    """Of the cores that the service may not use (`service`: those that it may; none where nobody knows) the last for a generator of one
    lane, or the least busy where another is clearly busier, and all for several lanes. Empty where the service may use all: the
    scheduler, which sees where it runs, then chooses."""
    there = os.sched_getaffinity(0) if available is None else available
    used = set(service)
    free = sorted(set(there) - used) if used else []
    if lanes > 1 or len(free) < 2:
        return tuple(free)
    before = core_times(proc)
    time.sleep(look_s)
    after = core_times(proc)
    busy = {core: (after.get(core, 0.0) - before.get(core, 0.0)) / max(look_s, 1e-9) for core in free}
    quiet = min(busy.values())
    return (max(core for core in free if busy[core] <= quiet + CLEARLY),)
