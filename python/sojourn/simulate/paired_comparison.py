"""Two models with common random numbers: the difference of every metric, paired by replication.

Source: Law, Simulation Modeling and Analysis, 5th ed. (2015), 10.2.1 (paired t) and 11.2 (common random numbers). Both
models draw from streams of the same names, one a source (arrivals of a class, services at a station, …), so that
stations and classes of the same name see the same luck, and the difference is known better than either value.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import stdtrit

from sojourn.errors import InputError
from sojourn.former_keyword import former_keyword
from sojourn.model import Model
from sojourn.simulate.engine_config import configuration
from sojourn.simulate.engine_record import EngineRecord
from sojourn.simulate.engine_runs import Engine, Replication, Replications, native
from sojourn.simulate.heavy_tails import HeavyTailCheck
from sojourn.simulate.metrics_table import Row, rows
from sojourn.simulate.simulate import QUANTILES, RunLength, check, follow
from sojourn.simulate.simulation_outcome import SimulationOutcome
from sojourn.simulate.simulation_status import TEXT
from sojourn.simulate.warmup import cut
from sojourn.solve.solve import settled_network
from sojourn.table import Metrics
from sojourn.units import USUAL_LEVEL

Key = tuple[str, str, str, float | None]
PAIRS = 20


@former_keyword(precision="precision_of_each", max_seconds="max_wall_time_s")
def compare_simulated(
    a: Model, b: Model, precision_of_each: float = 0.05, level: float = USUAL_LEVEL, seed: int = 1, replications: int = PAIRS,
    until_s: float | None = None, quantiles: Sequence[float] = QUANTILES, max_wall_time_s: float = 60.0, *,
    engine: Engine = native,
) -> Metrics:  # fmt: skip
    """Value of `b` less value of `a` for every row that both have, with its interval at `level`.

    `replications` pairs of runs, each of `until_s` of simulated time; without it, of the time that one run of the slower
    model needs to reach `precision_of_each`. Factor columns `a` and `b` hold the two means. Status: ok, unstable, too_short
    where the wall time did not do, or no_moment and heavy_tail as of `simulate`, by moments alone.
    """
    length = RunLength(precision_of_each, level, until_s, None, max_wall_time_s)
    check(length, seed, replications, quantiles)
    if replications < 3:
        raise InputError(replications, "replications", "give 3 or more: each pair is one observation of the difference")
    deadline = time.monotonic() + max_wall_time_s
    pilots = [
        follow(settled_network(m), Replications([Replication(configuration(settled_network(m), seed), engine)]), length)
        for m in (a, b)
    ]
    if any(pilot.unstable for pilot in pilots):
        return Metrics.of([], _method(replications), "unstable", "one of the two models is unstable: simulate each")
    each_s = until_s or max(pilot.length_s for pilot in pilots)
    found = [_replicated(m, pilot, each_s, seed, replications, level, quantiles, deadline, engine)
             for m, pilot in zip((a, b), pilots, strict=True)]  # fmt: skip
    if any(len(table) < replications for table in found):
        return Metrics.of(
            [], _method(replications), "too_short", f"not done within {max_wall_time_s:g} s; give it longer"
        )
    return _difference(found[0], found[1], level, each_s, seed, [HeavyTailCheck(settled_network(m)) for m in (a, b)])


def _replicated(
    model: Model, pilot: SimulationOutcome, each_s: float, seed: int, replications: int, level: float,
    quantiles: Sequence[float], deadline: float, engine: Engine,
) -> list[dict[Key, float]]:  # fmt: skip
    """The values of each run after the warm-up of all; empty where the deadline came first."""
    network = settled_network(model)
    runs = Replications(
        [Replication(configuration(network, seed, r, until_s=each_s), engine) for r in range(replications)]
    )
    try:
        record = runs.go(each_s, None, deadline)
    finally:
        runs.close()
    if record.length_s < 0.95 * each_s:
        return []
    first = max(cut(record), int(np.ceil(pilot.warm_up_s / record.batch_s)))
    record = record.after(min(first, record.batches // 2))
    return [_values(rows(one, network, level, quantiles)) for one in alone(record)]


def alone(record: EngineRecord) -> list[EngineRecord]:
    """A record of several runs as one of each."""
    return [
        EngineRecord(
            record.batch_s,
            {name: table[r : r + 1] for name, table in record.tables.items()},
            {name: table[r : r + 1] for name, table in record.limits.items()},
            {key: (edges, counts[r : r + 1], s) for key, (edges, counts, s) in record.histograms.items()},
        )
        for r in range(record.runs)
    ]


def _values(found: Sequence[dict[str, Any]]) -> dict[Key, float]:
    return {(row["station"], row["class"], row["metric"], row.get("q")): row["value"] for row in found}


def _difference(
    a: list[dict[Key, float]],
    b: list[dict[Key, float]],
    level: float,
    each_s: float,
    seed: int,
    tails: Sequence[HeavyTailCheck],
) -> Metrics:
    n = len(a)
    t = float(stdtrit(n - 1, 0.5 + level / 2))
    told, narrower = [], 1.0
    for key in (key for key in a[0] if key in b[0]):
        left, right = (np.array([run[key] for run in runs]) for runs in (a, b))
        apart = right - left
        half = t * apart.std(ddof=1) / np.sqrt(n)
        if key == ("", "", "response_time", None) and apart.std() > 0:
            narrower = float(np.sqrt((left.var() + right.var()) / apart.var()))
        value = float(apart.mean())
        means = {"a": float(left.mean()), "b": float(right.mean())}
        status = "ok" if np.isfinite(value) and np.isfinite(half) else "too_short"
        row = {
            "station": key[0], "class": key[1], "metric": key[2], "q": key[3], "value": value, "low": value - half,
            "high": value + half, "level": level, "source": "simulated", "status": status, **means,
        }  # fmt: skip
        told.append(_marked(row, tails))
    message = (
        f"b minus a; {n} pairs of runs of {each_s:.4g} s, seed {seed}; common random numbers: the interval of the "
        f"response time is {narrower:.3g} times narrower than with independent runs"
    )
    main = next(
        (row["status"] for row in told if (row["station"], row["class"], row["metric"]) == ("", "", "response_time")),
        "ok",
    )
    status = main if main in ("no_moment", "heavy_tail") else "ok"
    return Metrics.of(told, _method(n), status, message if status == "ok" else f"{status}: {TEXT[status]}\n{message}")


def _marked(row: Row, tails: Sequence[HeavyTailCheck]) -> Row:
    """Of two infinite means there is no difference, and of two without a variance no interval."""
    statuses = {one.status(row) for one in tails if one.sources}
    if "no_moment" in statuses:
        return {**row, "value": None, "low": None, "high": None, "status": "no_moment", "a": None, "b": None}
    return {**row, "low": None, "high": None, "status": "heavy_tail"} if "heavy_tail" in statuses else row


def _method(pairs: int) -> str:
    return f"simulated difference, {pairs} pairs"
