"""Where the cores of each run were: the topology measured before it, and the runs in which it was another than in most.

A host moves the processors of its guests between groups of cores that share a cache, from one run to the next, and neither the
guest's /sys nor any utilisation shows it (lab/topology_probe.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import polars as pl

from sojourn.lab.cpu_topology import cores
from sojourn.lab.topology_probe import probe_topology
from sojourn.report import Section, Table
from sojourn.runs.run_folder import RunFolder
from sojourn.study.system import Point, Session
from sojourn.units import per_second, seconds

TOPOLOGY_PROBE: Final = "topology_probe"  # of a study file and of a manifest
MARK = "topology probe: "
FAR = 1.5  # times the median of the runs
SHOWN_BYTES = (4 << 20, 128 << 20)
MISSES, NOT_COUNTED = 4, "not counted"  # its column

Pair: TypeAlias = tuple[int, int]


class ProbedSession:
    """A session that measures the topology before each run, into the run's manifest."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def conditions(self, point: Point) -> dict[str, Any]:
        return self._session.conditions(point)

    def run(self, point: Point, out: Path, seed: int) -> RunFolder:
        found = probe_topology([core.number for core in cores()])
        folder = self._session.run(point, out, seed)
        folder.manifest[TOPOLOGY_PROBE] = found.record
        folder.save()
        return folder


def mark_moved(runs: Iterable[RunFolder]) -> None:
    """Gives each run in which a pair of cores took `FAR` times its median over all runs, or less than that fraction, a warning; takes
    those away that were given for fewer runs."""
    known = {id(run): (run, _transfers(run)) for run in runs}.values()
    usual = _medians([pairs for _, pairs in known])
    for run, pairs in known:
        warnings = [text for text in run.manifest.get("warnings", ()) if not text.startswith(MARK)]
        warnings += [
            f"{MARK}cores {one} and {other} were {how} each other in some runs than in most, at least by a factor of at least {FAR:g}"
            for (one, other), transfer_s in pairs.items()
            if (how := _moved(transfer_s / usual[one, other]))
        ]
        if pairs and warnings != run.manifest.get("warnings", []):
            run.manifest["warnings"] = warnings
            run.save()


def probe_section(runs: Sequence[RunFolder]) -> Section | None:
    """What the probe said before each run beside the run's throughput, nearest cores first; None where none was asked for."""
    probed = [run for run in runs if TOPOLOGY_PROBE in run.manifest]
    if not probed:
        return None
    columns = (
        "run",
        "a cache line between cores",
        "an access in 4 MiB",
        "in 128 MiB",
        "LLC misses a request",
        "throughput",
        "mean response time",
    )
    rows = [_row(run) for run in sorted(probed, key=lambda run: run.manifest[TOPOLOGY_PROBE]["transfer_s"] or 0.0)]
    lead = "Measured before each run; of all pairs of cores the median. The host may have moved the cores of a virtual machine in between."
    note = "" if any(row[MISSES] != NOT_COUNTED for row in rows) else f"{_why_not(probed)} The probe stands in for it."
    return Section("Where the cores were", lead, (Table("", columns, tuple(rows), note),))


def _row(run: RunFolder) -> tuple[str, ...]:
    probe = run.manifest[TOPOLOGY_PROBE]
    access = {one["size_bytes"]: one["median_s"] for one in probe["access"]}
    probed = [probe["transfer_s"], *(access.get(size) for size in SHOWN_BYTES)]
    return (
        run.path.name,
        *map(seconds, probed),
        _misses(run),
        per_second(_mean(run, "throughput")),
        seconds(_mean(run, "response_time")),
    )


def _mean(run: RunFolder, metric: str) -> float | None:
    """Of the whole system."""
    frame = run.frame("metrics")
    if frame is None:
        return None
    own = frame.filter(pl.col("metric") == metric, pl.col("station") == "", pl.col("class") == "")
    return None if own.is_empty() else own["value"][0]


def _misses(run: RunFolder) -> str:
    """Misses of the last-level caches of all cores, a request."""
    frame, rate = run.frame("metrics"), _mean(run, "throughput")
    own = None if frame is None else frame.filter(pl.col("metric") == "cache_miss_rate")
    return NOT_COUNTED if own is None or own.is_empty() or not rate else f"{float(own['value'].sum()) / rate:.4g}"


def _why_not(runs: Sequence[RunFolder]) -> str:
    absent = [
        text for run in runs for text in (run.manifest.get("host") or {}).get("absent", ()) if text.startswith("perf")
    ]
    return f"This machine does not count misses of the last-level cache{': ' + absent[0] if absent else ''}."


def _transfers(run: RunFolder) -> dict[Pair, float]:
    """Pair of cores → one-way time, s, of those that were measured."""
    measured = (run.manifest.get(TOPOLOGY_PROBE) or {}).get("transfer", ())
    return {(one["cores"][0], one["cores"][1]): one["median_s"] for one in measured if "median_s" in one}


def _medians(runs: Sequence[dict[Pair, float]]) -> dict[Pair, float]:
    pairs = {pair for run in runs for pair in run}
    return {pair: float(np.median([run[pair] for run in runs if pair in run])) for pair in pairs}


def _moved(ratio: float) -> str:
    return "farther from" if ratio >= FAR else "nearer to" if ratio <= 1 / FAR else ""
