"""What the lines of a storage study say of measured runs: who used the CPU, latency, how well the meters repeat, what was put aside."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from sojourn.study import DISTURBED
from sojourn_cases.storage.costs.cost_per_io import background_of, cost_per_io, loaded, unmarked
from sojourn_cases.storage.costs.storage_run_list import FACTORS
from sojourn_cases.storage.storage_paths import EMBEDDED

METERS = (("cpu_cores", "residual"), ("ticks_cores", "ticks"), ("work_cores", "work counter"))
# what the server and the generator used differs from run to run, too; this is left of the meter's own error, and the kernel's own work
OWN = ("outside_cores", "residual less control groups")
FAR, FEWEST = 1.5, 16
PARTS = (("client_cores", "generator"), ("server_cores", "server"))


def measured_lines(runs: pl.DataFrame, folder: Path) -> Iterator[str]:
    """Of a run list with `cpu_cores`; columns that are not there are not told of. `folder`: of the study."""
    runs = _with_work(runs)
    busy = loaded(runs)
    yield from _parts(busy, background_of(runs).cores)
    yield from latency_lines(busy)
    yield from _repeats(runs, busy)
    yield from _by_meter(runs)
    yield from _by_distance(runs)
    yield from marked_lines(runs, folder)
    if "meter" in runs.columns and (runs["meter"] == "ticks").any():
        yield "CPU time is counted by ticks here, because no control group has cpu.idle: work between ticks and in interrupts is missed"
    if "server" in runs.columns and (runs["server"] == EMBEDDED).any():
        yield "one path uses sojourn's own server: its figures do not apply to any product"


def marked_lines(runs: pl.DataFrame, folder: Path) -> Iterator[str]:
    """How many runs were repeated, and how many do not count."""
    if aside := len(list((folder / DISTURBED).glob("*/manifest.json"))):
        yield f"{aside} runs were disturbed: set aside and repeated"
    if marked := runs.height - unmarked(runs).height:
        yield f"{marked} runs are marked and not used for the effects: saturated, failed, or disturbed each time"


def _with_work(runs: pl.DataFrame) -> pl.DataFrame:
    """With `work_cores`: what the loops' work fell short of theirs at rest, as cores; 0 at rest by definition."""
    rest = unmarked(runs.filter(pl.col("iops") == 0))
    if "work_per_s" not in runs.columns or rest["work_per_s"].null_count() == rest.height:
        return runs
    return runs.with_columns(work_cores=pl.col("cores") * (1 - pl.col("work_per_s") / rest["work_per_s"].mean()))


def _parts(busy: pl.DataFrame, background: float) -> Iterator[str]:
    """CPU of an I/O by who used it: control groups; what is in none is the kernel's own work, and interrupts."""
    parts = [(column, name) for column, name in PARTS if column in busy.columns]
    if not parts:
        return
    for (path,), one in busy.sort("path").group_by("path", maintain_order=True):
        rate = float(one["rate"].sum())
        us = {name: 1e6 * float(one[column].sum()) / rate for column, name in parts if one[column].null_count() == 0}
        if not any(us.values()):
            continue
        rest = 1e6 * (float(one["cpu_cores"].sum()) - one.height * background) / rate - sum(us.values())
        told = ", ".join(f"{name} {value:.1f}" for name, value in us.items() if value > 0)
        yield f"{path}, us per I/O by who used it: {told}, not attributed {rest:.1f}"


def latency_lines(busy: pl.DataFrame) -> Iterator[str]:
    """Of runs with a load, by path and IOPS; nothing where it is not known."""
    if "latency_s" not in busy.columns or "p99_s" not in busy.columns:
        return
    by = busy.group_by("path", "iops").agg(pl.col("latency_s").median(), pl.col("p99_s").median()).sort("path", "iops")
    for (path,), one in by.group_by("path", maintain_order=True):
        rows = one.select("iops", "latency_s", "p99_s").iter_rows()
        told = ", ".join(f"{1e6 * mean:.0f} (p99 {1e6 * p99:.0f}) at {iops:g} IOPS" for iops, mean, p99 in rows)
        yield f"{path}, latency in us, median of the runs: {told}"


def _repeats(runs: pl.DataFrame, busy: pl.DataFrame) -> Iterator[str]:
    """Standard deviation of repetitions, pooled over all combinations."""
    factors = [name for name in FACTORS if name in busy.columns]
    told = []
    if {column for column, _ in PARTS} <= set(busy.columns):
        used = sum(pl.col(column).fill_null(0.0) for column, _ in PARTS)
        busy = busy.with_columns(outside_cores=pl.col("cpu_cores") - used)
    for column, meter in (*METERS, OWN):
        if column in busy.columns:
            each = busy.group_by(factors).agg(pl.col(column).var().alias("var"), pl.len())
            there = each.filter(pl.col("len") > 1)
            if there.height:
                degrees = there["len"].cast(pl.Float64).to_numpy() - 1
                told.append(f"{meter} {float(np.average(there['var'].to_numpy(), weights=degrees)) ** 0.5:.4f}")
    rest = unmarked(runs.filter(pl.col("iops") == 0))["cpu_cores"]
    if told and len(rest) > 1:
        at_rest = f"at rest {float(rest.mean()):.4f}, sd {float(rest.std()):.4f}"  # type: ignore[arg-type]
        yield f"repeated runs differ by (sd, cores): {', '.join(told)}; {at_rest}"


def _by_meter(runs: pl.DataFrame) -> Iterator[str]:
    """The same cost by each of the meters: they do not see the same."""
    told: dict[str, list[str]] = {}
    for column, meter in METERS:
        if column in runs.columns:
            for cost in cost_per_io(runs.with_columns(pl.col(column).alias("cpu_cores"))):
                half = "" if cost.high is None else f" ± {1e6 * (cost.high - cost.seconds):.1f}"
                told.setdefault(cost.path, []).append(f"{meter} {1e6 * cost.seconds:.1f}{half}")
    for path, each in told.items():
        if len(each) > 1:
            yield f"{path}, us per I/O by meter: {', '.join(each)}"


def _by_distance(runs: pl.DataFrame) -> Iterator[str]:
    """The cost where the host had put the cores near each other, and where far (lab/topology_probe.py), if there are runs of both."""
    if "transfer_s" not in runs.columns or runs["transfer_s"].null_count() == runs.height:
        return
    far_s = FAR * float(runs["transfer_s"].quantile(0.1) or 0.0)
    far = (pl.col("transfer_s") > far_s) & (pl.col("iops") > 0)
    parts = {"near": runs.filter(~far), "far": runs.filter(far | (pl.col("iops") == 0))}
    if any(part.filter(pl.col("iops") > 0).height < FEWEST for part in parts.values()):
        return
    costs = {name: {cost.path: cost for cost in cost_per_io(part)} for name, part in parts.items()}
    for path in sorted(costs["near"].keys() & costs["far"].keys()):
        told = [f"{1e6 * costs[name][path].seconds:.1f} where cores were {name}" for name in parts]
        yield (
            f"{path}, us per I/O {', '.join(told)} (the host moves virtual cores: a cache line took more "
            f"than {1e9 * far_s:.0f} ns, or less)"
        )
