"""What reports show of an analysis: variation by effect, residuals over what was predicted, normal quantiles."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl

from sojourn.design.analyse.residuals import Residuals
from sojourn.design.analyse.two_level_effects import MEAN_EFFECT, Effects
from sojourn.report.document import Figure, Series

MOST_BARS = 10  # effects of a figure: more are shown as the largest, and the others together
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
    total, explained = (
        [0.0 if v is None else 100 * v for v in rows[f"share_of_{of}"]] for of in ("total", "explained")
    )
    error = 100 * effects.sse / effects.sst if effects.sst > 0 else 0.0
    if len(names) > MOST_BARS:
        kept = sorted(sorted(range(len(names)), key=lambda k: -total[k])[: MOST_BARS - 1])
        rest = [k for k in range(len(names)) if k not in kept]
        names = [*(names[k] for k in kept), "others"]
        meaning += f"; others: {len(rest)} effects together"
        total, explained = ([*(of[k] for k in kept), sum(of[k] for k in rest)] for of in (total, explained))
    x = list(range(1, len(names) + 2))
    series = (
        Series("share of SST (with the error)", x, [*total, error], style="bars"),
        Series("share of SST - SSE (without the error)", x[:-1], explained, style="bars"),
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
