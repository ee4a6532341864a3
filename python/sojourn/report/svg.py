"""A figure as plain SVG: the image file of `--figures`, and what the page shows where scripts do not run."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from sojourn.report import plot
from sojourn.report.document import Figure, Series

_LEFT, _RIGHT, _TOP = 62.0, 16.0, 52.0
_BOTTOM, _LEGEND_ROW = 44.0, 20.0
_FONT = "font-family=\"'Helvetica Neue', Arial, 'Liberation Sans', sans-serif\""


@dataclass(frozen=True)
class Theme:
    """Colours as SVG paint: of text, of lesser text, of grid lines, of the ground, of halos and of the series."""

    ink: str
    muted: str
    grid: str
    ground: str
    halo: str
    series: tuple[str, ...]


FILE = Theme("#1b1f24", "#57606a", "#e3e6ea", "#ffffff", "#ffffff", plot.LIGHT)
# inside the page the style sheet decides, so that the drawing follows light and dark
PAGE = Theme(
    "var(--ink)",
    "var(--muted)",
    "var(--grid)",
    "none",
    "var(--ground)",
    tuple(f"var(--s{i})" for i in range(len(plot.LIGHT))),
)


def render_svg(figure: Figure, theme: Theme = FILE, width_px: float = 720, height_px: float = 400) -> str:
    """`figure` as an SVG element of the given size (px, the legend makes it higher); text is escaped.

    With the theme `PAGE` it has neither title nor typeface: the page around it gives both.
    """
    return _Drawing(figure, theme, width_px, height_px).render()


class _Drawing:
    """One drawing: the two axes' mapping to pixels, and the parts drawn with it."""

    def __init__(self, figure: Figure, theme: Theme, width: float, height: float) -> None:
        self.figure, self.theme, self.width, self.height = figure, theme, width, height
        self.x, self.y = plot.x_axis(figure), plot.y_axis(figure)
        self.right, self.bottom = width - _RIGHT, height - _BOTTOM

    def px(self, value: float) -> float:
        return _LEFT + self.x.fraction(value) * (self.right - _LEFT)

    def py(self, value: float) -> float:
        return self.bottom - self.y.fraction(value) * (self.bottom - _TOP)

    def render(self) -> str:
        figure, total = self.figure, self.height + _LEGEND_ROW * len(self.figure.series)
        inside = self.theme is PAGE
        top = 22 if inside else 0
        slots = plot.slots(figure)
        pairs = list(zip(figure.series, slots, strict=True))
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 {top} {self.width:g} {total - top:g}" role="img" '
            f'aria-label="{escape(figure.title)}" {"" if inside else _FONT} font-size="12">',
            self.text(0, 38, figure.y_label, f"fill:{self.theme.muted}"),
            *self.axes(),
        ]
        if not inside:
            ground = f'<rect width="100%" height="100%" style="fill:{self.theme.ground}"/>'
            parts[1:1] = [ground, self.text(0, 16, figure.title, "font-size:15px;font-weight:600")]
        if plot.has_data(figure):
            # its own coordinate system clips what lies beyond the axes, without an id that could clash in a page
            parts.append(
                f'<svg x="{_LEFT:g}" y="{_TOP:g}" width="{self.right - _LEFT:g}" height="{self.bottom - _TOP:g}" '
                f'viewBox="{_LEFT:g} {_TOP:g} {self.right - _LEFT:g} {self.bottom - _TOP:g}">'
            )
            parts += [self.band(s, i) for s, i in pairs if s.style not in ("points", "bars")]
            parts += [self.line(s, i) for s, i in pairs if s.style in ("line", "dashed")]
            parts += [self.bars(s, i) for s, i in pairs if s.style == "bars"]
            parts += [self.points(s, i) for s, i in pairs if s.style == "points"]
            parts.append("</svg>")
        else:
            parts.append(self.text((_LEFT + self.right) / 2, (_TOP + self.bottom) / 2, "no data", anchor="middle"))
        parts += self.marks()
        parts += [self.legend(s, i, row) for row, (s, i) in enumerate(pairs)]
        return "".join([*parts, "</svg>"])

    def text(self, x: float, y: float, text: str, style: str = "", anchor: str = "start") -> str:
        ink = style if "fill:" in style else f"fill:{self.theme.ink};{style}"
        return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" style="{ink}">{escape(text)}</text>'

    def rule(self, x1: float, y1: float, x2: float, y2: float, stroke: str, more: str = "") -> str:
        return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" style="stroke:{stroke};fill:none;{more}"/>'

    def axes(self) -> list[str]:
        theme, muted, out = self.theme, f"fill:{self.theme.muted}", []
        for v in plot.ticks(self.y):
            out.append(self.rule(_LEFT, self.py(v), self.right, self.py(v), theme.grid))
            out.append(self.text(_LEFT - 8, self.py(v) + 4, plot.tick_text(v), muted, "end"))
        for v, name in plot.x_ticks(self.figure, self.x):
            out.append(self.rule(self.px(v), self.bottom, self.px(v), self.bottom + 5, theme.muted))
            out.append(self.text(self.px(v), self.bottom + 19, name, muted, "middle"))
        out.append(self.rule(_LEFT, self.bottom, self.right, self.bottom, theme.muted))
        out.append(self.text((_LEFT + self.right) / 2, self.bottom + 37, self.figure.x_label, muted, "middle"))
        return out

    def marks(self) -> list[str]:
        theme, out = self.theme, []
        # a halo, where a label lies over a curve
        style = f"fill:{theme.muted};stroke:{theme.halo};stroke-width:3;paint-order:stroke"
        for row, (x, label) in enumerate(v for v in self.figure.vlines if plot.shown(v[0], self.x.log)):
            at = self.px(x)
            late = at + 6.3 * len(label) + 8 > self.right
            out.append(self.rule(at, _TOP, at, self.bottom, theme.muted, "stroke-dasharray:2 3"))
            anchor, shift = ("end", -5) if late else ("start", 5)
            out.append(self.text(at + shift, _TOP + 12 + 15 * row, label, style, anchor))
        return out

    def colour(self, slot: int) -> str:
        return self.theme.series[slot % len(self.theme.series)]

    def path(self, points: list[tuple[float, float]]) -> str:
        return "M" + "L".join(f"{self.px(x):.1f} {self.py(y):.1f}" for x, y in points)

    def band(self, series: Series, slot: int) -> str:
        if series.low is None or series.high is None:
            return ""
        d = ""
        for run in plot.runs(self.figure, series.x, series.low, series.high):
            there = [(x, high) for x, _, high in run]
            d += self.path(there + [(x, low) for x, low, _ in reversed(run)]) + "Z"
        return f'<path d="{d}" style="fill:{self.colour(slot)};fill-opacity:.16;stroke:none"/>'

    def line(self, series: Series, slot: int) -> str:
        cut = plot.runs(self.figure, series.x, series.y)
        d = "".join(self.path([(x, y) for x, y in run]) for run in cut)
        # a stretch of one point has no length: a dot shows that it is there
        dots = "".join(self.marker(0, run[0][0], run[0][1], self.colour(slot), 2) for run in cut if len(run) == 1)
        dash = "stroke-dasharray:6 4" if series.style == "dashed" else ""
        style = f"stroke:{self.colour(slot)};stroke-width:2;stroke-linejoin:round;fill:none;{dash}"
        return f'<path d="{d}" style="{style}"/>{dots}'

    def bars(self, series: Series, slot: int) -> str:
        left, right = plot.bar(self.figure, series)
        zero = self.py(max(self.y.low, min(0.0, self.y.high)))
        out = []
        for x, y in (p for run in plot.runs(self.figure, series.x, series.y) for p in run):
            d = f"M{self.px(x + left):.1f} {zero:.1f}V{self.py(y):.1f}H{self.px(x + right):.1f}V{zero:.1f}Z"
            out.append(f'<path d="{d}" style="fill:{self.colour(slot)};stroke:none"/>')
        return "".join(out) + self.intervals(series, self.theme.ink, (left + right) / 2)

    def intervals(self, series: Series, colour: str, shift: float = 0.0) -> str:
        out = []
        low, high = series.low or (None,) * len(series.x), series.high or (None,) * len(series.x)
        for x, *ends in (p for run in plot.runs(self.figure, series.x, low, high) for p in run):
            at, (bottom, top) = self.px(x + shift), map(self.py, ends)
            out.append(self.rule(at, bottom, at, top, colour, "stroke-width:1.5"))
            out += [self.rule(at - 4, end, at + 4, end, colour, "stroke-width:1.5") for end in (bottom, top)]
        return "".join(out)

    def points(self, series: Series, slot: int) -> str:
        colour = self.colour(slot)
        there = (p for run in plot.runs(self.figure, series.x, series.y) for p in run)
        return self.intervals(series, colour) + "".join(self.marker(slot, x, y, colour) for x, y in there)

    def marker(self, slot: int, x: float, y: float, colour: str, radius: float = 4) -> str:
        return _marker(slot, self.px(x), self.py(y), colour, radius)

    def legend(self, series: Series, slot: int, row: int) -> str:
        y, colour = self.height + _LEGEND_ROW * row + 4, self.colour(slot)
        dash = "stroke-dasharray:6 4" if series.style == "dashed" else ""
        sample = self.rule(_LEFT, y, _LEFT + 26, y, colour, f"stroke-width:2;{dash}")
        if series.style == "points":
            sample = _marker(slot, _LEFT + 13, y, colour, 4)
        elif series.style in ("band", "bars"):
            opacity = ";stroke-opacity:.25" * (series.style == "band")
            sample = self.rule(_LEFT, y, _LEFT + 26, y, colour, f"stroke-width:10{opacity}")
        return sample + self.text(_LEFT + 34, y + 4, series.name)


def _marker(slot: int, x: float, y: float, colour: str, r: float) -> str:
    """A marker with centre (x, y) in px; shapes have about equal areas."""
    shape = plot.MARKERS[slot % len(plot.MARKERS)]
    style = f'style="fill:{colour}"'
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r:g}" {style}/>'
    corners = {
        "square": [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
        "diamond": [(0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)],
        "triangle": [(0, -1.25), (1.2, 0.9), (-1.2, 0.9)],
    }[shape]
    return f'<path d="M{"L".join(f"{x + r * a:.1f} {y + r * b:.1f}" for a, b in corners)}Z" {style}/>'
