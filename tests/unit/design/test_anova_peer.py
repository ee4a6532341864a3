"""The analysis of variance against statsmodels (`anova_lm`, type II), which is another program."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sojourn.design import anova

LEVELS = {"a": (1, 2, 4), "b": ("x", "y"), "c": (10, 20, 30)}


def runs(seed: int, lost: int) -> pl.DataFrame:
    """All combinations three times, less `lost` runs at random: not balanced."""
    random = np.random.default_rng(seed)
    rows = [{"a": a, "b": b, "c": c} for _ in range(3) for a in LEVELS["a"] for b in LEVELS["b"] for c in LEVELS["c"]]
    kept = [rows[k] for k in sorted(random.permutation(len(rows))[lost:])]
    y = [one["a"] * (1 + (one["b"] == "x")) + one["c"] / 10 + random.normal() for one in kept]
    return pl.DataFrame(kept).with_columns(pl.Series("y", y))


@pytest.mark.parametrize(("lost", "order"), [(0, 3), (13, 2), (5, 1), (20, 3)])
def test_sums_of_squares_and_coefficients_are_those_of_statsmodels(lost: int, order: int) -> None:
    import pandas as pd  # slow to import: not where tests are only collected
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    table = runs(7 + lost, lost)
    found = anova(table, "y", list(LEVELS), order=order, level=0.9)
    terms = ["a", "b", "c", "a:b", "a:c", "b:c", "a:b:c"][: {1: 3, 2: 6, 3: 7}[order]]
    data = pd.DataFrame({name: table[name].cast(pl.String).to_list() for name in LEVELS} | {"y": table["y"].to_list()})
    formula = "y ~ " + " + ".join(":".join(f"C({name}, Sum)" for name in term.split(":")) for term in terms)
    other = ols(formula, data=data).fit()
    lines = anova_lm(other, typ=2)
    for ours, theirs in [("sum_of_squares", "sum_sq"), ("degrees", "df"), ("f", "F"), ("p", "PR(>F)")]:
        count = len(terms) + (ours in ("sum_of_squares", "degrees"))
        assert found.table[ours].to_list()[:count] == pytest.approx(lines[theirs].to_list()[:count], rel=1e-7), ours
    assert found.r_squared == pytest.approx(other.rsquared)
    assert found.residual == pytest.approx(other.resid, abs=1e-9) and found.fitted == pytest.approx(other.fittedvalues)


def test_the_linear_model_is_that_of_statsmodels() -> None:
    from statsmodels.api import OLS  # slow to import: not where tests are only collected

    table = runs(3, 9)
    found = anova(table, "y", list(LEVELS), order=2, level=0.9)
    a, b, c = (
        (2 * table["a"].to_numpy() - 5) / 3,
        np.where(table["b"].to_numpy() == "y", 1.0, -1.0),
        table["c"].to_numpy() / 10 - 2,
    )
    other = OLS(table["y"].to_numpy(), np.column_stack([np.ones(len(a)), a, b, c, a * b, a * c, b * c])).fit()
    ends = other.conf_int(alpha=0.1)
    for ours, theirs in [("estimate", other.params), ("low", ends[:, 0]), ("high", ends[:, 1]), ("p", other.pvalues)]:
        assert found.coefficients[ours].to_list() == pytest.approx(list(theirs), rel=1e-7), ours
