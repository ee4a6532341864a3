"""Does a straight line fit, or is its lack of fit more than the scatter of repeated runs?

Source: N. R. Draper and H. Smith, Applied Regression Analysis, 3rd ed. (1998), Sections 2.1-2.2: with repetitions at c levels the
residual sum of squares of a line falls apart into pure error (n - c degrees of freedom, within levels) and lack of fit (c - p, p
coefficients); their mean squares' ratio is F. Letters: x the level, y the response. Limits: normal errors of one size within all
levels; where they grow with the level give `weights`, 1/variance up to a factor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import fdtrc

from sojourn.errors import DesignError


@dataclass(frozen=True)
class StraightLineFit:
    """y = intercept + slope x. `r_squared`: share of the variation explained, about the mean, or about zero for a line through the
    origin; `f`, `p`: of the lack-of-fit test (None where no level was repeated, or no level is left)."""

    intercept: float
    slope: float
    r_squared: float
    levels: int
    runs: int
    f: float | None
    p: float | None


def line_fit(x: ArrayLike, y: ArrayLike, origin: bool = False, weights: ArrayLike | None = None) -> StraightLineFit:
    """A line through the points, through the origin if `origin`.

    Raises:
        DesignError: lists of different length, a value that is not finite, fewer than three levels, weights not above 0.
    """
    a, b = np.asarray(x, float), np.asarray(y, float)
    w = np.ones_like(a) if weights is None else np.asarray(weights, float)
    if a.ndim != 1 or a.shape != b.shape or w.shape != a.shape or not (np.isfinite(a) & np.isfinite(b)).all():
        raise DesignError(f"{a.size} and {b.size} values", "line", "give two lists of equal length with finite numbers")
    if not (w > 0).all():
        raise DesignError(float(w.min()), "weights", "give numbers above 0")
    found, level = np.unique(a, return_inverse=True)
    if len(found) < 3:
        raise DesignError(f"{len(found)} levels", "line", "run three or more levels: a straight line fits any two")
    columns = np.column_stack([a] if origin else [np.ones_like(a), a])
    root = np.sqrt(w)
    q = np.linalg.lstsq(columns * root[:, None], b * root, rcond=None)[0]
    residual = float((w * (b - columns @ q) ** 2).sum())
    centre = 0.0 if origin else float((w * b).sum() / w.sum())
    total = float((w * (b - centre) ** 2).sum())
    f, p = _lack(b, w, level, residual, len(found), len(q))
    intercept, slope = (0.0, float(q[0])) if origin else (float(q[0]), float(q[1]))
    return StraightLineFit(intercept, slope, 1 - residual / total if total > 0 else 1.0, len(found), len(a), f, p)


def _lack(
    y: NDArray[np.float64], w: NDArray[np.float64], level: NDArray[np.intp], residual: float, levels: int, p: int
) -> tuple[float | None, float | None]:
    means = np.bincount(level, w * y) / np.bincount(level, w)
    pure = float((w * (y - means[level]) ** 2).sum())
    within, between = len(y) - levels, levels - p
    if within < 1 or between < 1 or pure <= 0:
        return None, None
    ratio = max(residual - pure, 0.0) / between / (pure / within)
    return ratio, float(fdtrc(between, within, ratio))
