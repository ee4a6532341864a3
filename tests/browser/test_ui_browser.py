"""The workbench in headless Chromium: a slider moves a curve, a broken model shows its line, many runs, two tabs, a lost server."""

# ruff: noqa: F811  (a fixture is an argument)
from __future__ import annotations

import fcntl
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("playwright.sync_api")

from served_ui import (  # noqa: F401  (fixtures)
    CURVE,
    EVIL,
    MANY,
    WITHOUT,
    Open,
    Served,
    browser,
    folder,
    opened,
    served,
    settled,
    slide,
)
from ui_folder import BROKEN, MM1, line, run_folder, running_run, study

pytestmark = WITHOUT
LABELS = "() => [...document.querySelectorAll('.figures figure:first-child .role-axis-label text')].map(e => e.textContent).join()"
SOJOURN = Path(sys.executable).parent / "sojourn"


def test_the_token_leaves_the_address_and_a_reload_needs_none(opened: Open, served: Served) -> None:
    page = opened()
    page.wait_for_selector("table")
    assert page.url == f"{served.root}#/" or page.url == served.root
    page.reload()
    page.wait_for_selector("table")


def test_a_slider_moves_the_curve_and_the_numbers(opened: Open) -> None:
    page = opened("#/model/one.toml")
    before = settled(page)
    curve = page.evaluate(CURVE)
    assert "20.0 ms" in page.locator(".numbers").inner_text()  # 0.01 / (1 - 0.5)
    slide(page, "classes.user.rate_per_s", 80)
    settled(page, before)
    page.get_by_text("50.0 ms").wait_for()  # 0.01 / (1 - 0.8)
    slide(page, "stations.cpu.servers", 2)
    page.wait_for_function(f"() => ({CURVE})() !== {curve!r}")
    page.get_by_role("button", name="Reset").click()
    page.get_by_text("20.0 ms").wait_for()


def test_the_drawing_stays_while_a_slider_moves_and_a_zoom_with_it(opened: Open) -> None:
    page = opened("#/model/one.toml")
    before = settled(page)
    plot = page.locator(".figures figure .plot").first
    plot.locator("svg").evaluate("e => { e.dataset.mine = 'yes'; }")
    labels = plot.locator(".role-axis-label text").all_text_contents
    wide = labels()
    box = plot.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -400)
    page.keyboard.up("Control")
    page.wait_for_function(f"() => ({LABELS})() !== {','.join(wide)!r}")
    zoomed = labels()
    slide(page, "classes.user.rate_per_s", 80)
    settled(page, before)
    assert plot.locator("svg[data-mine]").count() == 1 and labels() == zoomed


def test_the_exact_box_and_the_keys_move_a_slider_too(opened: Open) -> None:
    page = opened("#/model/one.toml")
    settled(page)
    box = page.get_by_label("rate, exact")
    box.fill("75")
    box.press("Enter")
    page.get_by_text("40.0 ms").wait_for()  # 0.01 / (1 - 0.75)
    slider = page.get_by_label("servers of cpu", exact=True)
    slider.focus()
    slider.press("ArrowRight")
    page.wait_for_function(
        "() => document.querySelector('.station').textContent.includes('38 % busy')"
    )  # 75 * 0.01 / 2


def test_a_broken_model_shows_its_line_and_a_mended_one_its_curves(opened: Open) -> None:
    page = opened("#/model/broken.toml")
    page.locator(".wrong").get_by_text("line 10").wait_for()
    assert page.locator(".lines .here").inner_text() == "10" and BROKEN.splitlines()[9] == "user = -0.01"
    page.get_by_label("model file").fill(MM1)
    settled(page)
    assert not page.locator(".wrong").is_visible()
    page.get_by_label("model file").fill(MM1.replace("[stations.cpu]", "[stations.cpu"))
    page.locator(".wrong").get_by_text("line 3").wait_for()


