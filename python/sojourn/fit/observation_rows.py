"""What a fit is given: one row per (run, block of time), checked; which runs may be used, and why the others may
not."""

from __future__ import annotations

import numpy as np
import polars as pl

from sojourn.errors import FitError, InputError

# column → (type, lowest allowed, null allowed); times in s, rates in 1/s, shares in [0, 1] of one core
SCHEMA: dict[str, tuple[pl.DataType, float | None, bool]] = {
    "run": (pl.String(), None, False),
    "cores": (pl.Int64(), 1, False),
    "nics": (pl.Int64(), 1, False),
    "rate_per_s": (pl.Float64(), 0, False),
    "block": (pl.Int64(), None, False),
    "requests": (pl.Int64(), 0, False),
    "response_s": (pl.Float64(), 0, True),
    "throughput_per_s": (pl.Float64(), 0, False),
    "duration_s": (pl.Float64(), 0, False),
    "util_leading": (pl.Float64(), -0.05, True),
    "util_trailing": (pl.Float64(), -0.05, True),
    "softirq_leading": (pl.Float64(), -0.05, True),
    "valid": (pl.Boolean(), None, False),
}
# column → what stands there where it is not given: bounds of the relative error that a meter has in all runs alike
METERS = {"util_leading_error": 0.0, "softirq_leading_error": 0.0}
SHARES = ("util_leading", "util_trailing", "softirq_leading")
FEWEST_RATES = 3
SHORTFALL = 0.03  # of the offered rate: more missing than this, beyond sampling error, is saturation


def checked(observations: pl.DataFrame) -> pl.DataFrame:
    """The columns of SCHEMA and METERS with their types, sorted by run and block. InputError names column, value and bound."""
    missing = [name for name in SCHEMA if name not in observations.columns]
    if missing:
        raise InputError(f"no column {', '.join(missing)}", "observations", f"give {', '.join(SCHEMA)}")
    try:
        meters = [
            (pl.col(name) if name in observations.columns else pl.lit(known)).cast(pl.Float64).alias(name)
            for name, known in METERS.items()
        ]
        frame = observations.select(*(pl.col(name).cast(kind) for name, (kind, _, _) in SCHEMA.items()), *meters)
    except pl.exceptions.PolarsError as error:
        raise InputError(str(error).splitlines()[0], "observations", "give numbers where numbers belong") from None
    for name, (kind, lowest, may_miss) in SCHEMA.items():
        column = frame[name]
        if not may_miss and column.null_count():
            raise InputError("null", f"observations column {name}", "fill it, or leave the row out")
        if kind == pl.Float64() and not column.drop_nulls().is_finite().all():
            raise InputError(
                "NaN or infinite", f"observations column {name}", "give finite numbers, null where there is none"
            )
        least = column.min()
        if lowest is not None and isinstance(least, (int, float)) and least < lowest:
            raise InputError(least, f"observations column {name}", f"give numbers >= {lowest:g}")
    if (frame["nics"] > frame["cores"]).any():
        raise InputError("nics > cores", "observations", "nics counts the leading cores: at most cores")
    # an idle core read by difference may come out a little below 0
    return frame.with_columns(pl.col(name).clip(0.0) for name in SHARES).sort("run", "block")


def per_run(frame: pl.DataFrame) -> pl.DataFrame:
    """One row per run: means weighted by requests (response) or time (all else), plus `blocks` and `lost`, the share of
    the offered rate that was not done."""

    def timed(name: str) -> pl.Expr:
        known = pl.col(name).is_not_null()
        weight = pl.col("duration_s").filter(known)
        return (pl.col(name).filter(known) * weight).sum().truediv(weight.sum()).fill_nan(None).alias(name)

    answered = pl.col("response_s").is_not_null() & (pl.col("requests") > 0)
    count = pl.col("requests").filter(answered)
    response = (pl.col("response_s").filter(answered) * count).sum() / count.sum()
    return (
        frame.group_by("run", maintain_order=True)
        .agg(
            *(pl.col(name).first() for name in ("cores", "nics", "rate_per_s")),
            *(
                pl.col(name).first() if name in frame.columns else pl.lit(off).alias(name)
                for name, off in METERS.items()
            ),
            pl.len().alias("blocks"),
            pl.col("requests").sum(),
            pl.col("duration_s").sum(),
            response.fill_nan(None).alias("response_s"),
            *(timed(name) for name in ("throughput_per_s", "util_leading", "util_trailing", "softirq_leading")),
            pl.col("valid").all(),
        )
        .with_columns(lost=1 - pl.col("throughput_per_s") / pl.col("rate_per_s"))
    )


def usable(observations: pl.DataFrame) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The rows of valid runs below saturation, and notes naming each run left out and why.

    Saturated: the throughput misses the offered rate by more than 3 % plus three standard errors of a Poisson count.
    Raises FitError where no run is valid or fewer than 3 rates remain.
    """
    frame = checked(observations)
    runs = per_run(frame)
    noise = 3 / np.sqrt(np.maximum(runs["requests"].to_numpy(), 1))
    late = runs["lost"].to_numpy() > SHORTFALL + noise
    valid = runs["valid"].to_numpy()
    answered = runs["response_s"].is_not_null().to_numpy()
    if not valid.any():
        raise FitError(
            f"{len(runs)} runs, none valid", "observations", "see the verdict of each run, and measure again"
        )
    notes = _notes("not valid", runs, ~valid)
    notes += _notes("above saturation (throughput below the offered rate)", runs, valid & late)
    notes += _notes("no answer at all", runs, valid & ~late & ~answered)
    kept = runs.filter(pl.Series(valid & ~late & answered))
    rates = kept.select("cores", "nics", "rate_per_s").unique().height
    if rates < FEWEST_RATES:
        raise FitError(
            f"{rates} rates below saturation in valid runs",
            "observations",
            f"measure at {FEWEST_RATES} rates or more" + (f" ({'; '.join(notes)})" if notes else ""),
        )
    return frame.join(kept.select("run"), on="run", how="semi", maintain_order="left"), tuple(notes)


def _notes(why: str, runs: pl.DataFrame, which: np.ndarray) -> list[str]:
    left = runs.filter(pl.Series(which))
    if left.is_empty():
        return []
    names = ", ".join(f"{run} ({rate:g}/s)" for run, rate in left.select("run", "rate_per_s").iter_rows())
    return [f"left out, {why}: {names}"]
