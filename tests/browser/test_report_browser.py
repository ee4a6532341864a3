"""The report in headless Chromium: it draws, answers mouse and keys, follows the theme, fits a phone, asks nobody."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sojourn.report import write_html

sys.path.insert(0, str(Path(__file__).parent))
import sample

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on the path: apt install chromium")
ARGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--no-first-run"]

Open = Callable[..., Any]
# share of a canvas that is not transparent; read from a copy, since reading slows a canvas and the browser says so
INK = """c => {
  const copy = Object.assign(document.createElement('canvas'), { width: c.width, height: c.height });
  const ctx = copy.getContext('2d', { willReadFrequently: true });
  ctx.drawImage(c, 0, 0);
  const d = ctx.getImageData(0, 0, c.width, c.height).data;
  let n = 0;
  for (let i = 3; i < d.length; i += 4) n += d[i] > 0;
  return n / (c.width * c.height);
}"""


def settle(page: Any) -> None:
    """Waits until what was asked for is drawn."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_html(sample.document(), tmp_path_factory.mktemp("report") / "report.html")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS, timeout=30_000)
        yield browser
        browser.close()


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
            page.wait_for_selector("#figure-tail canvas")
            settle(page)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert troubles == []


def over(page: Any, figure: str) -> dict[str, float]:
    """The plotting area of a figure, scrolled into view, in CSS pixels."""
    area = page.locator(f"#{figure} .u-over")
    area.scroll_into_view_if_needed()
    return area.bounding_box()


def legend(page: Any, figure: str) -> list[str]:
    return page.locator(f"#{figure} .legend .value").all_text_contents()


def test_every_figure_is_drawn(open_report: Open) -> None:
    page = open_report()
    assert page.locator("figure").count() == len(list(sample.document().figures()))
    for canvas in page.locator("figure canvas").all():
        assert canvas.evaluate(INK) > 0.005
    assert page.locator(".verdict .headline").inner_text() == sample.document().verdict[0]


def test_the_mouse_reads_values_of_every_series(open_report: Open) -> None:
    page = open_report()
    assert legend(page, "figure-response") == [""] * 4
    box = over(page, "figure-response")
    seen = []
    for share in (0.3, 0.5):
        page.mouse.move(box["x"] + share * box["width"], box["y"] + 0.5 * box["height"])
        settle(page)
        seen.append(legend(page, "figure-response"))
    assert seen[0] != seen[1] and seen[0][0] and seen[0][2]
    assert "[" in seen[0][0]  # the model's interval
    page.mouse.move(1, 1)
    settle(page)
    assert legend(page, "figure-response") == [""] * 4


def test_a_measured_point_gives_its_own_numbers(open_report: Open) -> None:
    page = open_report()
    plot = page.locator("#figure-response .plot")
    plot.focus()
    plot.press("Home")
    for _ in range(200):
        if page.locator("#figure-response .x-label").inner_text().endswith("= 150"):
            break
        plot.press("ArrowRight")
    rate, mean, half = sample.ON_CORE0[0]
    assert legend(page, "figure-response")[1] == f"at {rate}: {mean:.2f} [{mean - half:.2f}, {mean + half:.2f}]"
    assert f"{mean:.2f}" in page.locator("#figure-response .unseen").inner_text()
    plot.press("Escape")
    assert legend(page, "figure-response")[1] == ""


def test_bars_are_read_by_their_names(open_report: Open) -> None:
    page = open_report()
    plot = page.locator("#figure-variation .plot")
    plot.focus()
    plot.press("Home")
    plot.press("ArrowRight")
    assert page.locator("#figure-variation .x-label").inner_text().endswith("= B")
    assert legend(page, "figure-variation") == ["at B: 20", "at B: 23.5 [15.0, 30.0]"]
    page.locator("#figure-variation summary").click()
    assert "error" in page.locator("#figure-variation .data tbody").inner_text()


def test_the_legend_hides_a_series_and_brings_it_back(open_report: Open) -> None:
    page = open_report()
    canvas, button = page.locator("#figure-tail canvas"), page.locator("#figure-tail .legend button").first
    before = canvas.evaluate(INK)
    button.press("Enter")
    settle(page)
    hidden = canvas.evaluate(INK)
    assert button.get_attribute("aria-pressed") == "false" and hidden < before
    button.click()
    settle(page)
    assert canvas.evaluate(INK) > hidden


def test_dragging_zooms_and_a_double_click_goes_back(open_report: Open) -> None:
    page = open_report()
    box = over(page, "figure-utilisation")
    middle = box["y"] + box["height"] / 2

    def rate_at(share: float) -> float:
        page.mouse.move(box["x"] + share * box["width"], middle)
        settle(page)
        return float(page.locator("#figure-utilisation .x-label").inner_text().split("=")[1])

    whole = rate_at(0.9) - rate_at(0.1)
    page.mouse.move(box["x"] + 0.3 * box["width"], middle)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.6 * box["width"], middle, steps=4)
    page.mouse.up()
    settle(page)
    box = over(page, "figure-utilisation")
    assert rate_at(0.9) - rate_at(0.1) < whole / 2
    page.mouse.dblclick(box["x"] + 0.5 * box["width"], middle)
    settle(page)
    box = over(page, "figure-utilisation")
    assert rate_at(0.9) - rate_at(0.1) == pytest.approx(whole, rel=0.02)


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


@pytest.mark.parametrize("width", [320, 360])
def test_a_phone_needs_no_sideways_scrolling(open_report: Open, width: int) -> None:
    page = open_report(viewport={"width": width, "height": 740}, has_touch=True, is_mobile=True)
    assert page.evaluate("() => document.documentElement.scrollWidth") == width
    for canvas in page.locator("figure canvas").all():
        assert canvas.bounding_box()["width"] <= width and canvas.evaluate(INK) > 0.005
    box = over(page, "figure-response")
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    settle(page)
    assert any(legend(page, "figure-response"))


def test_figures_follow_the_window(open_report: Open) -> None:
    page = open_report()
    wide = page.locator("#figure-response canvas").bounding_box()["width"]
    page.set_viewport_size({"width": 600, "height": 900})
    page.wait_for_function("() => document.querySelector('#figure-response canvas').clientWidth < 600")
    assert wide > 700
    assert page.evaluate("() => document.documentElement.scrollWidth") == 600


def test_the_numbers_behind_a_figure_are_a_table(open_report: Open) -> None:
    page = open_report()
    page.locator("#figure-tail summary").click()
    rows = page.locator("#figure-tail .data tbody tr")
    tail = sample.tail()
    assert rows.count() == sum(len(s.x) for s in tail.series)
    assert page.evaluate("() => document.documentElement.scrollWidth") == 1000


def test_printed_it_is_light_and_drawn(open_report: Open) -> None:
    page = open_report(color_scheme="dark")
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    assert page.pdf().startswith(b"%PDF")


def test_without_scripts_it_still_reads(open_report: Open) -> None:
    page = open_report(java_script_enabled=False)
    assert page.locator("figure svg[role=img]").count() == len(list(sample.document().figures()))
    for drawing in page.locator("figure svg[role=img]").all():
        assert drawing.is_visible()
    assert page.locator(".verdict .headline").is_visible()
    assert page.locator("main > section table").first.is_visible()
    assert not page.locator(".theme").is_visible()
