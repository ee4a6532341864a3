"""The report in headless Chromium: it draws, answers mouse and keys, follows the theme, fits a phone, asks nobody."""

# ruff: noqa: F811  (a fixture is an argument)
from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sojourn.report import write_html

sys.path.insert(0, str(Path(__file__).parent))
import sample
from headless import WITHOUT, browser  # noqa: F401  (a fixture)

pytestmark = WITHOUT

Open = Callable[..., Any]
FIGURES = ("figure-response", "figure-utilisation", "figure-tail", "figure-variation")
# what is drawn of the series, in pixels: the sum of the areas of their bounding boxes
DRAWN = """plot => [...plot.querySelectorAll('.role-mark path, .role-mark line')]
  .map(e => e.getBoundingClientRect()).reduce((sum, box) => sum + box.width + box.height, 0)"""


def settle(page: Any) -> None:
    """Waits until what was asked for is drawn."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_html(sample.document(), tmp_path_factory.mktemp("report") / "report.html")


@pytest.fixture
def open_report(browser: Any, report: Path) -> Iterator[Open]:
    """Opens the report in a context of its own; at the end nothing was requested and nothing complained."""
    contexts: list[Any] = []
    troubles: list[str] = []

    def route(route: Any) -> None:
        if route.request.url.startswith("file:"):
            route.continue_()
        else:
            troubles.append(f"request for {route.request.url}")
            route.abort()

    def opened(**options: Any) -> Any:
        context = browser.new_context(**({"viewport": {"width": 1000, "height": 900}} | options))
        contexts.append(context)
        context.set_default_timeout(15_000)
        context.route("**/*", route)
        page = context.new_page()
        page.on("console", lambda m: troubles.append(f"console {m.type}: {m.text}"))
        page.on("pageerror", lambda e: troubles.append(f"page error: {e}"))
        page.goto(report.as_uri())
        if options.get("java_script_enabled", True):
            for figure in FIGURES:  # each is drawn when it comes into view
                page.locator(f"#{figure}").scroll_into_view_if_needed()
                page.wait_for_selector(f"#{figure} .plot[data-live]")
            page.evaluate("() => scrollTo(0, 0)")
            settle(page)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert troubles == []


def over(page: Any, figure: str) -> dict[str, float]:
    """The plotting area of a figure, scrolled into view, in CSS pixels."""
    page.locator(f"#{figure} .plot").scroll_into_view_if_needed()
    box: dict[str, float] = page.locator(f"#{figure} .plot .root .background").first.bounding_box()
    return box


def tooltip(page: Any) -> str:
    """What stands beside the pointer; empty where nothing does."""
    settle(page)
    shown = page.locator("#vg-tooltip-element.visible")
    return str(shown.inner_text()) if shown.count() else ""


def read_by_keys(page: Any, figure: str, until: str) -> str:
    """Steps through a figure from its left end until a text has `until`."""
    plot, said = page.locator(f"#{figure} .plot"), page.locator(f"#{figure} .unseen")
    plot.focus()
    plot.press("Home")
    for _ in range(400):
        if until in said.inner_text():
            break
        plot.press("ArrowRight")
    return str(said.inner_text())


def test_every_figure_is_drawn(open_report: Open) -> None:
    page = open_report()
    assert page.locator("figure").count() == len(list(sample.document().figures())) == len(FIGURES)
    for plot in page.locator("figure .plot").all():
        assert plot.evaluate(DRAWN) > 500
    assert page.locator(".verdict .headline").inner_text() == sample.document().verdict[0]


def test_the_mouse_reads_values_of_every_series(open_report: Open) -> None:
    page = open_report()
    assert tooltip(page) == ""
    box = over(page, "figure-response")
    seen = []
    for share, height in ((0.3, 0.85), (0.52, 0.5), (0.75, 0.6), (0.69, 0.75)):
        page.mouse.move(box["x"] + share * box["width"], box["y"] + height * box["height"])
        seen.append(tooltip(page))
    assert len(set(seen)) == 4
    assert all("[" in text and "mean response time (ms)" in text for text in seen)  # with their intervals
    page.mouse.move(1, 1)
    assert tooltip(page) == ""


def test_a_measured_point_gives_its_own_numbers(open_report: Open) -> None:
    page = open_report()
    rate, mean, half = sample.ON_CORE0[0]
    name = f"measured, {sample.CORE0}"
    said = read_by_keys(page, "figure-response", name)
    assert (
        said
        == f"{name}; request rate (1/s) {rate}; mean response time (ms) {mean} [{mean - half:.4g}, {mean + half:.4g}]"
    )
    text = tooltip(page)
    assert name in text and f"{mean} [" in text
    page.locator("#figure-response .plot").press("Escape")
    assert tooltip(page) == "" and page.locator("#figure-response .unseen").inner_text() == ""


def test_bars_are_read_by_their_names(open_report: Open) -> None:
    page = open_report()
    assert (
        read_by_keys(page, "figure-variation", "effect B") == "with the error; effect B; share of the variation (%) 20"
    )
    page.locator("#figure-variation .plot").press("ArrowRight")
    said = page.locator("#figure-variation .unseen").inner_text()
    assert said == "without it; effect B; share of the variation (%) 23.5 [15, 30]"
    page.locator("#figure-variation summary").click()
    assert "error" in page.locator("#figure-variation .data tbody").inner_text()


def test_the_legend_picks_a_series_and_gives_the_others_back(open_report: Open) -> None:
    page = open_report()
    entry = page.locator("#figure-tail .role-legend-label text").first
    shown = (
        """() => [...document.querySelectorAll('#figure-tail .mark-line path')].map(e => +e.getAttribute('opacity'))"""
    )
    assert page.evaluate(shown) == [1, 1]
    entry.click()
    settle(page)
    first, second = page.evaluate(shown)
    assert first == 1 and second < 0.2
    entry.click()
    settle(page)
    assert page.evaluate(shown) == [1, 1]


def test_dragging_moves_the_wheel_zooms_and_a_double_click_goes_back(open_report: Open) -> None:
    page = open_report()
    box = over(page, "figure-utilisation")
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    below = page.locator("#figure-utilisation .role-axis-label").nth(0).locator("text")

    def labels() -> list[float]:
        settle(page)
        return sorted(float(text) for text in below.all_text_contents())

    whole = labels()
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 150, y, steps=4)
    page.mouse.up()
    moved = labels()
    assert moved[-1] > whole[-1]
    page.keyboard.down("Control")
    page.mouse.wheel(0, -300)
    page.keyboard.up("Control")
    near = labels()
    assert near[-1] - near[0] < moved[-1] - moved[0]
    page.mouse.dblclick(x, y)
    assert labels() == whole


def test_the_wheel_alone_scrolls_the_page(open_report: Open) -> None:
    page = open_report()
    box = over(page, "figure-response")
    before = page.evaluate("() => scrollY")
    page.mouse.move(box["x"] + 50, box["y"] + 50)
    page.mouse.wheel(0, 200)
    page.wait_for_function(f"() => scrollY > {before}")


def test_the_theme_follows_the_system_and_the_button(open_report: Open) -> None:
    ground = "() => getComputedStyle(document.body).backgroundColor"
    light, dark = open_report(color_scheme="light"), open_report(color_scheme="dark")
    colours = light.evaluate(ground), dark.evaluate(ground)
    assert colours[0] == "rgb(255, 255, 255)" and colours[1] != colours[0]
    light.get_by_role("button", name="Dark").click()
    assert light.evaluate(ground) == colours[1]
    light.get_by_role("button", name="Light").click()
    assert light.evaluate(ground) == colours[0]
    dark.get_by_role("button", name="Light").click()
    assert dark.evaluate(ground) == colours[0]


def test_drawings_follow_the_theme(open_report: Open) -> None:
    page = open_report(color_scheme="light")
    stroke = "() => getComputedStyle(document.querySelector('#figure-tail .mark-line path')).stroke"
    light = page.evaluate(stroke)
    page.get_by_role("button", name="Dark").click()
    assert page.evaluate(stroke) != light


@pytest.mark.parametrize("width", [320, 360])
def test_a_phone_needs_no_sideways_scrolling(open_report: Open, width: int) -> None:
    page = open_report(viewport={"width": width, "height": 740}, has_touch=True, is_mobile=True)
    assert page.evaluate("() => document.documentElement.scrollWidth") == width
    for plot in page.locator("figure .plot svg").all():
        assert plot.bounding_box()["width"] <= width and plot.evaluate(DRAWN) > 200
        for text in plot.locator("text").all():
            area = text.bounding_box()
            assert area is None or (area["x"] >= 0 and area["x"] + area["width"] <= width)
    box = over(page, "figure-response")
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert "response time" in tooltip(page)


def test_no_label_of_a_figure_is_cut(open_report: Open) -> None:
    page = open_report()
    for plot in page.locator("figure .plot").all():
        frame = plot.bounding_box()
        for text in plot.locator("text").all():
            box = text.bounding_box()
            if box and text.evaluate("e => e.getAttribute('opacity') !== '0'"):
                assert box["x"] >= frame["x"] - 1 and box["x"] + box["width"] <= frame["x"] + frame["width"] + 1


def test_figures_follow_the_window(open_report: Open) -> None:
    page = open_report()
    wide = page.locator("#figure-response .plot svg").bounding_box()["width"]
    assert (
        page.locator("#figure-tail .plot").get_by_text(sample.CORE0).count() == 2
    )  # in the legend and beside its curve
    page.set_viewport_size({"width": 600, "height": 900})
    page.wait_for_function("() => document.querySelector('#figure-response .plot svg').getAttribute('width') < 600")
    page.wait_for_function("() => document.querySelector('#figure-tail .plot svg').getAttribute('width') < 600")
    assert wide > 700
    assert page.evaluate("() => document.documentElement.scrollWidth") == 600
    assert page.locator("#figure-tail .plot").get_by_text(sample.CORE0).count() == 1  # no room beside it


def test_the_numbers_behind_a_figure_are_a_table(open_report: Open) -> None:
    page = open_report()
    page.locator("#figure-tail summary").click()
    rows = page.locator("#figure-tail .data tbody tr")
    tail = sample.tail()
    rows.first.wait_for()
    assert rows.count() == sum(len(s.x) for s in tail.series)
    assert page.evaluate("() => document.documentElement.scrollWidth") == 1000


def test_printed_it_is_light_and_drawn(open_report: Open) -> None:
    page = open_report(color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    stroke = page.evaluate("() => getComputedStyle(document.querySelector('#figure-tail .mark-line path')).stroke")
    assert stroke == "rgb(0, 114, 178)"  # the first colour on white
    page.emulate_media(media="screen", color_scheme="dark")
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    assert page.pdf().startswith(b"%PDF")


def test_without_scripts_it_still_reads(open_report: Open) -> None:
    page = open_report(java_script_enabled=False)
    assert page.locator("figure .plot[role=img] svg").count() == len(list(sample.document().figures()))
    for drawing in page.locator("figure .plot[role=img] svg").all():
        assert drawing.is_visible()
    assert page.locator(".verdict .headline").is_visible()
    assert page.locator("main > section table").first.is_visible()
    assert not page.locator(".theme").is_visible()
