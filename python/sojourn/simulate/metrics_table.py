"""From a `EngineRecord` to `Metrics`: the same rows as a solved model has, each with its interval.

Every value is a ratio of two sums over the batches: response times by completions, integrals by time (utilisation: busy
servers), losses by arrivals. A residence time is the number present by the completed passes of the chain (Little's law).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sojourn.model.network_arrays import Network
from sojourn.simulate.engine_record import EngineRecord
from sojourn.stats.batch_means import Array, IntervalEstimate, quantiles, ratio, variance_of

Key = tuple[str, str]
Row = dict[str, Any]
LINE = ("fcfs", "siro", "priority")  # whose wait ends when service begins, once and for all


class RecordColumns:
    """Tables of a record by (station, class); class "" is all classes of a station, station "" the whole system."""

    def __init__(self, record: EngineRecord, network: Network) -> None:
        self.record, self.network = record, network
        used = network.visits > 0
        used = np.vstack([used, used.any(axis=0)])
        self.names = [*network.stations, ""]
        self.used = {k: np.flatnonzero(used[k]) for k in range(len(self.names)) if used[k].any()}

    def keys(self, stations: Sequence[int], whole: bool = True) -> list[tuple[int, int | None]]:
        """(station, class) of the columns; class None is all classes."""
        ks = [k for k in stations if k in self.used]
        return [(k, c) for k in ks for c in [*map(int, self.used[k]), *([None] if whole else [])]]

    def of(self, table: str, keys: Sequence[tuple[int, int | None]]) -> Array:
        """(R, B, M)."""
        data = self.record.tables[table]
        columns = [data[:, :, k, self.used[k]].sum(axis=2) if c is None else data[:, :, k, c] for k, c in keys]
        return np.stack(columns, axis=2)

    def time(self, keys: Sequence[Any], times: Sequence[float] | float = 1.0) -> Array:
        shape = (self.record.runs, self.record.batches, len(keys))
        return np.broadcast_to(self.record.batch_s * np.asarray(times, float), shape).copy()

    def passes(self, keys: Sequence[tuple[int, int | None]]) -> Array:
        """Completed passes of each column's chain (R, B, M)."""
        done = self.record.tables["completions"][:, :, -1]
        chain = self.network.chain
        return np.stack([done[:, :, chain == chain[c]].sum(axis=2) for _, c in keys], axis=2)

    def rows(
        self, metric: str, keys: Sequence[tuple[int, int | None]], found: IntervalEstimate, level: float
    ) -> Iterator[Row]:
        for (k, c), value, low, high in zip(keys, found.value, found.low, found.high, strict=True):
            cls = "" if c is None else self.network.classes[c]
            yield row(self.names[k], cls, metric, value, low, high, level)


def row(station: str, cls: str, metric: str, value: float, low: float, high: float, level: float, **more: Any) -> Row:
    high = min(high, 1.0) if metric.endswith("_probability") else high
    status = "ok" if np.isfinite(value) and np.isfinite(low) and np.isfinite(high) else "too_short"
    told: Row = {"station": station, "class": cls, "metric": metric, "value": value, "low": low, "high": high}
    return {**told, "level": level, "source": "simulated", "status": status, **more}


def rows(record: EngineRecord, network: Network, level: float, levels: Sequence[float]) -> list[Row]:
    """All rows; `record` is what stayed after the warm-up."""
    columns = RecordColumns(record, network)
    found = [*_rates(columns, level), *_times(columns, level), *_waits(columns, level), *_losses(columns, level)]
    return [*found, *_limits(columns, level), *_quantiles(columns, levels, level)]


def _rates(c: RecordColumns, level: float) -> Iterator[Row]:
    n = c.network
    every = c.keys(range(len(c.names)))
    yield from c.rows("throughput", every, ratio(c.of("completions", every), c.time(every), level), level)
    yield from c.rows("queue_length", every, ratio(_present(c, every), c.time(every), level), level)
    if served := c.keys([k for k, kind in enumerate(n.kind) if kind in ("queue", "load_dependent")]):
        servers = [mean_servers(n, k) for k, _ in served]
        found = ratio(c.of("busy", served), c.time(served, servers), level)
        yield from c.rows("utilisation", served, _beside_background(found, n, served), level)
    system = len(n.stations)
    if coming := [(k, j) for k, j in c.keys([system], whole=False) if j is not None and not n.closed[j]]:
        yield from c.rows("arrival_rate", coming, ratio(c.of("arrivals", coming), c.time(coming), level), level)


def _beside_background(found: IntervalEstimate, n: Network, keys: Sequence[tuple[int, int | None]]) -> IntervalEstimate:
    """Utilisation of the whole servers, of that of what background work leaves of them."""
    if not n.background.any():
        return found
    taken = np.array([n.background[k] / n.servers[k] for k, _ in keys])
    own = np.where([c is None for _, c in keys], taken, 0.0)
    value, low, high = (x * (1 - taken) + own for x in (found.value, found.low, found.high))
    return replace(found, value=value, low=low, high=high)


def _present(c: RecordColumns, keys: Sequence[tuple[int, int | None]]) -> Array:
    """Numbers present; of the system by the class that they are now, where the engine counts the class that they came as."""
    found = c.of("present", keys)
    if c.network.switches:
        inside, limits = c.record.tables["present"][:, :, :-1].sum(axis=2), c.record.limits
        outside = (limits["limit_present"] - limits["limit_busy"]).sum(axis=2) if c.network.limits else 0.0
        for i, (k, j) in enumerate(keys):
            if k == len(c.network.stations) and j is not None:
                found[:, :, i] = (inside + outside)[:, :, j]
    return found


