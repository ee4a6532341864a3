"""CPU per I/O of each path: the line through the origin of CPU, less the background, over IOPS.

Source: the storage post of the fifth source document, steps 3 and 4: all effects on CPU are proportional to IOPS and go through the
origin. Letters: y CPU of a run (cores) less b, the mean of the runs at zero IOPS; x its IOPS; s_j the levels of read, random and block,
centred and scaled to [-1, 1]; y = x (q_0 + sum q_j s_j). Least squares on the columns x, x s_j of one path. The covariance is the
sandwich HC3 (MacKinnon and White, Journal of Econometrics 29 (1985), 305-325), since errors grow with IOPS; that of b is added, as it
moves all y of a run list alike. Student's t with the degrees left. Limits: runs independent of each other; CPU proportional to IOPS
(`linearity` tests that).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.special import stdtrit

from sojourn.errors import DesignError
from sojourn.units import USUAL_LEVEL

CODED = ("read", "random", "block_kib")


@dataclass(frozen=True)
class BackgroundCpu:
    """CPU at zero IOPS, cores, with the standard error of its mean; `runs` 0: not measured, taken as none."""

    cores: float
    std_error: float
    runs: int


@dataclass(frozen=True)
class CpuCostPerIo:
    """CPU time of an I/O of `path`, s. `low`, `high`: its interval (None: too few runs, or a published figure without); `std_error`;
    `by_factor`: half the difference between the greatest and the least level of each factor, s, with its half-width; `r_squared` of
    the line through the origin, about zero."""

    path: str
    seconds: float
    low: float | None
    high: float | None
    std_error: float | None = None
    runs: int = 0
    by_factor: Mapping[str, tuple[float, float]] | None = None
    r_squared: float | None = None

    @property
    def per_core(self) -> float:
        """I/Os that one core can pay for, 1/s."""
        return 1 / self.seconds


def background_of(runs: pl.DataFrame) -> BackgroundCpu:
    """Of the runs at zero IOPS of a run list with `cpu_cores`."""
    found = unmarked(runs.filter(pl.col("iops") == 0))["cpu_cores"].drop_nulls().to_numpy()
    if len(found) < 2:
        return BackgroundCpu(float(found.mean()) if len(found) else 0.0, 0.0, len(found))
    return BackgroundCpu(float(found.mean()), float(found.std(ddof=1) / math.sqrt(len(found))), len(found))


def loaded(runs: pl.DataFrame) -> pl.DataFrame:
    """The runs with a load and a result that are not marked in a column `verdict`, with `rate`: IOPS achieved where they are told."""
    _has_cpu(runs)
    found = unmarked(runs.filter((pl.col("iops") > 0) & pl.col("cpu_cores").is_not_null()))
    rate = pl.col("achieved_iops") if "achieved_iops" in found.columns else pl.col("iops")
    return found.with_columns(rate.cast(pl.Float64).alias("rate"))


def unmarked(runs: pl.DataFrame) -> pl.DataFrame:
    """The runs that are not marked in a column `verdict`: saturated, failed, disturbed each time."""
    if "verdict" not in runs.columns:
        return runs
    return runs.filter(pl.col("verdict").is_null() | pl.col("verdict").cast(pl.String).is_in(["", "ok"]))


def cost_per_io(
    runs: pl.DataFrame, at: Mapping[str, float] | None = None, level: float = USUAL_LEVEL
) -> list[CpuCostPerIo]:
    """Of each path, in the order of their names. `runs` as `read_storage_runs` has them, with `cpu_cores`; `at`: levels of read,
    random, block_kib for which the cost is told, else the middle of those that were run.

    Raises:
        DesignError: no CPU, no run with a load, a level outside those that were run.
    """
    background, found = background_of(_has_cpu(runs)), loaded(runs)
    if found.is_empty():
        raise DesignError(
            "no run has both a load and a result", "run list", "fill in cpu_cores of runs with iops above 0"
        )
    return [
        _one(part, background, at or {}, level) for part in found.sort("path").partition_by("path", maintain_order=True)
    ]


def _has_cpu(runs: pl.DataFrame) -> pl.DataFrame:
    if "cpu_cores" not in runs.columns or not runs["cpu_cores"].dtype.is_numeric():
        raise DesignError("no column cpu_cores", "run list", "fill in the mean number of busy cores of each run")
    return runs


def _one(runs: pl.DataFrame, background: BackgroundCpu, at: Mapping[str, float], level: float) -> CpuCostPerIo:
    path = str(runs["path"][0])
    x, y = runs["rate"].to_numpy(), runs["cpu_cores"].to_numpy() - background.cores
    names, columns, wanted = [], [x], [1.0]
    for name in CODED:
        if name not in runs.columns:
            continue
        low, high = float(runs[name].min()), float(runs[name].max())  # type: ignore[arg-type]
        asked = float(at.get(name, (low + high) / 2))
        if not low <= asked <= high:
            raise DesignError(
                f"{name} = {asked:g}", f"path {path}", f"give {low:g} to {high:g}, the range that was run"
            )
        if low < high:
            names.append(name)
            columns.append(x * (2 * (runs[name].to_numpy() - low) / (high - low) - 1))
            wanted.append(2 * (asked - low) / (high - low) - 1)
    design, chosen = np.column_stack(columns), np.array(wanted)
    q, residual, covariance = _least_squares(design, y, background, path)
    told = float(chosen @ q)
    degrees = len(y) - len(q)
    r_squared = 1 - float(residual @ residual) / float(y @ y) if float(y @ y) > 0 else None
    if covariance is None:
        return CpuCostPerIo(path, told, None, None, None, len(y), None, r_squared)
    t = float(stdtrit(degrees, (1 + level) / 2))
    error = math.sqrt(float(chosen @ covariance @ chosen))
    halves = t * np.sqrt(np.diag(covariance))
    by_factor = {name: (float(q[k]), float(halves[k])) for k, name in enumerate(names, 1)}
    return CpuCostPerIo(path, told, told - t * error, told + t * error, error, len(y), by_factor, r_squared)


def _least_squares(
    design: np.ndarray, y: np.ndarray, background: BackgroundCpu, path: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Coefficients, residuals, covariance; None where no degree of freedom is left."""
    if np.linalg.matrix_rank(design) < design.shape[1]:
        raise DesignError(f"{len(y)} runs", f"path {path}", "run all combinations: effects cannot be separated")
    inverse = np.linalg.inv(design.T @ design)
    q = inverse @ design.T @ y
    residual = y - design @ q
    if len(y) <= len(q):
        return q, residual, None
    leverage = np.clip(np.einsum("ij,jk,ik->i", design, inverse, design), 0, 1 - 1e-9)
    weighted = design * (residual / (1 - leverage))[:, None]
    shift = inverse @ design.sum(axis=0) * background.std_error
    return q, residual, inverse @ weighted.T @ weighted @ inverse + np.outer(shift, shift)


def cost_ratio(costs: Sequence[CpuCostPerIo], level: float = USUAL_LEVEL) -> tuple[float, float, float] | None:
    """Of two paths, dearer over cheaper, with its interval (delta method on the logarithm, errors independent); None unless two are
    there with errors."""
    if len(costs) != 2 or any(c.std_error is None or c.seconds <= 0 for c in costs):
        return None
    cheap, dear = sorted(costs, key=lambda cost: cost.seconds)
    relative = math.hypot(*((c.std_error or 0.0) / c.seconds for c in costs))
    half = float(stdtrit(max(min(c.runs for c in costs) - 1, 1), (1 + level) / 2)) * relative
    ratio = dear.seconds / cheap.seconds
    return ratio, ratio * math.exp(-half), ratio * math.exp(half)
