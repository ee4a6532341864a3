"""Is what was put in what comes out? How often intervals hold the known parameters of simulated studies.

A 95 % interval must have the known value in 95 of 100 studies; how far a count may lie from that by chance, the binomial
distribution says.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from sojourn.fit import ParameterEstimate

LEVEL = 0.95


def recovered(path: Path, rival: str, truths: Mapping[str, float], seeds: Iterable[int]) -> pl.DataFrame:
    """Whole studies of a simulated system (a study file), one a seed: a row for each configuration and number of `rival` whose
    name ends with one of `truths`; and `error`, the median relative error of its throughput where nothing was fitted."""
    return pl.DataFrame([row for seed in seeds for row in _one(path, rival, truths, seed)])


def _one(path: Path, rival: str, truths: Mapping[str, float], seed: int) -> Iterator[dict[str, Any]]:
    from sojourn.study import HELD_OUT, median_error, run_study

    with tempfile.TemporaryDirectory() as folder:
        found = run_study(path, out=Path(folder) / "out", seed=seed, say=lambda _: None).findings
    assert found.rivals is not None
    error = median_error(found.rows(HELD_OUT, rival), "throughput")
    for name, e in found.rivals.fitted[rival].estimates.items():
        configuration, _, what = name.rpartition(": ")
        if what in truths:
            own = ParameterEstimate(e.value, e.low, e.high)
            yield compared(seed, configuration, what, truths[what], own) | {"error": error}


def compared(seed: int, configuration: str, what: str, truth: float, e: ParameterEstimate) -> dict[str, Any]:
    """A row of one study and one parameter (`time`: its name)."""
    return {
        "seed": seed, "configuration": configuration, "time": what, "truth": truth, "estimate": e.value, "low": e.low,
        "high": e.high, "covered": e.low <= truth <= e.high,
    }  # fmt: skip


def coverage(rows: pl.DataFrame, sure: float = 0.99) -> pl.DataFrame:
    """A row for each configuration and time: studies, how many covered it, the band [low, high] of such counts, whether
    it lies inside, and the mean relative error of the estimates (bias). `sure`: of all rows together being inside when
    each interval is right (Bonferroni)."""
    found = rows.group_by("configuration", "time", maintain_order=True).agg(
        studies=pl.len(), covered=pl.col("covered").sum(), bias=(pl.col("estimate") / pl.col("truth") - 1).mean()
    )
    from scipy.stats import binom  # half a second to import

    tail = (1 - sure) / 2 / max(found.height, 1)
    band = [binom.ppf((tail, 1 - tail), n, LEVEL) for n in found["studies"]]
    low, high = (pl.Series([int(b[k]) for b in band]) for k in (0, 1))
    return found.with_columns(low=low, high=high).with_columns(
        inside=(pl.col("covered") >= pl.col("low")) & (pl.col("covered") <= pl.col("high"))
    )
