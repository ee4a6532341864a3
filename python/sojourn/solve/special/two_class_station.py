"""The two-class CPU 0 model on a station of kind multicore: soft interrupts and pages on n cores, m of them leading.

Sources, letters, limits and stability: `sojourn.solve.two_class`, whose numbers these are. What the model says here:

| `two_class`               | here                                             | unit |
|---------------------------|--------------------------------------------------|------|
| `rate_per_s`              | the rate of the one open class                   | 1/s  |
| 1 / `mu1_per_s`           | `interrupt_s` of the station                     | s    |
| 1 / `mu2_per_s`, page_scv | service time of the class: mean, and its scv     | s, 1 |
| `cores`, `nics`, `p`, `capacity` | of the station; p is a number or a rule   |      |

One method a variant. Limits: one station, one open class, Poisson arrivals, one visit; `paper` and `shared` take
exponential pages. The rows of the stations "leading" and "trailing" are those of `two_class`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from sojourn.model.components import Multicore
from sojourn.model.distribution_registry import Exponential
from sojourn.model.network_arrays import Network
from sojourn.solve.cite import SOURCES
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.solution import Solution
from sojourn.solve.two_class import arguments, complete, table
from sojourn.solve.two_class_equations import VARIANTS, evaluate
from sojourn.table import COLUMNS

TITLES = {
    "paper": "two classes on leading cores, as in the paper: both at full rate at once",
    "shared": "two classes on leading cores, sharing each core",
    "priority": "two classes on leading cores, interrupts preempt pages",
}


def refuses(variant: str, network: Network) -> str | None:
    if network.kind != ("multicore",):
        return f"it has {len(network.kind)} stations ({', '.join(sorted(set(network.kind)))}); it needs one multicore"
    if len(network.classes) != 1 or network.closed[0]:
        return "it needs one open class"
    station = _station(network)
    if station.variant != variant:
        return f"station {station.name} asks for variant {station.variant}"
    if not isinstance(network.arrivals[0], Exponential):
        return f"class {network.classes[0]} does not arrive as a Poisson process with a rate above 0"
    if abs(network.visits[0, 0] - 1) > 1e-12 or network.service_s[0, 0] <= 0:
        return f"station {station.name} is not visited once with a page time above 0"
    if variant != "priority" and not isinstance(network.service[0][0], Exponential):
        return "pages are not exponential, as this variant takes them"
    return None


def _station(network: Network) -> Multicore:
    station = network.model.station(network.stations[0])
    assert isinstance(station, Multicore)
    return station


def run(variant: str, networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
    """Points of one capacity and one p are evaluated together."""
    groups: dict[Any, list[int]] = {}
    for i, network in enumerate(networks):
        station = _station(network)
        groups.setdefault((station.capacity, station.p), []).append(i)
    empty = np.full(len(networks), np.nan)
    found = {name: empty.copy() for name in ("throughput", "jobs", "busy", "loss")}
    status, more = ["ok"] * len(networks), []
    for own in groups.values():
        for row in _group(variant, [networks[i] for i in own], np.array(own), found):
            if row["station"] == "" and row["metric"] == "response_time":
                status[row["point"]] = row["status"]
            if row["station"] or row["metric"] == "saturation_rate":
                more.append(row)
    message = ""
    if variant == "priority":
        status = [_rough(name, _station(n)) for name, n in zip(status, networks, strict=True)]
        message = "" if "approximate" in status else "here it is exact: all cores take interrupts"
    x, jobs, busy, loss = (found[name] for name in ("throughput", "jobs", "busy", "loss"))
    lost = None if variant == "priority" else loss[:, None, None]
    return Solution(x[:, None], jobs[:, None, None], busy[:, None, None], status, loss=lost, more=more, message=message)


def _rough(name: str, station: Multicore) -> str:
    """Only the wait at the trailing cores is approximate."""
    return "approximate" if name == "ok" and station.cores > station.nics else name


def _group(
    variant: str, networks: Sequence[Network], points: np.ndarray, found: dict[str, np.ndarray]
) -> list[dict[str, Any]]:
    """Fills `found` at these points; the rows of `two_class` with their point."""
    stations = [_station(n) for n in networks]
    first = stations[0]
    service = [n.service[0][0] for n in networks]
    cores, nics = np.array([s.cores for s in stations], float), np.array([s.nics for s in stations], float)
    x = arguments(
        np.array([n.rate_per_s[0] for n in networks]), interrupt_s=np.array([s.interrupt_s for s in stations]),
        page_s=np.array([n.service_s[0, 0] for n in networks]), p=None if isinstance(first.p, str) else first.p,
        p_rule=first.p if isinstance(first.p, str) else "uniform", capacity=int(first.capacity), cores=cores, nics=nics,
        page_scv=np.array([1.0 if d is None else d.scv for d in service]),
    )  # fmt: skip
    results = evaluate(variant, x)
    full = complete(x, results, variant)
    found["throughput"][points], found["jobs"][points] = full["throughput"], full["jobs"]
    found["loss"][points] = full["loss"]
    trailing = np.where(cores > nics, full["behind_busy"] * (cores - nics), 0.0)
    found["busy"][points] = (full["lead_busy"] * nics + trailing) / cores
    return _rows(variant, table(x, results, variant).frame.to_dicts(), points)


def _rows(variant: str, rows: list[dict[str, Any]], points: np.ndarray) -> list[dict[str, Any]]:
    """The factors of `two_class` away, and the point in their place: it begins anew at each system arrival rate."""
    made, at = [], -1
    for row in rows:
        at += row["station"] == "" and row["metric"] == "arrival_rate"
        if (
            variant == "priority"
            and row["station"] == "trailing"
            and row["metric"] in ("queue_length", "residence_time")
        ):
            row["status"] = "approximate" if row["status"] == "ok" else row["status"]
        kept = {key: value for key, value in row.items() if key in COLUMNS and value is not None}
        made.append({"value": None, **kept, "point": int(points[at])})
    return made


METHODS = tuple(
    Method(
        name=f"two-class/{variant}",
        title=TITLES[variant],
        exact=variant != "priority",
        sources=SOURCES[f"two-class/{variant}"],
        refuses=partial(refuses, variant),
        run=partial(run, variant),
        reads=("multicore",),
    )
    for variant in VARIANTS
)
