"""Figures as drawings: what stands where in the SVG, what the specification says, names beside curves."""

from __future__ import annotations

import json
import math
import re
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from sojourn.errors import ReportError
from sojourn.report import Document, Figure, Section, Series, axis_limits, render_svg, write_figures
from sojourn.report.chart import HEIGHT_PX, specification
from sojourn.report.curve_labels import LINE_PX, place
from sojourn.report.figure_channels import slots

SVG = "{http://www.w3.org/2000/svg}"


def figure(*series: Series, **more: Any) -> Figure:
    return Figure("f", "a figure", "x (1/s)", "y (s)", tuple(series), **more)


def paths(svg: str, role: str) -> list[ElementTree.Element]:
    """All paths of the marks of one kind."""
    groups = [g for g in ElementTree.fromstring(svg).iter(f"{SVG}g") if role in g.get("class", "").split()]
    return [path for group in groups for path in group.iter(f"{SVG}path")]


def places(svg: str) -> list[tuple[float, float]]:
    """Where the markers stand, in pixels of the plot."""
    found = (re.match(r"translate\(([^,]*),([^)]*)\)", p.get("transform", "")) for p in paths(svg, "role-mark"))
    return [(float(m[1]), float(m[2])) for m in found if m]


def test_the_name_stands_at_the_solid_curve_of_its_group() -> None:
    """A dashed rival that is listed first would put the names of two groups in the wrong order."""
    rivals = [Series(f"rival {k}", [1, 2], [y, y], style="dashed", group=k) for k, y in (("a", 5.0), ("b", 6.0))]
    best = [Series(f"best {k}", [1, 2], [y, y], group=k) for k, y in (("a", 9.0), ("b", 2.0))]
    labels = place(figure(*rivals, *best), 674, HEIGHT_PX).labels
    assert {one.text: one.y for one in labels} == pytest.approx({"a": 9.0, "b": 2.0}, abs=0.1)


@pytest.mark.parametrize("log", [False, True])
def test_a_single_point_stands_inside_its_axes(log: bool) -> None:
    shown = figure(Series("one", [3], [5], [4], [6], style="points"), x_log=log, y_log=log)
    x, y = axis_limits.x_axis(shown), axis_limits.y_axis(shown)
    assert x.low < 3 < x.high and y.low < 4 and y.high > 6
    ((left, top),) = places(render_svg(shown))
    assert 0 < left < 720 and 0 < top < HEIGHT_PX


def test_svg_maps_data_to_pixels_linearly() -> None:
    shown = figure(Series("a", [0, 5, 10], [0, 5, 10], style="points"))
    (x0, y0), (x1, y1), (x2, y2) = places(render_svg(shown))
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.2) and y0 - y1 == pytest.approx(y1 - y2, abs=0.2)
    assert x0 < x2 and y0 > y2


def test_y_starts_at_zero_and_limits_win() -> None:
    assert axis_limits.y_axis(figure(Series("a", [1, 2], [90, 100]))).low == 0
    assert axis_limits.y_axis(figure(Series("a", [1, 2], [-1, 1]))).low < -1
    limited = figure(Series("a", [1, 2], [90, 100]), y_limits=(50, None))
    assert axis_limits.y_axis(limited).low == 50 and axis_limits.y_axis(limited).high > 100
    layer = next(layer for layer in specification(limited)["layer"] if layer["mark"]["type"] == "line")
    assert layer["encoding"]["y"]["scale"]["domain"][0] == 50


