"""The report renderer: what goes in comes out, escaped, whole, and with gaps as gaps."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import math
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from rich.console import Console

from sojourn.errors import ReportError
from sojourn.report import (
    Code,
    Document,
    Figure,
    Section,
    Series,
    Table,
    Text,
    render_html,
    render_svg,
    render_terminal,
    write_figures,
    write_html,
)
from sojourn.report.cell_text import cell_text, numeric_columns
from sojourn.report.markup import paragraphs

EVIL = "</script><script>alert(1)</script><!--&\"'\u2028[bold]$x$"
SVG = "{http://www.w3.org/2000/svg}"


def figure(*series: Series, **more: Any) -> Figure:
    return Figure("f", "a figure", "x (1/s)", "y (s)", tuple(series), **more)


def document(*blocks: Any, **more: Any) -> Document:
    fields: dict[str, Any] = {"title": "t", "subtitle": "s", "verdict": ["headline"], "status": "ok"} | more
    return Document(sections=(Section("section", "lead", tuple(blocks)),), **fields)


class Page(HTMLParser):
    """Elements, the text of each script, and attributes that could load something."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.loads: list[str | None] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "script":
            self.scripts.append((dict(attrs), ""))
        self.loads += [value for key, value in attrs if key in ("src", "href", "action", "data", "srcset")]

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1] == "script" and self.scripts:
            attrs, text = self.scripts[-1]
            self.scripts[-1] = (attrs, text + data)

    def handle_endtag(self, tag: str) -> None:
        self.tags.append("/" + tag)

    def island(self) -> dict[str, Any]:
        return next(json.loads(text) for attrs, text in self.scripts if attrs.get("type") == "application/json")


def test_user_text_cannot_leave_its_place() -> None:
    evil = document(
        Figure(EVIL, EVIL, EVIL, EVIL, (Series(EVIL, [1], [2], group=EVIL),), note=EVIL, vlines=((1, EVIL),)),
        Table(EVIL, (EVIL,), ((EVIL,),), note=EVIL),
        Text(EVIL),
        Code(EVIL),
        title=EVIL,
        subtitle=EVIL,
        verdict=[EVIL, EVIL],
        footer={EVIL: EVIL},
    )
    page, plain = Page(render_html(evil)), Page(render_html(document(figure(Series("a", [1], [2])))))
    assert len(page.scripts) == len(plain.scripts) == 3
    (drawn,) = page.island().values()
    texts = [layer["encoding"]["text"]["value"] for layer in drawn["layer"] if "text" in layer["encoding"]]
    assert drawn["title"]["text"] == EVIL and drawn["data"]["values"][0]["series"] == EVIL and EVIL in texts
    ElementTree.fromstring(render_svg(next(f for _, f in evil.figures())))  # well formed


def test_no_address_but_anchors_and_the_policy_allows_only_our_scripts() -> None:
    html = render_html(document(figure(Series("a", [1], [2]))))
    page = Page(html)
    assert all(value is not None and value.startswith(("#", "data:")) for value in page.loads)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy and "default-src 'none'" in policy[1]
    digests = re.findall(r"sha256-([^&']+)", policy[1])
    for attrs, text in page.scripts:
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert attrs.get("type") == "application/json" or digest in digests


def test_numpy_arrays_are_taken() -> None:
    series = Series("a", np.array([1.0, 2.0]), np.array([1.0, np.nan]), np.array([0.5, 1]), np.array([1.5, 2]))  # type: ignore[arg-type]
    assert series.y == (1.0, None) and series.high == (1.5, 2.0)
    render_html(document(figure(series)))


@pytest.mark.parametrize(
    "shown",
    [
        figure(),
        figure(Series("empty", [], [])),
        figure(Series("gaps", [1, 2], [None, math.nan])),
        figure(Series("not positive", [1, 2], [0, -1]), y_log=True),
    ],
)
def test_nothing_to_draw_says_so(shown: Figure, tmp_path: Path) -> None:
    assert "no data" in render_svg(shown)
    render_html(document(shown))
    assert [p.suffix for p in write_figures(document(shown), tmp_path)] == [".svg", ".png"]


def test_figure_names_are_unique_and_safe(tmp_path: Path) -> None:
    one = Series("a", [1], [2])
    doc = document(*(Figure(i, "t", "x", "y", (one,)) for i in ("../../etc/x", "etc x", "Ä", "", "etc-x-2")))
    names = [name for name, _ in doc.figures()]
    assert names == ["etc-x", "etc-x-2", "figure", "figure-2", "etc-x-2-2"]
    written = write_figures(doc, tmp_path / "new", formats=("svg",))
    assert [p.parent for p in written] == [tmp_path / "new"] * 5


