"""2^k r factorial experiments: effects with intervals, errors, and which factor explains how much.

Source: Jain (1991), ch. 17-18, pp. 283-308. Letters there → here: q_A → `effect`, e_ij → residual, SSY, SS0, SST, SSE as
there, s_e → `error_sd`, r → repetitions. Sign of a factor: -1 at its lower level, +1 at its upper one.
q_j = mean over the 2^k rows of sign · row mean; SS_j = 2^k r q_j^2; s_q = s_e/sqrt(2^k r), 2^k (r-1) degrees of freedom.
The share of variation has two conventions: of SST (with the error term), and of SST - SSE (without); both are given.
Limits: a balanced experiment, each row as often as any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl
from scipy.special import stdtrit

from sojourn.design.factors import Factor, two_levels
from sojourn.design.run_list import factors_of, filled
from sojourn.errors import DesignError
from sojourn.units import USUAL_LEVEL

MEAN_EFFECT = "mean"


@dataclass(frozen=True)
class Effects:
    """`table`: effect, estimate, std_error, low, high, sum_of_squares, share_of_total, share_of_explained (in [0, 1]).

    `rows`: the sign table with the mean and each repetition's residual (mean - y is the other sign). `sse`, `sst` in
    the response's unit squared, `error_sd` s_e, `degrees` of freedom of the errors.
    """

    response: str
    factors: tuple[Factor, ...]
    repetitions: int
    level: float
    table: pl.DataFrame
    rows: pl.DataFrame
    sse: float
    sst: float
    degrees: int

    @property
    def error_sd(self) -> float | None:
        return (self.sse / self.degrees) ** 0.5 if self.degrees else None

    def effect(self, name: str) -> dict[str, float]:
        """One row of `table` ("mean", "servers", "servers·workers"); DesignError names those there are."""
        found = self.table.filter(pl.col("effect") == name)
        if found.is_empty():
            raise DesignError(repr(name), "effect", f"use one of {', '.join(self.table['effect'])}")
        return found.row(0, named=True)


def factorial_effects(
    runs: pl.DataFrame, response: str, factors: list[str] | None = None, level: float = USUAL_LEVEL
) -> Effects:
    """Effects of a 2^k r experiment from its run list. DesignError for more levels, or rows that are not balanced."""
    runs = filled(runs, response)
    found = two_levels(factors_of(runs, response, factors))
    signs, values = _balanced(runs, found, response)
    k, r = len(found), values.shape[1]
    names = [
        MEAN_EFFECT,
        *("·".join(f.name for f in chosen) for n in range(1, k + 1) for chosen in combinations(found, n)),
    ]
    columns = _columns(signs)
    means = values.mean(axis=1)
    q = columns.T @ means / len(means)
    sse = float(((values - means[:, None]) ** 2).sum())
    squares = len(means) * r * q**2
    sst = float(squares[1:].sum() + sse)
    degrees = len(means) * (r - 1)
    half = _half_width(sse, degrees, len(means) * r, level)
    table = pl.DataFrame({
        "effect": names, "estimate": q, "std_error": [None if half is None else half[0]] * len(q),
        "low": [None if half is None else x - half[1] for x in q], "high": [None if half is None else x + half[1] for x in q],
        "sum_of_squares": [None, *squares[1:]], "share_of_total": [None, *_share(squares[1:], sst)],
        "share_of_explained": [None, *_share(squares[1:], sst - sse)],
    })  # fmt: skip
    rows = pl.DataFrame({
        **{name: columns[:, j].astype(int) for j, name in enumerate(names) if j},
        "mean": means, **{f"residual_{j + 1}": values[:, j] - means for j in range(r)},
    })  # fmt: skip
    return Effects(response, tuple(found), r, level, table, rows, sse, sst, degrees)


def _balanced(runs: pl.DataFrame, factors: Sequence[Factor], response: str) -> tuple[np.ndarray, np.ndarray]:
    """Signs (2^k x k, first factor slowest) and values (2^k x r)."""
    signs = np.array(np.meshgrid(*[[-1, 1]] * len(factors), indexing="ij")).reshape(len(factors), -1).T
    values = []
    for row in signs:
        here = runs
        for factor, sign in zip(factors, row, strict=True):
            here = here.filter(pl.col(factor.name) == factor.levels[(1 + sign) // 2])
        if "repetition" in here.columns:
            here = here.sort("repetition")
        values.append(here[response].to_list())
    counts = sorted({len(v) for v in values})
    if len(counts) > 1 or counts[0] == 0:
        raise DesignError(
            f"rows with {counts} runs", response, "run each combination equally often; or analyse with anova"
        )
    return signs, np.array(values, float)


def _columns(signs: np.ndarray) -> np.ndarray:
    """The mean's column and those of all products of factors, in the order of their size."""
    k = signs.shape[1]
    products = [signs[:, list(c)].prod(axis=1) for n in range(1, k + 1) for c in combinations(range(k), n)]
    return np.column_stack([np.ones(len(signs)), *products])


def _half_width(sse: float, degrees: int, count: int, level: float) -> tuple[float, float] | None:
    """Standard error of an effect and half its interval; None without repetitions."""
    if not 0 < level < 1:
        raise DesignError(level, "level", "give a confidence level in (0, 1)")
    if not degrees:
        return None
    error = (sse / degrees / count) ** 0.5
    return error, float(stdtrit(degrees, (1 + level) / 2)) * error


def _share(squares: np.ndarray, total: float) -> list[float | None]:
    return [float(s / total) if total > 0 else None for s in squares]
