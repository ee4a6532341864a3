"""From the arrays of a one-station method to its `Solution`, with the rows that only single stations have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sojourn.model.network_arrays import Array, Network
from sojourn.model.network_points import outline, stacked
from sojourn.solve.load_dependent_times import saturation
from sojourn.solve.method import RequestedOutputs
from sojourn.solve.single.station_arrays import StationArrays
from sojourn.solve.solution import Solution

WHOLE = ("response_time_variance", "response_time_quantile")  # of the system too, which is the station


class ExtraRows:
    """Rows beyond the means; what is not finite at a point becomes a row without a number, with the point's status."""

    def __init__(self, networks: Sequence[Network], status: Sequence[str], wanted: RequestedOutputs) -> None:
        self.further = wanted.further  # else none is made
        self.made: list[dict[str, Any]] = []
        self.station = outline(networks).stations[0]
        self.classes = outline(networks).classes
        self.status = status
        self.idle = _idle(networks)

    def put(self, metric: str, values: Array, **key: float) -> None:
        """`values`: P of the station, or P x C by class (then also of the station where there is one class)."""
        if not self.further:
            return
        values = np.asarray(values, float)
        of_customers = metric.startswith(("waiting", "response"))
        if values.ndim == 1:
            self._add("", metric, values, key)
            if len(self.classes) == 1:
                self._add(self.classes[0], metric, values, key)
            return
        values = np.where(self.idle, np.nan, values) if of_customers else values
        for c, name in enumerate(self.classes):
            self._add(name, metric, values[:, c], key)
        if len(self.classes) == 1:
            self._add("", metric, values[:, 0], key)

    def system(self, cls: str, metric: str, values: Array) -> None:
        """Rows of the whole system."""
        if self.further:
            self._add(cls, metric, np.asarray(values, float), {}, station="")

    def _add(self, cls: str, metric: str, values: Array, key: dict[str, float], station: str | None = None) -> None:
        if station is None and metric in WHOLE and (cls or len(self.classes) == 1):
            self._add(cls, metric, values, key, station="")
        place = self.station if station is None else station
        for point, value in enumerate(values.tolist()):
            fine = np.isfinite(value)
            self.made.append(
                {"point": point, "station": place, "class": cls, "metric": metric, "value": value if fine else None,
                 "status": "ok" if fine else self._why(point, cls), **key}
            )  # fmt: skip

    def _why(self, point: int, cls: str) -> str:
        if self.status[point] not in ("ok", "approximate"):
            return self.status[point]
        idle = self.idle[point, self.classes.index(cls)] if cls else self.idle[point].all()
        return "idle" if idle else "no_moment"


def _idle(networks: Sequence[Network]) -> np.ndarray:
    """P x C, closed classes without customers: they have no times. An open class of rate 0 has those of one who came."""
    return np.asarray(stacked(networks, "population") == 0)


def probabilities(rows: ExtraRows, table: Array) -> None:
    """`table`: P x (n + 1), P(N = 0), P(N = 1), …"""
    for n, column in enumerate(np.asarray(table).T):
        rows.put("queue_length_probability", column, n=n)


class OpenQueuePoints:
    """An open queue at P points: which are stable, and what the unstable ones can still do."""

    def __init__(self, read: StationArrays, wanted: RequestedOutputs, exact: bool = True) -> None:
        self.read = read
        self.stable = read.load < 1
        fine = "ok" if exact else "approximate"
        self.status = [fine if s else "unstable" for s in self.stable]
        self.rows = ExtraRows(read.networks, self.status, wanted)
        with np.errstate(divide="ignore"):
            self.limit = (
                read.rate.sum(axis=1) * saturation(read.networks)
                if outline(read.networks).dependent_times
                else read.servers / read.mean_s
            )
            self.served = read.rate * np.minimum(1.0, 1 / read.load)[:, None]
        self.rows.put("saturation_rate", self.limit)

    def null(self, values: Array) -> Array:
        """NaN where the point is unstable."""
        mask = self.stable if np.ndim(values) == 1 else self.stable[:, None]
        with np.errstate(invalid="ignore"):
            return np.where(mask, values, np.nan)

    def solution(self, waiting_s: Array) -> Solution:
        """`waiting_s`: P x C, means (response less service, never made as that difference); NaN where there is none."""
        read = self.read
        response_s = waiting_s + read.service_s
        for p in np.flatnonzero(self.stable & np.isnan(waiting_s).any(axis=1)):
            self.status[p], self.stable[p] = "unstable", False  # at a load of 1, to rounding
        with np.errstate(invalid="ignore"):
            number = np.where(read.rate > 0, read.rate * response_s, self.null(np.zeros_like(response_s)))
        busy = self.served * read.service_s / read.servers[:, None]
        return Solution(
            self.served, number[:, None, :], busy[:, None, :], _quiet(self.status),
            residence_s=response_s[:, None, :], waiting_s=waiting_s[:, None, :], more=self.rows.made,
            message=self.message(),
        )  # fmt: skip

    def message(self) -> str:
        late = ~self.stable
        if not late.any():
            return ""
        low, high = self.limit[late].min(), self.limit[late].max()
        where = f"{low:.9g}/s" if high - low <= 1e-9 * high else f"{low:.9g}/s to {high:.9g}/s, depending on the point"
        return f"station {self.rows.station} is unstable from an arrival rate of {where} on"


def _quiet(status: list[str]) -> list[str]:
    return [] if all(s == "ok" for s in status) else status
