"""The workbench in headless Chromium: the front of a plan as points to click, and all runs of two folders compared."""

# ruff: noqa: F811  (a fixture is an argument)
from __future__ import annotations

import shlex
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("playwright.sync_api")

from served_ui import WITHOUT, Open, browser, folder, opened, served, settled, slide  # noqa: F401  (fixtures)
from ui_folder import run_folder

pytestmark = WITHOUT


def test_the_front_of_a_plan_is_points_to_click(opened: Open) -> None:
    page = opened("#/model/one.toml")
    settled(page)
    slide(page, "classes.user.rate_per_s", 150)
    page.locator(".planner > summary").click()
    page.get_by_label("objective").fill("mean < 30ms")
    page.get_by_role("button", name="Find the cheapest").click()
    page.locator(".planner .headline").get_by_text("stations.cpu.servers = 2").wait_for()  # M/M/2: 22.9 ms
    page.locator(".planner tr.chosen").get_by_role("button", name="show").click()
    page.locator(".numbers").get_by_text("22.9 ms").wait_for()
    assert page.get_by_label("servers of cpu, exact").input_value() == "2"
    page.wait_for_selector(".planner figure [data-drawn]", state="attached")
    page.locator(".planner figure .mark-symbol.role-mark path").nth(1).click(force=True)
    page.wait_for_function("() => document.querySelector('[aria-label=\"servers of cpu, exact\"]').value === '3'")
    words = shlex.split(page.locator(".planner pre").inner_text())
    assert words[:3] == ["sojourn", "plan", "one.toml"] and "classes.user.rate_per_s=150" in words


def test_all_runs_of_two_folders_are_compared(opened: Open, folder: Path) -> None:
    for side, service_s in (("old", 0.01), ("new", 0.005)):
        for number in range(3):
            run_folder(folder / side / f"run-{number}", 20.0, service_s)
    page = opened()
    for side in ("old", "new"):
        page.get_by_label(f"choose all of {side}").check()
    page.get_by_role("button", name="Compare old with new").click()
    page.get_by_role("heading", name="A: 3 runs of old; B: 3 runs of new").wait_for()
    page.locator(".verdict .headline").get_by_text(
        "new is better: mean response time"
    ).wait_for()  # 12.5 ms and 5.56 ms
    page.evaluate("() => { location.hash = '#/compare/old%2Frun-0/new%2Frun-0'; }")
    page.get_by_role("link", name="Compare all 3 runs of old with all 3 of new").click()
    page.get_by_role("heading", name="A: 3 runs of old; B: 3 runs of new").wait_for()
