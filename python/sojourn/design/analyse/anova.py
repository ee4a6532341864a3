"""Factors with any number of levels: analysis of variance, and a linear model on coded factors; by statsmodels.

Source: Jain (1991), ch. 20-23 (one and more factors, any levels); the sums of squares are of type II, which for a balanced
experiment are Jain's.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import polars as pl

from sojourn.design.run_list import factors_of, filled
from sojourn.errors import DesignError
from sojourn.units import USUAL_LEVEL


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
    from pandas import DataFrame
    from statsmodels.api import OLS
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    runs = filled(runs, response)
    found = factors_of(runs, response, factors)
    names = [f"f{k}" for k in range(len(found))]
    terms = [list(c) for n in range(1, order + 1) for c in combinations(range(len(found)), n)]
    columns = {name: runs[f.name].cast(pl.String).to_list() for name, f in zip(names, found, strict=True)}
    data = DataFrame({**columns, "y": runs[response].to_list()})  # what statsmodels takes
    needed = 1 + sum(_product(len(found[k].levels) - 1 for k in term) for term in terms)
    if needed >= len(runs):
        raise DesignError(
            f"{len(runs)} runs for {needed} parameters", response, "repeat the runs, or use a lower order"
        )
    categorical = ols(
        "y ~ " + " + ".join(":".join(f"C({names[k]}, Sum)" for k in term) for term in terms), data=data
    ).fit()
    squares = anova_lm(categorical, typ=2)
    labels = [" x ".join(found[k].name for k in term) for term in terms]
    coded, terms_coded = _coded(runs, found, terms, labels)
    linear = OLS(runs[response].to_numpy(), coded).fit()
    return Anova(response, _table(squares, labels), _coefficients(linear, terms_coded, level), float(categorical.rsquared),
                 [float(v) for v in categorical.fittedvalues], [float(v) for v in categorical.resid])  # fmt: skip


def _product(values: Any) -> int:
    result = 1
    for value in values:
        result *= value
    return result


def _table(squares: Any, labels: list[str]) -> pl.DataFrame:
    total = float(squares["sum_sq"].sum())
    rows = []
    for label, (_, line) in zip([*labels, "error"], squares.iterrows(), strict=True):
        ss, degrees = float(line["sum_sq"]), float(line["df"])
        f, p = (None, None) if label == "error" else (float(line["F"]), float(line["PR(>F)"]))
        share = ss / total if total > 0 else None
        rows.append({"source": label, "sum_of_squares": ss, "degrees": degrees, "mean_square": ss / degrees if degrees else None,
                     "f": f, "p": p, "share_of_total": share})  # fmt: skip
    return pl.DataFrame(rows, infer_schema_length=None)


def _coded(runs: pl.DataFrame, found: Any, terms: list[list[int]], labels: list[str]) -> tuple[Any, list[str]]:
    """Columns 1 and products of numeric factors scaled to [-1, 1]; factors of words with two levels are -1 and +1."""
    import numpy as np

    coded: dict[int, Any] = {}
    for k, factor in enumerate(found):
        if all(not isinstance(level, str) for level in factor.levels):
            low, high = min(factor.levels), max(factor.levels)
            coded[k] = (2 * runs[factor.name].to_numpy().astype(float) - low - high) / (high - low)
        elif len(factor.levels) == 2:
            coded[k] = np.where(runs[factor.name].to_numpy() == factor.levels[1], 1.0, -1.0)
    usable = [(term, label) for term, label in zip(terms, labels, strict=True) if all(k in coded for k in term)]
    columns = [np.ones(len(runs)), *(np.prod([coded[k] for k in term], axis=0) for term, _ in usable)]
    return np.column_stack(columns), ["mean", *(label for _, label in usable)]


def _coefficients(linear: Any, columns: list[str], level: float) -> pl.DataFrame:
    interval = linear.conf_int(alpha=1 - level)
    return pl.DataFrame({
        "term": columns, "estimate": [float(v) for v in linear.params], "low": [float(v) for v in interval[:, 0]],
        "high": [float(v) for v in interval[:, 1]], "p": [float(v) for v in linear.pvalues],
    })  # fmt: skip
