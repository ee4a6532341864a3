"""What is wrong with the runs of a storage experiment: each fault by a test of its own on the run list.

    cached               reads that the page cache answered, over 1 % of them
    saturated            less than 0.98 of the rate that was asked for, by more than chance
    closed queueing      I/Os that are not counts of a Poisson process: their number follows how fast the path answers, not the clock
    drifting background  CPU at zero IOPS goes with the place in the order
    tick-locked pacing   ticks and residual differ by more than sampling: the load is in step with the clock that samples it
    bursty reaping       completions were taken up many at a time: they waited for the pacer

Columns beside those of a run list: `window_s`, `cache_share`, `completed` I/Os, `ticks_cores`, `reaps` (calls that took up completions).
A test whose columns are missing is not made. Each test has the size `SIZE`, so a clean study is flagged in 1 % of cases at most by all
of them together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.special import chdtrc, ndtri, stdtr

from sojourn_cases.storage.costs.cost_per_io import background_of, unmarked

SIZE = 0.001
CACHED, ENOUGH, AT_ONCE = 0.01, 0.98, 2.0
TICKS_PER_S = 250


@dataclass(frozen=True)
class StorageRunFault:
    """`name` of the list above; what was seen; what to do."""

    name: str
    seen: str
    remedy: str


def run_faults(runs: pl.DataFrame, ticks_per_s: float = TICKS_PER_S) -> list[StorageRunFault]:
    """All faults of a run list, in the order above."""
    busy = runs.filter(pl.col("iops") > 0)
    found: list[Iterator[StorageRunFault]] = []
    for needs, test in TESTS:
        if needs <= set(runs.columns) and busy.height:
            found.append(test(runs, busy, ticks_per_s))
    return [fault for each in found for fault in each]


def _cached(runs: pl.DataFrame, busy: pl.DataFrame, ticks_per_s: float) -> Iterator[StorageRunFault]:
    by_path = (
        busy.group_by("path").agg(pl.col("cache_share").mean()).filter(pl.col("cache_share") > CACHED).sort("path")
    )
    for path, share in by_path.iter_rows():
        yield StorageRunFault(
            "cached",
            f"{path}: {share:.0%} of the I/Os were answered by the page cache",
            "use O_DIRECT on every host of the path",
        )


def _saturated(runs: pl.DataFrame, busy: pl.DataFrame, ticks_per_s: float) -> Iterator[StorageRunFault]:
    if list(_closed(runs, busy, ticks_per_s)):
        return  # it is not the path that limits the rate
    groups = busy.group_by("path", "iops").agg(
        due=(pl.col("iops") * pl.col("window_s")).sum(), done=pl.col("completed").sum()
    )
    for path, iops, due, done in groups.sort("path", "iops").iter_rows():
        if done < ENOUGH * due and (done - due) / math.sqrt(due) < float(ndtri(SIZE / groups.height)):
            yield StorageRunFault(
                "saturated",
                f"{path} at {iops:g} IOPS did {done / due:.3f} of the requested I/Os",
                "leave that rate out of the analysis of effects",
            )


def _closed(runs: pl.DataFrame, busy: pl.DataFrame, ticks_per_s: float) -> Iterator[StorageRunFault]:
    """At the lowest rate, where no path is saturated yet, all paths do as many I/Os under an open load."""
    low = busy.filter(pl.col("iops") == pl.col("iops").min())
    by_path = low.group_by("path").agg(done=pl.col("completed").sum(), due=(pl.col("iops") * pl.col("window_s")).sum())
    expected = by_path["due"] * (float(by_path["done"].sum()) / float(by_path["due"].sum()))
    if by_path.height < 2 or expected.min() == 0:
        return
    total = float(((by_path["done"] - expected) ** 2 / expected).sum())
    if chdtrc(by_path.height - 1, total) < SIZE:
        told = ", ".join(f"{path} {done / due:.3f}" for path, done, due in by_path.sort("path").iter_rows())
        yield StorageRunFault(
            "closed queueing", f"the paths completed different shares of the {low['iops'][0]:g} requested IOPS: {told}",
            "set a rate, not a number of threads: with threads a slower path does fewer I/Os, and looks cheaper",
        )  # fmt: skip


def _drift(runs: pl.DataFrame, busy: pl.DataFrame, ticks_per_s: float) -> Iterator[StorageRunFault]:
    rest = unmarked(runs.filter((pl.col("iops") == 0) & pl.col("cpu_cores").is_not_null()))
    if rest.height < 4:
        return
    place, cpu = rest["run"].to_numpy().astype(float), rest["cpu_cores"].to_numpy()
    r = float(np.corrcoef(place, cpu)[0, 1]) if cpu.std() > 0 else 0.0
    n = len(cpu)
    p = 2 * float(stdtr(n - 2, -abs(r) * math.sqrt((n - 2) / max(1 - r * r, 1e-300))))
    if p < SIZE:
        slope = float(np.polyfit(place, cpu, 1)[0]) * (place[-1] - place[0])
        yield StorageRunFault(
            "drifting background",
            f"CPU at rest changed by {slope:+.3f} cores from first to last run (p = {p:.1g})",
            "stop other programs, and run again",
        )


def _tick_locked(runs: pl.DataFrame, busy: pl.DataFrame, ticks_per_s: float) -> Iterator[StorageRunFault]:
    """Sampling a share u of a core n times has the variance u (1 - u)/n at most, if load and clock have nothing to do with each other.

    The mean difference over all runs is taken out: interrupts on an idle core are in one meter only. A residual scatters, too: as the
    runs at rest do, and by 5 % of itself.
    """
    there = busy.drop_nulls(["ticks_cores", "cpu_cores"])
    if there.height < 8:
        return
    cpu, ticks = there["cpu_cores"].to_numpy(), there["ticks_cores"].to_numpy()
    n = ticks_per_s * there["window_s"].to_numpy()
    rest = background_of(runs)
    own = rest.std_error * math.sqrt(max(rest.runs, 1))
    variance = np.maximum(cpu, 0.01) / n + (0.05 * cpu) ** 2 + own**2 + 0.01**2  # one tick is 0.01 s in /proc/stat
    off = ticks - cpu
    common = float((off @ cpu) / (cpu @ cpu))
    ratio = common if abs(common) < 0.3 else 0.0
    total = float(((off - ratio * cpu) ** 2 / variance).sum())
    if chdtrc(len(cpu) - 1, total) < SIZE:
        yield StorageRunFault(
            "tick-locked pacing", f"ticks and residual differ {math.sqrt(total / (len(cpu) - 1)):.1f} times as much as sampling explains",
            "use Poisson arrivals, and read the CPU from the residual",
        )  # fmt: skip


def _bursty(runs: pl.DataFrame, busy: pl.DataFrame, ticks_per_s: float) -> Iterator[StorageRunFault]:
    by_path = (
        busy.group_by("path").agg((pl.col("completed").sum() / pl.col("reaps").sum()).alias("at_once")).sort("path")
    )
    for path, at_once in by_path.iter_rows():
        if at_once > AT_ONCE:
            yield StorageRunFault(
                "bursty reaping",
                f"{path}: {at_once:.1f} completions at once",
                "handle each completion as it arrives: in bursts I/Os share costs, which makes each look cheaper",
            )


Test = Callable[[pl.DataFrame, pl.DataFrame, float], Iterator[StorageRunFault]]
TESTS: tuple[tuple[set[str], Test], ...] = (
    ({"cache_share"}, _cached),
    ({"window_s", "completed"}, _saturated),
    ({"window_s", "completed"}, _closed),
    ({"run", "cpu_cores"}, _drift),
    ({"window_s", "ticks_cores", "cpu_cores"}, _tick_locked),
    ({"reaps", "completed"}, _bursty),
)
