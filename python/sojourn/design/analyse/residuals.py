"""Are the errors what the analysis takes them for: independent of the fitted value, normal, of one size?

Source: Jain (1991), Sections 14.7 and 18.6-18.8: residuals over fitted values, normal quantiles (Blom's positions), a
ratio of greatest to least response that is large and effects that multiply: analyse the logarithm.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from sojourn.design.analyse.two_level_effects import Effects
from sojourn.stats.rank_correlation import rank_correlation

MOST_RATIO = 10.0


@dataclass(frozen=True)
class Residuals:
    """`fitted` and `residual` a run; `normal` the quantile that each sorted residual is compared with; `straightness`
    the correlation of the two (1: normal); `growth` the rank correlation of |residual| with the fitted value."""

    fitted: NDArray[np.float64]
    residual: NDArray[np.float64]
    normal: NDArray[np.float64]
    straightness: float
    growth: float
    suggestion: str


def residuals(fitted: NDArray[np.float64], residual: NDArray[np.float64]) -> Residuals:
    """What the errors of an analysis look like, and a transformation where they ask for one."""
    fitted, residual = np.asarray(fitted, float), np.asarray(residual, float)
    n = len(residual)
    normal = ndtri((np.arange(1, n + 1) - 0.375) / (n + 0.25))
    spread = residual.std() > 0
    straight = float(np.corrcoef(np.sort(residual), normal)[0, 1]) if spread and n > 2 else 1.0
    growth = rank_correlation(fitted, np.abs(residual)).value if spread and fitted.std() > 0 else 0.0
    return Residuals(fitted, residual, normal, straight, growth, _suggestion(fitted, growth, n))


def residuals_of_effects(effects: Effects) -> Residuals:
    """Of the errors of a 2^k r experiment: y less the mean of its row."""
    columns = [c for c in effects.rows.columns if c.startswith("residual_")]
    errors = effects.rows.select(columns).to_numpy()
    return residuals(np.repeat(effects.rows["mean"].to_numpy(), errors.shape[1]), errors.ravel())


def _suggestion(fitted: NDArray[np.float64], growth: float, n: int) -> str:
    positive = bool((fitted > 0).all())
    ratio = float(fitted.max() / fitted.min()) if positive else 0.0
    grows = growth > 2 / np.sqrt(max(n - 1, 1))
    if positive and (ratio > MOST_RATIO or (grows and ratio > 2)):
        why = f"the response spans a ratio of {ratio:.3g}" + (" and its errors grow with it" if grows else "")
        return f"analyse the logarithm: {why}, so effects multiply rather than add (Jain, Section 18.8)"
    return "none: the errors do not grow with the response"