def test_measured_points_stand_behind_the_curve(opened: Open) -> None:
    page = opened("#/model/one.toml")
    before = settled(page)
    page.get_by_label("measured points").select_option("runs")
    settled(page, before)
    points = page.locator(".figures figure").first.locator(".mark-symbol path[aria-hidden], .mark-symbol path")
    assert points.count() >= 3


def test_what_is_copied_is_a_command_that_can_be_typed(opened: Open) -> None:
    page = opened("#/model/one.toml")
    settled(page)
    slide(page, "stations.cpu.servers", 3)
    page.get_by_role("button", name="Copy as command").click()
    assert page.locator(".copied").inner_text() == (
        "sojourn solve one.toml --vary stations.cpu.servers=3 --vary classes.user.rate_per_s=50"
    )
    page.get_by_role("button", name="Copy as Python").click()
    compile(page.locator(".copied").inner_text(), "copied", "exec")


def test_what_is_copied_of_a_fitted_model_can_be_typed(opened: Open, folder: Path, tmp_path: Path) -> None:
    for rate in range(10, 80, 10):
        run_folder(tmp_path / f"runs/rate-{rate}", float(rate))
    (tmp_path / "unknown.toml").write_text(MM1.replace("user = 0.01", "user = { free = true, start = 0.02 }"))
    words = [
        "fit",
        str(tmp_path / "runs"),
        "--model",
        str(tmp_path / "unknown.toml"),
        "--out",
        str(folder / "fitted.toml"),
    ]
    subprocess.run([SOJOURN, *words], check=True, capture_output=True)
    page = opened("#/model/fitted.toml")
    settled(page)
    page.get_by_label("x axis").select_option("stations.cpu.servers")
    page.get_by_role("button", name="Copy as command").click()
    words = shlex.split(page.locator(".copied").inner_text())
    assert words[:3] == ["sojourn", "predict", "fitted.toml"] and "rate_per_s=40" in words
    subprocess.run([SOJOURN, *words[1:]], cwd=folder, check=True, capture_output=True)


def test_a_changed_model_is_saved_as_a_new_file(opened: Open, folder: Path) -> None:
    page = opened("#/model/one.toml")
    settled(page)
    slide(page, "stations.cpu.servers", 4)
    page.once("dialog", lambda dialog: dialog.accept("four.toml"))
    page.get_by_role("button", name="Save as TOML").click()
    page.get_by_text("saved as four.toml").wait_for()
    assert "servers = 4" in (folder / "four.toml").read_text() and (folder / "one.toml").read_text() == MM1


def test_a_changed_model_can_be_taken_away_without_writing(browser: Any, folder: Path) -> None:
    it = Served(folder)
    context = browser.new_context(accept_downloads=True)
    page = context.new_page()
    page.goto(it.url + "#/model/one.toml")
    settled(page)
    slide(page, "stations.cpu.servers", 4)
    with page.expect_download() as taken:
        page.get_by_role("button", name="Download TOML").click()
    assert (
        taken.value.suggested_filename == "one-changed.toml" and "servers = 4" in Path(taken.value.path()).read_text()
    )
    context.close()
    it.end()


def test_five_hundred_runs_are_all_there(opened: Open) -> None:
    page = opened()
    rows = page.locator("section.series", has_text=re.compile("many")).locator("tbody tr")
    rows.nth(MANY - 1).wait_for()
    assert rows.count() == MANY
    page.wait_for_function(
        "() => document.querySelectorAll('section.series tbody tr .bar').length > 500", timeout=60_000
    )
    page.get_by_label("Filter runs by name").fill("run-499")
    assert page.locator("tbody tr:visible").count() == 1


