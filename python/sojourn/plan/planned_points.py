"""The points of a plan, and each quantity at each of them: networks are solved in stretches, here or on workers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sojourn.errors import InputError, MethodRefused
from sojourn.file_errors import meant
from sojourn.fit.model_evaluation import slower_clocks
from sojourn.model.network_arrays import Network
from sojourn.model.network_points import NetworkPoints, Points
from sojourn.parallel import Workers, blocks
from sojourn.plan.objective import Quantity
from sojourn.solve.method import RequestedOutputs
from sojourn.solve.metric_rows import lines, metrics
from sojourn.solve.solve import apart, completed, settled
from sojourn.solve.sweep_on_workers import SweepOfBlocks, SweepOnWorkers
from sojourn.table import Metrics

Array = NDArray[np.float64]
Answer = TypeVar("Answer")
Settings = Mapping[str, Any]
Key = tuple[str, str, str]  # station, class, metric
BUDGET_S, EACH_S = 1.0, 0.005  # that an exact method may take, of all networks and of one
OF_ARRAYS = ("response_time", "throughput", "utilisation", "queue_length")  # metrics that every method has as arrays
CHUNK = 20_000  # networks solved at a time
SAME = 1e-12  # two levels of a quantile that differ by rounding are one


class NetworkMaker(Protocol):
    """What knows the networks of configurations."""

    def networks(
        self, configurations: Sequence[Settings], of: Points, levels: Array | None = None,
        drawn: Array | None = None, draw: Points | None = None,
    ) -> NetworkPoints: ...  # fmt: skip


@dataclass(frozen=True)
class PlannedPoints:
    """Draws x configurations x levels of a plan, the levels running fastest; networks are made when they are asked for."""

    predictor: NetworkMaker
    configurations: Sequence[Settings]
    levels: Array
    drawn: Array | None  # values of the fitted parameters by draw; None: as fitted
    longer: Array  # draws x configurations x levels: by what all times are longer
    within: range | None = None  # of all points, those that these are
    method: str | None = None  # of the fit

    def __len__(self) -> int:
        return self.whole if self.within is None else len(self.within)

    @property
    def whole(self) -> int:
        """All of them."""
        return self.longer.size

    def stretch(self, points: range) -> PlannedPoints:
        """Some of them."""
        return replace(self, within=points)

    def columns(self, points: range) -> dict[str, list[Any]]:
        """The number of each."""
        return {"point": list(points)}

    def networks(self, points: range) -> Sequence[Network]:
        """Of some."""
        at = np.arange(self.whole) if self.within is None else np.asarray(self.within)
        at = at[points.start : points.stop]
        draw, configuration, level = np.unravel_index(at, self.longer.shape)
        first, last = int(configuration.min()), int(configuration.max())
        levels = self.levels[level] if len(self.levels) else None
        asked = self.configurations[first : last + 1]
        made = self.predictor.networks(asked, configuration - first, levels, self.drawn, draw)
        by = self.longer.ravel()[at]
        return slower_clocks(made, by) if (by != 1).any() else made


def solved_points(
    points: PlannedPoints, wanted: Sequence[Quantity], workers: Workers | None
) -> tuple[dict[Quantity, Array], set[str]]:
    """Each quantity by point, and the methods that were used."""
    stations = points.networks(range(1))[0].stations
    # rows beside the arrays take long, where there are many points
    plain = all(q.q is None and q.metric in OF_ARRAYS and q.station in ("", *stations) for q in wanted)
    asked = RequestedOutputs(tuple(sorted({q.q for q in wanted if q.q is not None})), further=not plain)
    each_s = max(BUDGET_S / len(points), EACH_S)  # the same method for each chunk
    parts: dict[Quantity, list[Array]] = {q: [] for q in wanted}
    methods = set()
    for chunk in blocks(len(points), CHUNK):
        values, method = _solved(points, chunk, wanted, asked, each_s * len(chunk), workers)
        methods.add(method)
        for q in wanted:
            parts[q].append(values[q])
    return {q: np.concatenate(arrays) for q, arrays in parts.items()}, methods


def _solved(
    points: PlannedPoints, chunk: range, wanted: Sequence[Quantity], asked: RequestedOutputs, budget_s: float,
    workers: Workers | None,
) -> tuple[dict[Quantity, Array], str]:  # fmt: skip
    """Each quantity at some of the points, and the method."""
    methods = _methods(points, asked)
    if workers is not None:
        with closing(SweepOnWorkers(SweepOfBlocks(points.stretch(chunk), asked, budget_s), workers)) as sweep:
            table = _first_that_applies(methods, sweep.answer)
            return _of_rows(table, points.networks(chunk[:1])[0], len(chunk), wanted)
    networks = settled(points.networks(chunk), budget_s)
    found = _first_that_applies(methods, lambda method: completed(networks, method, asked, budget_s))
    if found is not None and not found[0].parts:
        told = lines(networks, found[0])
        each = {q: _line(q, networks[0], told, found[0].more, len(chunk)) for q in wanted}
        if all(values is not None for values in each.values()):
            return {q: values for q, values in each.items() if values is not None}, found[1]
    numbers = {"point": list(range(len(chunk)))}
    table = (
        apart(networks, asked, budget_s, numbers) if found is None else metrics(networks, found[0], found[1], numbers)
    )
    return _of_rows(table, networks[0], len(chunk), wanted)


def _methods(points: PlannedPoints, asked: RequestedOutputs) -> tuple[str, ...]:
    """What to try, in order: for draws of a fit its own method, whose model error is in them (`auto` may take another for some of thousands
    of points, and one that takes minutes), but not for quantiles, which it may not tell."""
    if points.method is None or points.drawn is None or asked.quantiles:
        return ("auto",)
    return (points.method, "auto")


def _first_that_applies(methods: Sequence[str], answer: Callable[[str], Answer]) -> Answer:
    """By the first method that takes the model: a configuration that was never run may be beyond that of the fit."""
    for method in methods[:-1]:
        with suppress(InputError, MethodRefused):
            return answer(method)
    return answer(methods[-1])


def _line(
    q: Quantity, network: Network, told: Mapping[Key, Array], more: Sequence[Mapping[str, Any]], points: int
) -> Array | None:
    """A quantity by point, of the arrays of a solution or of its further rows: a table of these takes long. None: in neither."""
    for key in _keys(q, network):
        if q.q is None and key in told:
            return told[key]
        own = [
            (row.get("point", 0), row["value"])
            for row in more
            if row["metric"] == key[2]
            and (row.get("station", ""), row.get("class", "")) == key[:2]
            and (q.q is None or abs(row.get("q", math.inf) - q.q) < SAME)
        ]
        if own:
            at, values = zip(*own, strict=True)
            found = np.full(points, np.nan)
            found[np.array(at, np.intp)] = np.array(values, float)
            return np.where(np.isfinite(found), found, np.nan)
    return None


def _of_rows(
    table: Metrics, network: Network, points: int, wanted: Sequence[Quantity]
) -> tuple[dict[Quantity, Array], str]:
    return {q: _column(table.frame, q, points, network, table.method) for q in wanted}, table.method


def _keys(q: Quantity, network: Network) -> list[Key]:
    """Station, class and metric of the rows in which a quantity may be: those of one class or one station stand for the whole."""
    stations, classes = [q.station], [q.cls]
    if not q.station and len(network.stations) == 1:
        stations.append(network.stations[0])
    if not q.cls and len(network.classes) == 1:
        classes.append(network.classes[0])
    metric = q.metric if q.q is None else f"{q.metric}_quantile"
    return [(station, cls, metric) for station in stations for cls in classes]


def _column(frame: pl.DataFrame, q: Quantity, points: int, network: Network, method: str) -> Array:
    """The values of one quantity by point."""
    keys = _keys(q, network)
    rows = frame.filter(pl.col("metric") == keys[0][2])
    if q.q is not None:
        rows = rows.filter((pl.col("q") - q.q).abs() < SAME)
    for station, cls, _ in keys:
        own = rows.filter((pl.col("station") == station) & (pl.col("class") == cls))
        if own.height:
            found = np.full(points, np.nan)
            found[own["point"].to_numpy()] = own["value"].cast(pl.Float64).fill_null(np.nan).to_numpy()
            return found
    raise _missing(frame, q, rows, network, method)


def _missing(frame: pl.DataFrame, q: Quantity, rows: pl.DataFrame, network: Network, method: str) -> InputError:
    for kind, given, known in (("station", q.station, network.stations), ("class", q.cls, network.classes)):
        if given and given not in known:
            return InputError(f"no {kind} {given!r}", "--objective", meant(given, known))
    if q.q is not None:
        remedy = "ask for mean, or of a model whose quantiles are known (one station FCFS; stations in a row)"
        return InputError(f"method {method} provides no quantiles of {q.metric} here", "--objective", remedy)
    where = sorted({f"{r['metric']}{{station={r['station']}}}" for r in rows.iter_rows(named=True) if r["station"]})
    if where and not q.station:
        return InputError(f"{q.metric} of the whole system", "--objective", f"name the station: {', '.join(where)}")
    return InputError(f"no {q.metric} of this model", "--objective", meant(q.metric, sorted(set(frame["metric"]))))
