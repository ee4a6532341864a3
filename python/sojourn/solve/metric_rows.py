"""The rows of a solution: every table of a method as lines (station, class, metric), one number a point.

Sums over classes are rows with class "", means over classes are weighted with visits a second; the whole system's
response time is all numbers present over all passes a second (Little). Made as arrays: a sweep of a thousand points
with ten stations is 150 000 rows, made in a few milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from sojourn.metric_names import UNITS
from sojourn.model.network_arrays import Array, Network
from sojourn.solve import status as outcomes
from sojourn.solve.further_rows import PERVASIVE, further
from sojourn.solve.plain_rows import GIVEN, MetricRow, plain_rows
from sojourn.solve.point_arrays import PointArrays
from sojourn.solve.solution import PartialSolution, Solution
from sojourn.table import COLUMNS, Metrics, column_types

FIELDS = {
    "throughput": "visit_rate", "utilisation": "utilisation", "queue_length": "queue_length", "residence_time": "residence_s",
    "response_time": "", "waiting_time": "waiting_s", "blocked_time": "blocked_s", "service_time": "", "loss_probability": "loss",
}  # fmt: skip
SUMMED = ("throughput", "utilisation", "queue_length")
AVERAGED = ("response_time", "waiting_time", "blocked_time", "service_time", "loss_probability")


def metrics(
    networks: Sequence[Network] | PointArrays, solution: Solution, method: str,
    factors: Mapping[str, Sequence[Any]] | None = None,
) -> Metrics:  # fmt: skip
    """The table of a solution; `factors` name what was varied, a value a point. Rows are made when first asked for."""
    names = set(solution.status).union(*(part.solution.status for part in solution.parts)) or {"ok"}
    text = "\n".join(filter(None, (solution.message, outcomes.message(names))))

    def points() -> PointArrays:
        return networks if isinstance(networks, PointArrays) else PointArrays.of(networks)

    one = len(networks) == 1 and not (factors or solution.parts)
    rows = (lambda: plain_rows(_lines(points(), solution), solution.more, solution.status)) if one else None
    worst = outcomes.worst(names)
    return Metrics.later(lambda: frame(points(), solution, factors or {}), method, worst, text, True, rows)


def frame(points: PointArrays, s: Solution, factors: Mapping[str, Sequence[Any]]) -> pl.DataFrame:
    """The rows, with all columns of Metrics and the factors; missing numbers are null."""
    made = _rows(points, s)
    more = [pl.Series(name, _alike(values)).gather(made["point"]) for name, values in factors.items()]
    return made.drop("point").select(*COLUMNS).with_columns(more)


def _alike(values: Sequence[Any]) -> Sequence[Any]:
    """Whole and other numbers of one factor as one kind."""
    return [float(value) for value in values] if {type(value) for value in values} == {int, float} else values


def lines(networks: Sequence[Network], solution: Solution) -> dict[tuple[str, str, str], Array]:
    """The same as arrays, P by station, class and metric, without further rows and parts; NaN where there is no number."""
    every = _lines(PointArrays.of(networks), solution)
    return {(x.station, x.cls, x.metric): np.where(np.isfinite(x.value), x.value, np.nan) for x in every}


def _lines(points: PointArrays, s: Solution) -> list[MetricRow]:
    """The lines of the table, without further rows and those of parts."""
    n, tables = points.first, _tables(points, s)
    sound = set(s.status) <= {"ok", *PERVASIVE}  # every point has its numbers
    own = [line for line in _station_lines(n, s, tables) if not _absent(line, n, sound)]
    if points.background.any():
        own = [_beside_background(line, points) if line.metric == "utilisation" else line for line in own]
    return own + list(_class_lines(points, s, tables["residence_time"], tables["throughput"]))


def _rows(points: PointArrays, s: Solution) -> pl.DataFrame:
    """All columns but the factors, and `point`."""
    made = _columns(_lines(points, s), len(points), s.status)
    if s.more:
        made = pl.concat([made, further(s)], how="diagonal_relaxed")
    for part in s.parts:
        made = _replaced(made, part, points.first)
    return made


def _replaced(made: pl.DataFrame, part: PartialSolution, n: Network) -> pl.DataFrame:
    """The rows of a part's stations and classes are its own where it is stable."""
    own = _rows(PointArrays.of(part.networks), part.solution)
    late = [i for i, name in enumerate(part.solution.status) if name == "unstable"]
    own = own.filter((pl.col("station") + pl.col("class") != "") & ~pl.col("point").is_in(late))
    own = own.with_columns(point=pl.Series(part.points, dtype=pl.Int64).gather(own["point"]))
    rest = made.join(own, on=["point", "station", "class"], how="anti")
    order = [
        pl.col(key).replace_strict([*names, ""], [*range(len(names)), len(names) + 1], default=len(names))
        for key, names in (("station", n.stations), ("class", n.classes))  # pools have rows too
    ]
    return pl.concat([rest, own], how="diagonal_relaxed").sort(*order, "point", maintain_order=True)


