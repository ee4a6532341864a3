"""Student's t: its distribution function and quantiles in plain Python, for commands that need a few: `scipy.special` takes longer to
import than the end of a run takes.

Source: M. Abramowitz, I. A. Stegun, Handbook of Mathematical Functions (1964): 26.7.1, the law as an incomplete beta function; 26.5.8, its
continued fraction; 26.7.5, quantiles from normal ones, where the search begins. Lentz's method: W. H. Press et al., Numerical Recipes,
3rd ed. (2007), section 5.2.

    n   degrees of freedom      x   n/(n + t^2)      I_x(n/2, 1/2)   both tails beyond |t|

Stability: a tail is computed as itself and never as 1 minus the rest, so that small ones keep their digits; the gamma functions' ratio by
its series where n is large, as their logarithms would cancel. Relative error below 1e-12 for n up to
1000 and 1e-10 up to 1e5 (tests/unit/stats), of p as of tails.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

LARGE = 40.0  # n/2 from which the series of the ratio of gamma functions is exact to the last digits
SMALLEST = 1e-300
SETTLED = 3e-16  # of a factor beside 1: the doubles there are 1.1e-16 and 2.2e-16 apart
MOST_STEPS = 100_000  # of a continued fraction, which needs about sqrt(n)


def student_distribution(t: float, degrees: float) -> float:
    """P(T <= t) with so many degrees of freedom, above 0; `t` any number; NaN where either is NaN."""
    tail = _tail(abs(t), degrees)
    return tail if t < 0 else 1.0 - tail


@lru_cache(1024)
def student_quantile(p: float, degrees: float) -> float:
    """Quantile `p` in (0, 1) of Student's t with so many degrees of freedom, at least 1."""
    if math.isnan(degrees):
        return math.nan
    if not 0.0 < p < 1.0:
        return math.copysign(math.inf, p - 0.5) if p in (0.0, 1.0) else math.nan
    if p == 0.5:
        return 0.0
    beyond = min(p, 1.0 - p)
    return math.copysign(_beyond(beyond, degrees), p - 0.5)


def _beyond(tail: float, n: float) -> float:
    """The t > 0 with P(T > t) = `tail` below 1/2: Newton's steps on the logarithms of both, which are nearly a straight line there."""
    z = -NormalDist().inv_cdf(tail)
    t = z + (z**3 + z) / (4 * n) if n > 2 else 1.0 / tail
    low, high = 0.0, math.inf
    for _ in range(200):
        here = _tail(t, n)
        low, high = (t, high) if here > tail else (low, t)
        step = math.log(here / tail) * here / _density(t, n) if here > 0 else 0.0
        new = t * math.exp(step / t) if abs(step) < 0.5 * t else t + step
        if abs(new - t) <= 4e-16 * t or high - low <= 4e-16 * low:
            return new
        t = new if low < new < high else 2 * t if high == math.inf else (low + high) / 2
    return t


def _density(t: float, n: float) -> float:
    return math.exp(_log_ratio(n) - 0.5 * math.log(n * math.pi) - (n + 1) / 2 * math.log1p(t * t / n))


def _log_ratio(n: float) -> float:
    """log of Gamma((n + 1)/2)/Gamma(n/2)."""
    a = n / 2
    if a < LARGE:
        return math.lgamma(a + 0.5) - math.lgamma(a)
    return 0.5 * math.log(a) - 1 / (8 * a) + 1 / (192 * a**3) - 1 / (640 * a**5) + 17 / (14336 * a**7)


def _tail(t: float, n: float) -> float:
    """P(T > t) for t >= 0."""
    if math.isinf(t):
        return 0.0
    a, x, rest = n / 2, n / (n + t * t), t * t / (n + t * t)
    # x^a (1-x)^(1/2) / B(a, 1/2), by what is small: x may be 1 but for rounding
    front = math.exp(_log_ratio(n) - 0.5 * math.log(math.pi) - a * math.log1p(t * t / n)) * math.sqrt(rest)
    if x < (a + 1) / (a + 2.5):
        return 0.5 * front * _fraction(a, 0.5, x) / a
    return 0.5 - front * _fraction(0.5, a, rest)


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function (26.5.8), by Lentz's method."""
    if math.isnan(x):  # which would never settle
        return math.nan
    c, d = 1.0, 1.0 / _away(1.0 - (a + b) * x / (a + 1.0))
    value = d
    for m in range(1, MOST_STEPS):
        for part in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 / _away(1.0 + part * d)
            c = _away(1.0 + part / c)
            value *= d * c
        if abs(d * c - 1.0) < SETTLED:
            break
    return value


def _away(value: float) -> float:
    """From 0, by which must not be divided."""
    return value if abs(value) > SMALLEST else SMALLEST