@pytest.mark.parametrize(
    ("low", "high", "log", "expected"),
    [
        (0, 10, False, ["0", "2", "4", "6", "8", "10"]),
        (0, 1, False, ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
        (-1, 1, False, ["−1", "−0.5", "0", "0.5", "1"]),
        (1e-4, 1e4, True, ["0.0001", "0.001", "0.01", "0.1", "1", "10", "100", "1000", "10000"]),
    ],
)
def test_ticks_are_round(low: float, high: float, log: bool, expected: list[str]) -> None:
    shown = figure(Series("a", [1, 2], [low, high]), y_log=log, y_limits=(low, high))
    groups = ElementTree.fromstring(render_svg(shown)).iter(f"{SVG}g")
    *_, y = (g for g in groups if "role-axis-label" in g.get("class", "").split())
    assert [t.text for t in y.iter(f"{SVG}text")] == expected


def test_no_ticks_between_whole_numbers() -> None:
    """Of what is counted there is nothing between 1 and 2; of a time there is."""
    for last, expected in (
        (2, ["1", "2"]),
        (3, ["1", "2", "3"]),
        (6, ["1", "2", "3", "4", "5", "6"]),
        (4.5, ["1", "1.5", "2", "2.5", "3", "3.5", "4", "4.5"]),
    ):
        groups = ElementTree.fromstring(render_svg(figure(Series("a", [1, 2, last], [1, 2, 3])))).iter(f"{SVG}g")
        x, *_ = (g for g in groups if "role-axis-label" in g.get("class", "").split())
        assert [t.text for t in x.iter(f"{SVG}text")] == expected


def texts(svg: str, role: str = "") -> list[str]:
    """All texts, or those of the marks of one kind."""
    groups = [g for g in ElementTree.fromstring(svg).iter(f"{SVG}g") if not role or role in g.get("class", "").split()]
    return list(dict.fromkeys(t.text or "" for g in groups for t in g.iter(f"{SVG}text")))


def test_a_group_has_one_colour_and_marker() -> None:
    shown = figure(Series("m", [1], [1], group="a"), Series("b", [1], [1]), Series("d", [1], [1], group="a"))
    assert slots(shown) == [0, 1, 0]


def test_series_of_one_name_stay_apart() -> None:
    shown = figure(Series("a", [1, 2], [1, 2]), Series("a", [1, 2], [3, 4], style="dashed"))
    assert [record["series"] for record in specification(shown)["data"]["values"]] == ["a", "a (2)"]


def test_curves_have_their_names_beside_them_and_then_no_legend() -> None:
    apart = figure(Series("low", [1, 2, 3], [1, 1, 1]), Series("high", [1, 2, 3], [5, 6, 7]))
    svg = render_svg(apart)
    assert {"low", "high"} <= set(texts(svg)) and not texts(svg, "role-legend-label")


def test_where_names_have_no_room_there_is_a_legend() -> None:
    ends = [Series(f"curve {k}", [1, 2, 3], [1, 2, 1 + 0.001 * k]) for k in range(20)]
    assert not place(figure(*ends), 674, HEIGHT_PX).labels
    assert len(texts(render_svg(figure(*ends)), "role-legend-label")) == 20


def test_names_beside_curves_cover_no_curve_and_no_other_name() -> None:
    x = np.linspace(0, 1, 50)
    curves = [Series(f"to the power {k}", x.tolist(), (x**k).tolist()) for k in (1, 3, 9)]
    labels = place(figure(*curves), 674, HEIGHT_PX).labels
    tops = sorted((1 - p.y) * HEIGHT_PX + p.down_px for p in labels)
    assert len(labels) == 3 and all(b - a >= LINE_PX for a, b in pairwise(tops))


def test_a_specification_is_what_vega_lite_allows() -> None:
    altair = pytest.importorskip("altair")
    for shown in (bars(), figure(), figure(Series("a", [1, 2], [1, 2], [0, 1], [2, 3]), vlines=((1.5, "here"),))):
        for interactive in (False, True):
            altair.LayerChart.from_dict(specification(shown, interactive=interactive), validate=True)


def test_gaps_are_null_in_the_data_and_breaks_in_the_drawing() -> None:
    shown = figure(Series("a", [1, 2, 3, 4, 5, 6], [1.0, 2.0, None, 4.0, math.nan, math.inf]))
    line, alone = specification(shown)["data"]["values"]
    assert line["y"] == [1.0, 2.0, None, 4.0, None, None]
    assert (alone["style"], alone["x"], alone["y"]) == ("alone", [4.0], [4.0])  # a dot where no line reaches
    (curve,) = (p for p in paths(render_svg(shown), "mark-line") if p.get("stroke"))
    assert curve.get("d", "").count("L") == 1  # from 1 to 2, and no further


def test_joined_points_have_a_thin_line_and_keep_their_markers() -> None:
    shown = figure(
        Series("a", [1, 2, 3], [1.0, 2.0, 3.0], style="points", joined=True), Series("b", [1], [2.0], style="points")
    )
    svg = render_svg(shown)
    (curve,) = (p for p in paths(svg, "mark-line") if p.get("stroke"))
    assert curve.get("d", "").count("L") == 2 and curve.get("stroke-width") == "1"
    assert len(places(svg)) == 4
    with pytest.raises(ReportError, match="join points"):
        Series("c", [1], [1.0], joined=True)


def bars() -> Figure:
    first = Series("with", [1, 2, 3], [60, 30, 10], [50, 25, 8], [70, 35, 12], style="bars")
    return figure(first, Series("without", [1, 2], [70, 30], style="bars"), x_names=("A", "B", "error"))


def test_bars_of_a_place_stand_side_by_side_from_zero() -> None:
    shown = bars()
    assert axis_limits.bar_width(shown) == pytest.approx(0.4)
    assert [axis_limits.bar_shift(shown, s) for s in shown.series] == pytest.approx([-0.2, 0.2])
    assert (axis_limits.x_axis(shown).low, axis_limits.x_axis(shown).high) == (0.5, 3.5)
    assert axis_limits.y_axis(shown).low == 0.0
    names = texts(render_svg(shown), "role-axis-label")
    assert {"A", "B", "error"} <= set(names) and "1" not in names


def test_bars_are_in_the_data_and_in_image_files(tmp_path: Path) -> None:
    data = specification(bars())
    assert data["usermeta"]["names"] == ["A", "B", "error"]
    assert data["data"]["values"][1]["x"] == pytest.approx([1.2, 2.2])  # the middles of the second series' bars
    assert all(
        path.stat().st_size > 1000
        for path in write_figures(
            Document("t", "", ["v"], "ok", (Section("s", "", (bars(),)),)), tmp_path, ("svg", "png", "pdf")
        )
    )


def test_shading_without_an_upper_end_goes_on_to_the_top() -> None:
    curve = Series("predicted", [1, 2, 3], [1.0, 2.0, None], [0.5, 1.0, 4.0], [2.0, None, None])
    figure = Figure("open", "Open", "x", "y", (curve,), y_limits=(0.0, 10.0))
    (record,) = specification(figure, interactive=True)["data"]["values"]
    assert (
        record["high"] == [2.0, 10.0, 10.0]
        and record["low"] == [0.5, 1.0, 4.0]
        and record["open"] == [False, True, True]
    )
    assert "no upper limit" in json.dumps(specification(figure, interactive=True))
    beside = Figure("beside", "Beside", "x", "y", (curve, Series("measured", [1], [1.0], style="points")))
    assert all("open" in one for one in specification(beside)["data"]["values"])
    assert render_svg(beside).count("role-mark") > 1  # Vega draws nothing where one series has no such column
    bars = Series("measured", [1, 2], [1.0, 2.0], [0.5, 1.0], [2.0, None], "points")
    (record,) = specification(Figure("points", "Points", "x", "y", (bars,)))["data"]["values"]
    assert record["low"] == [0.5, None] and "open" not in record  # of a measured point it is no interval
