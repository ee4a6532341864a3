"""Operational laws: on plain numbers, and checked on any Metrics, measured, solved or simulated.

Source: Denning and Buzen, The Operational Analysis of Queueing Network Models, ACM Computing Surveys 10(3), 1978, pp.
225-261; Lazowska et al., Quantitative System Performance (1984), Chapter 3; Jain, The Art of Computer Systems Performance
Analysis (1991), Chapter 33. They hold for every stationary system, whatever its distributions: a solver must satisfy them
to rounding, a measurement within its sampling error.

    source       here
    X, X_k       throughput of the system, of a station, 1/s       N, Q_k   number, mean number present
    R, Z         response_s, think_s                               V_k      visits per pass
    S_k, D_k     service_s of a visit, demand_s of a pass          U_k      utilisation of one server
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sojourn.table import COLUMNS, Metrics
from sojourn.units import percent

Array = NDArray[np.float64]
Values = dict[str, float]
WORDS = {
    "Little's law": "throughput x response time should equal the mean number present",
    "utilisation law": "throughput x service time should equal the number of busy servers",
    "flow balance": "departures should equal arrivals minus losses",
    "forced flow law": "throughput of the station should equal throughput of the system x visits",
    "interactive law": "throughput x (response time + think time) should equal the number of users",
}


UNITS = {
    "Little's law": "customers",
    "utilisation law": "busy servers",
    "flow balance": "customers/s",
    "forced flow law": "customers/s",
    "interactive law": "users",
}


def little(throughput_per_s: ArrayLike, response_s: ArrayLike) -> Array:
    """N = X R."""
    return np.asarray(throughput_per_s, float) * np.asarray(response_s, float)


def utilisation(throughput_per_s: ArrayLike, service_s: ArrayLike, servers: ArrayLike = 1) -> Array:
    """U = X S/m, of one server."""
    return np.asarray(throughput_per_s, float) * np.asarray(service_s, float) / np.asarray(servers, float)


def forced_flow(throughput_per_s: ArrayLike, visits: ArrayLike) -> Array:
    """X_k = X V_k, 1/s."""
    return np.asarray(throughput_per_s, float) * np.asarray(visits, float)


def demand_s(utilisation_: ArrayLike, throughput_per_s: ArrayLike, servers: ArrayLike = 1) -> Array:
    """D = m U/X, s: the service demand law."""
    return np.asarray(utilisation_, float) * np.asarray(servers, float) / np.asarray(throughput_per_s, float)


def interactive_response_s(population: ArrayLike, throughput_per_s: ArrayLike, think_s: ArrayLike = 0.0) -> Array:
    """R = N/X - Z, s."""
    return np.asarray(population, float) / np.asarray(throughput_per_s, float) - np.asarray(think_s, float)


def flow_imbalance(arrivals_per_s: ArrayLike, throughput_per_s: ArrayLike, loss: ArrayLike = 0.0) -> Array:
    """What arrives, is not lost and does not leave, 1/s; 0 in the long run."""
    entering = np.asarray(arrivals_per_s, float) * (1 - np.asarray(loss, float))
    return entering - np.asarray(throughput_per_s, float)


@dataclass(frozen=True)
class LawCheck:
    """One law at one place: `left` should equal `right`; `relative` = left/right - 1; ok within `tolerance`."""

    law: str
    station: str
    cls: str
    factors: tuple[tuple[str, Any], ...]
    left: float
    right: float
    relative: float
    tolerance: float

    @property
    def ok(self) -> bool:
        """Within tolerance."""
        return abs(self.relative) <= self.tolerance

    def __str__(self) -> str:
        where = ", ".join(
            [self.station or "system", *([self.cls] if self.cls else []), *(f"{k}={v}" for k, v in self.factors)]
        )
        how = "holds" if self.ok else f"is off by {percent(abs(self.relative), 0 if abs(self.relative) > 0.1 else 2)}"
        text = (
            f"{self.law} {how} at {where}: {self.left:.6g} against {self.right:.6g} {UNITS[self.law]}, "
            f"{percent(self.relative, 2, True)} (tolerance {percent(self.tolerance, 2)})"
        )
        return text if self.ok else f"{text}; {WORDS[self.law]}"


def check_laws(
    metrics: Metrics,
    tolerance: float = 1e-9,
    *,
    servers: Mapping[str, int] | None = None,
    population: float | None = None,
    think_s: float = 0.0,
    visits: Mapping[str, float] | None = None,
) -> list[LawCheck]:
    """Every law that the rows present allow, at each (factors, station, class). Rows without a value, or with a status
    other than `ok`, are passed over, and so is flow balance where the station or system is not stable.

    servers: number of servers by station (1 where missing). population and think_s (s): give them for a closed system
    to check N = X (R + Z). visits: by station, for X_k = X V_k. tolerance: relative, >= 0.
    """
    found = []
    places = list(_places(metrics))
    through = {(at, cls): v["throughput"] for at, station, cls, v in places if not station and "throughput" in v}
    for factors, station, cls, v in places:
        place = (station, cls, factors)
        for law, left, right in _laws(v, (servers or {}).get(station, 1)):
            found.append(_finding(law, place, left, right, tolerance))
        if population is not None and not station and {"throughput", "response_time"} <= v.keys():
            right = v["throughput"] * (v["response_time"] + think_s)
            found.append(_finding("interactive law", place, population, right, tolerance))
        if station in (visits or {}) and "throughput" in v and (factors, cls) in through:
            right = through[factors, cls] * (visits or {})[station]
            found.append(_finding("forced flow law", place, v["throughput"], right, tolerance))
    return found


def broken(findings: list[LawCheck]) -> list[LawCheck]:
    """Those that are not ok, worst first."""
    return sorted((f for f in findings if not f.ok), key=lambda f: -abs(f.relative))


def _laws(v: Values, servers: int) -> Iterator[tuple[str, float, float]]:
    time = v.get("response_time", v.get("residence_time"))
    done = v.get("throughput")
    if done is None:
        return
    if time is not None and "queue_length" in v:
        yield "Little's law", v["queue_length"], done * time
    if "service_time" in v and "utilisation" in v:
        yield "utilisation law", v["utilisation"] * servers, done * v["service_time"]
    if "arrival_rate" in v and not ("unstable" in v and time is None):
        yield "flow balance", done, v["arrival_rate"] * (1 - v.get("loss_probability", 0.0))


def _finding(
    law: str, place: tuple[str, str, tuple[tuple[str, Any], ...]], left: float, right: float, tolerance: float
) -> LawCheck:
    relative = left / right - 1 if right else (0.0 if left == 0 else float("inf"))
    return LawCheck(law, *place, left, right, relative, tolerance)


def _places(metrics: Metrics) -> Iterator[tuple[tuple[tuple[str, Any], ...], str, str, Values]]:
    """Values by metric at each place, in order; quantiles and distributions are not part of any law."""
    grouped: dict[tuple[Any, ...], Values] = {}
    factors = [name for name in metrics.frame.columns if name not in COLUMNS]
    for row in metrics.frame.to_dicts():
        key = (tuple((name, row[name]) for name in factors), row["station"], row["class"])
        if row["status"] in ("unstable", "saturated"):
            grouped.setdefault(key, {})["unstable"] = 1.0
        if row["value"] is None or row["status"] != "ok" or row["q"] is not None or row["n"] is not None:
            continue
        grouped.setdefault(key, {})[row["metric"]] = row["value"]
    for (at, station, cls), values in grouped.items():
        yield at, station, cls, values
