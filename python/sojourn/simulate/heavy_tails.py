"""Whether the figures of a simulated model exist, and whether batch means can be believed of them.

Batch means see what happened. Where a mean is carried by times so long that a run has hardly any, they show a mean that is too
small, and an interval that is too narrow, for the same reason. But the laws of the times stand in the model, so what is missing is known:

    no_moment    the mean is infinite (`tail_sources` has the moments that each figure needs)
    heavy_tail   the estimate has no variance, so that no interval by batch means holds; or the hidden part, that beyond what the run
                 shows (`rare_times.rare_share`), is above `PART` of the half-width
    else         the upper bound is raised by the hidden part: what did not happen would have made the mean so much larger

`PART` and `rare_times.SEEN` were chosen on seeds of their own, and judged on others: `benches/coverage/heavy_tails.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sojourn.model.network_arrays import Network
from sojourn.simulate.engine_record import EngineRecord
from sojourn.simulate.rare_times import exists, rare_share
from sojourn.simulate.tail_sources import TailSource, tail_sources

PART = 1.0
ENDLESS = 1e9  # times as long as it was: nobody waits for that
MEANS = ("queue_length", "residence_time", "response_time", "waiting_time")
VARIANCES = ("response_time_variance", "waiting_time_variance")
UNMOVED = ("throughput", "arrival_rate")  # of open classes: who comes goes, however long others take
Row = dict[str, Any]


@dataclass(frozen=True)
class MetricKey:
    """A row: `station` by number, K the whole system, beyond that a limit; class None: all."""

    station: int
    cls: int | None
    metric: str

    @property
    def order(self) -> int:
        return 2 if self.metric in VARIANCES else 1


@dataclass(frozen=True)
class TailDoubt:
    """What is missing in the interval of a figure: `share` of its mean that the run hardly shows, most of it because of `source`; a run
    `times` as long would do. `endless`: its estimate has no variance. `missing`: the mean is infinite. `believed`: the
    interval holds once it is raised."""

    source: TailSource
    share: float
    times: float
    endless: bool = False
    missing: bool = False
    believed: bool = False


class HeavyTailCheck:
    """What is known beforehand of the figures of a model."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.sources = tail_sources(network)

    def missing(self, figure: MetricKey) -> TailSource | None:
        """The source because of which the figure is infinite, None where it exists or that is not known."""
        for source in self._moving(figure):
            if source.certain and not all(exists(source.law, p) for p in self._needs(source, figure)):
                return source
        return None

    def endless(self, figure: MetricKey) -> TailSource | None:
        """The source because of which an estimate of the figure has no variance, None where it has one."""
        moving = self._moving(figure)
        return next((s for s in moving if not exists(s.law, self._power_of_variance(s, figure))), None)

    def status(self, row: Row) -> str:
        """What the moments alone say of a row, whatever its run."""
        figure = self._figure(row)
        return "no_moment" if self.missing(figure) else "heavy_tail" if self.endless(figure) else "ok"

    def doubt(
        self, figure: MetricKey, record: EngineRecord, half: float, precision: float | None = None
    ) -> TailDoubt | None:
        """Of a figure whose half-width is the share `half` of it, by batch means; None where nothing is missing. `precision`: the one
        that a run of the length told would reach; without it no length is looked for."""
        if source := self.missing(figure):
            return TailDoubt(source, 1.0, np.inf, endless=True, missing=True)
        hidden = [_HiddenPart(self, source, figure, record) for source in self._moving(figure)]
        if not hidden:
            return None

        def share(times: float) -> float:
            return sum(part.share(times) for part in hidden)

        def short(times: float) -> bool:
            own = half / np.sqrt(times)
            return share(times) > PART * own or own + share(times) > (precision or 0.0)

        if endless := self.endless(figure):
            times = _longer(lambda t: share(t) > (precision or 0.0)) if precision else np.inf
            return TailDoubt(endless, share(1.0), times, endless=True)
        if not share(1.0) > 0:
            return None
        worst = max(hidden, key=lambda part: part.share(1.0)).source
        times = _longer(short) if precision and np.isfinite(half) else np.inf
        return TailDoubt(worst, share(1.0), times, believed=bool(share(1.0) <= PART * half))

    def _moving(self, figure: MetricKey) -> Iterator[TailSource]:
        n, whole = self.network, len(self.network.stations)
        for source in self.sources:
            own = figure.cls is None or n.closed[figure.cls]
            if figure.metric == "arrival_rate" or (figure.metric in UNMOVED and not own):
                moved = source.kind == "arrivals" and figure.cls in (None, source.cls)
            elif figure.metric in UNMOVED and figure.cls is None and not n.closed.any():
                moved = source.kind == "arrivals"
            elif figure.station > whole:
                moved = source.station == whole or source.station in n.limits[figure.station - whole - 1].stations
            elif figure.station == whole:
                moved = figure.cls is None or bool((n.visits[source.reaches, figure.cls] > 0).any())
            else:
                moved = bool(source.reaches[figure.station])
            if moved and not self._overtakes(source, figure):
                yield source

    def _overtakes(self, source: TailSource, figure: MetricKey) -> bool:
        """A class that pre-empts the long service."""
        n, k = self.network, source.station
        if source.kind != "service" or n.discipline[k] != "priority_preemptive" or figure.cls is None:
            return False
        assert source.cls is not None
        visited = np.flatnonzero(n.visits[:, figure.cls])
        here = figure.station == k or visited.tolist() == [k]
        return bool(here and n.servers[k] == 1 and n.priority[figure.cls] < n.priority[source.cls])

    def _line(self, source: TailSource, figure: MetricKey) -> float | None:
        """Of a figure that a line moves with a higher power: the spare servers."""
        return source.spare if figure.metric in (*MEANS, *VARIANCES) else None

    def _needs(self, source: TailSource, figure: MetricKey) -> Iterator[float]:
        """Moments without which the figure is infinite."""
        r = figure.order
        here = figure.station in (source.station, len(self.network.stations))
        if source.kind != "service" or figure.metric not in (*MEANS, *VARIANCES) or not here:
            return
        if (spare := source.spare) is not None:
            yield 1 + r / spare
        if not figure.metric.startswith("waiting") and figure.cls in (None, source.cls):
            yield r

    def power(self, source: TailSource, figure: MetricKey) -> float:
        spare, r = self._line(source, figure), figure.order
        return float(r) if spare is None else max(1 + r / spare, r)

    def _power_of_variance(self, source: TailSource, figure: MetricKey) -> float:
        spare, r = self._line(source, figure), figure.order
        return 2.0 * r if spare is None else max(1 + (2 * r + 1) / spare, 2 * r)

    def drawn(self, source: TailSource, record: EngineRecord) -> float:
        """How many of its times the record saw."""
        if source.kind == "repair":
            down: Any = getattr(self.network.model.station(self.network.stations[source.station]), "breakdowns", None)
            cycle = down.up.first + down.down.first
            return record.runs * record.length_s * float(self.network.servers[source.station]) / cycle
        table = "arrivals" if source.kind == "arrivals" else "completions"
        return float(record.tables[table][:, :, source.station, source.cls].sum())

    def weight(self, source: TailSource, figure: MetricKey, record: EngineRecord) -> float:
        """The share of the figure that is made where the source works."""
        whole = len(self.network.stations)
        weight = self._mix(source, figure, record)
        if figure.station != whole or figure.metric in (*VARIANCES, "response_time_quantile"):
            return weight
        present = record.tables["present"].sum(axis=(0, 1, 3))
        return weight * min(float(present[:-1][source.reaches].sum() / max(present[-1], 1e-300)), 1.0)

    def _mix(self, source: TailSource, figure: MetricKey, record: EngineRecord) -> float:
        """Of several classes that stand in one line, the part of the wait that this one makes: by its second moments."""
        if source.kind != "service" or self.power(source, figure) != 2 or source.spare is None:
            return 1.0
        done = record.tables["completions"][:, :, source.station].sum(axis=(0, 1))
        part = {
            c: float(done[c]) * law.second
            for c, law in enumerate(self.network.service[source.station])
            if law and done[c]
        }
        whole = sum(part.values())
        return part.get(source.cls or 0, 0.0) / whole if np.isfinite(whole) and whole > 0 else 1.0

    def headline(
        self, halves: Sequence[tuple[int | None, float]], record: EngineRecord, precision: float
    ) -> TailDoubt | None:
        """The worst doubt of response times of the whole system: (class, relative half-width) each; None where a run as long as this
        is enough for all."""
        if not self.sources:
            return None
        whole = len(self.network.stations)
        doubts = [self.doubt(MetricKey(whole, c, "response_time"), record, half, precision) for c, half in halves]
        counts = [d for d in doubts if d is not None and (d.endless or not d.believed or d.times > 1)]
        return max(counts, key=lambda d: (d.missing, d.endless, d.times), default=None)

    def marked(self, rows: Iterable[Row], record: EngineRecord) -> list[Row]:
        """The rows with their statuses: those without a mean lose value and interval, those not believed their interval, and the
        others' intervals are raised."""
        return [self._marked(row, record) for row in rows] if self.sources else list(rows)

    def _figure(self, row: Row) -> MetricKey:
        names = [*self.network.stations, "", *(limit.name for limit in self.network.limits)]
        cls = self.network.classes.index(row["class"]) if row["class"] else None
        return MetricKey(names.index(row["station"]), cls, row["metric"])

    def _marked(self, row: Row, record: EngineRecord) -> Row:
        found = self.doubt(self._figure(row), record, relative_half(row))
        if found is None:
            return row
        if found.missing:
            return {**row, "value": None, "low": None, "high": None, "status": "no_moment"}
        if row["status"] != "ok" and not found.endless:
            return row
        if found.believed:
            most = 1.0 if row["metric"].endswith("_probability") else np.inf
            return {**row, "high": min(row["high"] + found.share * abs(row["value"]), most)}
        return {**row, "low": None, "high": None, "status": "heavy_tail"}


class _HiddenPart:
    """What one source makes of a figure where the run hardly comes."""

    def __init__(self, tails: HeavyTailCheck, source: TailSource, figure: MetricKey, record: EngineRecord) -> None:
        self.source = source
        self.power = tails.power(source, figure)
        self.drawn, self.weight = tails.drawn(source, record), tails.weight(source, figure, record)

    def share(self, times: float) -> float:
        """Of a run so many times as long."""
        return self.weight * rare_share(self.source.law, self.power, self.drawn * times)


def relative_half(row: Row) -> float:
    """The wider side of its interval by its value; infinite where it has none."""
    value, low, high = (np.nan if row[name] is None else float(row[name]) for name in ("value", "low", "high"))
    half = max(high - value, value - low)
    return float(half / abs(value)) if np.isfinite(half) and value else np.inf


def _longer(short: Callable[[float], bool]) -> float:
    """The least factor, to 5 %, with which a run is not short any more; infinite where none below 1e300 is."""
    low, high = 1.0, 1.0
    while short(high):
        low, high = high, high * 4
        if high > 1e300:
            return float(np.inf)
    while high > low * 1.05:
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if short(middle) else (low, middle)
    return high
