"""A rate with its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from sojourn.units import per_second, percent

# standard deviation of the logarithm of how fast a machine is during a search, against what it usually is: docs/decisions/0040
MACHINE = 0.025


def machine_part(level: float) -> float:
    """Half-width, in the logarithm, of an interval that has the part of the machine alone."""
    return MACHINE * NormalDist().inv_cdf((1 + level) / 2)


@dataclass(frozen=True)
class RateInterval:
    """A rate in 1/s with its interval; `high` None where nothing says how high it can be."""

    value: float
    low: float
    high: float | None

    @property
    def half_width(self) -> float:
        """Half of the interval, over the value; infinite without an upper end."""
        return float("inf") if self.high is None else (self.high - self.low) / 2 / self.value

    def scaled(self, times: float) -> RateInterval:
        """Both ends as many times as far from the value, in the logarithm."""
        if not self.value > 0:
            return self
        high = None if self.high is None else self.value * (self.high / self.value) ** times
        return RateInterval(self.value, self.further_low(times), high)

    def with_machine(self, level: float) -> RateInterval:
        """With the part of the machine, as an error of its own; `level`: of the interval."""
        if not self.value > 0:
            return self
        more = machine_part(level)
        below = math.hypot(math.log(self.value / self.low), more) if self.low > 0 else math.inf
        above = None if self.high is None else math.hypot(math.log(self.high / self.value), more)
        high = None if above is None else self.value * math.exp(above)
        return RateInterval(self.value, self.value * math.exp(-below), high)

    def further_low(self, times: float) -> float:
        """Lower end of an interval whose logarithm goes `times` as far below the value."""
        return self.value * (self.low / self.value) ** times if self.value > 0 else self.low

    def side_of(self, rate_per_s: float) -> bool | None:
        """Whether all of it is at or above a rate (True) or below (False); None where it holds that rate."""
        if self.low >= rate_per_s:
            return True
        return False if self.high is not None and self.high < rate_per_s else None

    def text(self, level: float) -> str:
        """Such as `720 /s (90 %: 690 /s … 750 /s)`; `at least 720 /s` where that is all that is known."""
        if self.high is None and self.low == self.value:
            return f"at least {per_second(self.value)}"
        return f"{per_second(self.value)} ({percent(level, 0)}: {per_second(self.low)} … {_end(self.high)})"


def _end(rate: float | None) -> str:
    return "not known" if rate is None else per_second(rate)
