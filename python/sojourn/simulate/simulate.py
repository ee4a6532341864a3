"""`simulate`: runs a model until its means are known to the precision asked for; intervals, quantiles, verdict."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from os import cpu_count
from pathlib import Path
from typing import Any

from sojourn.errors import InputError
from sojourn.former_keyword import former_keyword
from sojourn.model import Model, Network
from sojourn.model.checked_values import quantile_levels
from sojourn.model.model import as_model
from sojourn.parallel import On, open_workers
from sojourn.simulate import stopping_rule
from sojourn.simulate.engine_config import BATCHES, first_batch_s
from sojourn.simulate.engine_record import EngineRecord
from sojourn.simulate.engine_runs import Engine, ReplicationRuns, Replications, Tick, native
from sojourn.simulate.heavy_tails import HeavyTailCheck, TailDoubt
from sojourn.simulate.pooled_replications import MOST_RUNS, PooledReplications
from sojourn.simulate.replications_on_workers import ReplicatedModel, ReplicationsOnWorkers
from sojourn.simulate.simulation_outcome import SimulationOutcome, table
from sojourn.simulate.warmup import cut
from sojourn.solve.solve import settled_network
from sojourn.stats.stationarity import at_edge
from sojourn.table import Metrics
from sojourn.units import USUAL_LEVEL

Progress = Callable[["ProgressSnapshot"], None]
QUANTILES = (0.5, 0.9, 0.95, 0.99)
PASSES_FOR_QUANTILES = 400_000  # 4 000 beyond the 0.99 quantile
EVENTS_PER_S = 5e6  # of the native engine, on a core of 2020 or so


@dataclass(frozen=True)
class ProgressSnapshot:
    """What a progress bar shows: simulated time and events so far; the precision that was reached (inf: not known yet)
    at `known_s` of simulated time, and the one wanted."""

    now_s: float
    events: int
    known_s: float
    precision: float
    wanted: float


@dataclass(frozen=True)
class RunLength:
    """How long: by precision at a level, or fixed (`until_s` of each run, `completions` of each run)."""

    precision: float
    level: float
    until_s: float | None
    completions: int | None
    max_wall_time_s: float

    @property
    def fixed(self) -> bool:
        return self.until_s is not None or self.completions is not None


@former_keyword(on="parallel", max_seconds="max_wall_time_s")
def simulate(
    model: Model | Path | str, precision: float = 0.01, level: float = USUAL_LEVEL, seed: int = 1, replications: int | None = None,
    until_s: float | None = None, completions: int | None = None, quantiles: Sequence[float] = QUANTILES,
    max_wall_time_s: float = 60.0, progress: Progress | None = None, *, parallel: On = None,
    engine: Engine = native,
) -> Metrics:  # fmt: skip
    """Metrics of a model, or of the model file at a path, with intervals at `level`; source "simulated".

    Runs until the mean response time and the throughput of every class are known to `precision` (half-width by value),
    or for `until_s` of simulated time or `completions` passes of each run where these are given; at most `max_wall_time_s`
    of wall time. `replications` independent runs go side by side in threads, or on the workers `parallel` (`sojourn.parallel`):
    2 or "local:2", "tls://HOST:PORT", an Executor, a dask Client; without it, one long run. The same seed gives the same answer
    for any number of threads and workers, unless the wall time cuts it short. More than 64 replications of a given length
    run to their end one after another and are pooled to 64 runs, so that memory does not grow with their number; those that had no
    time to end are left out, and the message says how many.
    Status: ok, too_short (the message says how long would do), unstable, interrupted (Ctrl-C; what was done is kept), no_moment
    (means are infinite) and heavy_tail (no interval by this run can be believed; the message has the exact value where a method
    of `solve` tells it).
    Raises InputError for arguments out of range and ModelError for a model that cannot be simulated.
    """
    length = RunLength(precision, level, until_s, completions, max_wall_time_s)
    check(length, seed, replications, quantiles)
    network = settled_network(as_model(model))
    threads = parallel is None or isinstance(parallel, ThreadPoolExecutor)
    if not threads and replications is None:
        raise InputError("one long run", "parallel", "give replications, which go side by side")
    with _opened(network, seed, replications or 1, length, parallel, engine) as runs:
        outcome = follow(network, runs, length, progress)
    return table(network, outcome, quantiles, seed, replications or 1)


@contextmanager
def _opened(
    network: Network, seed: int, count: int, length: RunLength, parallel: On, engine: Engine
) -> Iterator[ReplicationRuns]:
    """The replications where they run: in threads of this process, or on workers."""
    threads = parallel is None or isinstance(parallel, ThreadPoolExecutor)
    model = ReplicatedModel(network, seed, length.until_s, engine)
    if length.fixed and count > MOST_RUNS:
        with (
            nullcontext(parallel) if parallel is not None else ThreadPoolExecutor(cpu_count() or 1) as place,
            open_workers(place) as workers,
        ):
            yield PooledReplications(model, count, workers)
    elif threads:
        yield Replications([model.beginning(number) for number in range(count)], parallel)
    else:
        with open_workers(parallel) as workers:
            yield ReplicationsOnWorkers(model, count, workers)


def follow(
    network: Network, runs: ReplicationRuns, length: RunLength, progress: Progress | None = None
) -> SimulationOutcome:
    """Runs to the end of `length`, to an interruption, or until the numbers present are seen to grow."""
    started = time.monotonic()
    overloaded = stopping_rule.overload(network)
    outcome = SimulationOutcome(length.precision, length.level, HeavyTailCheck(network), overloaded)
    with _ended(runs, outcome, network):
        for until_s in (
            [math.inf if length.until_s is None else length.until_s]
            if runs.one_stretch
            else _lengths(network, length, outcome)
        ):
            record = runs.go(until_s, length.completions, started + length.max_wall_time_s, _telling(progress, outcome))
            outcome.wall_s = time.monotonic() - started
            _judge(outcome, record, network, length)
            outcome.complete = runs.complete
            if _over(outcome, length):
                break
    return outcome


def _telling(progress: Progress | None, outcome: SimulationOutcome) -> Tick | None:
    if progress is None:
        return None
    reached = outcome.found.precision if outcome.found else math.inf
    return lambda now_s, events: progress(ProgressSnapshot(now_s, events, outcome.length_s, reached, outcome.precision))


@contextmanager
def _ended(runs: ReplicationRuns, outcome: SimulationOutcome, network: Network) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        outcome.interrupted = True
        _judge(outcome, runs.last, network, RunLength(outcome.precision, outcome.level, None, None, math.inf))
        outcome.complete = runs.complete
        if outcome.record is None:
            raise
    finally:
        runs.close()


def _lengths(network: Network, length: RunLength, outcome: SimulationOutcome) -> Iterator[float]:
    """Simulated times at which the run is looked at; the last is open where the precision decides."""
    at = first_batch_s(network) * BATCHES
    end = math.inf if length.until_s is None else length.until_s
    if length.fixed:
        # looked at on the way only for the progress bar
        while at < end and at < math.inf:
            yield at
            at *= stopping_rule.MOST_GROWTH
        yield end
        return
    while True:
        yield at
        needed = outcome.found.needed if outcome.found else math.inf
        at = stopping_rule.next_length(at, max(needed, outcome.doubt.times if outcome.doubt else 0.0))


def _judge(outcome: SimulationOutcome, record: EngineRecord | None, network: Network, length: RunLength) -> None:
    if record is None:
        return
    outcome.events, outcome.passes, outcome.length_s = record.events, record.passes, record.length_s
    outcome.ended = record.ended
    if record.batches == 0:
        return
    outcome.cut = cut(record)
    outcome.warm_up_s = outcome.cut * record.batch_s
    outcome.record = record.after(outcome.cut)
    outcome.found = stopping_rule.reached(outcome.record, network, length.precision, length.level)
    outcome.doubt = outcome.tails.headline(outcome.found.halves, outcome.record, length.precision)
    grown, outcome.growing = outcome.growing, stopping_rule.growing(record, network)
    outcome.unstable = bool(outcome.overloaded) or (grown is not None and outcome.growing is not None)


def _over(outcome: SimulationOutcome, length: RunLength) -> bool:
    if outcome.ended or outcome.wall_s > length.max_wall_time_s or (outcome.unstable and not length.fixed):
        return True
    if length.fixed:
        return length.completions is not None and outcome.passes >= length.completions
    if outcome.found is None or _still_warm(outcome):
        return False
    if outcome.doubt and outcome.doubt.missing:  # no length makes its mean known
        return outcome.found.rates <= length.precision and outcome.passes >= PASSES_FOR_QUANTILES
    if not outcome.found.enough:
        return False
    return outcome.doubt is None or not _worth_going_on(outcome.doubt, outcome.events, length.max_wall_time_s)


def _worth_going_on(doubt: TailDoubt, events: int, max_wall_time_s: float) -> bool:
    """Whether a run so long that rare times show in it ends within the wall time; by a speed that is no clock's, so that the same
    seed gives the same answer."""
    return not doubt.endless and events * doubt.times <= EVENTS_PER_S * max_wall_time_s


def _still_warm(outcome: SimulationOutcome) -> bool:
    """The cut fell at the end of where it may fall: the warm-up may be longer."""
    return at_edge(outcome.warm_up_s, outcome.length_s)


def check(length: RunLength, seed: Any, replications: int | None, quantiles: Sequence[float]) -> None:
    """Raises InputError for an argument out of range."""
    wrong = [
        (not 0 < length.precision < 1, length.precision, "precision", "give a share such as 0.01"),
        (not 0.5 <= length.level < 1, length.level, "level", "give a level such as 0.95"),
        (not (isinstance(seed, int) and 0 <= seed < 2**64), seed, "seed", "give a whole number from 0 to 2^64 - 1"),
        (not _whole(replications), replications, "replications", "give a whole number"),
        (not _whole(length.completions), length.completions, "completions", "give a whole number"),
        (replications is not None and replications < 1, replications, "replications", "give 1 or more"),
        (length.until_s is not None and not 0 < length.until_s < math.inf, length.until_s, "until_s", "give seconds above 0"),
        (length.completions is not None and length.completions < 1, length.completions, "completions", "give 1 or more"),
        (not length.max_wall_time_s > 0, length.max_wall_time_s, "max_wall_time_s", "give seconds above 0"),
    ]  # fmt: skip
    quantile_levels(quantiles)
    for is_wrong, value, place, remedy in wrong:
        if is_wrong:
            raise InputError(repr(value), place, remedy)


def _whole(value: Any) -> bool:
    return value is None or (isinstance(value, int) and not isinstance(value, bool))
