"""Rows of guests on shared cores beside those of any network: each guest's own account, and what is taken of the cores."""

from __future__ import annotations

from typing import Any

from sojourn.model.network_arrays import Array
from sojourn.model.network_points import NetworkPoints

PART = "guest"


def rows(points: NetworkPoints, parts: dict[str, Array], passes: Array, demands: Array) -> list[dict[str, Any]]:
    """Both of each guest's account and of the cores: all that is taken of them, and the hypervisor's part, as a share of the cores."""
    made: list[dict[str, Any]] = []
    servers, background = points.column("servers"), points.column("background")
    names = points.bases[0].stations
    for label, busy in parts.items():
        k = names.index(label.removesuffix(f".{PART}"))
        made += [_row(label, p, float(value / servers[p, k])) for p, value in enumerate(busy)]
    for number in range(len(points.bases[0].sharing)):
        for p in range(len(points)):
            group = points.bases[points.which[p]].sharing[number]
            own = [names.index(s) for s in group.stations]
            rest = background[p, own]
            taken = float((passes[p] * demands[p, own] * (1 - rest / servers[p, own]) + rest).sum())
            cores = group.cores * (1 if group.together else len(own))
            made.append(_row(group.name, p, taken * (1 + group.overhead) / cores))
            made.append(_row(f"{group.name}.hypervisor", p, taken * group.overhead / cores))
    return made


def _row(station: str, point: int, value: float) -> dict[str, Any]:
    return {"station": station, "class": "", "metric": "utilisation", "value": value, "point": point}
