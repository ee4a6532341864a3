"""Resampled run means: circular blocks within a run, and runs within a cell of replications.

Source: Davison and Hinkley, Bootstrap Methods and their Application (1997), Sections 3.8 (hierarchical data) and 8.2.3
(block resampling; blocks of about n^(1/3)). Deviations are stretched by sqrt(n/(n-1)), the bias of the bootstrap
variance of a mean. Resampling a runs of a cell has (a-1)/a of the variance of their mean already, so that block
deviations are shrunk by sqrt(a) there: where runs differ by no more than their blocks explain, both levels together have
that variance. (With both in full, intervals of demands were 1.3 times too wide: `benches/virtual`.)

What a meter is off in all runs alike no resampling of these runs shows. Each resample therefore has one factor a meter, between
1 - b and 1 + b with equal probability, b the bound that is stated for it (columns `observations.METERS`): evaluation of type B,
JCGM 100:2008 (GUM), 4.3.7. Deterministic in `seed`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sojourn.errors import FitError
from sojourn.fit.observation_rows import METERS, per_run

Array = NDArray[np.float64]
QUANTITIES = ("response_s", "throughput_per_s", "util_leading", "util_trailing", "softirq_leading")


@dataclass(frozen=True)
class BootstrapSamples:
    """`runs`: one row per run. Per quantity `mean` (runs,), `error` (runs,): relative standard error, `means`
    (resamples, runs). `cell` (runs,): index of the (cores, nics, rate) of each run. `weight` (resamples, runs): how
    often a run was drawn. NaN where not measured. `means["arrived"]`: arrivals of a resample over those of the run."""

    runs: pl.DataFrame
    mean: dict[str, Array]
    error: dict[str, Array]
    means: dict[str, Array]
    cell: NDArray[np.intp]
    weight: Array

    def column(self, name: str) -> Array:
        """A numeric column of `runs` as floats."""
        return self.runs[name].cast(pl.Float64).to_numpy()


def sample(frame: pl.DataFrame, resamples: int, seed: int) -> BootstrapSamples:
    """From checked observations. Raises FitError where nothing varies: one block a run and no replication."""
    runs = per_run(frame)
    cells = runs.select("cores", "nics", "rate_per_s").unique(maintain_order=True).with_row_index("cell")
    cell = (
        runs.join(cells, on=["cores", "nics", "rate_per_s"], how="left", maintain_order="left")["cell"]
        .to_numpy()
        .astype(np.intp)
    )
    if runs["blocks"].max() == 1 and cells.height == runs.height:
        raise FitError(
            "one block a run, no replication", "observations", "cut runs into 5 blocks or more, or repeat them"
        )
    rng = np.random.default_rng(seed)
    drawn = [_one_run(part, resamples, rng) for part in frame.partition_by("run", maintain_order=True)]
    means = {name: np.stack([run[name] for run in drawn], axis=1) for name in (*QUANTITIES, "arrived")}
    mean = {name: runs[name].cast(pl.Float64).fill_null(np.nan).to_numpy() for name in QUANTITIES}
    with np.errstate(invalid="ignore", divide="ignore"):
        error = {name: np.where(mean[name] > 0, means[name].std(axis=0) / mean[name], 0.0) for name in QUANTITIES}
    mean["arrived"] = np.ones(cell.size)
    shrink = 1 / np.sqrt(np.bincount(cell)[cell])
    means = {name: mean[name] + shrink * (values - mean[name]) for name, values in means.items()}
    of_meters = np.random.default_rng([seed, 1])
    for column in METERS:
        name, bound = column.removesuffix("_error"), runs[column].to_numpy()
        means[name] = means[name] * (1 + bound * of_meters.uniform(-1, 1, (resamples, 1)))
    return BootstrapSamples(runs, mean, error, means, cell, _replications(cell, resamples, rng))


def _one_run(part: pl.DataFrame, resamples: int, rng: np.random.Generator) -> dict[str, Array]:
    n = part.height
    length = max(1, round(n ** (1 / 3)))
    starts = rng.integers(0, n, (resamples, -(-n // length), 1))
    index = ((starts + np.arange(length)) % n).reshape(resamples, -1)[:, :n]
    stretch = np.sqrt(n / (n - 1)) if n > 1 else 1.0
    count = part["requests"].cast(pl.Float64).to_numpy()
    found = {"arrived": 1 + stretch * (count[index].mean(axis=1) / max(count.mean(), 1e-300) - 1)}
    for name in QUANTITIES:
        value = part[name].cast(pl.Float64).fill_null(np.nan).to_numpy()
        weight = part["requests" if name == "response_s" else "duration_s"].cast(pl.Float64).to_numpy()
        weight = np.where(np.isnan(value), 0.0, weight)
        value = np.nan_to_num(value)
        with np.errstate(invalid="ignore", divide="ignore"):
            centre = (weight * value).sum() / weight.sum()
            drawn = (weight * value)[index].sum(axis=1) / weight[index].sum(axis=1)
        # a resample without any answer says nothing: the run's own mean stands in
        drawn = np.where(np.isfinite(drawn), drawn, centre)
        found[name] = np.maximum(centre + stretch * (drawn - centre), 1e-3 * centre)
    return found


def _replications(cell: NDArray[np.intp], resamples: int, rng: np.random.Generator) -> Array:
    weight = np.ones((resamples, cell.size))
    for number in range(int(cell.max()) + 1):
        members = np.flatnonzero(cell == number)
        if members.size > 1:
            weight[:, members] = rng.multinomial(members.size, np.full(members.size, 1 / members.size), resamples)
    return weight