def _tables(points: PointArrays, s: Solution) -> dict[str, Array | None]:
    """Metric → P x K x C, NaN where a class does not visit."""
    n, visits, service = points.first, points.visits, points.service_s
    rate = s.throughput @ n.same_chain
    with np.errstate(divide="ignore", invalid="ignore"):
        residence = s.queue_length / rate[:, None, :] if s.residence_s is None else s.residence_s
        response = residence / visits if s.visit_rate is None else s.queue_length / s.visit_rate
        waiting = _clean(response - service, response) if s.waiting_s is None else s.waiting_s
    single = np.array([kind in ("queue", "delay") for kind in n.kind])
    return {
        "throughput": rate[:, None, :] * visits if s.visit_rate is None else s.visit_rate,
        "utilisation": s.utilisation,
        "queue_length": s.queue_length,
        "residence_time": residence,
        "response_time": response,
        "waiting_time": np.where(single[None, :, None], waiting, np.nan),
        "blocked_time": s.blocked_s,
        "service_time": np.broadcast_to(service, residence.shape),
        "loss_probability": s.loss,
    }


def _clean(waiting: Array, response: Array) -> Array:
    """A difference that is rounding only is no wait."""
    return np.where(np.abs(waiting) < 1e-12 * response, 0.0, waiting)


def _station_lines(n: Network, s: Solution, tables: Mapping[str, Array | None]) -> Iterator[MetricRow]:
    visited = n.visits > 0
    for metric, table in tables.items():
        if table is None:
            continue
        low, high = s.low.get(FIELDS[metric]), s.high.get(FIELDS[metric])
        for k, station in enumerate(n.stations):
            own = np.flatnonzero(visited[k])
            for c in own:
                yield MetricRow(station, n.classes[c], metric, table[:, k, c], _at(low, k, c), _at(high, k, c))
            if len(own) and metric in SUMMED:
                least, most = (None if x is None else x[:, k, own].sum(axis=1) for x in (low, high))
                yield MetricRow(station, "", metric, table[:, k, own].sum(axis=1), least, most)
            elif len(own) and metric in AVERAGED:
                least, most = (_at(x, k, own[0]) if len(own) == 1 else None for x in (low, high))
                yield MetricRow(station, "", metric, _mean(metric, tables, k, own), least, most)


def _beside_background(line: MetricRow, points: PointArrays) -> MetricRow:
    """Of the whole server: a method has told the utilisation of what background work leaves of it."""
    k = points.first.stations.index(line.station)
    taken = points.background[:, k] / points.servers[:, k]
    own = taken if line.cls == "" else 0.0
    low, high = (None if x is None else x * (1 - taken) + own for x in (line.low, line.high))
    return replace(line, value=line.value * (1 - taken) + own, low=low, high=high)


def _at(table: Array | None, k: int, c: Any) -> Array | None:
    return None if table is None else table[:, k, c]


