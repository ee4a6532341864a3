"""Many replications of a fixed length in bounded memory: each runs to its end at once, and those of a pool become one run.

A record keeps its runs apart because an interval needs independent ones, and 64 are as good as 10 000: Student's quantile at
63 degrees of freedom is 2 % wider than the normal one. So neighbours by number are pooled to `MOST_RUNS` runs at most:
tables are their mean, histograms their sum. A pool is a piece of work; which replications are in it depends on their number alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sojourn.parallel import Workers, run_pieces
from sojourn.simulate.engine_record import EngineRecord, in_few_bytes, together
from sojourn.simulate.engine_runs import Tick
from sojourn.simulate.replications_on_workers import ReplicatedModel, monotonic_s, wall_clock_s

MOST_RUNS = 64
AT_ONCE = 8  # records that are held before they are added up


@dataclass(frozen=True)
class ReplicationPool:
    """Replications `numbers` from the beginning to `until_s` or `completions`, at most to `end_s` of the clock on the wall."""

    numbers: range
    until_s: float
    completions: int | None
    end_s: float


@dataclass(frozen=True)
class PoolRecord:
    """The mean of the replications of a pool that came to their end, and how many; a part of the first where none did."""

    record: EngineRecord
    complete: int


class PooledReplications:
    """`count` replications of a model, more than `MOST_RUNS`; `go` is called once, with their whole length.

    Where time is up or the run is interrupted, replications that have not come to their end are left out, and `complete`
    says how many have; where none has, what they did is kept, `complete` 0.
    """

    one_stretch = True

    def __init__(self, model: ReplicatedModel, count: int, workers: Workers) -> None:
        self.model, self.workers = model, workers
        self.pools = [range(int(p[0]), int(p[-1]) + 1) for p in np.array_split(np.arange(count), MOST_RUNS)]
        self.handle = workers.send(model)
        self.done: dict[int, PoolRecord] = {}
        self.last: EngineRecord | None = None

    @property
    def complete(self) -> int:
        return sum(pool.complete for pool in self.done.values())

    def go(self, until_s: float, completions: int | None, deadline: float, tick: Tick | None = None) -> EngineRecord:
        """All to `until_s` or `completions`; `deadline` is of this process's monotonic clock."""
        end_s = wall_clock_s(deadline)
        pieces = [ReplicationPool(numbers, until_s, completions, end_s) for numbers in self.pools]

        def keep(number: int, found: PoolRecord) -> None:
            self.done[number] = found
            if tick:
                length_s = until_s if math.isfinite(until_s) else found.record.length_s
                tick(length_s * len(self.done) / len(pieces), sum(pool.record.events for pool in self.done.values()))

        try:
            run_pieces(self.workers, run_pool, self.handle, pieces, each=keep)
        finally:
            kept = [self.done[number] for number in sorted(self.done)]
            whole = [pool.record for pool in kept if pool.complete] or [pool.record for pool in kept]
            self.last = together(whole) if whole else None
        assert self.last is not None
        return self.last

    def close(self) -> None:
        self.workers.drop(self.handle)


def run_pool(model: ReplicatedModel, pool: ReplicationPool) -> PoolRecord:
    """In a worker: one replication after another; what they hold is freed as they end."""
    deadline, held, complete = monotonic_s(pool.end_s), list[EngineRecord](), 0
    for number in pool.numbers:
        record = model.beginning(number).go(pool.until_s, pool.completions, deadline)
        if _complete(record, pool):
            held.append(record)
            complete += 1
        elif not complete:
            return PoolRecord(record, 0)
        else:
            break
        if len(held) == AT_ONCE:
            held = [added(held)]
    return PoolRecord(mean(added(held), complete), complete)


def _complete(record: EngineRecord, pool: ReplicationPool) -> bool:
    if record.ended:
        return True
    if pool.completions is not None:
        return record.passes >= pool.completions
    return record.length_s + record.batch_s > pool.until_s * (1 - 1e-12)


def added(records: Sequence[EngineRecord]) -> EngineRecord:
    """Runs as one: all that happened in them, by batches; as long as the shortest."""
    runs = together(records)
    return replace(
        runs,
        tables={name: table.sum(axis=0, keepdims=True) for name, table in runs.tables.items()},
        limits={name: table.sum(axis=0, keepdims=True) for name, table in runs.limits.items()},
        histograms={
            key: (edges, in_few_bytes(counts.sum(axis=0, keepdims=True)), group_s)
            for key, (edges, counts, group_s) in runs.histograms.items()
        },
    )


def mean(record: EngineRecord, count: int) -> EngineRecord:
    """Of the sum of `count` runs, their mean; histograms stay a sum, whose observations are counted."""
    return replace(
        record,
        tables={name: table / count for name, table in record.tables.items()},
        limits={name: table / count for name, table in record.limits.items()},
    )
