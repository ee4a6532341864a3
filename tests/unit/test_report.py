"""The report renderer: what goes in comes out, escaped, whole, and with gaps as gaps."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import math
import re
from html.parser import HTMLParser
from importlib.resources import files
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
    plot,
    render_html,
    render_svg,
    render_terminal,
    write_figures,
    write_html,
)
from sojourn.report.cells import cell_text, numeric_columns
from sojourn.report.prose import paragraphs

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
    assert len(page.scripts) == len(plain.scripts) == 4
    (drawn,) = page.island().values()
    assert drawn["title"] == EVIL and drawn["series"][0]["name"] == EVIL and drawn["vlines"] == [[1, EVIL]]


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


def test_gaps_are_null_in_the_page_and_breaks_in_the_drawing() -> None:
    shown = figure(Series("a", [1, 2, 3, 4, 5], [1.0, math.nan, 3.0, None, math.inf]))
    (data,) = Page(render_html(document(shown))).island().values()
    assert data["series"][0]["y"] == [1.0, None, 3.0, None, None]
    assert plot.runs(shown, shown.series[0].x, shown.series[0].y) == [[(1.0, 1.0)], [(3.0, 3.0)]]


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


@pytest.mark.parametrize("log", [False, True])
def test_a_single_point_stands_inside_its_axes(log: bool) -> None:
    shown = figure(Series("one", [3], [5], [4], [6], style="points"), x_log=log, y_log=log)
    x, y = plot.x_axis(shown), plot.y_axis(shown)
    assert x.low < 3 < x.high and y.low < 4 and y.high > 6
    assert len(list(ElementTree.fromstring(render_svg(shown)).iter(f"{SVG}circle"))) == 2  # the point; the legend's


def test_svg_maps_data_to_pixels_linearly() -> None:
    shown = figure(Series("a", [0, 5, 10], [0, 5, 10], style="points"))
    circles = list(ElementTree.fromstring(render_svg(shown)).iter(f"{SVG}circle"))[:3]
    (x0, x1, x2), (y0, y1, y2) = ([float(c.get(k, "")) for c in circles] for k in ("cx", "cy"))
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.2) and y0 - y1 == pytest.approx(y1 - y2, abs=0.2)
    assert x0 < x2 and y0 > y2


def test_y_starts_at_zero_and_limits_win() -> None:
    assert plot.y_axis(figure(Series("a", [1, 2], [90, 100]))).low == 0
    assert plot.y_axis(figure(Series("a", [1, 2], [-1, 1]))).low < -1
    limited = plot.y_axis(figure(Series("a", [1, 2], [90, 100]), y_limits=(50, None)))
    assert limited.low == 50 and limited.high > 100


@pytest.mark.parametrize(
    ("low", "high", "log", "expected"),
    [
        (0, 10, False, [0, 2, 4, 6, 8, 10]),
        (0, 1, False, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (-1, 1, False, [-1, -0.5, 0, 0.5, 1]),
        (1, 100, True, [1, 2, 5, 10, 20, 50, 100]),
        (1e-4, 1e4, True, [1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1e3, 1e4]),
    ],
)
def test_ticks_are_round(low: float, high: float, log: bool, expected: list[float]) -> None:
    assert plot.ticks(plot.Axis(low, high, log)) == pytest.approx(expected)


def test_a_group_has_one_colour_and_marker() -> None:
    shown = figure(Series("m", [1], [1], group="a"), Series("b", [1], [1]), Series("d", [1], [1], group="a"))
    assert plot.slots(shown) == [0, 1, 0]


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
    assert "here" in svg.read_text() and "nowhere" not in svg.read_text()


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
    assert re.search(r"<noscript><svg[^>]*>.*curve.*</svg></noscript>", body, flags=re.S)


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


def test_vendored_files_are_those_of_version() -> None:
    vendor = files("sojourn.report").joinpath("vendor")
    for line in vendor.joinpath("VERSION").read_text().splitlines()[1:]:
        digest, name = line.split()
        assert hashlib.sha256(vendor.joinpath(name).read_bytes()).hexdigest() == digest


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


def bars() -> Figure:
    first = Series("with", [1, 2, 3], [60, 30, 10], [50, 25, 8], [70, 35, 12], style="bars")
    return figure(first, Series("without", [1, 2], [70, 30], style="bars"), x_names=("A", "B", "error"))


def test_bars_of_a_place_stand_side_by_side_from_zero() -> None:
    shown = bars()
    ends = [plot.bar(shown, s) for s in shown.series]
    assert ends == [pytest.approx((-0.4, 0.0)), pytest.approx((0.0, 0.4))]
    axis = plot.x_axis(shown)
    assert axis.low <= 0.6 and axis.high >= 3.4
    assert plot.y_axis(shown).low == 0.0
    texts = [e.text for e in ElementTree.fromstring(render_svg(shown)).iter(f"{SVG}text")]
    assert {"A", "B", "error"} <= set(texts) and "1" not in texts


def test_bars_are_in_the_page_and_in_image_files(tmp_path: Path) -> None:
    (data,) = Page(render_html(document(bars()))).island().values()
    assert data["x_names"] == ["A", "B", "error"] and data["places"] == [0.5, 3.5]
    assert data["series"][1]["bar"] == pytest.approx([0.0, 0.4])
    assert all(path.stat().st_size > 1000 for path in write_figures(document(bars()), tmp_path, ("svg", "png", "pdf")))
