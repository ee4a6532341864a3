"""A document as one self-contained HTML file: no request leaves it, and its own policy forbids any.

Charts are drawn by uPlot (vendor/, pinned by VERSION) from data in the page; without scripts the same figures stand
there as SVG. Everything that comes from a document is escaped: in HTML by jinja2, in the data by `_island`.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape

from sojourn.report import cells, plot, prose, svg
from sojourn.report.document import Document, Figure, Series


def render_html(document: Document) -> str:
    """`document` as the text of one HTML file that needs nothing else."""
    names = {id(figure): _element_id(name) for name, figure in document.figures()}
    scripts = [_read(n) for n in ("vendor/uPlot.iife.min.js", "templates/draw.js", "templates/report.js")]
    return _template().render(
        document=document,
        kind=lambda block: type(block).__name__,
        name=lambda figure: names[id(figure)],
        markdown=_markdown,
        line=lambda text: _spans(prose.spans(text)),
        rows=cells.text_rows,
        numeric=cells.numeric_columns,
        fallback=lambda figure: Markup(svg.render_svg(figure, svg.PAGE)),
        island=_island(document),
        light=plot.LIGHT,
        dark=plot.DARK,
        styles=Markup(_read("vendor/uPlot.min.css") + _read("templates/report.css")),
        scripts=[Markup(s) for s in scripts],
        script_hashes=[_csp_hash(s) for s in scripts],
    )


def write_html(document: Document, path: Path | str) -> Path:
    """Write `document` to `path` (folders are made) and return the path. OSError where it cannot be written."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render_html(document), encoding="utf-8")
    return path


@cache
def _read(name: str) -> str:
    return files("sojourn.report").joinpath(name).read_text(encoding="utf-8")


@cache
def _template() -> Any:
    loader = FunctionLoader(lambda name: _read(f"templates/{name}"))
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, loader=loader
    )
    return environment.get_template("report.html.j2")


def _element_id(name: str) -> str:
    return f"figure-{name}"  # the prefix keeps it apart from the page's own ids


def _csp_hash(script: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() + "'"


def _island(document: Document) -> Markup:
    """The figures as JSON that no text inside can end: what HTML could read as markup is written as \\u escapes."""
    data = {_element_id(name): _figure_data(figure) for name, figure in document.figures()}
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def _figure_data(figure: Figure) -> dict[str, Any]:
    slots = plot.slots(figure)
    return {
        "title": figure.title,
        "x_label": figure.x_label,
        "x_log": figure.x_log,
        "y_log": figure.y_log,
        "y_limits": figure.y_limits,
        "x_names": figure.x_names,
        "places": plot.places(figure),
        "vlines": figure.vlines,
        "series": [_series_data(s, slot, figure) for s, slot in zip(figure.series, slots, strict=True)],
    }


def _series_data(series: Series, slot: int, figure: Figure) -> dict[str, Any]:
    return {
        "name": series.name,
        "style": series.style,
        "colour": slot % len(plot.LIGHT),
        "marker": plot.MARKERS[slot % len(plot.MARKERS)],
        "x": series.x,
        "y": series.y,
        "low": series.low,
        "high": series.high,
        "bar": plot.bar(figure, series) if series.style == "bars" else None,
    }


def _spans(spans: Iterable[prose.Span]) -> Markup:
    return Markup("").join(
        Markup("<{0}>{1}</{0}>").format(Markup(s.kind), s.text) if s.kind else escape(s.text) for s in spans
    )


def _markdown(text: str) -> Markup:
    out = Markup("")
    for item, group in groupby(prose.paragraphs(text), key=lambda p: p.item):
        tag = Markup("li" if item else "p")
        body = Markup("").join(Markup("<{0}>{1}</{0}>\n").format(tag, _spans(p.spans)) for p in group)
        out += Markup("<ul>{}</ul>").format(body) if item else body
    return out
