"""How soon the workbench answers in headless Chromium on a machine that has nothing else to do: a slider, and a folder of many runs."""

# ruff: noqa: F811  (a fixture is an argument)
from __future__ import annotations

import statistics
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("playwright.sync_api")
sys.path.append(str(Path(__file__).resolve().parents[1] / "browser"))

from served_ui import MANY, WITHOUT, Open, Served, browser, folder, opened, served, settled, slide  # noqa: F401

pytestmark = [pytest.mark.live, pytest.mark.alone, WITHOUT]
MOVES, ANSWER_MS, PAINT_MS = 21, 100.0, 1000.0

ALL_ROWS = """new MutationObserver((_, watch) => {
  if (document.querySelectorAll("section.series tbody tr").length < %d) return;
  watch.disconnect();
  requestAnimationFrame(() => setTimeout(() => { window.painted_ms = performance.now(); }));
}).observe(document, {childList: true, subtree: true});"""


def test_a_slider_is_answered_within_100_ms_in_the_median(opened: Open) -> None:
    page = opened("#/model/one.toml")
    before, answers = settled(page), []
    for k in range(MOVES):
        slide(page, "classes.user.rate_per_s", 30 + k)
        before = settled(page, before)
        answers.append(float(page.locator(".figures").get_attribute("data-answer_ms")))
    assert statistics.median(answers) < ANSWER_MS


def test_five_hundred_runs_are_painted_within_a_second(browser: Any, served: Served) -> None:
    """The frame after the one in which all rows are there, from the moment when the page was asked for."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.add_init_script(ALL_ROWS % MANY)
    page.goto(served.url)
    page.wait_for_function("() => window.painted_ms > 0")
    painted_ms = page.evaluate("() => window.painted_ms")
    context.close()
    assert painted_ms < PAINT_MS
