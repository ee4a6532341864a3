"""Rows of guests on shared cores beside those of any network: each guest's own account, and what is taken of the cores."""

from __future__ import annotations

from typing import Any

from sojourn.model.network_arrays import Array
from sojourn.model.network_points import NetworkPoints


def rows(points: NetworkPoints, runnable: Array, passes: Array, demands: Array) -> list[dict[str, Any]]:
    """Utilisations of P points: each guest's own account (`runnable`, P x K: its servers that could run), and of the cores all that is
    taken of them, and the hypervisor's part. `passes`: P, in 1/s; `demands`: P x K, in s, longer by what background work leaves."""
    made: list[dict[str, Any]] = []
    servers, background = points.column("servers"), points.column("background")
    names = points.bases[0].stations
    for number, first in enumerate(points.bases[0].sharing):
        for station, row in first.guests.items():
            k = names.index(station)
            made += [_row(row, p, float(runnable[p, k] / servers[p, k])) for p in range(len(points))]
        own = [names.index(station) for station in first.stations]
        for p in range(len(points)):
            shared = points.bases[points.which[p]].sharing[number]
            rest = background[p, own]
            taken = float((passes[p] * demands[p, own] * (1 - rest / servers[p, own]) + rest).sum())
            cores = shared.cores * (1 if shared.together else len(own))
            made.append(_row(shared.name, p, taken * (1 + shared.overhead) / cores))
            made.append(_row(f"{shared.name}.hypervisor", p, taken * shared.overhead / cores))
    return made


def _row(station: str, point: int, value: float) -> dict[str, Any]:
    return {"station": station, "class": "", "metric": "utilisation", "value": value, "point": point}
