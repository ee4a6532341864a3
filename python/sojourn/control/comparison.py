"""Policies beside each other: those of a folder are one curve of violations against cost, others a point each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from sojourn.control.policy_file import Policy, read
from sojourn.errors import InputError
from sojourn.model import Model
from sojourn.report.document import Figure, Series


@dataclass(frozen=True)
class ComparedPolicy(Policy):
    """`curve`: the folder of policies that it is one of; "" where it stands alone."""

    curve: str = ""


def compared(paths: Sequence[Path], model: Model) -> list[ComparedPolicy]:
    """Of policy files and of folders of them. InputError: a folder without one, or two of one name."""
    found: list[ComparedPolicy] = []
    for path in paths:
        files = sorted(path.glob("*.toml")) if path.is_dir() else [path]
        if not files:
            raise InputError("no .toml file in it", path, "give a policy file, or a folder of them")
        for file in files:
            it, curve = read(file, model), path.name if path.is_dir() else ""
            name = f"{curve}/{it.name}" if curve else it.name
            if any(one.name == name for one in found):
                raise InputError(f"two policies {name!r}", file, "give files with different names")
            found.append(ComparedPolicy(name, it.decide, it.objective, it.rails, curve))
    return found


def violations_and_cost(rows: Sequence[Mapping[str, Any]], objective: str) -> Figure:
    """Late requests against core-hours, means over the loads, of rows with `policy`, `curve`, `late_requests`, `core_hours`."""
    points: dict[str, dict[str, tuple[float, float]]] = {}
    for name in dict.fromkeys(row["policy"] for row in rows):
        own = [row for row in rows if row["policy"] == name]
        at = (mean(row["core_hours"] for row in own), 100 * mean(row["late_requests"] for row in own))
        points.setdefault(own[0]["curve"] or name, {})[name] = at
    series = []
    for name, of in points.items():
        x, y = zip(*sorted(of.values()), strict=True)
        series.append(Series(name, x, y, style="line" if len(of) > 1 else "points"))
    loads = ", ".join(dict.fromkeys(row["load"] for row in rows))
    return Figure(
        "violations",
        f"Late requests against cost, {objective}",
        "core-hours",
        "late requests, %",
        tuple(series),
        note=f"Means over {loads}.",
    )
