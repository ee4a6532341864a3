"""Is what was put in what comes out? The study on simulated systems with known times, many times over.

Each seed is a whole study: plan, points in their order, rows, fit on its part of the points, judgement of the others.
`sojourn.study.recovery.coverage` counts.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from sojourn.study import recovery
from sojourn.study.estimate import Estimate
from sojourn.study.kv.models import Times
from sojourn.study.kv.plan import KvPlan
from sojourn.study.kv.points import Point
from sojourn.study.kv.run import measure
from sojourn.study.kv.seen import Seen
from sojourn.study.kv.simulated import Known, SimulatedSystem
from sojourn.study.recovery import coverage


@dataclass
class KnownSystem:
    """The simulated system in the place of the machine."""

    simulated: SimulatedSystem
    kind: str = "simulated"

    def run(self, point: Point) -> Seen:
        return replace(self.simulated.run(point), client_share=0.0)

    def ping(self) -> dict[str, float]:
        return dict.fromkeys(("median_s", "low_s", "high_s"), self.simulated.known.network_s)


def recovered(plan: KvPlan, known: Known, seeds: Iterable[int]) -> pl.DataFrame:
    """A row for each seed, configuration and time: truth, estimate, low, high, covered; and `error`, the median
    relative error of the throughput that was predicted where nothing was fitted.

    `plan`: designs with a middleware and reads only, since the simulated system has no other.
    """
    return pl.DataFrame([row for seed in seeds for row in _one(plan, known, seed)])


def _one(plan: KvPlan, known: Known, seed: int) -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        found = measure(plan, Path(folder), lambda _: None, KnownSystem(SimulatedSystem(known, seed)))
    for judgement in found.models[:1]:  # all models have the same times
        error = judgement.median_error()[0]
        for name, times in judgement.fits:
            for what, truth, e in compared(times, known):
                yield recovery.compared(seed, name, what, truth, e) | {"error": error}


def compared(times: Times, known: Known) -> Iterator[tuple[str, float, Estimate]]:
    """Each known time with its estimate."""
    yield "network", known.network_s, times.network_s
    yield "net thread", known.net_s, times.means["net_s"]
    yield "server", known.server_s, times.means["server_cpu_s"]
    if times.held_s is not None:
        yield "held", known.held_s, times.held_s


__all__ = ["compared", "coverage", "recovered"]
