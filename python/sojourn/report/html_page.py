"""A document as one self-contained HTML file: no request leaves it, and its own policy forbids any.

Each figure stands in the page as SVG; where scripts run, Vega (from vl-convert, in the page too) draws it again from its
specification when it comes into view, with values under the pointer. Everything that comes from a document is escaped:
in HTML by jinja2, in specifications by `_island`, in SVG by vl-convert.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape

from sojourn.files.writing import PRIVATE, write_output
from sojourn.report import cell_text, markup
from sojourn.report.chart import specification
from sojourn.report.document import Document, Figure
from sojourn.report.figure_channels import DARK, LIGHT, PAGE
from sojourn.report.figure_files import to_svg
from sojourn.report.vega_script import vega_script
from sojourn.terminal import shown

UNFOLDED, NEXT = 2, "next: "  # lines of a verdict that do not fold; how a line begins that says what to do
WIDTH_PX = 824  # of a figure on a wide screen, as the style sheet has it


def render_html(document: Document) -> str:
    """`document` as the text of one HTML file that needs nothing else."""
    names = {id(figure): _element_id(name) for name, figure in document.figures()}
    scripts = [vega_script(), _read("templates/report.js")] if names else [_read("templates/report.js")]
    return _template().render(
        document=document,
        kind=lambda block: type(block).__name__,
        name=lambda figure: names[id(figure)],
        markdown=_markdown,
        line=lambda text: _spans(markup.spans(text)),
        rows=cell_text.text_rows,
        numeric=cell_text.numeric_columns,
        verdict_parts=_verdict_parts,
        drawing=lambda figure: Markup(_drawing(figure, names[id(figure)])),
        island=_island(document),
        light=LIGHT,
        dark=DARK,
        styles=Markup(_read("templates/report.css")),
        scripts=[Markup(s) for s in scripts],
        script_hashes=[_csp_hash(s) for s in scripts],
    )


def _verdict_parts(document: Document) -> tuple[list[str], list[str]]:
    """Of the lines after the headline: what to do next, which is seen at once, and the rest, which folds; few lines do not fold."""
    rest = list(document.verdict[1:])
    if len(rest) <= UNFOLDED:
        return rest, []
    ahead = [line for line in rest if line.strip().startswith(NEXT)]
    return ahead, [line for line in rest if line not in ahead]


def write_html(document: Document, path: Path | str) -> Path:
    """Write `document` to `path` (folders are made) and return the path. A new file is for its user alone: it tells URLs. OSError where it
    cannot be written."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_output(path, render_html(document), PRIVATE)
    return path


@cache
def _read(name: str) -> str:
    return files("sojourn.report").joinpath(name).read_text(encoding="utf-8")


def _drawing(figure: Figure, name: str) -> str:
    """The figure as SVG in the page's colours; ids get its name, since a page has many figures."""
    drawing = to_svg(specification(figure, PAGE, WIDTH_PX))
    return re.sub(r'(id="|url\(#)', rf"\g<1>{name}-", drawing)


@cache
def _template() -> Any:
    loader = FunctionLoader(lambda name: _read(f"templates/{name}"))
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, loader=loader, finalize=_plain
    )
    return environment.get_template("report.html.j2")


def _plain(value: Any) -> Any:
    """No control characters, nor marks that turn the order of letters round; what is HTML already is left alone."""
    return shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _element_id(name: str) -> str:
    return f"figure-{name}"  # the prefix keeps it apart from the page's own ids


def _csp_hash(script: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() + "'"


def _island(document: Document) -> Markup:
    """The figures as JSON that no text inside can end: what HTML could read as markup is written as \\u escapes."""
    data = {
        _element_id(name): specification(figure, PAGE, WIDTH_PX, interactive=True)
        for name, figure in document.figures()
    }
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def _spans(spans: Iterable[markup.MarkupSpan]) -> Markup:
    return Markup("").join(
        Markup("<{0}>{1}</{0}>").format(Markup(s.kind), shown(s.text)) if s.kind else escape(shown(s.text))
        for s in spans
    )


def _markdown(text: str) -> Markup:
    out = Markup("")
    for item, group in groupby(markup.paragraphs(text), key=lambda p: p.item):
        tag = Markup("li" if item else "p")
        body = Markup("").join(Markup("<{0}>{1}</{0}>\n").format(tag, _spans(p.spans)) for p in group)
        out += Markup("<ul>{}</ul>").format(body) if item else body
    return out
