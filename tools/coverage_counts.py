"""Records of benches/ that have predicted and measured values, a row a value, and what is counted of them.

Which values count: those of valid runs, and those of runs that were predicted to be steady and were not (overload is an outcome). Left
out are runs that other programs disturbed, or whose generator was late, and runs that are not valid for a reason that was not recorded.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path

import numpy as np
import polars as pl
from scipy import stats

BENCHES = Path(__file__).resolve().parent.parent / "benches"
LEVEL = 0.9
DISTURBED = "disturbed: |the generator was the bottleneck"  # how reasons begin that are no outcome
RESAMPLES, SEED = 10_000, 1
WIDTHS = ((0.0, 1.5), (1.5, 3.0), (3.0, inf))  # upper over lower end


@dataclass(frozen=True)
class PredictionSet:
    """Predictions of one kind: `files` below benches/ (a CSV file has a row a value, JSON counts), `model` the one that was quoted."""

    what: str
    files: tuple[str, ...]
    model: str
    metrics: tuple[str, ...]
    short: str
    """The name in the figure."""
    fits: str = ""
    """The column that tells the fits of one file apart; none where a file has one fit."""
    present: bool = False
    """Predicted since the fit was last changed (SINCE)."""
    measured_first: tuple[str, ...] = ()
    """Metrics that were measured before the fit, and withheld from it: in no headline count."""
    all_runs: tuple[int, int] | None = None
    """Inside and values with the runs that are not valid, counted when it was recorded; None: the files have them, or nobody counted."""
    not_valid: tuple[tuple[str, str], ...] = ()
    """File, and why its runs are not valid where it has no reason a run: by the page of the record."""


@dataclass(frozen=True)
class Coverage:
    """What was counted of one set. `rows`: its values (`values`), none where only counts are recorded. `errors`: metric → median and 90th
    percentile of the relative errors, the second None where it is not recorded. `half_width`: median of response times, over the
    prediction. `all_runs`: inside and values with the runs that are left out; None: not recorded. `unanswered`: values for which the fit
    was refused, so that there is no interval; in no other count."""

    source: PredictionSet
    rows: pl.DataFrame
    inside: int
    of: int
    errors: dict[str, tuple[float, float | None]]
    half_width: float
    all_runs: tuple[int, int] | None
    unanswered: int = 0

    @property
    def share(self) -> float:
        return self.inside / self.of


def counted(source: PredictionSet) -> Coverage:
    """What the records say of one kind of predictions."""
    if source.files[0].endswith(".json"):
        return _of_json(source)
    asked = pl.concat([values(name, source) for name in source.files])
    rows = headline(asked)
    of = {metric: rows.filter(metric=metric)["error"] for metric in source.metrics}
    errors = {
        metric: (middle(own), float(own.quantile(0.9, "nearest") or 0.0)) for metric, own in of.items() if len(own)
    }
    every = asked.filter(pl.col("answered") & (pl.col("fate") != "measured first"))
    with_all = None if "level" in asked.columns else (int(every["inside"].sum()), every.height)
    unanswered = asked.filter(~pl.col("answered") & pl.col("fate").is_in(COUNTED)).height
    width = middle(rows.filter(metric="response_time")["half_width"])
    return Coverage(source, asked, int(rows["inside"].sum()), rows.height, errors, width, with_all, unanswered)


COUNTED = ("valid", "overloaded")


def headline(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.filter(pl.col("answered") & pl.col("fate").is_in(COUNTED))


def values(name: str, source: PredictionSet) -> pl.DataFrame:
    """Of each value: `fit` and `what`, which tell fits and measured values apart; `name` and `model`, for a reader; metric; `answered`,
    whether it has an interval; `fate`, why it counts or does not; inside; `error` |predicted / measured - 1|; `half_width` over predicted;
    `ratio` of the ends. Infinite where it was wrongly called saturated, and where an interval has no upper end. Where a file has `level`:
    that of LEVEL, of valid runs alone."""
    rows = pl.read_csv(BENCHES / name, infer_schema_length=None)
    if "level" in rows.columns:
        rows = rows.filter(pl.col("level") == LEVEL).with_columns(valid=pl.lit(True))
    else:
        rows = rows.filter((pl.col("model") == source.model) & pl.col("measured").is_not_null())
    if "kind" in rows.columns:
        rows = rows.filter(pl.col("kind") == "blind")
    rows = rows.filter(pl.col("metric").is_in(source.metrics))
    low, high = ends()
    answered = pl.any_horizontal(pl.col(end).is_not_null() for end in ("predicted", "low", "high"))
    parts = [part for part in ("service", "section", "run", "asked", "rate_per_s", "metric") if part in rows.columns]
    own = [pl.col(source.fits).cast(pl.String)] if source.fits else []
    setting = (
        pl.col("asked")
        if "asked" in rows.columns
        else pl.format("{}/s", "rate_per_s")
        if "rate_per_s" in rows.columns
        else pl.lit("")
    )
    named = pl.format("{}, {}", "service", setting.fill_null("")) if "service" in rows.columns else pl.col("run")
    told = pl.lit(dict(source.not_valid).get(name), pl.String)
    found = rows.with_columns(reason=_reasons(rows, name).fill_null(told)).select(
        "metric", "predicted", "measured", "reason",
        *(["level"] if "level" in rows.columns else []),
        fit=pl.concat_str(pl.lit(name), *own, separator=" "),
        what=pl.concat_str(pl.lit(name), *(pl.col(part).cast(pl.String).fill_null("") for part in parts), separator=" "),
        name=named, model=pl.lit(source.short), answered=answered, fate=_fate(source), inside=is_inside(),
        error=(pl.col("predicted") / pl.col("measured") - 1).abs().fill_null(inf),
        half_width=((high - low) / 2 / pl.col("predicted")).fill_null(inf),
        ratio=high / low,
    )  # fmt: skip
    return found.with_columns(pl.col("predicted", "measured").cast(pl.Float64), pl.col("reason").cast(pl.String))


def _reasons(rows: pl.DataFrame, name: str) -> pl.Expr:
    """Why each run is not valid: by a column, or the lines of the verdict beside the file; null where nobody recorded it."""
    if "reasons" in rows.columns:
        return pl.col("reasons").replace("", None)
    verdict = BENCHES / name.replace("validation.csv", "verdict.txt")
    if "run" not in rows.columns or verdict.suffix != ".txt" or not verdict.exists():
        return pl.lit(None, pl.String)
    lines = [
        line.removeprefix("left out: ") for line in verdict.read_text().splitlines() if line.startswith("left out: ")
    ]
    told = {run: reason for run, _, reason in (line.partition(": ") for line in lines) if reason}
    return pl.col("run").replace_strict(told, default=None, return_dtype=pl.String) if told else pl.lit(None, pl.String)


def _fate(source: PredictionSet) -> pl.Expr:
    return (
        pl.when(pl.col("metric").is_in(source.measured_first)).then(pl.lit("measured first"))
        .when("valid").then(pl.lit("valid"))
        .when(pl.col("reason").is_null()).then(pl.lit("unexplained"))
        .when(pl.col("reason").str.contains(DISTURBED)).then(pl.lit("disturbed"))
        .otherwise(pl.lit("overloaded"))
    )  # fmt: skip


def middle(numbers: pl.Series) -> float:
    return float(numbers.median())  # type: ignore[arg-type]


def ends() -> tuple[pl.Expr, pl.Expr]:
    """An end that is missing is no limit: the model cannot exclude saturation."""
    low, high = (pl.col(name).cast(pl.Float64) for name in ("low", "high"))
    return low.fill_null(0.0), high.fill_null(inf)


def is_inside() -> pl.Expr:
    """Whether the measured value lies in the interval."""
    return pl.col("measured").is_between(*ends())


def _of_json(source: PredictionSet) -> Coverage:
    rows = json.loads((BENCHES / source.files[0]).read_text())["rows"]
    rows = [row for row in rows if row["kind"] == "blind" and row["model"] == source.model]
    errors = {row["metric"]: (row["median_error"], None) for row in rows}
    width = next(row["half_width"] for row in rows if row["metric"] == "response_time")
    inside, of = sum(row["inside"] for row in rows), sum(row["of"] for row in rows)
    return Coverage(source, pl.DataFrame(), inside, of, errors, width, source.all_runs)


def at_levels(path: Path) -> list[tuple[float, int, int]]:
    """Level, values inside, values: of a record that has several levels."""
    rows = pl.read_csv(path)
    each = rows.group_by("level").agg(inside=is_inside().sum(), of=pl.len()).sort("level")
    return list(each.iter_rows())


def all_rows(sets: Sequence[Coverage]) -> pl.DataFrame:
    """The values of all sets that have a row each."""
    return pl.concat([one.rows.drop("level", strict=False) for one in sets if one.rows.height])


@dataclass(frozen=True)
class Clustered:
    """What values of one fit do to the total: `fits` resampled (those of the same runs together), the 90 % interval of the share, the mean
    of the shares of single fits, and how many different measured values there are."""

    fits: int
    low: float
    high: float
    mean_share: float
    distinct: int


def clustered(sets: Sequence[Coverage]) -> Clustered:
    rows = headline(all_rows(sets))
    each = rows.group_by("fit").agg(inside=pl.col("inside").sum(), of=pl.len()).sort("fit")
    alone = [one for one in sets if not one.rows.height]  # counts alone: one fit
    inside = np.array([*each["inside"], *(one.inside for one in alone)], float)
    of = np.array([*each["of"], *(one.of for one in alone)], float)
    drawn = np.random.default_rng(SEED).integers(0, len(of), (RESAMPLES, len(of)))
    low, high = np.quantile(inside[drawn].sum(axis=1) / of[drawn].sum(axis=1), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    distinct = rows["what"].n_unique() + sum(one.of for one in alone)
    return Clustered(len(of), float(low), float(high), float(np.mean(inside / of)), distinct)


def differ(sets: Sequence[Coverage]) -> tuple[float, int, float]:
    """Chi-squared of equal shares in all sets, degrees of freedom, p; as if the values were independent."""
    of = np.array([one.of for one in sets], float)
    inside = np.array([one.inside for one in sets], float)
    whole = inside.sum() / of.sum()
    square = float(((inside - of * whole) ** 2 / (of * whole * (1 - whole))).sum())
    return square, len(sets) - 1, float(stats.chi2.sf(square, len(sets) - 1))


def wilson(inside: int, of: int) -> tuple[float, float]:
    """The 90 % interval of a share, as if the values were independent."""
    found = stats.binomtest(inside, of).proportion_ci(LEVEL, "wilson")
    return float(found.low), float(found.high)
