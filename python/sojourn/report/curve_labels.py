"""Where the name of a curve can stand beside it: at its end, if it covers nothing there.

Positions are worked out in pixels of a plot of the size that the report has on a wide screen; the width of a text is
estimated from its length, since fonts differ from reader to reader.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from sojourn.report.axis_limits import Axis, places, shown, x_axis, y_axis
from sojourn.report.document import Figure, Series

LETTER_PX, LINE_PX = 6.4, 15.0  # of 12 px sans serif
LONGEST = 36  # letters; a longer name is left to the legend
_STEP_PX = 3.0
# what is tried at the end of a curve, best first: (-1 left of it, 1 right), shift down in px
_TRIED = tuple((side, shift) for side in (1, -1) for shift in (0, -8, 8, -16, 16, -24, 24, -32, 32))
Box = tuple[float, float, float, float]  # left, top, right, bottom


@dataclass(frozen=True)
class CurveLabel:
    """`text` beside the point (x, y) of the plot in data units; right of it or left, `down_px` below."""

    series: Series
    text: str
    x: float
    y: float
    right: bool
    down_px: float


@dataclass(frozen=True)
class CurveLabels:
    """One label a group, or none at all where one has no room."""

    labels: tuple[CurveLabel, ...] = ()
    room_px: float = 0.0  # needed right of the plot
    whole: bool = False  # every series has one: no legend is needed


def text_px(text: str) -> float:
    """About how wide `text` is."""
    return LETTER_PX * len(text)


def place(figure: Figure, width_px: float, height_px: float) -> CurveLabels:
    """Labels for a plot that has `width_px` for itself and what stands right of it."""
    groups: dict[str, list[Series]] = {}
    for series in figure.series:
        groups.setdefault(series.group or series.name, []).append(series)
    named = [(name, line) for name, members in groups.items() if (line := _line(members)) and len(name) <= LONGEST]
    if not groups or len(named) < len(groups) or places(figure):
        return CurveLabels()
    beside = max(text_px(name) for name, _ in named) + 12
    whole = _PlotToPixels(x_axis(figure), y_axis(figure), width_px, height_px)
    late = [end is not None and end[0] > 0.85 * width_px for end in (whole.end(line) for _, line in named)]
    for room in (beside, 0.0) if all(late) and beside < 0.25 * width_px else (0.0, beside):
        plane = _PlotToPixels(whole.x, whole.y, width_px - room, height_px)
        labels = _placed(figure, plane, named, room)
        if labels:
            past = [plane.at(p.x, p.y)[0] + text_px(p.text) + 8 - plane.width for p in labels if p.right]
            return CurveLabels(tuple(labels), max([0.0, *past]), all(len(members) == 1 for members in groups.values()))
    return CurveLabels()


def _line(members: Sequence[Series]) -> Series | None:
    """The series whose end stands for its group: a solid curve, else a dashed one, else points that go from left to right."""
    curves = (s for style in ("line", "dashed") for s in members if s.style == style)
    ordered = (s for s in members if s.style == "points" and len(s.x) > 1 and _rising(s.x))
    return next(chain(curves, ordered), None)


def _rising(xs: Sequence[float | None]) -> bool:
    known = [x for x in xs if x is not None]
    return all(a < b for a, b in pairwise(known))


class _PlotToPixels:
    """Data to pixels, y downwards from the top of the plot."""

    def __init__(self, x: Axis, y: Axis, width_px: float, height_px: float) -> None:
        self.x, self.y, self.width, self.height = x, y, width_px, height_px

    def at(self, x: float, y: float) -> tuple[float, float]:
        return self.x.fraction(x) * self.width, (1 - self.y.fraction(y)) * self.height

    def runs(self, series: Series) -> Iterator[NDArray[np.float64]]:
        """Stretches of the curve without a gap, points x 2."""
        run: list[tuple[float, float]] = []
        for x, y in zip(series.x, series.y, strict=True):
            if x is not None and y is not None and shown(x, self.x.log) and shown(y, self.y.log):
                run.append(self.at(x, y))
            elif run:
                yield np.array(run)
                run = []
        if run:
            yield np.array(run)

    def end(self, series: Series) -> tuple[float, float] | None:
        """The last point of the curve inside the plot; where the curve leaves it for good, on its edge."""
        for run in reversed(list(self.runs(series))):
            dense = _dense(run) if series.style in ("line", "dashed") else run
            inside = dense[(dense[:, 1] >= 0) & (dense[:, 1] <= self.height)]
            if len(inside):
                return float(inside[-1, 0]), float(inside[-1, 1])
        return None

    def data(self, x_px: float, y_px: float) -> tuple[float, float]:
        """The inverse of `at`."""
        return _between(self.x, x_px / self.width), _between(self.y, 1 - y_px / self.height)


def _between(axis: Axis, share: float) -> float:
    if axis.log:
        return float(axis.low * (axis.high / axis.low) ** share)
    return axis.low + share * (axis.high - axis.low)


def _dense(run: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same polygon with a point every few pixels."""
    if len(run) == 1:
        return run
    length = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(run, axis=0).T))])
    at = np.linspace(0, length[-1], int(min(length[-1], 1e4) / _STEP_PX) + 2)
    return np.column_stack([np.interp(at, length, run[:, k]) for k in (0, 1)])


def _drawn(figure: Figure, plane: _PlotToPixels) -> NDArray[np.float64]:
    """Points that a label must not cover: curves, markers, error bars, vertical marks."""
    parts = [np.empty((0, 2))]
    for series in figure.series:
        if series.style in ("line", "dashed"):
            parts += [_dense(run) for run in plane.runs(series)]
        elif series.style == "points":
            parts += list(plane.runs(series))
            for x, *ends in zip(series.x, series.low or (), series.high or (), strict=False):
                if x is not None and shown(x, plane.x.log) and all(shown(v, plane.y.log) for v in ends):
                    parts.append(_dense(np.array([plane.at(x, v) for v in ends if v is not None])))
    for at, _ in figure.vlines:
        if shown(at, plane.x.log):
            x = plane.x.fraction(at) * plane.width
            parts.append(_dense(np.array([(x, 0.0), (x, plane.height)])))
    return np.concatenate(parts)


def _placed(figure: Figure, plane: _PlotToPixels, named: list[tuple[str, Series]], room: float) -> list[CurveLabel]:
    """One label a line, or nothing where one finds no place. Lower ends first: they have fewest ways out."""
    drawn, taken, labels = _drawn(figure, plane), list[Box](), list[CurveLabel]()
    ends = [(end, name, line) for name, line in named if (end := plane.end(line)) is not None]
    if len(ends) < len(named):
        return []
    for (x, y), name, line in sorted(ends, key=lambda e: -e[0][1]):
        for side, down in _TRIED:
            box = _box(x, y + down, text_px(name), side)
            inside = box[0] >= 0 and box[2] <= plane.width + room and box[1] >= -4 and box[3] <= plane.height + 4
            if inside and not _covers(box, drawn) and not any(_meet(box, other) for other in taken):
                taken.append(box)
                labels.append(CurveLabel(line, name, *plane.data(x, y), side > 0, down))
                break
        else:
            return []
    return labels


def _box(x: float, y: float, width: float, side: int) -> Box:
    near = x + 8 * side
    return min(near, near + side * width), y - LINE_PX / 2, max(near, near + side * width), y + LINE_PX / 2


def _covers(box: Box, points: NDArray[np.float64]) -> bool:
    left, top, right, bottom = box
    x, y = points.T
    return bool(((x > left - 2) & (x < right + 2) & (y > top + 1) & (y < bottom - 1)).any())


def _meet(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
