"""What changes the CPU of storage: effects of read, random, block size, path and IOPS, on CPU and on CPU per I/O.

The 2^5 r analysis is `sojourn.design.analyse`'s (Jain 1991, ch. 17 and 18); here are its two responses, background taken out.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from sojourn.design import Effects, Residuals, factorial_effects, residuals_of_effects
from sojourn.errors import DesignError
from sojourn.units import USUAL_LEVEL
from sojourn_cases.storage.costs.cost_per_io import BackgroundCpu, background_of, loaded
from sojourn_cases.storage.costs.storage_run_list import FACTORS

CPU, PER_IO = "cpu_cores", "us_per_io"


@dataclass(frozen=True)
class StorageEffects:
    """Of CPU (cores) and of CPU per I/O (us), with their residuals; `repetitions` of each combination of levels were kept."""

    cpu: Effects
    per_io: Effects
    cpu_residuals: Residuals
    per_io_residuals: Residuals
    background: BackgroundCpu
    repetitions: int


def storage_effects(runs: pl.DataFrame, level: float = USUAL_LEVEL) -> StorageEffects:
    """Of a 2^5 r run list that was run. A run that does not count (a column `verdict`) costs its combination one repetition, and each
    other one its last: the design stays balanced.

    Raises:
        DesignError: a factor with one level, or more than two; a combination without a run that counts.
    """
    background = background_of(runs)
    found = loaded(runs).with_columns(
        (pl.col("cpu_cores") - background.cores).alias(CPU),
        ((pl.col("cpu_cores") - background.cores) / pl.col("rate") * 1e6).alias(PER_IO),
    )
    factors = [name for name in FACTORS if name in found.columns and found[name].n_unique() > 1]
    counts = found.group_by(factors).len()
    if counts.height < 2 ** len(factors):
        raise DesignError(
            f"{2 ** len(factors) - counts.height} combinations have no usable run", "2^k r", "run them again"
        )
    least = int(counts["len"].min())  # type: ignore[arg-type]
    kept = found.sort("run") if "run" in found.columns else found
    kept = kept.filter(pl.int_range(pl.len()).over(factors) < least)
    cpu, per_io = (factorial_effects(kept, name, factors, level) for name in (CPU, PER_IO))
    return StorageEffects(cpu, per_io, residuals_of_effects(cpu), residuals_of_effects(per_io), background, least)