def _mean(metric: str, tables: Mapping[str, Array | None], k: int, own: np.ndarray) -> Array:
    """Over classes: times weighted with visits served, losses with visits offered."""
    table, weights = tables[metric], tables["throughput"]
    assert table is not None and weights is not None
    values, weight = table[:, k, own], weights[:, k, own]
    if len(own) == 1:
        return values[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        if metric == "loss_probability":
            weight = weight / (1 - values)
        idle = weight == 0
        number = tables["queue_length"]
        if number is not None:
            idle = idle & ~(number[:, k, own] > 0)  # somebody is there who is never served: no mean over all
        return np.where(idle, 0.0, values * weight).sum(axis=1) / weight.sum(axis=1)


def _absent(line: MetricRow, n: Network, sound: bool) -> bool:
    """No number at any point, of a metric that such a station does not have, or that the method does not tell."""
    if (
        line.metric not in ("utilisation", "waiting_time", "blocked_time", "loss_probability")
        or not np.isnan(line.value).all()
    ):
        return False
    kind = n.kind[n.stations.index(line.station)]
    told = kind == "queue" or (kind == "load_dependent" and line.metric == "utilisation")
    return line.low is None and line.high is None and (sound or not told)


def _class_lines(points: PointArrays, s: Solution, residence: Array | None, rate: Array | None) -> Iterator[MetricRow]:
    n, number = points.first, s.queue_length.sum(axis=1)
    assert residence is not None and rate is not None
    spent = residence.sum(axis=1, where=(n.visits > 0)[None])
    if s.outside is not None:
        number = number + s.outside
        with np.errstate(divide="ignore", invalid="ignore"):
            spent = spent + s.outside / (s.throughput @ n.same_chain)
    whole = np.full_like(spent, np.nan) if s.lost_late else spent
    why = "lost_on_the_way" if s.lost_late else "idle"
    for c, name in enumerate(n.classes):
        yield _bounded("", name, "throughput", s.throughput[:, c], s, "throughput", c)
        yield MetricRow("", name, "queue_length", number[:, c])
        if (n.chain == n.chain[c]).sum() == 1:
            yield replace(_bounded("", name, "response_time", whole[:, c], s, "response_s", c), why=why)
        else:
            yield MetricRow("", name, "residence_time", spent[:, c])
            if n.passes[c] == 1:  # all passes begin as this class: the whole pass is its response
                yield MetricRow("", name, "response_time", whole[:, n.chain == n.chain[c]].sum(axis=1), why=why)
    yield from _open_lines(points, s, rate)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = number.sum(axis=1) / np.where(s.lost_late, np.nan, s.throughput.sum(axis=1))
    alone = len(n.classes) == 1
    yield _bounded("", "", "throughput", s.throughput.sum(axis=1), s, "throughput", 0 if alone else None)
    mean = whole[:, 0] if alone else mean
    yield replace(_bounded("", "", "response_time", mean, s, "response_s", 0 if alone else None), why=why)
    yield MetricRow("", "", "queue_length", number.sum(axis=1))


def _bounded(station: str, cls: str, metric: str, value: Array, s: Solution, name: str, c: int | None) -> MetricRow:
    low, high = (None if c is None or name not in x else x[name][:, c] for x in (s.low, s.high))
    return MetricRow(station, cls, metric, value, low, high)


def _open_lines(points: PointArrays, s: Solution, rate: Array) -> Iterator[MetricRow]:
    """What comes from outside, and which share of it does not get through where visits are lost."""
    n, offered = points.first, points.rate_per_s
    own = np.flatnonzero(~n.closed)
    for c in own:
        yield MetricRow("", n.classes[c], "arrival_rate", offered[:, c])
    if len(own):
        yield MetricRow("", "", "arrival_rate", offered.sum(axis=1))
    if s.loss is None and s.lost_per_s is None:
        return
    with np.errstate(divide="ignore", invalid="ignore"):
        # the sum of what is lost where it is lost: 1 - X/rate would cancel small losses away
        if s.lost_per_s is not None:
            exact = s.lost_per_s
        else:
            assert s.loss is not None
            exact = (rate * s.loss / (1 - s.loss)).sum(axis=1, where=(n.visits > 0)[None])
        lost = np.where(np.isfinite(exact), exact, offered - s.throughput)
        for c in own:
            if n.same_chain[c].sum() == 1:
                yield MetricRow("", n.classes[c], "loss_probability", lost[:, c] / offered[:, c])
        if len(own):
            yield MetricRow("", "", "loss_probability", lost[:, own].sum(axis=1) / offered.sum(axis=1))


def _columns(lines: Sequence[MetricRow], points: int, status: Sequence[str]) -> pl.DataFrame:
    """All columns but the factors, and `point`."""
    value = np.concatenate([line.value for line in lines])
    keys = pl.DataFrame(
        {"station": [x.station for x in lines], "class": [x.cls for x in lines], "metric": [x.metric for x in lines],
         "unit": [UNITS[x.metric] for x in lines]}
    )  # fmt: skip
    columns = keys if points == 1 else keys[np.repeat(np.arange(len(lines)), points)]
    return columns.with_columns(
        _number("value", value),
        _end("low", [x.low for x in lines], points),
        _end("high", [x.high for x in lines], points),
        _status(lines, value, points, status),
        pl.Series("point", np.tile(np.arange(points), len(lines))),
        pl.lit("analytic").alias("source"),
        *(pl.lit(None, dtype=kind).alias(name) for name, kind in column_types().items() if name in ("q", "n", "level")),
    )


def _number(name: str, values: Array) -> pl.Series:
    finite = np.isfinite(values)
    made = pl.Series(name, values, dtype=pl.Float64)
    return made if finite.all() else made.set(pl.Series(~finite), None)


def _end(name: str, ends: Sequence[Array | None], points: int) -> pl.Series | pl.Expr:
    if all(end is None for end in ends):
        return pl.lit(None, dtype=pl.Float64).alias(name)
    none = np.full(points, np.nan)
    return _number(name, np.concatenate([none if end is None else end for end in ends]))


def _status(lines: Sequence[MetricRow], value: Array, points: int, status: Sequence[str]) -> pl.Series | pl.Expr:
    """A finite number is `ok`, or what is true of all its point; a missing one says why, `idle` where nobody comes."""
    missing = ~np.isfinite(value)
    if not status and not missing.any():
        return pl.lit("ok").alias("status")
    # one byte a value: a sweep has millions of them
    codes = {
        name: number for number, name in enumerate(dict.fromkeys(["ok", "no_moment", *(x.why for x in lines), *status]))
    }
    code = np.array([codes[name] for name in status] or [0] * points, np.uint8)
    always = np.array([name in PERVASIVE for name in status] or [False] * points)
    given = np.array([line.metric in GIVEN for line in lines])[:, None]
    told = np.where(always & ~given, code, np.uint8(0))
    if missing.any():
        reason = np.array([codes[line.why] for line in lines], np.uint8)[:, None]
        endless = np.where(value.reshape(-1, points) == np.inf, np.uint8(codes["no_moment"]), reason)
        told = np.where(missing.reshape(-1, points), np.where(code == 0, endless, code), told)
    return pl.Series("status", list(codes)).gather(told.ravel().astype(np.uint32))
