"""Figures as files: SVG by `svg`, PNG and PDF for print by matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn.errors import ReportError
from sojourn.report import plot
from sojourn.report.document import Document, Figure, Series
from sojourn.report.svg import render_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = ("svg", "png", "pdf")
_AXES_PT = 350.0  # width of the plotting area in a figure of 5.5 in
_MARKS = {"circle": "o", "square": "s", "diamond": "D", "triangle": "^"}
# one column and a half of a journal page (5.5 in); text as text in PDF, since publishers refuse Type 3 fonts
_STYLE: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["Helvetica Neue", "Arial", "Liberation Sans", "DejaVu Sans"],
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.unicode_minus": True,
    "legend.frameon": False,
    "legend.fontsize": 8.0,
    "pdf.fonttype": 42,
    "text.parse_math": False,
}


def write_figures(document: Document, directory: Path | str, formats: Sequence[str] = ("svg", "png")) -> list[Path]:
    """Write every figure of `document` into `directory` (made where missing), one file a format.

    formats: of `svg`, `png` (300 dots an inch) and `pdf`. Returns the paths, in order of the document.
    ReportError for another format; OSError where a file cannot be written.
    """
    for name in formats:
        if name not in FORMATS:
            raise ReportError(f"format {name!r}", "figures", f"use {', '.join(FORMATS)}")
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, figure in document.figures():
        for ending in formats:
            path = directory / f"{name}.{ending}"
            write_figure(figure, path)
            paths.append(path)
    return paths


def write_figure(figure: Figure, path: Path) -> None:
    """One figure in the format that the file's ending says."""
    if path.suffix == ".svg":
        path.write_text(render_svg(figure), encoding="utf-8")
    else:
        _save(figure, path)


def _save(figure: Figure, path: Path) -> None:
    # slow to import, and not needed for SVG; no pyplot: it keeps global state
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    rows = (len(figure.series) + 1) // 2
    with rc_context(_STYLE):
        canvas = Canvas(figsize=(5.5, 3.3 + 0.17 * rows), layout="constrained")
        FigureCanvasAgg(canvas)
        axes = canvas.add_subplot()
        _draw(axes, figure)
        handles, labels = axes.get_legend_handles_labels()
        if handles:
            canvas.legend(handles, labels, loc="outside lower left", ncols=2, handlelength=2.6)
        canvas.savefig(path, dpi=300)


def _draw(axes: Axes, figure: Figure) -> None:
    from matplotlib.patheffects import withStroke

    x, y = plot.x_axis(figure), plot.y_axis(figure)
    axes.set_title(figure.title, loc="left", fontweight="bold", wrap=True)
    axes.set_xlabel(figure.x_label)
    axes.set_ylabel(figure.y_label)
    axes.grid(axis="y", color="#e3e6ea", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.set_xscale("log" if x.log else "linear")
    axes.set_yscale("log" if y.log else "linear")
    axes.set_xlim(x.low, x.high)
    axes.set_ylim(y.low, y.high)
    if figure.x_names:
        axes.set_xticks(*zip(*plot.x_ticks(figure, x), strict=True))
    for series, slot in zip(figure.series, plot.slots(figure), strict=True):
        _draw_series(axes, figure, series, slot)
    for row, (at, label) in enumerate(v for v in figure.vlines if plot.shown(v[0], x.log)):
        axes.axvline(at, color="#57606a", linewidth=0.8, linestyle=(0, (2, 2)))
        late = x.fraction(at) * _AXES_PT + 3.8 * len(label) > _AXES_PT  # about the width of the text
        axes.annotate(
            label,
            (at, 1),
            xycoords=("data", "axes fraction"),
            xytext=(-3 if late else 3, -8 - 10 * row),
            textcoords="offset points",
            ha="right" if late else "left",
            fontsize=7.5,
            color="#57606a",
            path_effects=[withStroke(linewidth=2, foreground="white")],
        )
    if not plot.has_data(figure):
        axes.text(0.5, 0.5, "no data", transform=axes.transAxes, ha="center")


def _draw_series(axes: Axes, figure: Figure, series: Series, slot: int) -> None:
    colour = plot.LIGHT[slot % len(plot.LIGHT)]
    label: str | None = series.name
    interval = series.low is not None and series.high is not None
    if series.style in ("points", "bars"):
        _draw_places(axes, figure, series, slot)
        return
    if interval:
        for number, run in enumerate(plot.runs(figure, series.x, *_ends(series))):
            columns = np.array(run).T
            first = label if series.style == "band" and number == 0 else None
            axes.fill_between(*columns, color=colour, alpha=0.18, linewidth=0, label=first)
    if series.style != "band":
        for run in plot.runs(figure, series.x, series.y):
            columns = np.array(run).T
            style = "--" if series.style == "dashed" else "-"
            alone = "." if len(run) == 1 else ""
            axes.plot(*columns, style + alone, color=colour, linewidth=1.5, label=label)
            label = None


def _draw_places(axes: Axes, figure: Figure, series: Series, slot: int) -> None:
    """Points or bars, with their intervals."""
    colour, shift = plot.LIGHT[slot % len(plot.LIGHT)], 0.0
    points = [p for run in plot.runs(figure, series.x, series.y) for p in run]
    xs, ys = [p[0] for p in points], [p[1] for p in points]
    if series.style == "bars":
        left, right = plot.bar(figure, series)
        shift = (left + right) / 2
        axes.bar([x + shift for x in xs], ys, right - left, color=colour, label=series.name)
    else:
        mark = _MARKS[plot.MARKERS[slot % len(plot.MARKERS)]]
        axes.plot(xs, ys, mark, color=colour, markersize=4.5, label=series.name)
    bars = [p for run in plot.runs(figure, series.x, *_ends(series)) for p in run]
    at, lows, spans = [b[0] + shift for b in bars], [b[1] for b in bars], [b[2] - b[1] for b in bars]
    ink = "#1b1f24" if series.style == "bars" else colour
    axes.errorbar(at, lows, [[0.0] * len(bars), spans], fmt="none", ecolor=ink, capsize=2.5, elinewidth=1)


def _ends(series: Series) -> tuple[Sequence[float | None], Sequence[float | None]]:
    none = (None,) * len(series.x)
    return series.low or none, series.high or none
