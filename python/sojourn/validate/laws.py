"""Operational laws on any Metrics: Little, utilisation, flow balance, interactive response time.

Source: Denning and Buzen, The Operational Analysis of Queueing Network Models, ACM Computing Surveys 10(3), 1978;
Jain, The Art of Computer Systems Performance Analysis (1991), Chapter 33. They hold for every stationary system,
whatever its distributions: a solver must satisfy them to rounding, a measurement within its sampling error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sojourn.table import COLUMNS, Metrics
from sojourn.units import percent

Values = dict[str, float]


@dataclass(frozen=True)
class Finding:
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
        verdict = "holds" if self.ok else "is broken"
        return (
            f"{self.law} {verdict} at {where}: {self.left:.6g} against {self.right:.6g}, "
            f"{percent(self.relative, 2, True)} (tolerance {percent(self.tolerance, 2)})"
        )


def check_laws(
    metrics: Metrics,
    tolerance: float = 1e-9,
    *,
    servers: Mapping[str, int] | None = None,
    population: float | None = None,
    think_s: float = 0.0,
) -> list[Finding]:
    """Every law that the rows present allow, at each (factors, station, class). Rows without a value, or with a status
    other than `ok`, are passed over.

    servers: number of servers by station (1 where missing). population and think_s (s): give them for a closed system
    to check N = X (R + Z). tolerance: relative, >= 0.
    """
    found = []
    for factors, station, cls, v in _places(metrics):
        place = (station, cls, factors)
        for law, left, right in _laws(v, (servers or {}).get(station, 1)):
            found.append(_finding(law, place, left, right, tolerance))
        if population is not None and not station and {"throughput", "response_time"} <= v.keys():
            right = v["throughput"] * (v["response_time"] + think_s)
            found.append(_finding("interactive law", place, population, right, tolerance))
    return found


def broken(findings: list[Finding]) -> list[Finding]:
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
    if "arrival_rate" in v:
        yield "flow balance", done, v["arrival_rate"] * (1 - v.get("loss_probability", 0.0))


def _finding(
    law: str, place: tuple[str, str, tuple[tuple[str, Any], ...]], left: float, right: float, tolerance: float
) -> Finding:
    relative = left / right - 1 if right else (0.0 if left == 0 else float("inf"))
    return Finding(law, *place, left, right, relative, tolerance)


def _places(metrics: Metrics) -> Iterator[tuple[tuple[tuple[str, Any], ...], str, str, Values]]:
    """Values by metric at each place, in order; quantiles and distributions are not part of any law."""
    grouped: dict[tuple[Any, ...], Values] = {}
    factors = [name for name in metrics.frame.columns if name not in COLUMNS]
    for row in metrics.frame.to_dicts():
        if row["value"] is None or row["status"] != "ok" or row["q"] is not None or row["n"] is not None:
            continue
        key = (tuple((name, row[name]) for name in factors), row["station"], row["class"])
        grouped.setdefault(key, {})[row["metric"]] = row["value"]
    for (at, station, cls), values in grouped.items():
        yield at, station, cls, values
