"""Is what was put in what comes out? The study on simulated systems with known times, many times over.

Each seed is a whole study: plan, points in their order, rows, fit on its part of the points, judgement of the others. A 95 %
interval must have the known time in 95 of 100 studies; how far a count may lie from that by chance, the binomial
distribution says.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from sojourn.study.kv.models import Times
from sojourn.study.kv.models.times import Estimate
from sojourn.study.kv.plan import KvPlan
from sojourn.study.kv.points import Point
from sojourn.study.kv.run import measure
from sojourn.study.kv.seen import Seen
from sojourn.study.kv.simulated import Known, SimulatedSystem
from sojourn.study.recovery import band

LEVEL = 0.95


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
                yield {
                    "seed": seed, "configuration": name, "time": what, "truth": truth, "estimate": e.value,
                    "low": e.low, "high": e.high, "covered": e.covers(truth), "error": error,
                }  # fmt: skip


def compared(times: Times, known: Known) -> Iterator[tuple[str, float, Estimate]]:
    """Each known time with its estimate."""
    yield "network", known.network_s, times.network_s
    yield "net thread", known.net_s, times.means["net_s"]
    yield "server", known.server_s, times.means["server_cpu_s"]
    if times.held_s is not None:
        yield "held", known.held_s, times.held_s


def coverage(rows: pl.DataFrame, sure: float = 0.99) -> pl.DataFrame:
    """A row for each configuration and time: studies, how many covered it, the band [low, high] of such counts, whether
    it lies inside, and the mean relative error of the estimates (bias). `sure`: of all rows together being inside when
    each interval is right (Bonferroni)."""
    found = rows.group_by("configuration", "time", maintain_order=True).agg(
        studies=pl.len(), covered=pl.col("covered").sum(), bias=(pl.col("estimate") / pl.col("truth") - 1).mean()
    )
    tail = (1 - sure) / 2 / max(found.height, 1)
    bands = [band(n, LEVEL, 2 * tail) for n in found["studies"]]
    low, high = (pl.Series([b[k] for b in bands]) for k in (0, 1))
    return found.with_columns(low=low, high=high).with_columns(
        inside=(pl.col("covered") >= pl.col("low")) & (pl.col("covered") <= pl.col("high"))
    )
