"""Where a measured figure crosses a limit: which rates to run for that in little time, and what the runs say.

The limit is what the first runs say of the figure at 75 % of saturation (`limited`), so that there is a crossing among the runs. That makes
no truth better than it is: an error of these runs shifts limit and crossing alike.

A run costs seconds, and two runs at the same rate differ by 10 to 30 % where the limit lies. So many short independent runs are made
close around the crossing, below and above it by turns: the next is placed by all runs so far. The figure is exp(a + b x), x =
-ln(1 - rate/(1.05 saturation)), in which an M/M/1 queue is nearly a straight line: a gamma regression (P. McCullagh, J. A. Nelder,
Generalized Linear Models (1989), chapter 8), whose error is the spread of the runs about it. The interval of the crossing is Fieller's
(Journal of the Royal Statistical Society B 16 (1954), 175-185), with Student's quantile; half of its width is stated, on both sides of
the middle. `truth_level.py` says how often that holds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import stats

LEVEL = 0.9
SHARE, FIRST = (
    0.75,
    (0.66, 0.84, 0.72, 0.8),
)  # shares of saturation: of the crossing that is wanted, and of the first runs
APART, LOWEST, HIGHEST = 0.13, 0.45, 0.92  # from the crossing, of it; shares of saturation
BEYOND = 1.05  # the pole of x, over the saturation that a closed loop saw
USUAL_SLOPE, SLOPE_SD, RUN_SD = 1.0, 0.5, 0.15  # what is believed before the runs; only for where to run
LEAST_RUNS, ENOUGH = 8, 0.02  # of a truth; the half-width at which it may end
LEAST_KNOWN = 0.1  # a half-width above it is no truth


@dataclass(frozen=True)
class Crossing:
    """`rate_per_s` where the figure is the limit, and half of its interval over it; None where that cannot be told."""

    rate_per_s: float | None
    half_width: float | None

    @property
    def known(self) -> bool:
        return self.half_width is not None and self.half_width <= LEAST_KNOWN


@dataclass(frozen=True)
class TruthRuns:
    """Runs so far: rates that came, 1/s, and figures, s, beside the limit, s, and the saturation of a closed loop, 1/s."""

    full_per_s: float
    limit_s: float = 1.0
    rates: Sequence[float] = ()
    figures: Sequence[float] = ()

    def with_run(self, rate_per_s: float, figure_s: float) -> TruthRuns:
        """With one more."""
        return replace(self, rates=(*self.rates, rate_per_s), figures=(*self.figures, figure_s))

    def limited(self) -> TruthRuns:
        """With the limit that the runs so far have at `SHARE` of saturation, to three digits."""
        slope, start = self._line()
        told_s = self.limit_s * math.exp(start + slope * -math.log1p(-SHARE / BEYOND))
        return replace(self, limit_s=float(f"{told_s:.3g}"))

    def _line(self) -> tuple[float, float]:
        """Slope and start of the logarithm of figure over limit, over x, with what is believed of the slope."""
        terms = np.vander(self._x(), 2) / RUN_SD
        logs = np.log(np.asarray(self.figures) / self.limit_s) / RUN_SD
        terms, logs = np.vstack([terms, [1 / SLOPE_SD, 0.0]]), np.append(logs, USUAL_SLOPE / SLOPE_SD)
        (slope, start), *_ = np.linalg.lstsq(terms, logs, rcond=None)
        return float(slope), float(start)

    def next_rate(self) -> float:
        """Of the next run, 1/s: below and above of where the runs so far have the crossing, by turns."""
        number = len(self.rates)
        if number < len(FIRST):
            return FIRST[number] * self.full_per_s
        slope, start = self._line()
        at = self._rate(-start / max(slope, 0.2)) if slope > 0 else SHARE * self.full_per_s
        share = at / self.full_per_s * (1 + (APART if number % 2 else -APART))
        return min(max(share, LOWEST), HIGHEST) * self.full_per_s

    def crossing(self) -> Crossing:
        """What the runs say. Not told: fewer than four, a figure that does not grow for certain, a crossing outside of the runs."""
        if len(self.rates) < 4:
            return Crossing(None, None)
        x = self._x()
        terms = np.vander(x, 2)
        values = np.asarray(self.figures) / self.limit_s
        best, *_ = np.linalg.lstsq(terms, np.log(values), rcond=None)
        for _ in range(50):  # Newton's steps by Fisher scoring; with a logarithm as link all weights are 1
            ratio = values / np.exp(terms @ best)
            step, *_ = np.linalg.lstsq(terms, ratio - 1, rcond=None)
            best = best + np.clip(step, -0.5, 0.5)
        left = values / np.exp(terms @ best) - 1
        free = len(x) - 2
        covariance = np.linalg.inv(terms.T @ terms) * float(left @ left) / free
        t = float(stats.t.ppf((1 + LEVEL) / 2, free))
        slope, start = best
        a = slope**2 - t**2 * covariance[0, 0]
        b = 2 * (slope * start - t**2 * covariance[0, 1])
        c = start**2 - t**2 * covariance[1, 1]
        if slope <= 0 or a <= 0 or b**2 < 4 * a * c:
            return Crossing(None, None)
        at, root = self._rate(-start / slope), math.sqrt(b**2 - 4 * a * c)
        low, high = (self._rate((-b + sign * root) / (2 * a)) for sign in (-1, 1))
        if not min(self.rates) <= at <= max(self.rates):
            return Crossing(None, None)
        return Crossing(at, (high - low) / 2 / at)

    def enough(self) -> bool:
        """Whether no more runs are needed. It looks at nothing but the runs."""
        half = self.crossing().half_width
        return len(self.rates) >= LEAST_RUNS and half is not None and half <= ENOUGH

    def _x(self) -> NDArray[np.float64]:
        shares = np.asarray(self.rates) / (BEYOND * self.full_per_s)
        return -np.log1p(-np.minimum(shares, 0.99))

    def _rate(self, x: float) -> float:
        return -BEYOND * self.full_per_s * math.expm1(-max(x, 0.0))
