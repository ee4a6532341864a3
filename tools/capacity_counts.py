"""How often the intervals of `sojourn capacity` hold, by the records of benches/capacity."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from coverage_counts import BENCHES, LEVEL, middle
from scipy import stats

SIMULATED = BENCHES / "capacity/2026-11-27-ninth/raw.csv"
LIVE = BENCHES / "capacity/2026-11-27-live-eighth/raw.csv"
MACHINE = 0.025  # standard deviation of the logarithm: the part of the machine in rows that do not state it (0040)


@dataclass(frozen=True)
class CapacityCoverage:
    """Searches of one series whose truth is known: how many, with the truth `inside`, and inside `alone`, without the part of the machine.
    `half_width`: median; `most`: the highest rate that was offered, over the saturation rate; `truth_errors`: smallest and largest
    half-width of a truth, None where it is exact; `asked`: searches in all. `uneven`: inside and searches of uneven times."""

    inside: int
    alone: int
    of: int
    half_width: float
    most: float
    truth_errors: tuple[float, float] | None
    asked: int
    uneven: tuple[int, int] | None


def searched(path: Path) -> CapacityCoverage:
    every = pl.read_csv(path, infer_schema_length=None).unique("seed" if path == SIMULATED else "service", keep="last")
    answered = every.filter(pl.col("answered"))
    judged = answered.filter(pl.col("inside").is_not_null())
    machine = pl.col("machine") if "machine" in judged.columns else pl.lit(MACHINE)
    part = machine * float(stats.norm.ppf((1 + LEVEL) / 2))
    away = (pl.col("truth") / pl.col("value")).log()
    end = pl.when(away > 0).then(pl.col("high")).otherwise(pl.col("low"))
    width = ((end / pl.col("value")).log() ** 2 - part**2).clip(0.0).sqrt()
    alone = judged.select((away.abs() <= width).sum()).item()
    errors = judged["truth_error"].cast(pl.Float64) if "truth_error" in judged.columns else None
    uneven = judged.filter(law="uneven") if "law" in judged.columns else None
    return CapacityCoverage(
        int(judged["inside"].sum()), int(alone), judged.height, middle(answered["half_width"]), float(np.max(every["most"].to_numpy())),
        None if errors is None else (float(np.min(errors.to_numpy())), float(np.max(errors.to_numpy()))), every.height,
        None if uneven is None else (int(uneven["inside"].sum()), uneven.height),
    )  # fmt: skip
