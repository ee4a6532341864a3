"""The points of a plan, and each quantity at each of them: networks are made and solved in stretches, here or on workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sojourn.errors import InputError
from sojourn.file_errors import meant
from sojourn.fit.model_evaluation import slower_clock
from sojourn.model.network_arrays import Network
from sojourn.parallel import Workers, blocks
from sojourn.plan.objective import Quantity
from sojourn.solve.method import RequestedOutputs
from sojourn.solve.solve import answer
from sojourn.solve.sweep_on_workers import SweepOfBlocks, SweepOnWorkers
from sojourn.table import Metrics

Array = NDArray[np.float64]
Settings = Mapping[str, Any]
BUDGET_S, EACH_S = 1.0, 0.005  # that an exact method may take, of all networks and of one
OF_ARRAYS = ("response_time", "throughput", "utilisation", "queue_length")  # metrics that every method has as arrays
CHUNK = 20_000  # networks solved at a time


class NetworkMaker(Protocol):
    """What knows the networks of configurations."""

    def networks(
        self, configurations: Sequence[Settings], levels: Array, drawn: Sequence[float] | None = None
    ) -> list[Network]: ...


@dataclass(frozen=True)
class PlannedPoints:
    """Draws x configurations x levels of a plan, the levels running fastest; networks are made when they are asked for."""

    predictor: NetworkMaker
    configurations: Sequence[Settings]
    levels: Array
    drawn: Sequence[Sequence[float] | None]
    longer: Array  # draws x configurations x levels, or 1 in place of each: by what all times are longer
    within: range | None = None  # of all points, those that these are

    def __len__(self) -> int:
        return self.whole if self.within is None else len(self.within)

    @property
    def whole(self) -> int:
        """All of them."""
        return len(self.drawn) * len(self.configurations) * max(len(self.levels), 1)

    def stretch(self, points: range) -> PlannedPoints:
        """Some of them."""
        return replace(self, within=points)

    def columns(self, points: range) -> dict[str, list[Any]]:
        """The number of each."""
        return {"point": list(points)}

    def networks(self, points: range) -> list[Network]:
        """Of neighbours."""
        at = points if self.within is None else self.within[points.start : points.stop]
        each = max(len(self.levels), 1)
        size = len(self.configurations) * each
        found: list[Network] = []
        for d in range(at.start // size, -(-at.stop // size)):
            first, last = max(at.start - d * size, 0), min(at.stop - d * size, size)
            some = self.configurations[first // each : -(-last // each)]
            made = self.predictor.networks(some, self.levels, self.drawn[d])
            made = made[first % each : first % each + last - first]
            by = self.longer[d].ravel()[first:last]
            found += [slower_clock(n, float(f)) if f != 1 else n for n, f in zip(made, by, strict=True)]
        return found


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
        told = _told(points, chunk, asked, each_s * len(chunk), workers)
        methods.add(told.method)
        first = points.networks(chunk[:1])[0]
        for q in wanted:
            parts[q].append(_column(told.frame, q, len(chunk), first, told.method))
    return {q: np.concatenate(arrays) for q, arrays in parts.items()}, methods


def _told(
    points: PlannedPoints, chunk: range, asked: RequestedOutputs, budget_s: float, workers: Workers | None
) -> Metrics:
    if workers is None:
        return answer(points.networks(chunk), "auto", asked, budget_s, {"point": list(range(len(chunk)))})
    with closing(SweepOnWorkers(SweepOfBlocks(points.stretch(chunk), asked, budget_s), workers)) as sweep:
        return sweep.answer("auto")


def _column(frame: pl.DataFrame, q: Quantity, points: int, network: Network, method: str) -> Array:
    """The values of one quantity by point; of a model of one class or one station its rows stand for the whole."""
    metric = q.metric if q.q is None else f"{q.metric}_quantile"
    stations, names = [q.station], [q.cls]
    if not q.station and len(network.stations) == 1:
        stations.append(network.stations[0])
    if not q.cls and len(network.classes) == 1:
        names.append(network.classes[0])
    rows = frame.filter(pl.col("metric") == metric)
    if q.q is not None:
        rows = rows.filter((pl.col("q") - q.q).abs() < 1e-12)
    for station in stations:
        for cls in names:
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
        return InputError(f"method {method} tells no quantiles of {q.metric} here", "--objective", remedy)
    where = sorted({f"{r['metric']}{{station={r['station']}}}" for r in rows.iter_rows(named=True) if r["station"]})
    if where and not q.station:
        return InputError(f"{q.metric} of the whole system", "--objective", f"say of which station: {', '.join(where)}")
    return InputError(f"no {q.metric} of this model", "--objective", meant(q.metric, sorted(set(frame["metric"]))))
