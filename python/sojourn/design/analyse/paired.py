"""Two treatments run in pairs: the ratio of their means, whether one scatters more, and what a covariate explains of the difference.

The two runs of a pair are near each other in time, so that what drifts meanwhile falls on both. All is done with logarithms, so that
differences are ratios. Letters: x, y the logarithms of the first and the second of a pair, d = y - x, s = x + y, n pairs.
Sources: Student's paired t (R. Jain, The Art of Computer Systems Performance Analysis (1991), 13.4.1) for d; E. J. G. Pitman, A Note on
Normal Correlation, Biometrika 31 (1939), 9-12, and W. A. Morgan, ibid., 13-19, for the variances: var x = var y exactly where the
correlation r of d and s is 0, and t = r sqrt((n - 2)/(1 - r^2)) has n - 2 degrees of freedom. How many pairs would tell a spread as seen
from none: Fisher's transformation of r, n = 3 + ((z_0.975 + z_0.8)/atanh r)^2. A covariate enters by least squares, d on the difference of
its logarithms; the intercept is the ratio at an equal covariate.
Limits: normal errors of the logarithms; pairs independent of each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtr, stdtrit

from sojourn.errors import DesignError
from sojourn.units import USUAL_LEVEL

FEWEST = 3
SURE, POWER = 0.05, 0.8


@dataclass(frozen=True)
class TestedEstimate:
    """An estimate with its interval and the two-sided p-value of "no effect"."""

    value: float
    low: float
    high: float
    p: float


@dataclass(frozen=True)
class PairedComparison:
    """Of `pairs` pairs: `ratio`, second over first; `spreads`: standard deviations of the logarithms of first and second, which are
    their coefficients of variation where these are small; `spread_p`: of equal spreads; `spread_pairs`: how many pairs would tell the
    spreads apart (at 5 %, 4 times of 5) if they are as seen; None where they are equal. With a covariate `exponent`: the ratio goes
    with that power of the covariate's ratio; `adjusted`: the ratio at an equal covariate."""

    pairs: int
    ratio: TestedEstimate
    spreads: tuple[float, float]
    spread_p: float
    spread_pairs: int | None
    exponent: TestedEstimate | None = None
    adjusted: TestedEstimate | None = None


def compare_pairs(
    first: Sequence[float],
    second: Sequence[float],
    covariate: tuple[Sequence[float], Sequence[float]] | None = None,
    level: float = USUAL_LEVEL,
) -> PairedComparison:
    """`first[k]` and `second[k]` are a pair; `covariate`: of the first and of the second. No adjustment where fewer than four pairs are
    there or the covariate is the same in both of all pairs.

    Raises:
        DesignError: fewer than three pairs, lists of different length, or a value that is not positive.
    """
    x, y = _logarithms(first, second)
    difference = y - x
    n = len(difference)
    r = _correlation(difference, x + y)
    found = None if covariate is None else _adjusted(difference, *_logarithms(*covariate), level)
    return PairedComparison(
        n, _ratio(_mean_tested(difference, level)), (float(x.std(ddof=1)), float(y.std(ddof=1))),
        _p(r * math.sqrt((n - 2) / max(1 - r * r, 1e-300)), n - 2), _pairs_for(r),
        *((None, None) if found is None else (found[0], _ratio(found[1]))),
    )  # fmt: skip


def ratio_of_pairs(first: Sequence[float], second: Sequence[float], level: float = USUAL_LEVEL) -> TestedEstimate:
    """The geometric mean of `second[k] / first[k]`, one pair or more, with Student's interval; its ends and p are NaN for one pair.

    Raises:
        DesignError: no pairs, lists of different length, or a value that is not positive.
    """
    x, y = _logarithms(first, second, fewest=1)
    return _ratio(_mean_tested(y - x, level))


def _mean_tested(difference: np.ndarray, level: float) -> TestedEstimate:
    n, mean = len(difference), float(difference.mean())
    if n < 2:
        return TestedEstimate(mean, math.nan, math.nan, math.nan)
    return _tested(mean, float(difference.std(ddof=1)) / math.sqrt(n), n - 1, level)


def _logarithms(first: Sequence[float], second: Sequence[float], fewest: int = FEWEST) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.asarray(first, float), np.asarray(second, float)
    if x.ndim != 1 or x.shape != y.shape or len(x) < fewest:
        raise DesignError(
            f"{x.size} and {y.size} values", "pairs", f"give two lists of equal length, with at least {fewest} values"
        )
    if bad := [value for value in (*x, *y) if not (value > 0 and math.isfinite(value))]:
        raise DesignError(str(bad[0]), "pairs", "give positive numbers: ratios are compared")
    return np.log(x), np.log(y)


def _adjusted(
    d: np.ndarray, before: np.ndarray, after: np.ndarray, level: float
) -> tuple[TestedEstimate, TestedEstimate] | None:
    """Slope and intercept of d = a + b z by least squares, z the difference of the covariate's logarithms."""
    z = after - before
    if z.shape != d.shape:
        raise DesignError(f"{len(z)} values", "covariate", f"give {len(d)}, one for each pair")
    n, centred = len(d), z - z.mean()
    squares = float(centred @ centred)
    if n < FEWEST + 1 or squares <= 1e-12:
        return None
    slope = float(centred @ d) / squares
    intercept = float(d.mean() - slope * z.mean())
    residual = d - intercept - slope * z
    variance = float(residual @ residual) / (n - 2)
    errors = math.sqrt(variance / squares), math.sqrt(variance * (1 / n + float(z.mean()) ** 2 / squares))
    return _tested(slope, errors[0], n - 2, level), _tested(intercept, errors[1], n - 2, level)


def _correlation(a: np.ndarray, b: np.ndarray) -> float:
    a, b = a - a.mean(), b - b.mean()
    norm = math.sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / norm if norm > 0 else 0.0


def _tested(value: float, error: float, degrees: int, level: float) -> TestedEstimate:
    half = float(stdtrit(degrees, (1 + level) / 2)) * error
    return TestedEstimate(value, value - half, value + half, _p(value / error if error > 0 else math.inf, degrees))


def _ratio(of_logarithms: TestedEstimate) -> TestedEstimate:
    e = of_logarithms
    return TestedEstimate(math.exp(e.value), math.exp(e.low), math.exp(e.high), e.p)


def _p(t: float, degrees: int) -> float:
    return float(2 * stdtr(degrees, -abs(t)))


def _pairs_for(r: float) -> int | None:
    if abs(r) < 1e-9:
        return None
    reach = math.atanh(min(abs(r), 1 - 1e-12))
    return math.ceil(3 + ((float(ndtri(1 - SURE / 2)) + float(ndtri(POWER))) / reach) ** 2)
