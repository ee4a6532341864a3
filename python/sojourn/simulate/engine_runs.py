"""One run of the native engine, and several side by side in threads (the engine releases the GIL).

A run goes on in slices of wall time, so that it can be stopped, and ends exactly at the simulated time asked for: what
it answers does not depend on slices, threads or the machine.
"""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from os import cpu_count
from typing import Any, Protocol

import numpy as np

from sojourn.errors import InputError, SojournError
from sojourn.simulate.engine_record import TABLES, EngineRecord, in_few_bytes, together

SLICE_S = 0.1


class NativeSimulation(Protocol):
    """What the native engine offers."""

    @property
    def now_s(self) -> float: ...
    @property
    def completions(self) -> int: ...
    @property
    def events(self) -> int: ...
    @property
    def ended(self) -> bool: ...
    def run(self, until_s: float | None, completions: int | None, seconds: float | None) -> None: ...
    def batches(self) -> Mapping[str, Any]: ...
    def histogram(self, key: str) -> Mapping[str, Any]: ...


Engine = Callable[[str], NativeSimulation]
Tick = Callable[[float, int], None]  # simulated time of the run that is least far, events of all


def native(config: str) -> NativeSimulation:
    """A simulation of the native engine. Raises InputError for a configuration that it cannot do."""
    from sojourn import _native

    try:
        made: NativeSimulation = _native.Simulation(config)
    except ValueError as error:
        if isinstance(error, SojournError):
            raise
        raise InputError(str(error), "simulate", "change the model, or use a method of sojourn solve") from None
    return made


class Replication:
    """One replication."""

    def __init__(self, config: Mapping[str, Any], engine: Engine = native) -> None:
        self.config = dict(config)
        self.engine = engine
        self.simulation: NativeSimulation | None = None
        self.seen = (0.0, 0)  # simulated time and events at the end of the last slice, for other threads

    def go(
        self, until_s: float, completions: int | None, deadline: float, stop: Any = None, tick: Tick | None = None
    ) -> EngineRecord:
        """On to simulated time `until_s` or that many completions; earlier at the wall clock's `deadline` (of
        time.monotonic), or when `stop` is set."""
        self.simulation = self.simulation or self.engine(json.dumps(self.config))
        sim = self.simulation
        while sim.now_s < until_s and (completions is None or sim.completions < completions):
            if (stop is not None and stop.is_set()) or time.monotonic() > deadline:
                break
            if tick:
                tick(sim.now_s, sim.events)
            sim.run(until_s if until_s < math.inf else None, completions, SLICE_S)
            self.seen = (sim.now_s, sim.events)
            if sim.ended:
                break
        return self.read()

    def read(self) -> EngineRecord:
        assert self.simulation is not None
        found = self.simulation.batches()
        tables = {name: np.asarray(found[name], float)[None] for name in TABLES}
        limits = {name: np.asarray(found[name], float)[None] for name in found if name.startswith("limit_")}
        histograms = {}
        for key in self.config["histograms"]:
            one = self.simulation.histogram(key)
            counts = one["counts"]
            if counts.size:
                histograms[key] = (np.asarray(one["edges_s"], float), in_few_bytes(counts)[None], float(one["group_s"]))
        sim = self.simulation
        so_far = (int(sim.events), bool(sim.ended), int(sim.completions))
        return EngineRecord(float(found["batch_s"]), tables, limits, histograms, *so_far)


class ReplicationRuns(Protocol):
    """Replications of one model, wherever they run; `last` is what they have when they were interrupted, `complete` how many
    are in it. `one_stretch`: they go to their whole length at once."""

    last: EngineRecord | None

    @property
    def complete(self) -> int: ...
    @property
    def one_stretch(self) -> bool: ...

    def go(
        self, until_s: float, completions: int | None, deadline: float, tick: Tick | None = None
    ) -> EngineRecord: ...
    def close(self) -> None: ...


class Replications:
    """Replications of one model, 0 … R - 1; brought to the same simulated time, in the order of their numbers."""

    one_stretch = False

    def __init__(self, runs: Sequence[Replication], executor: ThreadPoolExecutor | None = None) -> None:
        self.runs = list(runs)
        self.complete = len(self.runs)
        self.stop = threading.Event()
        self.own = executor is None and len(self.runs) > 1
        self.executor = ThreadPoolExecutor(min(len(self.runs), cpu_count() or 1)) if self.own else executor
        self.last: EngineRecord | None = None

    def go(self, until_s: float, completions: int | None, deadline: float, tick: Tick | None = None) -> EngineRecord:
        """All runs on to `until_s`; after an interruption `last` is what they have."""
        try:
            if self.executor is None:
                parts = [run.go(until_s, completions, deadline, None, tick) for run in self.runs]
            else:
                jobs = [self.executor.submit(run.go, until_s, completions, deadline, self.stop) for run in self.runs]
                while wait(jobs, SLICE_S, FIRST_EXCEPTION).not_done and not any(_failed(job) for job in jobs):
                    self._tell(tick)
                parts = [job.result() for job in jobs]
        except KeyboardInterrupt:
            self.stop.set()
            self._keep()
            raise
        self.last = together(parts)
        return self.last

    def _tell(self, tick: Tick | None) -> None:
        if tick:
            tick(min(run.seen[0] for run in self.runs), sum(run.seen[1] for run in self.runs))

    def _keep(self) -> None:
        """What all runs have done until an interruption, if they can still be asked."""
        if self.own and self.executor is not None:
            self.executor.shutdown(wait=True)
        if all(run.simulation for run in self.runs):
            self.last = together([run.read() for run in self.runs])

    def close(self) -> None:
        self.stop.set()
        if self.own and self.executor is not None:
            self.executor.shutdown(wait=True)


def _failed(job: Future[EngineRecord]) -> bool:
    return job.done() and job.exception() is not None