def test_image_files_are_what_their_names_say(tmp_path: Path) -> None:
    shown = figure(
        Series("a $x$", [1, 2], [1, 2], [0, 1], [2, 3], style="points"),
        Series("b", [1, 2], [1, 2], [0, 1], [2, 3], style="dashed"),
        Series("c", [1, 2], [], [0, 1], [2, 3], style="band"),
        vlines=((1.5, "here"), (math.inf, "nowhere")),
    )
    svg, png, pdf = write_figures(document(shown), tmp_path, ("svg", "png", "pdf"))
    ElementTree.parse(svg)
    assert png.read_bytes().startswith(b"\x89PNG") and pdf.read_bytes().startswith(b"%PDF")
    assert ">here<" in svg.read_text() and "nowhere" not in svg.read_text()


def test_cells_and_their_alignment() -> None:
    assert [cell_text(c) for c in (None, math.nan, "a", 3, 0.123456, -2.5, math.inf)] == [
        "–", "–", "a", "3", "0.1235", "−2.5", "∞",
    ]  # fmt: skip
    assert cell_text(0.1234, "+.1%") == "+12.3%"
    rows = (("a", 1.0, "2.1 ± 0.3", None), ("1 b", None, "< 0.001", None))
    assert numeric_columns(Table("t", ("a", "b", "c", "d"), rows)) == [False, True, True, False]


def test_prose_marks_and_lists() -> None:
    first, item, last = paragraphs("one **two** `x*y*z`\nthree\n\n- *four* 2 * 3 * 4\n\nfive")
    assert [(s.kind, s.text) for s in first.spans] == [
        ("", "one "), ("strong", "two"), ("", " "), ("code", "x*y*z"), ("", " three"),
    ]  # fmt: skip
    assert item.item and [(s.kind, s.text) for s in item.spans] == [("em", "four"), ("", " 2 * 3 * 4")]
    assert not last.item
    assert paragraphs("") == []


def test_without_scripts_verdict_tables_and_drawings_stand_in_the_page() -> None:
    table = Table("t", ("name", "value"), (("first", 1.5),))
    html = render_html(document(figure(Series("curve", [1, 2], [1, 2])), table, verdict=["the headline", "more"]))
    body = re.sub(r"<script.*?</script>", "", html, flags=re.S)
    assert "the headline" in body and '<td class="number">1.5</td>' in body
    assert re.search(
        r'<div class="plot"[^>]*><div aria-hidden="true"><svg[^>]*>.*curve.*</svg></div></div>', body, flags=re.S
    )
    assert "var(--s0)" in body  # colours of the page, light or dark


def test_terminal_shows_verdict_and_tables_as_they_are() -> None:
    table = Table("errors", ("name", "value"), (("[red]x", 1.5), ("y", None)), note="a *note*")
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(render_terminal(document(table, figure(), Code("[x]"), verdict=["head **line**", "[b]"])))
    text = console.export_text()
    for part in ("head line", "[b]", "[red]x", "1.5", "–", "a note", "a figure", "[x]"):
        assert part in text


def test_write_html_makes_the_folder(tmp_path: Path) -> None:
    path = write_html(document(), tmp_path / "a/b/report.html")
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_drawings_of_a_page_share_no_id() -> None:
    one, two = (Figure(name, "t", "x", "y", (Series("a", [1, 2], [1, 2]),)) for name in ("one", "two"))
    body = re.sub(r"<script.*?</script>", "", render_html(document(one, two)), flags=re.S)
    ids = re.findall(r' id="([^"]*)"', body)
    assert len(ids) == len(set(ids)) and set(re.findall(r"url\(#([^)]*)\)", body)) <= set(ids)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Series("a", [1, 2], [1]), "series 'a': y has 1 values, x has 2; give one for each x"),
        (lambda: Series("a", [1], [1], low=[0]), "series 'a': low or high alone; give both"),
        (lambda: Series("a", [1], [1], style="dots"), "series 'a': style 'dots'; use one of line"),  # type: ignore[arg-type]
        (lambda: Series("a", [1], [1], style="band"), "series 'a': a band without low and high"),
        (lambda: figure(y_limits=(2, 1)), "figure 'f': y_limits (2, 1); give the lower one first"),
        (lambda: figure(y_limits=(0, 1), y_log=True), "figure 'f': y_limits (0, 1); give finite, positive"),
        (lambda: figure(y_limits=(0, math.inf)), "figure 'f': y_limits (0, inf); give finite"),
        (lambda: Table("t", ("a", "b"), ((1,),)), "table 't': row 1 has 1 cells for 2 columns"),
        (lambda: Table("t", ("a",), (), formats=("", "")), "table 't': 2 formats for 1 columns"),
        (lambda: Table("t", ("a",), (), formats=("q",)), "table 't': format 'q'; give one for a number"),
        (lambda: document(status="fine"), "document 't': status 'fine'; use one of ok"),
        (lambda: document(verdict=[]), "document 't': verdict []; give a list of at least one line"),
        (lambda: document(verdict="abc"), "document 't': verdict 'abc'; give a list"),
        (lambda: write_figures(document(), "/nowhere", ("bmp",)), "figures: format 'bmp'; use svg, png, pdf"),
    ],
)
def test_a_document_that_contradicts_itself_is_refused(make: Any, message: str) -> None:
    with pytest.raises(ReportError) as caught:
        make()
    assert str(caught.value).startswith(message)
