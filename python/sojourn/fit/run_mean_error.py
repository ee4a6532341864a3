"""How uncertain the mean of a run is: what runs state of themselves, smoothed over all runs; and what a new run differs by.

A run that happened to see little queueing has a small mean and states a small error, so that a fit weighted by what each
run states of itself is drawn down (measured: a variance of service found a tenth to a quarter too low). The errors of a
metric are therefore smoothed: log error = a + b log s by least squares, where s is how the mean grows with all times of
service. The mean of a run near saturation is known by as much less as it grows faster with the load (W. Whitt: Planning
Queueing Simulations. Management Science 35(11), 1989, pp. 1341-1366, section 4). A run that was much shorter or longer than
the others keeps what is beyond a factor `OWN`.

A new run is uncertain by the same line (`ErrorGrowth`); beyond the sensitivities that were measured its error grows in proportion to
them, which is the limit near saturation.

Fitted are logarithms, and the logarithm of a mean with relative error e lies e²/2 below that of what it is the mean of, in
the mean; `shift` puts that right (J. J. Beauchamp, J. S. Olson: Corrections for Bias in Regression Estimates After Logarithmic
Transformation. Ecology 54(6), 1973, pp. 1403-1407).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, fdtrc

from sojourn.units import percent

Array = NDArray[np.float64]
OWN = 3.0
STEEPEST = 2.0  # b
LEAST_RUNS = 3
MISFIT = "the model does not fit"  # how the sentence of `misfit` begins
UNLIKELY = 0.01  # of residuals as large, if the model were right


@dataclass(frozen=True)
class ErrorGrowth:
    """How the relative error of a mean response time grows with its sensitivity s: as s^`power` from `low` to `high`, the least and the
    most that was measured, as s itself beyond. By `middle`, where it is `middle` times the error for a sensitivity of 1."""

    power: float = 1.0
    low: float = 1.0
    middle: float = 1.0
    high: float = 1.0

    @staticmethod
    def of(errors: Array, sensitivity: Array) -> ErrorGrowth:
        """`errors` n, relative, 0 where unknown; `sensitivity` n, above 0. In proportion where too few are known."""
        known = errors > 0
        if known.sum() < LEAST_RUNS:
            return ErrorGrowth()
        logs = np.log(sensitivity[known])
        power = _line(logs, np.log(errors[known]))[1]
        return ErrorGrowth(power, float(np.exp(logs.min())), float(np.exp(logs.mean())), float(np.exp(logs.max())))

    def by(self, sensitivity: Array) -> Array:
        """What the error is multiplied by, as `sensitivity`."""
        inside = np.clip(sensitivity, self.low, self.high) / self.middle
        return np.asarray(sensitivity * inside ** (self.power - 1))


def smoothed(errors: Array, sensitivity: Array, metrics: Sequence[str]) -> Array:
    """Relative standard errors, n, as smooth in `sensitivity`, n; metrics apart. 0 where a metric has none that are known."""
    found = errors.copy()
    for metric in set(metrics):
        own = np.array([m == metric for m in metrics])
        known = own & (errors > 0)
        if known.sum() < LEAST_RUNS:
            continue
        line = _line(np.log(sensitivity[known]), np.log(errors[known]))
        at = line[0] + line[1] * np.log(sensitivity[own])
        gap = np.where(errors[own] > 0, np.log(np.maximum(errors[own], 1e-12)) - at, 0.0)
        found[own] = np.exp(at + np.sign(gap) * np.maximum(np.abs(gap) - np.log(OWN), 0.0))
    return found


def _line(x: Array, y: Array) -> tuple[float, float]:
    """a, b of y = a + b x, b between 0 and `STEEPEST`; 1 where x hardly varies."""
    spread = x - x.mean()
    b = float(np.clip(spread @ y / (spread @ spread), 0.0, STEEPEST)) if np.ptp(x) > 0.2 else 1.0
    return float(np.mean(y - b * x)), b


def shift(errors: Array) -> Array:
    """What is added to the logarithm of a mean with such relative errors."""
    return errors**2 / 2


def misfit(
    gap: Array, within: Array, expected: Array, degrees: float, repeated: tuple[float, int] = (0.0, 0)
) -> list[str]:
    """A sentence where response times are further from the model than runs are uncertain by: the squares of `gap` by
    `expected` against chi-squared of `degrees` (G. A. F. Seber, C. J. Wild, Nonlinear Regression (1989), 2.1.5); else none.

    `repeated`: what repetitions of a configuration differ by, relative, and its degrees of freedom. Where that is surely
    more than runs say of themselves, it is what they are uncertain by, and the test is Fisher's of lack of fit (N. R. Draper,
    H. Smith: Applied Regression Analysis (1998), 2.2)."""
    size, usual = (float(np.sqrt(np.mean(v**2))) for v in (gap, within))
    spread, free = repeated
    more = free > 0 and usual > 0 and chdtrc(free, free * (spread / usual) ** 2) < UNLIKELY
    degrees -= free if more else 0  # what repetitions differ by is in the gaps, and is no lack of fit
    if degrees < 0.5:
        return []
    if more:
        lack = max(float(((gap / spread) ** 2).sum()) - free, 0.0)
        by_chance = fdtrc(degrees, free, lack / degrees)
    else:
        by_chance = chdtrc(degrees, float(((gap / expected) ** 2).sum()))
    if by_chance > UNLIKELY:
        return []
    known = f"repetitions differ by {percent(spread)}" if more else f"runs are uncertain by {percent(usual)}"
    return [
        f"{MISFIT}: its response times differ by {percent(size)}, but {known}; "
        "predictions are widened by this, and can be worse outside the measured range"
    ]
