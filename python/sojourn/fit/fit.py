"""`fit`: observations → parameters with intervals, and errors at rates held out.

mu1 by the utilisation law (Chen et al. eq. 6), from the soft-interrupt share and from what leading and trailing cores
are busy with, each meter with its weight: a share read from ticks is noisy, run times are exact. mu2 and
a delay (of requests that cross to another core, where cores without interrupts were measured, else of all), by weighted
least squares on relative (log) errors of response times and utilisations together (eqs. 7-9 without the slip in the exponent,
and with weights that know that blocks are correlated). All variants have this freedom; `priority`, the only one
whose interrupts have a law, finds their squared coefficient of variation too, unless it is given: what the host does is
not assumed. That of pages (`page_scv`, 1 unless given) response times hardly tell.

A point's weight is 1/(se² + FLOOR²): its standard error by block bootstrap, and what no model of this
kind resolves. mu2 is searched in its logarithm, the delay linearly because 0 is a legal answer. Points that a
candidate would put past its saturation get a smooth penalty instead of infinity. M/M/m is fitted to response times
alone.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from sojourn.errors import InputError
from sojourn.fit.bootstrap import sample
from sojourn.fit.fit_data import FitData
from sojourn.fit.fitted import Fitted, ParameterEstimate, Row, check_level
from sojourn.fit.forward_model import DEFAULTS, TwoClassSpec
from sojourn.fit.observation_rows import usable


def fit(
    observations: pl.DataFrame,
    model: str = "two-class",
    variant: str = "priority",
    given: Mapping[str, float | str] | None = None,
    level: float = 0.95,
    seed: int = 1,
    resamples: int = 300,
) -> Fitted:
    """Fits `model` ("two-class" with a variant, or "mmm") to the observations (columns: `observations.SCHEMA`).

    `given` fixes parameters (see `forward.Spec`); p="utilisation" estimates p from the busy shares of the cores.
    Runs that are not valid or above saturation are left out and named in `notes`. level in (0, 1); resamples >= 20.
    Deterministic in `seed`. Raises InputError for bad columns or arguments, FitError for fewer than 3 usable rates.
    """
    check_level(level)
    if resamples < 20:
        raise InputError(resamples, "resamples", "give 20 or more")
    spec = TwoClassSpec(
        model, variant if model == "two-class" else "", {**(DEFAULTS if model == "two-class" else {}), **(given or {})}
    )
    frame, notes = usable(observations)
    data = FitData(spec, sample(frame, resamples, seed), given or {})
    best = data.parameters(data.point)
    draws = data.parameters(data.replicates(data.resampled()))
    samples = {name: tuple(values.tolist()) for name, values in draws.items()}
    tail = (1 - level) / 2
    estimates = {
        name: ParameterEstimate(
            float(values[0]), *(float(q) for q in np.quantile(draws[name], [tail, 1 - tail], method="nearest"))
        )
        for name, values in best.items()
    }
    kept = {k: v for k, v in spec.given.items() if k not in estimates}
    return Fitted(
        model, spec.variant, estimates, kept, samples, level, seed, data.held_out(), _measured(data.sampled.runs),
        (*notes, *data.notes()),
    )  # fmt: skip


def _measured(runs: pl.DataFrame) -> tuple[Row, ...]:
    rate = pl.col("rate_per_s")
    ranges = runs.group_by("cores", "nics", maintain_order=True).agg(
        rate.min().alias("rate_low_per_s"), rate.max().alias("rate_high_per_s")
    )
    return tuple(ranges.to_dicts())
