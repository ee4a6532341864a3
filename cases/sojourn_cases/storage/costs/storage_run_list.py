"""Runs of a storage experiment: one row a run, with what was asked of it and what came of it.

Columns: `read`, `random` shares in [0, 1], `block_kib`, `path`, `iops` asked (1/s; 0: a background run), `repetition`, `run` the place in
the order; and, once it was run, `cpu_cores` (mean number of cores busy), `achieved_iops`, and further ones that only some analyses
want. Columns of the storage post of the fifth source document are read too: `read_pct` or `read%` (0..100), `rand_pct` or `rand%`,
`blk_sz_kib` or `blk_sz`, `protocol`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl

from sojourn.design import Factor, full_factorial, read_runs
from sojourn.errors import DesignError

FACTORS = ("read", "random", "block_kib", "path", "iops")
ALIASES: dict[str, tuple[str, float]] = {
    "read_pct": ("read", 0.01), "read%": ("read", 0.01), "rand_pct": ("random", 0.01), "rand%": ("random", 0.01),
    "blk_sz_kib": ("block_kib", 1.0), "blk_sz": ("block_kib", 1.0), "protocol": ("path", 1.0),
}  # fmt: skip
SHARES = ("read", "random")


def read_storage_runs(path: Path | str) -> pl.DataFrame:
    """A run list by the names above, whichever of them it had.

    Raises:
        DesignError: no such file, no column `path` or `iops`, a share out of [0, 1], a rate below 0.
    """
    return storage_runs(read_runs(path), str(path))


def storage_runs(runs: pl.DataFrame, place: str = "run list") -> pl.DataFrame:
    """The same of a table. DesignError as `read_storage_runs`."""
    for name, (ours, scale) in ALIASES.items():
        if name in runs.columns and ours not in runs.columns:
            column = pl.col(name) if scale == 1 else pl.col(name) * scale
            runs = runs.with_columns(column.alias(ours)).drop(name)
    for name in ("path", "iops"):
        if name not in runs.columns:
            raise DesignError(f"no column {name}", place, f"give the columns {', '.join(FACTORS)}")
    for name in (*SHARES, "iops"):
        if name in runs.columns:
            _check(runs[name], name, 1.0 if name in SHARES else np.inf, place)
    return runs.with_columns(pl.col("path").cast(pl.String))


def _check(column: pl.Series, name: str, high: float, place: str) -> None:
    if not column.dtype.is_numeric():
        raise DesignError(f"{name} holds words", place, "give numbers")
    wrong = column.filter(column.is_null() | ~((column >= 0) & (column <= high)))
    if len(wrong):
        allowed = "a share from 0 to 1 (or read_pct in per cent)" if name in SHARES else "a rate of 0 or more"
        raise DesignError(f"{name} = {wrong[0]}", place, f"give {allowed}")


def storage_design(
    levels: Mapping[str, Sequence[float | str]], repetitions: int, backgrounds: int, seed: int = 1
) -> pl.DataFrame:
    """All combinations of the levels of `FACTORS`, `repetitions` times, in one random order with `backgrounds` runs at zero IOPS, one
    in each of as many equal parts of the order: what changes with time falls on all levels and is seen.

    Raises:
        DesignError: a factor without two levels, more than a million runs, fewer than two backgrounds.
    """
    if backgrounds < 2:
        raise DesignError(
            backgrounds, "backgrounds", "give 2 or more: their mean is subtracted, and its error is included"
        )
    factors = [Factor(name, tuple(levels[name])) for name in FACTORS]
    runs = full_factorial(factors, repetitions, seed=seed, block="none").drop("run", "block")
    # first and last parts hold one too, so that a drift is spanned
    rng = np.random.default_rng([seed, 1])
    edges = np.linspace(0, len(runs), backgrounds + 1)
    before = {int(rng.integers(int(a), max(int(b), int(a) + 1))) for a, b in pairwise(edges)}
    rows, count = [], 0
    for k, row in enumerate(runs.iter_rows(named=True)):
        if k in before:
            count += 1
            rows.append({**row, "read": 0, "random": 0, "iops": 0, "repetition": count})
        rows.append(row)
    return pl.DataFrame([{"run": k + 1, **row} for k, row in enumerate(rows)])
