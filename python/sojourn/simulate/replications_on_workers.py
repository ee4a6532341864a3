"""Replications on workers: the same runs, looked at after the same simulated times, as in threads of one process.

A replication is a piece: its number and the seed of all make its random streams, wherever it runs. Between two looks it stays
with the worker that ran it. On another worker it starts again, which costs time and changes nothing, because a run
ends exactly at the simulated time asked for.
"""

from __future__ import annotations

import itertools
import os
import time
from dataclasses import dataclass, field

from sojourn.model import Network
from sojourn.parallel import Workers, run_pieces
from sojourn.simulate.engine_config import configuration
from sojourn.simulate.engine_record import EngineRecord, together
from sojourn.simulate.engine_runs import Engine, Replication, Tick

_kept: dict[tuple[str, int], Replication] = {}  # in a worker: run and number → where it stands
_numbers = itertools.count()


@dataclass(frozen=True)
class ReplicatedModel:
    """What all replications share; travels once."""

    network: Network
    seed: int
    until_s: float | None
    engine: Engine
    name: str = field(default_factory=lambda: f"{os.getpid()}-{time.time_ns()}-{next(_numbers)}")

    def replication(self, number: int) -> Replication:
        """Where a replication stands here, or its beginning."""
        if (self.name, number) not in _kept:
            _kept[self.name, number] = self.beginning(number)
        return _kept[self.name, number]

    def beginning(self, number: int) -> Replication:
        """A replication of which nothing has run."""
        return Replication(configuration(self.network, self.seed, number, until_s=self.until_s), self.engine)


@dataclass(frozen=True)
class ReplicationStretch:
    """On to `until_s` of simulated time or `completions`, at most to `end_s` of the clock on the wall."""

    number: int
    until_s: float
    completions: int | None
    end_s: float


class ReplicationsOnWorkers:
    """`count` replications of a model."""

    one_stretch = False

    def __init__(self, model: ReplicatedModel, count: int, workers: Workers) -> None:
        self.model, self.count, self.workers = model, count, workers
        self.complete = count
        self.handle = workers.send(model)
        self.last: EngineRecord | None = None

    def go(self, until_s: float, completions: int | None, deadline: float, tick: Tick | None = None) -> EngineRecord:
        """All on to `until_s`, and their records as one; `deadline` is of this process's monotonic clock."""
        end_s = wall_clock_s(deadline)
        legs = [ReplicationStretch(number, until_s, completions, end_s) for number in range(self.count)]
        self.last = together(run_pieces(self.workers, advanced, self.handle, legs, bound=True))
        return self.last

    def close(self) -> None:
        forget(self.model.name)
        self.workers.drop(self.handle)


def advanced(model: ReplicatedModel, leg: ReplicationStretch) -> EngineRecord:
    """One leg of one replication, in a worker; runs of other models are forgotten."""
    for name in {name for name, _ in tuple(_kept)} - {model.name}:
        forget(name)
    return model.replication(leg.number).go(leg.until_s, leg.completions, monotonic_s(leg.end_s))


def wall_clock_s(deadline: float) -> float:
    """A time of this process's monotonic clock for processes on other machines."""
    return time.time() + deadline - time.monotonic()


def monotonic_s(end_s: float) -> float:
    """And back."""
    return time.monotonic() + end_s - time.time()


def forget(name: str) -> None:
    """Frees what a model's replications hold here."""
    for key in [key for key in tuple(_kept) if key[0] == name]:
        _kept.pop(key, None)
