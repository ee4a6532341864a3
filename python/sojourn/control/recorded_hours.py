"""Hours of a service that were recorded, as a load that a policy can be tried on: rate and busy servers, window by window."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

from sojourn.errors import InputError
from sojourn.runs.run_folder import RunFolder, run_folders

REMEDY = "give windows that `sojourn observe` wrote; of a single run or a log leave --observed-windows out"


@dataclass(frozen=True)
class RecordedWindow:
    """`start_s`: Unix time; `rate_per_s`: answers a second; `shares`: resource → share of its capacity in use, in [0, 1]."""

    start_s: float
    length_s: float
    rate_per_s: float
    shares: Mapping[str, float]


@dataclass(frozen=True)
class RecordedHours:
    """`windows` in order of time; `workers` that were in place; `resource` whose share is taken for how busy a worker was."""

    windows: tuple[RecordedWindow, ...]
    workers: int
    resource: str

    @staticmethod
    def of(
        windows: Sequence[RecordedWindow], capacity: Mapping[str, float], workers: int | None, resource: str = "",
    place: str = "--observed-windows",
    ) -> RecordedHours:  # fmt: skip
        """`resource`: "" takes the busiest one; `workers`: None takes its capacity (cores, servers).

        Raises:
            InputError: fewer than two windows, no such resource, none was watched, or workers < 1.
        """
        shared = [set(one.shares) for one in windows]
        known = sorted(set.intersection(*shared)) if shared else []
        if len(windows) < 2:
            raise InputError(f"{len(windows)} windows", place, REMEDY)
        if not known:
            remedy = "observe with the CPU time of the service: a policy is told how busy its workers are"
            raise InputError("no resource that all windows have", place, remedy)
        if resource and resource not in known:
            raise InputError(repr(resource), "--worker-resource", f"give one of {', '.join(known)}")
        name = resource or max(known, key=lambda each: sum(one.shares[each] for one in windows))
        count = workers if workers is not None else max(round(capacity.get(name, 1.0)), 1)
        if count < 1:
            raise InputError(count, "--recorded-workers", "give 1 or more")
        return RecordedHours(tuple(sorted(windows, key=lambda one: one.start_s)), count, name)

    def busy(self, window: RecordedWindow) -> float:
        """Mean number of workers at work: by the utilisation law the same with any number of them that carries the load."""
        return window.shares[self.resource] * self.workers


def hours_of_folders(paths: Sequence[Path], workers: int | None, resource: str = "") -> RecordedHours:
    """Of windows that `observe` wrote as run folders.

    Raises:
        RunFolderError: there is none. InputError: they are no observed windows; what `RecordedHours.of` raises.
    """
    found, capacity = [], {}
    for path in run_folders(list(paths)):
        folder = RunFolder.open(path)
        observed = folder.manifest.get("observed") or {}
        start_s, length_s = observed.get("start_unix_s"), observed.get("length_s")
        if not _time(start_s) or not _time(length_s) or not length_s:
            raise InputError(f"{path.name} has no observed window", "--observed-windows", REMEDY)
        rows = folder.metrics().frame.filter(**{"class": ""}) if folder.has("metrics") else None
        named = {(row["station"], row["metric"]): row["value"] for row in rows.to_dicts()} if rows is not None else {}
        shares = {
            station: value for (station, metric), value in named.items() if metric == "utilisation" and _time(value)
        }
        rate = named.get(("", "throughput"))
        if _time(rate):
            found.append(RecordedWindow(float(start_s), float(length_s), float(rate), shares))
        for name, one in (folder.manifest.get("resources") or {}).items():
            capacity[name] = float(one.get("capacity", 1.0))
    return RecordedHours.of(found, capacity, workers, resource, ", ".join(map(str, paths)))


def _time(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and math.isfinite(value) and value >= 0
