"""What every drawing of a figure shares: colours, markers, axis ranges and ticks.

Colours are those of Okabe and Ito, "Color Universal Design" (2008), told apart with every common colour vision;
yellow is left out on white and the blue and grey are raised on dark ground. Marker and colour go round together
with periods 7 and 4, so 28 groups stay distinct.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sojourn.report.document import Figure, Series

LIGHT = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B97F00", "#56B4E9", "#555555")
DARK = ("#56B4E9", "#F07F2E", "#22BE93", "#DE93BD", "#E69F00", "#F0E442", "#B8B8B8")
MARKERS = ("circle", "square", "diamond", "triangle")
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


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


def slots(figure: Figure) -> list[int]:
    """For each series the number of its group, in order of first appearance: its colour and marker."""
    order: dict[str, int] = {}
    return [order.setdefault(s.group or s.name, len(order)) for s in figure.series]


def shown(value: float | None, log: bool) -> bool:
    """Whether an axis can show `value`."""
    return value is not None and (value > 0 or not log)


def places(figure: Figure) -> list[float]:
    """Both ends of an x axis that has names instead of numbers, or that bars stand on; else nothing."""
    named = len(figure.x_names)
    bars = [x for s in figure.series if s.style == "bars" for x in s.x if x is not None]
    return [0.5, max([named, *bars]) + 0.5] if named or bars else []


def bar(figure: Figure, series: Series) -> tuple[float, float]:
    """Left and right end of a bar of `series`, relative to its place: all bars of a place share 0.8 of it."""
    bars = [s for s in figure.series if s.style == "bars"]
    width = 0.8 / len(bars)
    at = next(k for k, s in enumerate(bars) if s is series)
    return -0.4 + width * at, -0.4 + width * (at + 1)


def x_ticks(figure: Figure, axis: Axis, about: int = 8) -> list[tuple[float, str]]:
    """Values of x and what stands below them."""
    if figure.x_names:
        return [(float(k), name) for k, name in enumerate(figure.x_names, start=1)]
    return [(v, tick_text(v)) for v in ticks(axis, about)]


def y_values(series: Series) -> Iterable[float | None]:
    """All that a series draws along y: its values and both ends of its intervals."""
    return (*series.y, *(series.low or ()), *(series.high or ()))


def has_data(figure: Figure) -> bool:
    """Whether anything can be drawn."""
    return any(
        shown(x, figure.x_log) and any(shown(v, figure.y_log) for v in (y, low, high))
        for s in figure.series
        for x, y, low, high in zip(s.x, s.y, s.low or s.y, s.high or s.y, strict=True)
    )


def x_axis(figure: Figure) -> Axis:
    """Limits of x: all data and marks, with a margin."""
    values = [v for s in figure.series for v in s.x] + [x for x, _ in figure.vlines]
    values += places(figure)
    return _axis([v for v in values if v is not None and shown(v, figure.x_log)], figure.x_log)


def y_axis(figure: Figure) -> Axis:
    """Limits of y: from zero where no value is negative, since a cut axis exaggerates; `y_limits` wins."""
    log = figure.y_log
    values = [v for s in figure.series for v in y_values(s)]
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


def ticks(axis: Axis, about: int = 6) -> list[float]:
    """Round values inside `axis`, about `about` of them; on a log axis decades, with 2 and 5 where they are few."""
    if axis.log:
        first, last = math.floor(math.log10(axis.low)), math.ceil(math.log10(axis.high))
        factors = (1, 2, 5) if last - first <= 3 else (1,)
        return [v for e in range(first, last + 1) for f in factors if axis.low <= (v := f * 10.0**e) <= axis.high]
    raw = (axis.high - axis.low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(s for s in _STEPS if s * power >= raw * (1 - 1e-9)) * power
    start, stop = math.ceil(axis.low / step - 1e-9), math.floor(axis.high / step + 1e-9)
    return [i * step for i in range(start, stop + 1)]


def tick_text(value: float) -> str:
    """A tick's label: no trailing zeros, no binary noise."""
    return f"{value:.10g}".replace("-", "−")


def runs(figure: Figure, xs: Sequence[float | None], *columns: Sequence[float | None]) -> list[list[tuple[float, ...]]]:
    """Stretches without a gap: lists of (x, value of each column), cut where any is missing or off a log axis."""
    out: list[list[tuple[float, ...]]] = [[]]
    for x, *ys in zip(xs, *columns, strict=True):
        point = tuple(v for v in (x, *ys) if v is not None)
        if len(point) == 1 + len(ys) and shown(x, figure.x_log) and all(shown(y, figure.y_log) for y in ys):
            out[-1].append(point)
        elif out[-1]:
            out.append([])
    return [run for run in out if run]