def test_two_runs_side_by_side(opened: Open) -> None:
    page = opened()
    page.get_by_label("choose rate-20").check()
    page.get_by_label("choose rate-60").check()
    page.get_by_role("button", name="Compare two").click()
    page.get_by_role("heading", name="Two runs side by side").wait_for()
    page.locator(".beside").get_by_text("25.0 ms").wait_for()  # 0.01 / (1 - 0.6)
    assert page.locator(".beside").get_by_text("12.5 ms").is_visible()  # 0.01 / (1 - 0.2)


def test_a_run_that_is_being_recorded_is_followed(opened: Open, folder: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as recorder:
        run = running_run(folder / "live" / "now", 4.0, recorder.pid, [[10] * 4], load={"duration_s": 60.0})
        page = opened("#/run/live%2Fnow")
        page.get_by_text("being recorded").wait_for()
        page.get_by_text("4.00 /s").first.wait_for()
        with (run / "latency.hlog").open("a") as log:
            log.write(line(1, [10] * 7))
        page.get_by_text("7.00 /s").first.wait_for()
        recorder.communicate(b"\n")
    page.get_by_text("the run has ended").wait_for()
    page.get_by_role("button", name="Show its report").wait_for()


def test_a_study_says_what_is_left_and_what_was_predicted(opened: Open, folder: Path) -> None:
    study(folder / "studies")
    page = opened("#/studies")
    page.get_by_role("link", name="studies/shop-1").click()
    page.get_by_role("heading", name="Predicted before it was run, 1 of 2 not yet run").wait_for()
    assert (
        "2 of 4" in page.locator(".numbers").inner_text() and "nobody is at it" in page.locator(".status").inner_text()
    )
    table = page.locator("table").first.inner_text()
    assert "16.7 ms" in table and "not yet run" in table and "inside (no upper limit)" in table  # 0.01 / (1 - 0.4)
    page.get_by_text(
        "The largest error: response time at rate_per_s = 40, 16.0 ms predicted and 16.7 ms measured."
    ).wait_for()


def test_a_study_that_runs_leads_to_the_run_that_is_being_recorded(opened: Open, folder: Path) -> None:
    where = study(folder / "running")
    running_run(where / "runs/rate-60", 60.0, os.getppid(), [[10] * 4])
    held = os.open(where, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)  # as a study does
    page = opened("#/study/running%2Fshop-1")
    page.get_by_text(
        "running, about 40 s left"
    ).wait_for()  # two runs of 10 s and 20 s are over, 5 s apart, and two are left
    page.get_by_role("link", name="rate-60").click()
    page.get_by_text("being recorded").wait_for()
    page.get_by_text("4.00 /s").first.wait_for()
    os.close(held)


def test_two_tabs_do_not_disturb_each_other(opened: Open) -> None:
    one, other = opened("#/model/one.toml"), opened("#/model/one.toml")
    settled(one), settled(other)
    slide(one, "classes.user.rate_per_s", 80)
    one.get_by_text("50.0 ms").wait_for()
    assert "20.0 ms" in other.locator(".numbers").inner_text()


def test_a_hostile_folder_is_text(opened: Open) -> None:
    page = opened()
    page.get_by_text(EVIL.replace("/", "")).first.wait_for()
    page.locator("section.series", has_text=re.compile("evil")).locator("summary").first.click()
    assert page.locator("main img").count() == 0 and page.title() != "broken-in"


def test_a_stranger_is_told_to_use_the_url(browser: Any, served: Served) -> None:
    context = browser.new_context()
    page = context.new_page()
    answer = page.goto(served.root)
    assert answer.status == 403 and "the URL that sojourn ui printed" in page.content()
    context.close()


def test_a_lost_server_is_said(browser: Any, folder: Path) -> None:
    it = Served(folder)
    context = browser.new_context()
    page = context.new_page()
    page.goto(it.url)
    page.wait_for_selector("table")
    it.end()
    page.get_by_role("link", name="Runs").click()
    page.evaluate("() => { location.hash = '#/model/one.toml'; }")
    page.get_by_text("the workbench does not answer").wait_for()
    context.close()
