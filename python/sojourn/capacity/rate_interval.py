"""A rate with its interval."""

from __future__ import annotations

from dataclasses import dataclass

from sojourn.units import per_second, percent


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

    def text(self, level: float) -> str:
        """Such as `720 /s (90 %: 690 … 750)`."""
        return f"{per_second(self.value)} ({percent(level, 0)}: {per_second(self.low)} … {_end(self.high)})"


def _end(rate: float | None) -> str:
    return "not known" if rate is None else per_second(rate)
