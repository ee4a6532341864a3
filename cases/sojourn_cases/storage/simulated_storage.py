"""Two hosts and a disk whose CPU per I/O is known by layer, simulated run by run: the judge of the storage study's analysis.

An I/O of a path costs on the host interrupt/(1 + r/batch_at) + protocol + copy · KiB + server, of which `server_us` is the server's; a
read saves `read_saves_us`, and whether I/Os are random costs `random_us` (0: a null effect). r: the rate; interrupts of near I/Os come
together. A run does a Poisson number of I/Os, and its CPU is their sum, each run off by a share of its own, on a background, read with
an error. `fault` plants one of `FAULTS`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from sojourn.errors import InputError
from sojourn.file_errors import meant

Array = NDArray[np.float64]
FAULTS = ("cached", "closed queueing", "drifting background", "saturated", "tick-locked pacing", "bursty reaping")
TICKS_PER_S = 250
CACHE_SHARE, CACHE_COST = 0.3, 0.2
DRIFT_CORES = 0.03  # from the first run to the last
FULL_AT = 0.85  # of the greatest rate
PACER_S = 0.005  # between two wake-ups of a pacer that reaps, too
LOCKED = 0.8  # share of I/Os that keep their place between two ticks


class CpuCostByLayer(BaseModel):
    """The CPU time of an I/O in each layer, in us."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    interrupt_us: float = Field(ge=0)
    protocol_us: float = Field(ge=0)
    copy_us_per_kib: float = Field(ge=0)
    server_us: float = Field(default=0.0, ge=0)
    read_saves_us: float = 8.0
    random_us: float = 0.0
    batch_at: float | None = Field(default=None, gt=0)  # 1/s; None: an interrupt an I/O
    latency_us: float = Field(default=150.0, gt=0)

    def mean_us(self, read: Any = 0.5, random: Any = 0.5, block_kib: Any = 6.0, rate: Any = 1.0) -> Any:
        """Of an I/O of these shares and this size."""
        interrupt = self.interrupt_us / (1 + np.asarray(rate) / self.batch_at) if self.batch_at else self.interrupt_us
        fixed = interrupt + self.protocol_us + self.server_us
        return fixed + self.copy_us_per_kib * block_kib - self.read_saves_us * read + self.random_us * random


class SimulatedStorageOptions(BaseModel):
    """What is true. CPU in cores; `run_spread`: standard deviation of a run's cost, of its mean; `meter_cores`: of a reading."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    paths: dict[str, CpuCostByLayer] = {
        "local": CpuCostByLayer(interrupt_us=12, protocol_us=26, copy_us_per_kib=0.6),
        "nbd": CpuCostByLayer(interrupt_us=16, protocol_us=30, copy_us_per_kib=1.6, server_us=30, latency_us=210),
    }
    window_s: float = Field(default=1.4, gt=0)
    background_cores: float = Field(default=0.007, ge=0)
    background_spread: float = Field(default=0.0027, ge=0)
    run_spread: float = Field(default=0.04, ge=0)
    meter_cores: float = Field(default=0.003, ge=0)


def simulate_storage(
    design: pl.DataFrame, options: SimulatedStorageOptions, seed: int, fault: str | None = None
) -> pl.DataFrame:
    """A run list (`sojourn_cases.storage.costs.storage_run_list.storage_design`) filled in: what a study would have written of these runs.

    Raises:
        InputError: no such fault, a path that has no costs.
    """
    if fault is not None and fault not in FAULTS:
        raise InputError(repr(fault), "fault", meant(fault, FAULTS))
    for path in design["path"].unique():
        if path not in options.paths:
            raise InputError(f"path {path!r}", "design", meant(path, options.paths))
    rng = np.random.default_rng(seed)
    iops, n, window = design["iops"].to_numpy().astype(float), design.height, options.window_s
    cost = 1e-6 * _by_path(design, options, lambda c, row: c.mean_us(*row))
    server = 1e-6 * _by_path(design, options, lambda c, row: np.full(len(row[0]), c.server_us))
    latency = 1e-6 * _by_path(design, options, lambda c, row: np.full(len(row[0]), c.latency_us))
    cached, at_once = np.zeros(n), 1 + iops * cost
    if fault == "cached":
        cached[:] = CACHE_SHARE
        cost, server = (x * (1 - CACHE_SHARE * (1 - CACHE_COST)) for x in (cost, server))
    if fault == "bursty reaping":
        at_once = np.maximum(iops * PACER_S, 1.0)
        cost = cost * (0.5 + 0.5 / at_once)
    count = _counts(rng, design, options, latency, fault)
    background = rng.normal(options.background_cores, options.background_spread, n)
    if fault == "drifting background":
        background = background + DRIFT_CORES * np.arange(n) / max(n - 1, 1)
    of_run = 1 + rng.normal(0, options.run_spread, n)
    used = background + count * cost * of_run / window
    found = {
        "window_s": np.full(n, window), "completed": count, "achieved_iops": count / window,
        "cpu_cores": used + rng.normal(0, options.meter_cores, n), "server_cores": count * server * of_run / window,
        "ticks_cores": _ticks(rng, used, window, iops > 0, fault == "tick-locked pacing"),
        "cache_share": cached, "reaps": np.maximum(np.round(count / at_once), 1),
        "latency_s": latency + (PACER_S / 2 if fault == "bursty reaping" else 0),
    }  # fmt: skip
    return design.with_columns(pl.Series(name, column) for name, column in found.items())


def _by_path(design: pl.DataFrame, options: SimulatedStorageOptions, told: Any) -> Array:
    path, found = design["path"].to_numpy(), np.zeros(design.height)
    rows = design.select(pl.col("read", "random", "block_kib", "iops").cast(pl.Float64)).to_numpy().T
    for name, costs in options.paths.items():
        here = path == name
        found[here] = told(costs, rows[:, here])
    return found


def _counts(
    rng: np.random.Generator, design: pl.DataFrame, options: SimulatedStorageOptions, latency: Array, fault: str | None
) -> Array:
    """I/Os of each run."""
    iops, window = design["iops"].to_numpy().astype(float), options.window_s
    if fault == "closed queueing":  # as many threads as would do the rate on the fastest path, one I/O each at a time
        fastest = min(costs.latency_us for costs in options.paths.values()) * 1e-6
        return np.round(iops * window * fastest / latency * (1 + rng.normal(0, 0.01, len(iops))))
    if fault == "tick-locked pacing":
        return np.round(iops * window)
    if fault == "saturated":
        slowest = max(options.paths, key=lambda name: options.paths[name].latency_us)
        most = np.where(design["path"].to_numpy() == slowest, FULL_AT * iops.max(), np.inf)
        iops = np.minimum(iops, most)
    return rng.poisson(iops * window).astype(float)


def _ticks(rng: np.random.Generator, used: Array, window: float, busy: NDArray[np.bool_], locked: bool) -> Array:
    """Share of samples that found a core at work; /proc/stat counts them in 10 ms, and its ends are cut off."""
    n, share = round(TICKS_PER_S * window), np.clip(used, 0, 1)
    if locked:  # nearly all ticks of a run find the same: the load's place between two of them
        hit = rng.random(len(used)) < share
        share = np.where(busy, LOCKED * hit + (1 - LOCKED) * share, share)
    return np.floor(rng.binomial(n, share) / n * window * 100 + rng.random(len(used))) / (window * 100)
