"""Does the CPU of a path grow in proportion to its IOPS? A line, its lack of fit, and CPU per I/O as a curve where it fails."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from sojourn.errors import DesignError
from sojourn_cases.storage.costs.cost_per_io import background_of, loaded
from sojourn_cases.storage.costs.lack_of_fit import StraightLineFit, line_fit

SURE = 0.05


@dataclass(frozen=True)
class StoragePathLinearity:
    """Of one path: the line, the line through the origin, and CPU per I/O at each level, (IOPS asked, s, standard error of the mean)."""

    path: str
    line: StraightLineFit
    origin: StraightLineFit
    curve: tuple[tuple[float, float, float | None], ...]

    @property
    def proportional(self) -> bool:
        """Whether nothing speaks against a cost per I/O that is the same at all rates, at 5 %."""
        return self.origin.p is None or self.origin.p > SURE


def linearity(runs: pl.DataFrame) -> list[StoragePathLinearity]:
    """Of each path with three or more levels of IOPS. Errors of CPU are taken to grow as the square root of IOPS, as counts do.

    Raises:
        DesignError: no path has them.
    """
    background, found = background_of(runs), loaded(runs)
    told = [
        _one(part, background.cores)
        for part in found.sort("path", "iops").partition_by("path")
        if part["iops"].n_unique() > 2
    ]
    if not told:
        raise DesignError("fewer than three levels", "iops", "run three or more levels of iops on a path")
    return told


def _one(runs: pl.DataFrame, background: float) -> StoragePathLinearity:
    asked = runs["iops"].cast(pl.Float64).to_numpy()
    # runs of a level did not do exactly as many I/Os: each is brought to its level at its own cost per I/O
    cpu = (runs["cpu_cores"].to_numpy() - background) * asked / runs["rate"].to_numpy()
    levels = np.unique(asked)
    curve = []
    for level in levels:
        each = cpu[asked == level] / level
        error = float(each.std(ddof=1) / np.sqrt(len(each))) if len(each) > 1 else None
        curve.append((float(level), float(each.mean()), error))
    return StoragePathLinearity(
        str(runs["path"][0]),
        line_fit(asked, cpu, weights=1 / asked),
        line_fit(asked, cpu, True, 1 / asked),
        tuple(curve),
    )
