"""What carries the values of a figure: position, colour, marker, dash; and the colours themselves.

Colours are those of Okabe and Ito, "Color Universal Design" (2008), told apart with every common colour vision;
yellow is left out on white, and blue and grey are raised on dark ground. Colour and marker go round together with
periods 7 and 4, so 28 groups stay distinct.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from sojourn.report import axis_limits
from sojourn.report.curve_labels import text_px
from sojourn.report.document import Figure, Series

Spec: TypeAlias = dict[str, Any]
LIGHT = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B97F00", "#56B4E9", "#555555")
DARK = ("#56B4E9", "#F07F2E", "#22BE93", "#DE93BD", "#E69F00", "#F0E442", "#B8B8B8")
MARKERS = ("circle", "square", "diamond", "triangle-up")
DIGITS = ".4~r"  # of a value in words
FEW = 4  # whole numbers on an axis, each of which has a tick
_SYMBOLS = {"line": "stroke", "dashed": "stroke", "band": "square", "bars": "square"}


@dataclass(frozen=True)
class ColourTheme:
    """Colours: of text, of lesser text, of grid lines, of the ground, of the series."""

    ink: str
    muted: str
    grid: str
    ground: str
    series: tuple[str, ...]


PAPER = ColourTheme("#1b1f24", "#57606a", "#e3e6ea", "#ffffff", LIGHT)
# inside the page the style sheet decides, so that drawings follow light and dark
PAGE = ColourTheme(
    "var(--ink)", "var(--muted)", "var(--grid)", "transparent", tuple(f"var(--s{i})" for i in range(len(LIGHT)))
)


class FigureChannels:
    """The channels of one figure, as Vega-Lite has them. All of a series share one domain, so they share one legend."""

    def __init__(self, figure: Figure, theme: ColourTheme, interactive: bool) -> None:
        self.figure, self.theme, self.interactive = figure, theme, interactive
        self.names = _unique([s.name for s in figure.series])
        x, y = axis_limits.x_axis(figure), axis_limits.y_axis(figure)
        below = {
            "title": figure.x_label,
            "grid": False,
            **(self._places() or _ticks(x, "width / 75", _whole(figure))),
        }
        beside = {"title": None, **_ticks(y, "height / 50")}
        self.x: Spec = {"field": "x", "type": "quantitative", "scale": limits(x), "axis": below}
        self.y: Spec = {"field": "y", "type": "quantitative", "scale": limits(y), "axis": beside}

    def marks(self, **more: Any) -> Spec:
        """Position and colour, as every mark of a series has them; what was not picked is pale."""
        faint = {"opacity": {"condition": {"param": "picked", "value": 1}, "value": 0.12}} if self.interactive else {}
        return {"x": self.x, "y": self.y, "color": self.colour(), **faint, **more}

    def colour(self) -> Spec:
        return self._scale([self.colour_of(s) for s in self.figure.series])

    def shape(self) -> Spec:
        series = zip(self.figure.series, slots(self.figure), strict=True)
        return self._scale([_SYMBOLS.get(s.style) or MARKERS[slot % len(MARKERS)] for s, slot in series])

    def dash(self) -> Spec:
        return self._scale([[6, 3] if s.style == "dashed" else [1, 0] for s in self.figure.series])

    def colour_of(self, series: Series) -> str:
        at = next(k for k, s in enumerate(self.figure.series) if s is series)
        return self.theme.series[slots(self.figure)[at] % len(self.theme.series)]

    def at(self, x: float, y: float) -> Spec:
        """One place in data units."""
        channels = (("x", self.x, x), ("y", self.y, y))
        return {k: {**{n: c[n] for n in ("type", "scale", "axis")}, "datum": rounded(v)} for k, c, v in channels}

    def place(self, value: str) -> str:
        """The expression for what stands below a place of x, or for x in words."""
        if self.figure.x_names:
            return f"{json.dumps(self.figure.x_names)}[round({value}) - 1]"
        return f"'' + round({value})" if axis_limits.places(self.figure) else f"format({value}, '{DIGITS}')"

    def _scale(self, range_: Sequence[Any]) -> Spec:
        scale = {"type": "ordinal", "domain": self.names, "range": range_}
        return {"field": "series", "type": "nominal", "title": None, "scale": scale}

    def _places(self) -> Spec:
        """Names instead of numbers below x, slanting where they would meet."""
        count = axis_limits.places(self.figure)
        if not count:
            return {}
        enough_px = max(map(text_px, self.figure.x_names), default=0.0) * count / 0.8
        narrow = f"width < {enough_px:.0f}"  # of the plot, which a telephone makes narrower than the page was made for
        slant: Spec = (
            {
                "labelAngle": {"expr": f"{narrow} ? -35 : 0"},
                "labelAlign": {"expr": f"{narrow} ? 'right' : 'center'"},
            }
            if self.figure.x_names
            else {}
        )
        return {
            "values": list(range(1, count + 1)),
            "labelExpr": self.place("datum.value"),
            "labelOverlap": False,
            **slant,
        }


def slots(figure: Figure) -> list[int]:
    """For each series the number of its group, in order of first appearance: its colour and marker."""
    order: dict[str, int] = {}
    return [order.setdefault(s.group or s.name, len(order)) for s in figure.series]


def limits(ends: axis_limits.Axis) -> Spec:
    """The scale of an axis."""
    kind = {"type": "log"} if ends.log else {"zero": False}
    return {"domain": [rounded(ends.low), rounded(ends.high)], "nice": False, **kind}


def rounded(value: float) -> float:
    """Six digits: a thousandth of a pixel, and half the weight of the page."""
    return float(f"{value:.6g}")


def _whole(figure: Figure) -> bool:
    """Whether x counts something: all its values are whole numbers, so that there is nothing between them."""
    return all(v is None or float(v).is_integer() for s in figure.series for v in s.x)


def _ticks(ends: axis_limits.Axis, about: str, whole: bool = False) -> Spec:
    """Round values, none between whole numbers where `whole`; on a log axis of three decades or more the decades alone."""
    if not ends.log:
        found: Spec = {"format": "~r", "tickCount": {"expr": f"ceil({about})"}}
        if whole:  # Vega halves a step all the same where only two of them are in sight
            numbers = range(math.ceil(ends.low), math.floor(ends.high) + 1)
            found |= {"values": list(numbers)} if len(numbers) <= FEW else {"tickMinStep": 1}
        return found
    decades = math.log10(ends.high / ends.low)
    return {"format": "~g", "tickCount": int(decades) if decades >= 3 else 10}


def _unique(names: Sequence[str]) -> list[str]:
    """The names, numbered where one comes again."""
    return [f"{n} ({again + 1})" if (again := names[:i].count(n)) else n for i, n in enumerate(names)]
