"""A figure as a Vega-Lite specification: the one description that the page, image files and notebooks draw."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sojourn.report import axis_limits
from sojourn.report.chart_layers import layers
from sojourn.report.curve_labels import CurveLabels, place, text_px
from sojourn.report.document import Figure, Series
from sojourn.report.figure_channels import PAGE, PAPER, ColourTheme, FigureChannels, Spec, rounded
from sojourn.terminal import shown

if TYPE_CHECKING:
    import altair

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"  # names the language; nothing asks for it
HEIGHT_PX, AXIS_PX = 300, 46  # of the plot; about what the y axis takes
# alike in width wherever they are, since what draws the SVG is not what shows it
_FONT = '"Helvetica Neue", Arial, "Liberation Sans", sans-serif'


def specification(figure: Figure, theme: ColourTheme = PAPER, width_px: int = 720, interactive: bool = False) -> Spec:
    """`figure` as Vega-Lite 6, `width_px` wide with all that stands around the plot.

    With the theme `PAGE` it has no title: the page gives it. interactive: what is nearest to the pointer gives its
    values, dragging moves and Ctrl with the wheel zooms, and a name in the legend picks its series.
    """
    channels = FigureChannels(figure, theme, interactive)
    labels = place(figure, width_px - AXIS_PX, HEIGHT_PX)
    pairs = zip(figure.series, channels.names, strict=True)
    records = [record for series, name in pairs for record in _records(channels, series, name)]
    opened = ["open"] if any("open" in one for one in records) else []
    for one in records if opened else ():
        one.setdefault("open", [])  # a column that is not there is an error of Vega's
    spec: Spec = {
        "$schema": SCHEMA,
        "width": width_px,
        "height": HEIGHT_PX,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "padding": _padding(theme, labels),
        "title": _title(figure, theme, width_px),
        "data": {"values": records},
        "transform": [{"flatten": ["x", "y", "low", "high", *opened]}],
        "layer": layers(channels, labels.labels),
        "usermeta": {"x": figure.x_label, "y": figure.y_label, "names": list(figure.x_names)},
        "config": _config(channels, width_px, hidden=labels.whole and theme is PAPER and not interactive),
    }
    return _without_commands(spec)


def _without_commands(value: Any) -> Any:
    """No control characters in its texts: SVG, which is XML, cannot have them, and its converter ends the process."""
    if isinstance(value, dict):
        return {shown(key): _without_commands(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_without_commands(one) for one in value]
    return shown(value) if isinstance(value, str) else value


def plot(figure: Figure) -> altair.LayerChart:
    """`figure` for a notebook, with values under the pointer; `.save`, `.properties` … as altair has them."""
    import altair  # slow to import, and not needed for files and pages

    spec = specification(figure, interactive=True)
    params = []
    for number, layer in enumerate(spec["layer"]):  # altair keeps a selection's layer only where it is named beside it
        for param in layer.pop("params", ()):
            layer["name"] = layer.get("name", f"layer {number}")
            params.append(param | {"views": [layer["name"]]})
    return altair.LayerChart.from_dict(spec | {"params": params})


def _records(channels: FigureChannels, series: Series, name: str) -> list[Spec]:
    """A series as columns, which the transform makes rows; and those of its points that no line reaches."""
    figure = channels.figure
    shift = axis_limits.bar_shift(figure, series)
    x, y = _column(series.x, figure.x_log, shift), _column(series.y, figure.y_log)
    low, high = (_column(ends or (), figure.y_log) for ends in (series.low, series.high))
    top, opened = axis_limits.y_axis(figure).high, [False] * len(low)
    if series.style in ("line", "dashed", "band"):  # shading without an upper end goes on to the top
        opened = [a is not None and b is None for a, b in zip(low, high, strict=True)]
        high = [rounded(max(top, low[i] or 0.0)) if there else high[i] for i, there in enumerate(opened)]
    whole = [None not in ends for ends in zip(low, high, strict=True)]
    low, high = ([v if there else None for v, there in zip(ends, whole, strict=True)] for ends in (low, high))
    out = [{"series": name, "style": series.style, "x": x, "y": y, "low": low, "high": high}]
    if any(opened):
        out[0]["open"] = opened
    if series.joined:
        out.append({"series": name, "style": "joined", "x": x, "y": y, "low": [], "high": []})
    alone = _alone(y) if series.style in ("line", "dashed") else []
    if alone:
        dots = {"x": [x[i] for i in alone], "y": [y[i] for i in alone], "low": [], "high": []}
        out.append({"series": name, "style": "alone", "colour": channels.colour_of(series), **dots})
    return out


def _column(values: Sequence[float | None], log: bool, shift: float = 0.0) -> list[float | None]:
    return [rounded(v + shift) if v is not None and axis_limits.shown(v, log) else None for v in values]


def _alone(ys: Sequence[float | None]) -> list[int]:
    """Indices of values with a gap, or an end, on both sides."""
    padded = [None, *ys, None]
    return [i for i in range(len(ys)) if ys[i] is not None and padded[i] is None and padded[i + 2] is None]


def _title(figure: Figure, theme: ColourTheme, width_px: int) -> Spec:
    shared = {"anchor": "start", "frame": "bounds", "offset": 10}
    if theme is PAGE:
        return {**shared, "text": figure.y_label, "color": theme.muted, "fontSize": 12, "fontWeight": 400}
    below = {"subtitle": figure.y_label, "subtitleColor": theme.muted, "subtitleFontSize": 12, "subtitlePadding": 6}
    lines = textwrap.wrap(figure.title, width_px // 8) or [""]
    return {**shared, **below, "text": lines, "color": theme.ink, "fontSize": 15}


def _padding(theme: ColourTheme, labels: CurveLabels) -> Spec:
    edge = 0 if theme is PAGE else 10
    return {"left": edge, "right": max(8, edge, math.ceil(labels.room_px)), "top": edge + 2, "bottom": edge + 4}


def _config(channels: FigureChannels, width_px: int, hidden: bool) -> Spec:
    """Type and colours. hidden: without a legend, since every curve has its name beside it."""
    theme = channels.theme
    longest = max(map(text_px, channels.names), default=0.0) + 40
    words = {"labelColor": theme.muted, "labelFontSize": 12, "titleColor": theme.muted, "titleFontSize": 12}
    lines = {"domainColor": theme.muted, "tickColor": theme.muted, "gridColor": theme.grid}
    symbols = {"symbolOpacity": 1, "symbolSize": 120, "symbolStrokeWidth": 2}
    columns = {"columns": max(1, int(width_px / longest)), "labelLimit": width_px - 40}
    return {
        "aria": False,
        "background": theme.ground,
        "font": _FONT,
        "view": {"stroke": None},
        "axis": {**words, **lines, "titleFontWeight": 400},
        "axisY": {"domain": False, "ticks": False, "labelPadding": 6},
        "legend": {
            "orient": "bottom",
            "labelColor": theme.ink,
            "labelFontSize": 12,
            "disable": hidden,
            **columns,
            **symbols,
        },
        "text": {"fontSize": 12},
    }
