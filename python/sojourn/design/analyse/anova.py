"""Factors with any number of levels: analysis of variance, and a linear model on coded factors; by least squares.

Source: Jain (1991), ch. 20-23 (one and more factors, any levels); the sums of squares are of type II, which for a balanced
experiment are Jain's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from math import prod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from sojourn.design.run_list import factors_of, filled
from sojourn.errors import DesignError
from sojourn.units import USUAL_LEVEL

Values: TypeAlias = npt.NDArray[np.float64]
Term: TypeAlias = tuple[int, ...]  # places of the factors that stand together


@dataclass(frozen=True)
class Anova:
    """`table`: source, sum_of_squares, degrees, mean_square, f, p, share_of_total. `coefficients`: term, estimate,
    low, high, p of the linear model whose numeric factors are coded to [-1, 1]. `fitted`, `residual`: a value a run."""

    response: str
    table: pl.DataFrame
    coefficients: pl.DataFrame
    r_squared: float
    fitted: list[float]
    residual: list[float]


def anova(
    runs: pl.DataFrame, response: str, factors: list[str] | None = None, *, order: int = 2, level: float = USUAL_LEVEL
) -> Anova:
    """Main effects and interactions of up to `order` factors. DesignError where the runs are too few for that."""
    runs = filled(runs, response)
    found = factors_of(runs, response, factors)
    terms = [c for n in range(1, order + 1) for c in combinations(range(len(found)), n)]
    needed = 1 + sum(prod(len(found[k].levels) - 1 for k in term) for term in terms)
    if needed >= len(runs):
        raise DesignError(
            f"{len(runs)} runs for {needed} parameters", response, "repeat the runs, or use a lower order"
        )
    y = runs[response].to_numpy().astype(float)
    contrasts = [_contrasts(runs[one.name].cast(pl.String).to_list()) for one in found]
    blocks = {term: reduce(_products, (contrasts[k] for k in term)) for term in terms}
    whole = _Fit.of(blocks.values(), y)
    labels = [" x ".join(found[k].name for k in term) for term in terms]
    table = _table([_squares(term, blocks, y) for term in terms], labels, whole, len(y))
    coded, coded_labels = _coded(runs, found, terms, labels)
    about_mean = float(((y - y.mean()) ** 2).sum())
    return Anova(response, table, _coefficients(coded, coded_labels, y, level), 1 - whole.squares / about_mean if about_mean else 0.0,
                 [float(v) for v in y - whole.residual], [float(v) for v in whole.residual])  # fmt: skip


@dataclass(frozen=True)
class _Fit:
    """Least squares with a mean: residual, a value a run; its sum of squares; rank: parameters that the runs tell."""

    residual: Values
    squares: float
    rank: int

    @staticmethod
    def of(blocks: Iterable[Values], y: Values) -> _Fit:
        columns = np.column_stack([np.ones(len(y)), *blocks])
        estimate, _, rank, _ = np.linalg.lstsq(columns, y, rcond=None)
        residual = y - columns @ estimate
        return _Fit(residual, float(residual @ residual), int(rank))


def _contrasts(levels: list[str]) -> Values:
    """Deviations from the mean over levels: a column a level but the last, whose runs have -1 in all of them; runs x (levels - 1)."""
    names = sorted(set(levels))
    rows = np.vstack([np.eye(len(names) - 1), -np.ones(len(names) - 1)])
    return np.asarray(rows[[names.index(level) for level in levels]])


def _products(first: Values, second: Values) -> Values:
    return np.asarray((first[:, :, None] * second[:, None, :]).reshape(len(first), -1))


def _squares(term: Term, blocks: Mapping[Term, Values], y: Values) -> tuple[float, int]:
    """Type II: by how much the term lowers the residual sum of squares beside all that do not contain it; and its degrees of freedom."""
    others = [block for other, block in blocks.items() if not set(term) <= set(other)]
    without, beside = _Fit.of(others, y), _Fit.of([*others, blocks[term]], y)
    return without.squares - beside.squares, beside.rank - without.rank


def _table(squares: list[tuple[float, int]], labels: list[str], whole: _Fit, runs: int) -> pl.DataFrame:
    from scipy.stats import f as ratio_of_variances

    error_degrees = runs - whole.rank
    error = whole.squares / error_degrees
    total = sum(ss for ss, _ in squares) + whole.squares
    rows = []
    for label, (ss, degrees) in zip([*labels, "error"], [*squares, (whole.squares, error_degrees)], strict=True):
        mean_square = ss / degrees if degrees else None
        f = mean_square / error if label != "error" and mean_square is not None and error > 0 else None
        p = None if f is None else float(ratio_of_variances.sf(f, degrees, error_degrees))
        share = ss / total if total > 0 else None
        rows.append({"source": label, "sum_of_squares": ss, "degrees": float(degrees), "mean_square": mean_square, "f": f, "p": p,
                     "share_of_total": share})  # fmt: skip
    return pl.DataFrame(rows, infer_schema_length=None)


def _coded(runs: pl.DataFrame, found: Any, terms: list[Term], labels: list[str]) -> tuple[Values, list[str]]:
    """Columns 1 and products of numeric factors scaled to [-1, 1]; factors of words with two levels are -1 and +1."""
    coded: dict[int, Values] = {}
    for k, factor in enumerate(found):
        if all(not isinstance(level, str) for level in factor.levels):
            low, high = min(factor.levels), max(factor.levels)
            coded[k] = (2 * runs[factor.name].to_numpy().astype(float) - low - high) / (high - low)
        elif len(factor.levels) == 2:
            coded[k] = np.where(runs[factor.name].to_numpy() == factor.levels[1], 1.0, -1.0)
    usable = [(term, label) for term, label in zip(terms, labels, strict=True) if all(k in coded for k in term)]
    columns = [np.ones(len(runs)), *(np.prod([coded[k] for k in term], axis=0) for term, _ in usable)]
    return np.column_stack(columns), ["mean", *(label for _, label in usable)]


def _coefficients(coded: Values, labels: list[str], y: Values, level: float) -> pl.DataFrame:
    from scipy.stats import t as student

    inverse = np.linalg.pinv(coded)
    estimate = inverse @ y
    residual = y - coded @ estimate
    degrees = len(y) - int(np.linalg.matrix_rank(coded))
    error = np.sqrt((inverse**2).sum(axis=1) * (residual @ residual) / degrees)
    half = student.ppf((1 + level) / 2, degrees) * error
    distance = np.divide(np.abs(estimate), error, out=np.full(len(estimate), np.inf), where=error > 0)
    return pl.DataFrame({
        "term": labels, "estimate": estimate, "low": estimate - half, "high": estimate + half, "p": 2 * student.sf(distance, degrees),
    })  # fmt: skip
