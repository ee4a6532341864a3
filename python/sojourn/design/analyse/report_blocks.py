"""What reports show of an analysis: variation by effect, residuals over what was predicted, normal quantiles."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl

from sojourn.design.analyse.residuals import Residuals
from sojourn.design.analyse.two_level_effects import MEAN_EFFECT, Effects
from sojourn.report.document import Figure, Series

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def letters(effects: Effects) -> tuple[list[str], str]:
    """Effects by letters as books have them (A, B, AB, …), in the order of the table, and what the letters mean."""
    factors = effects.factors
    sets = [c for n in range(1, len(factors) + 1) for c in combinations(range(len(factors)), n)]
    meaning = ", ".join(f"{LETTERS[k]} {f.name} ({f.levels[0]}, {f.levels[1]})" for k, f in enumerate(factors))
    return ["".join(LETTERS[k] for k in chosen) for chosen in sets], meaning


def variation_figure(effects: Effects, title: str = "") -> Figure:
    """A bar an effect: its share of the variation in both conventions (Jain 1991, section 17.4), in %.

    Of SST, where the error has a share too, and of SST - SSE, where it has none.
    """
    names, meaning = letters(effects)
    rows = effects.table.filter(pl.col("effect") != MEAN_EFFECT)
    error = effects.sse / effects.sst if effects.sst > 0 else 0.0
    x = list(range(1, len(names) + 2))
    percent = lambda values: [None if v is None else 100 * v for v in values]  # noqa: E731
    series = (
        Series("share of SST (with the error)", x, percent([*rows["share_of_total"], error]), style="bars"),
        Series("share of SST - SSE (without the error)", x[:-1], percent(rows["share_of_explained"]), style="bars"),
    )
    return Figure(
        f"variation-{title}", _titled("Allocation of variation", title), "effect", "share of the variation (%)", series,
        note=f"{meaning}.", x_names=(*names, "error"),
    )  # fmt: skip


def residual_figures(check: Residuals, title: str = "", response: str = "response") -> tuple[Figure, Figure]:
    """Residuals over predicted values, and sorted over normal quantiles with the line that normal errors would follow."""
    errors, ordered = check.residual.tolist(), np.sort(check.residual)
    runs = (Series("run", check.fitted.tolist(), errors, style="points"),)
    # through the mean of the errors (0) with their deviation as its slope
    line = check.residual.std() * check.normal[[0, -1]]
    quantiles = (
        Series("run", check.normal.tolist(), ordered.tolist(), style="points"),
        Series("normal errors", check.normal[[0, -1]].tolist(), line.tolist(), style="dashed"),
    )
    return (
        Figure(f"residuals-{title}", _titled("Residuals", title), f"predicted {response}", "residual", runs),
        Figure(f"normal-{title}", _titled("Normal quantiles", title), "normal quantile", "residual", quantiles),
    )


def _titled(what: str, title: str) -> str:
    return f"{what}: {title}" if title else what
