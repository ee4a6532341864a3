"""How soon the workbench answers in headless Chromium on a machine that has nothing else to do: a slider, and a folder of many runs."""

# ruff: noqa: F811  (a fixture is an argument)
from __future__ import annotations

import statistics
import sys
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("playwright.sync_api")
sys.path.append(str(Path(__file__).resolve().parents[1] / "browser"))

from served_ui import MANY, WITHOUT, Open, browser, folder, opened, served, settled, slide  # noqa: E402, F401

pytestmark = [pytest.mark.live, pytest.mark.alone, WITHOUT]
MOVES, ANSWER_MS, PAINT_MS = 21, 100.0, 1000.0


def test_a_slider_is_answered_within_100_ms_in_the_median(opened: Open) -> None:
    page = opened("#/model/one.toml")
    before, answers = settled(page), []
    for k in range(MOVES):
        slide(page, "classes.user.rate_per_s", 30 + k)
        before = settled(page, before)
        answers.append(float(page.locator(".figures").get_attribute("data-answer_ms")))
    assert statistics.median(answers) < ANSWER_MS


def test_five_hundred_runs_are_painted_within_a_second(opened: Open) -> None:
    page = opened()
    page.locator("section.series tbody tr").nth(MANY - 1).wait_for()
    paints = page.evaluate("() => performance.getEntriesByType('paint').map(one => [one.name, one.startTime])")
    assert dict(paints)["first-contentful-paint"] < PAINT_MS
    rows_ms = page.evaluate("() => +document.getElementById('main').dataset.shown_ms")
    assert rows_ms < PAINT_MS