def _times(c: RecordColumns, level: float) -> Iterator[Row]:
    n = c.network
    system = len(n.stations)
    stations = c.keys(range(system), whole=False)
    found = ratio(c.of("present", stations), c.passes(stations), level)
    yield from c.rows("residence_time", stations, found, level)
    every = [(k, j) for k, j in c.keys(range(system + 1)) if not (n.switches and k == system and j is not None)]
    done, spent = c.of("completions", every), c.of("response_s", every)
    yield from c.rows("response_time", every, ratio(spent, done, level), level)
    yield from c.rows(
        "response_time_variance", every, variance_of(c.of("response_s2", every), spent, done, level), level
    )
    if n.switches:
        own = c.keys([system], whole=False)
        yield from c.rows("response_time", own, ratio(c.of("present", own), c.passes(own), level), level)


def _waits(c: RecordColumns, level: float) -> Iterator[Row]:
    n = c.network
    queues = [k for k, kind in enumerate(n.kind) if kind == "queue"]
    if keys := c.keys([k for k in range(len(n.stations)) if n.kind[k] in ("queue", "delay")]):
        done = c.of("completions", keys)
        yield from c.rows("service_time", keys, ratio(c.of("busy", keys), done, level), level)
    if line := c.keys([k for k in queues if n.discipline[k] in LINE]):
        done, wait = c.of("completions", line), c.of("waiting_s", line)
        yield from c.rows("waiting_time", line, ratio(wait, done, level), level)
        yield from c.rows("waiting_probability", line, ratio(c.of("waited", line), done, level), level)
        squares = c.of("waiting_s2", line)
        yield from c.rows("waiting_time_variance", line, variance_of(squares, wait, done, level), level)
    if shared := c.keys([k for k in queues if n.discipline[k] not in LINE]):
        wait = c.of("response_s", shared) - c.of("busy", shared) - c.of("blocked", shared)
        found = _not_negative(ratio(wait, c.of("completions", shared), level))
        yield from c.rows("waiting_time", shared, found, level)
    if held := c.keys(n.blockable):
        yield from c.rows("blocked_time", held, ratio(c.of("blocked", held), c.of("completions", held), level), level)


def _not_negative(found: IntervalEstimate) -> IntervalEstimate:
    """A wait made as response less service. Responses are of those who left, service is of all, so that a short run may
    make it negative: 0 where its interval says so too, else no number."""
    value = np.where(found.value >= 0, found.value, np.where(found.high >= 0, 0.0, np.nan))
    low, high = (np.where(np.isnan(value), np.nan, np.maximum(end, 0.0)) for end in (found.low, found.high))
    return IntervalEstimate(value, low, high, found.variance)


def _losses(c: RecordColumns, level: float) -> Iterator[Row]:
    lost = c.record.tables["losses"].sum(axis=(0, 1, 3)) > 0
    lossy = [k for k, w in enumerate(c.network.on_full) if w == "lose" and np.isfinite(c.network.capacity[k])]
    keys = c.keys(sorted({*lossy, *map(int, np.flatnonzero(lost))}))
    if keys:
        yield from c.rows("loss_probability", keys, ratio(c.of("losses", keys), c.of("arrivals", keys), level), level)


def _limits(c: RecordColumns, level: float) -> Iterator[Row]:
    """A pool or region as a station: in use a place, wait for one, refused; queue length with those who wait."""
    tables, n = c.record.limits, c.network
    for number, limit in enumerate(n.limits):
        own = {name: tables["limit_" + name][:, :, number] for name in ("present", "busy", "completions", "arrivals")}
        own |= {name: tables["limit_" + name][:, :, number] for name in ("waiting_s", "waited", "losses")}
        own = {name: np.concatenate([t, t.sum(axis=2, keepdims=True)], axis=2) for name, t in own.items()}
        time = np.full_like(own["busy"], c.record.batch_s)
        asked = {
            "throughput": ("completions", time),
            "queue_length": ("present", time),
            "utilisation": ("busy", time * limit.size),
            "waiting_time": ("waiting_s", own["completions"]),
            "waiting_probability": ("waited", own["completions"]),
            **({"loss_probability": ("losses", own["arrivals"])} if limit.on_full == "lose" else {}),
        }
        used = np.flatnonzero(own["arrivals"].sum(axis=(0, 1)) > 0)
        for metric, (above, below) in asked.items():
            found = ratio(own[above][..., used], below[..., used], level)
            for j, value, low, high in zip(used, found.value, found.low, found.high, strict=True):
                yield row(limit.name, [*n.classes, ""][j], metric, value, low, high, level)


def _quantiles(c: RecordColumns, asked: Sequence[float], level: float) -> Iterator[Row]:
    for key, (edges, counts, _) in c.record.histograms.items():
        station, _, cls = key.rpartition("/")
        for q, found in zip(asked, quantiles(edges, counts, asked, level), strict=True):
            yield row(station, cls, "response_time_quantile", *found, level, q=q)


def mean_servers(network: Network, k: int) -> float:
    """Servers of a station, averaged over one period of its schedule where it has one."""
    station = network.model.station(network.stations[k])
    schedule, period = getattr(station, "server_schedule", ()), getattr(station, "schedule_period_s", None)
    if not schedule or not period:
        return float(network.servers[k])
    times = [0.0, *(at for at, _ in schedule), period]
    counts = [schedule[-1][1] if period else int(network.servers[k]), *(count for _, count in schedule)]
    return sum(n * (b - a) for n, a, b in zip(counts, times, times[1:], strict=False)) / period
