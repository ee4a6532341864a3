"""Do effects add, or would they add on another scale? One degree of freedom for non-additivity.

Source: Tukey, One degree of freedom for non-additivity, Biometrics 5 (1949), 232-242: the square of what main effects
predict, cleared of the main effects, is one more column; where it explains much, the effects act on another scale.
If main effects add for y^p (p = 0: log y), that column's coefficient is (1 - p)/(2 mean): second order of Taylor's series
of y about its mean. Letters: m prediction of main effects, q = (m - mean)^2 cleared of them, slope = <q, y>/<q, q>.
Limits: a balanced 2^k r experiment, k >= 2, positive response; the power is rough where main effects are large.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl
from scipy.special import fdtrc

from sojourn.design.analyse.two_level_effects import MEAN_EFFECT, factorial_effects

SURE, MOST_OF = 0.05, 0.5
SCALES = {-1.0: "the reciprocal", -0.5: "the reciprocal square root", 0.0: "the logarithm", 0.5: "the square root"}


@dataclass(frozen=True)
class Additivity:
    """`share`: of the variation by interactions, explained by Tukey's column, in [0, 1]; `p`: probability of as much by
    chance (None without repetitions); `power`: on whose scale main effects would add (1: as it is)."""

    share: float
    p: float | None
    power: float
    suggestion: str


def additivity(runs: pl.DataFrame, response: str, factors: list[str] | None = None) -> Additivity:
    """Of a 2^k r run list. DesignError as `factorial_effects`."""
    effects = factorial_effects(runs, response, factors)
    estimates = effects.table.filter(pl.col("effect") != MEAN_EFFECT)["estimate"].to_numpy()
    names = [f.name for f in effects.factors]
    main = effects.rows.select(names).to_numpy() @ estimates[: len(names)]
    column = main**2 - (main**2).mean()  # products of two factors: clear of the main effects
    between = effects.rows["mean"].to_numpy()
    norm = float(column @ column)
    interactions = len(between) * float((estimates[len(names) :] ** 2).sum())
    if norm <= 1e-12 * float((main**2).sum()) ** 2 or interactions <= 0 or (between <= 0).any():
        return Additivity(0.0, None, 1.0, "effects add on the measured scale (too few data to judge)")
    slope = float(column @ between) / norm
    explained = slope**2 * norm
    p = None
    if effects.degrees and effects.sse > 0:
        ratio = effects.repetitions * explained / (effects.sse / effects.degrees)
        p = float(fdtrc(1, effects.degrees, ratio))
    power = 1 - 2 * slope * float(between.mean())
    share = min(explained / interactions, 1.0)
    return Additivity(share, p, power, _suggestion(share, p, power))


def _suggestion(share: float, p: float | None, power: float) -> str:
    facts = f"Tukey's test of additivity explains {share:.0%} of the interactions" + (
        "" if p is None else f", p = {p:.2g}"
    )
    if p is None or p > SURE or share < MOST_OF:
        return f"no other scale is needed ({facts})"
    nearest = min((*SCALES, 1.0), key=lambda scale: abs(scale - power))
    if nearest == 1.0:
        return f"effects add on the measured scale ({facts})"
    how = "effects multiply" if nearest == 0 else "effects would add there"
    return f"analyse {SCALES[nearest]} of the response: {how} ({facts}, power {power:.2f})"
