"""How many repetitions for an interval as narrow as wanted.

Source: Jain (1991), Section 13.9.1, p. 216: n = (100 z s/(r x))^2, here solved with Student's t for the n that results,
because z is too small where n is.
"""

from __future__ import annotations

import math

from scipy.special import stdtrit

from sojourn.errors import DesignError
from sojourn.units import USUAL_LEVEL

MOST = 10_000_000


def repetitions(relative: float, scv: float, level: float = USUAL_LEVEL) -> int:
    """Least n with t(level, n-1)·sqrt(scv/n) <= relative; `scv` = variance/mean^2 of one run, from a pilot.

    DesignError for a half-width <= 0, a level outside (0, 1), or more than ten million.
    """
    if not (relative > 0 and scv >= 0 and 0 < level < 1):
        raise DesignError((relative, scv, level), "relative, scv, level", "give > 0, >= 0, and in (0, 1)")
    low, high = 1, 2
    while not _enough(high, relative, scv, level):
        low, high = high, 2 * high
        if high > MOST:
            raise DesignError(relative, "relative", "allow a wider interval, or make each run longer")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _enough(middle, relative, scv, level) else (middle, high)
    return high


def _enough(n: int, relative: float, scv: float, level: float) -> bool:
    return n >= 2 and float(stdtrit(n - 1, (1 + level) / 2)) * math.sqrt(scv / n) <= relative
