"""Limits of a figure's axes, and where a value lies between them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sojourn.report.document import Figure, Series

_BARS = 0.8  # of a place


@dataclass(frozen=True)
class Axis:
    """Limits of an axis in data units; on a log axis both are positive."""

    low: float
    high: float
    log: bool

    def fraction(self, value: float) -> float:
        """Where `value` lies, 0 at `low` and 1 at `high`; beyond them outside [0, 1]."""
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


def shown(value: float | None, log: bool) -> bool:
    """Whether an axis can show `value`."""
    return value is not None and (value > 0 or not log)


def has_data(figure: Figure) -> bool:
    """Whether anything can be drawn."""
    return any(
        shown(x, figure.x_log) and any(shown(v, figure.y_log) for v in (y, low, high))
        for s in figure.series
        for x, y, low, high in zip(s.x, s.y, s.low or s.y, s.high or s.y, strict=True)
    )


def places(figure: Figure) -> int:
    """How many places the x axis has where they have names, or bars stand on them; else 0."""
    bars = [x for s in figure.series if s.style == "bars" for x in s.x if x is not None]
    return int(max([len(figure.x_names), *bars])) if figure.x_names or bars else 0


def bar_width(figure: Figure) -> float:
    """Of each bar, in places: all bars of a place share 0.8 of it."""
    return _BARS / max(1, sum(s.style == "bars" for s in figure.series))


def bar_shift(figure: Figure, series: Series) -> float:
    """From a place of x to the middle of the bar that `series` has there; 0 where it has none."""
    bars = [s for s in figure.series if s.style == "bars"]
    at = next((k for k, s in enumerate(bars) if s is series), None)
    return 0.0 if at is None else (at + 0.5) * bar_width(figure) - _BARS / 2


def x_axis(figure: Figure) -> Axis:
    """Limits of x: all data and marks, with a margin; half a place beyond the first and the last."""
    if count := places(figure):
        return Axis(0.5, count + 0.5, False)
    values = [v for s in figure.series for v in s.x] + [x for x, _ in figure.vlines]
    return _axis([v for v in values if v is not None and shown(v, figure.x_log)], figure.x_log)


def y_axis(figure: Figure) -> Axis:
    """Limits of y: from zero where no value is negative, since a cut axis exaggerates; `y_limits` wins."""
    log = figure.y_log
    values = [v for s in figure.series for v in (*s.y, *(s.low or ()), *(s.high or ()))]
    axis = _axis([v for v in values if v is not None and shown(v, log)], log, from_zero=not log)
    low, high = figure.y_limits
    low, high = axis.low if low is None else low, axis.high if high is None else high
    return Axis(low, high, log) if low < high else axis


def _axis(values: Sequence[float], log: bool, from_zero: bool = False) -> Axis:
    if not values:
        return Axis(1.0 if log else 0.0, 10.0 if log else 1.0, log)
    low, high = min(values), max(values)
    if log:
        margin = (high / low) ** 0.04 if high > low else 2.0
        return Axis(low / margin, high * margin, True)
    if from_zero:
        low, high = min(low, 0.0), max(high, 0.0)
    margin = 0.04 * (high - low) or abs(high) * 0.1 or 1.0
    return Axis(0.0 if from_zero and low == 0 else low - margin, high + margin, False)
