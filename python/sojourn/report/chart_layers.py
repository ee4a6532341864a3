"""The layers of a chart: a kind of mark each, from the shading below to the names on top."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sojourn.report import axis_limits
from sojourn.report.curve_labels import LINE_PX, CurveLabel, text_px
from sojourn.report.document import Figure
from sojourn.report.figure_channels import DIGITS, FigureChannels, Spec, limits, rounded

BESIDE = "beside"  # name of the layer that a narrow page leaves out
_CURVES = ("line", "dashed")
_SHADE = 0.16  # of a band
_THIN = 0.6  # of a line from point to point
_NOWHERE: Spec = {"values": [{}]}  # one row, for a mark that stands alone
_MARKS_PX = 300.0  # labels of vertical marks share a row if there is room on a telephone
_ZOOM = {"name": "zoomed", "select": {"type": "interval", "zoom": "wheel![event.ctrlKey]"}, "bind": "scales"}
_PICK = {"name": "picked", "select": {"type": "point", "fields": ["series"], "toggle": "true"}, "bind": "legend"}


def layers(channels: FigureChannels, labels: Sequence[CurveLabel]) -> list[Spec]:
    """All layers, in the order in which they are drawn."""
    if not axis_limits.has_data(channels.figure):
        return [_nothing(channels), *_vertical_marks(channels)]
    drawn = [layer for make in (_bands, _bars, _lines, _points) for layer in make(channels)]
    if channels.interactive:
        drawn[0]["params"] = [_ZOOM, _PICK]
    return [*drawn, *_intervals(channels), *_beside(channels, labels), *_vertical_marks(channels), *_nearest(channels)]


def mark_rows(figure: Figure) -> list[tuple[float, str, int, bool]]:
    """Each vertical mark: where, its label, the row of that above the plot, and whether the label ends at the mark."""
    x, ends, out = axis_limits.x_axis(figure), list[float](), list[tuple[float, str, int, bool]]()
    for at, text in sorted(v for v in figure.vlines if axis_limits.shown(v[0], x.log)):
        late = x.fraction(at) > 0.5
        left = x.fraction(at) * _MARKS_PX - (text_px(text) if late else 0)
        row = next((k for k, end in enumerate(ends) if end + 10 < left), len(ends))
        ends[row : row + 1] = [left + text_px(text)]
        out.append((at, text, row, late))
    return out


def _layer(styles: Sequence[str], mark: Spec, encoding: Spec) -> Spec:
    """A mark for the series of these styles."""
    chosen = {"filter": {"field": "style", "oneOf": list(styles)}}
    return {"transform": [chosen], "mark": {**mark, "clip": True}, "encoding": encoding}


def _has(channels: FigureChannels, *styles: str, interval: bool = False) -> bool:
    return any(s.style in styles and (s.low is not None or not interval) for s in channels.figure.series)


def _ends(channels: FigureChannels) -> Spec:
    return {"y": {**channels.y, "field": "low"}, "y2": {"field": "high"}}


def _bands(channels: FigureChannels) -> list[Spec]:
    styles = (*_CURVES, "band")
    mark = {"type": "area", "opacity": 1, "fillOpacity": _SHADE}
    return [_layer(styles, mark, channels.marks(**_ends(channels)))] if _has(channels, *styles, interval=True) else []


def _lines(channels: FigureChannels) -> list[Spec]:
    if not _has(channels, *_CURVES):
        return []
    line = _layer(_CURVES, {"type": "line", "strokeWidth": 2}, channels.marks(strokeDash=channels.dash()))
    # points of a curve that stand between two gaps: no line reaches them
    own = {"color": {"field": "colour", "type": "nominal", "scale": None}}  # with the scale it would have a legend
    return [line, _layer(("alone",), {"type": "circle", "size": 14, "opacity": 1}, channels.marks(**own))]


def _bars(channels: FigureChannels) -> list[Spec]:
    if not _has(channels, "bars"):
        return []
    half, ground = axis_limits.bar_width(channels.figure) / 2, axis_limits.y_axis(channels.figure)
    zero = {"datum": rounded(max(ground.low, min(0.0, ground.high)))}
    sides = {"x": {**channels.x, "field": "left"}, "x2": {"field": "right"}, "y2": zero}
    layer = _layer(("bars",), {"type": "bar"}, channels.marks(**sides))
    for side, operation in (("left", "-"), ("right", "+")):
        layer["transform"].append({"calculate": f"datum.x {operation} {rounded(half)}", "as": side})
    return [layer]


def _intervals(channels: FigureChannels) -> list[Spec]:
    out = []
    for style, colour in (("bars", {"color": {"value": channels.theme.ink}}), ("points", {})):
        if _has(channels, style, interval=True):
            mark = {"type": "errorbar", "ticks": {"size": 8, "opacity": 1}, "thickness": 1.5}
            layer = _layer((style,), mark, channels.marks(**_ends(channels)) | colour)
            layer["transform"].append({"filter": "isValid(datum.low)"})
            out.append(layer)
    return out


def _points(channels: FigureChannels) -> list[Spec]:
    """Markers; where there are none too, since the legend takes its symbols from this layer."""
    mark = {"type": "point", "filled": True, "size": 60, "opacity": 1}
    thin = {"type": "line", "strokeWidth": 1, "strokeOpacity": _THIN}
    joined = [_layer(("joined",), thin, channels.marks())] if any(s.joined for s in channels.figure.series) else []
    return [*joined, _layer(("points",), mark, channels.marks(shape=channels.shape()))]


def _beside(channels: FigureChannels, labels: Sequence[CurveLabel]) -> list[Spec]:
    """Names at the ends of curves."""
    out = []
    for label in labels:
        side = 1 if label.right else -1
        mark = {
            "type": "text",
            "clip": False,
            "baseline": "middle",
            "fontWeight": 600,
            "color": channels.colour_of(label.series),
        }
        mark |= {"align": "left" if label.right else "right", "dx": 8 * side, "dy": label.down_px}
        encoding = {**channels.at(label.x, label.y), "text": {"value": label.text}}
        out.append({"data": _NOWHERE, "mark": mark, "encoding": encoding})
    return [{"name": BESIDE, "layer": out}] if out else []


def _vertical_marks(channels: FigureChannels) -> list[Spec]:
    """Lines from top to bottom; their labels stand above the plot, where no curve is."""
    out: list[Spec] = []
    muted = channels.theme.muted
    for at, text, row, late in mark_rows(channels.figure):
        x = {"datum": rounded(at), "type": "quantitative", "scale": limits(axis_limits.x_axis(channels.figure))}
        rule = {"type": "rule", "strokeDash": [2, 3], "color": muted}
        words = {"type": "text", "clip": False, "align": "right" if late else "left", "dx": 3 if late else -3}
        place = {"x": x, "y": {"value": -4 - LINE_PX * row}, "text": {"value": text}}
        out.append({"data": _NOWHERE, "mark": rule, "encoding": {"x": x}})
        out.append({"data": _NOWHERE, "mark": {**words, "baseline": "bottom", "color": muted}, "encoding": place})
    return out


def _nearest(channels: FigureChannels) -> list[Spec]:
    """A ring around the point nearest to the pointer, with what it says."""
    if not channels.interactive or not _has(channels, *_CURVES, "points", "bars"):
        return []
    near = {"type": "point", "fields": ["series", "x"], "on": "pointermove", "clear": "pointerout", "nearest": True}
    y, low, high = (f"format(datum.{key}, '{DIGITS}')" for key in ("y", "low", "high"))
    above = f"(datum.open ? 'no upper limit' : {high})"
    value = f"{y} + (isValid(datum.low) ? ' [' + {low} + ', ' + {above} + ']' : '')"
    figure = channels.figure
    rows = {"title": "datum.series", figure.x_label: channels.place("datum.x"), figure.y_label: value}
    told = "{" + ", ".join(f"{json.dumps(key)}: {text}" for key, text in rows.items()) + "}"
    seen = {"condition": {"param": "near", "empty": False, "value": 1}, "value": 0}
    # the text belongs to the cell around the point, whose datum is the point's mark
    words = {"value": {"expr": "(datum.datum || datum).told"}}
    encoding = {"x": channels.x, "y": channels.y, "opacity": seen, "tooltip": words}
    ring = {"type": "point", "size": 170, "strokeWidth": 1.5, "color": channels.theme.ink}
    layer = _layer((*_CURVES, "points", "bars"), ring, encoding)
    layer["transform"] += [{"filter": "isValid(datum.x) && isValid(datum.y)"}, {"calculate": told, "as": "told"}]
    return [{"name": "near", "params": [{"name": "near", "select": near}], **layer}]


def _nothing(channels: FigureChannels) -> Spec:
    """Axes, and words instead of marks."""
    middle = {name: {"value": {"expr": f"{side} / 2"}} for name, side in (("x", "width"), ("y", "height"))}
    axes = {"data": {"values": []}, "mark": "point", "encoding": {"x": channels.x, "y": channels.y}}
    words = {"type": "text", "color": channels.theme.muted}
    return {"layer": [axes, {"data": _NOWHERE, "mark": words, "encoding": {**middle, "text": {"value": "no data"}}}]}
