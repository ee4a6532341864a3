"""The workbench in headless Chromium: what a reader without documentation misunderstood is said (issue 34)."""

# ruff: noqa: F811  (a fixture is an argument)
from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("playwright.sync_api")

from served_ui import WITHOUT, Open, Served, browser, folder, opened, served, settled, slide  # noqa: F401  (fixtures)
from ui_folder import MM1, run_folder, study

pytestmark = WITHOUT
SOJOURN = Path(sys.executable).parent / "sojourn"


def test_a_study_counts_once_and_begins_with_what_does_not_fit(opened: Open, folder: Path) -> None:
    """40/s is inside an interval that has no upper end; the run at 60/s is not valid, and counts nowhere."""
    lines = ["a good prediction", "none of 3 models fits, do not extrapolate; the nearest is shop", "more", "even more"]
    where = study(folder / "counted", finished=True, verdict=lines)
    run_folder(where / "runs/rate-60", 60.0, section="sweep", valid=False, reasons=["not stationary"])
    page = opened("#/study/counted%2Fshop-1")
    page.locator(".counted").get_by_text("1 of 2 predicted values could be checked, 1 inside").wait_for()
    assert "(1 of them with no upper limit)" in page.locator(".counted").inner_text()
    rows = page.locator("table").first.locator("tbody tr").all_inner_texts()
    assert len(rows) == 2 and "inside (no upper limit)" in rows[0] and "not judged: the run is not valid" in rows[1]
    assert page.locator(".verdict .headline").inner_text() == lines[1] and page.locator(".verdict.warn").count() == 1
    assert page.get_by_text("a good prediction").is_visible() and not page.get_by_text("even more").is_visible()


@pytest.fixture(scope="module")
def fitted(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A fit of five valid runs of an M/M/1 with 0.01 s, beside one that is not valid."""
    for rate in range(10, 60, 10):
        run_folder(folder / f"measured/rate-{rate}", float(rate))
    run_folder(folder / "measured/rate-70", 70.0, valid=False, reasons=["not stationary"])
    unknown = tmp_path_factory.mktemp("unknown") / "unknown.toml"
    unknown.write_text(MM1.replace("user = 0.01", "user = { free = true, start = 0.02 }"))
    words = ["fit", str(folder / "measured"), "--model", str(unknown), "--out", str(folder / "measured.toml")]
    subprocess.run([SOJOURN, *words], check=True, capture_output=True)
    return "#/model/measured.toml"


def banded(page: Any, beyond: int = 0) -> int:
    page.wait_for_function(f"() => +(document.querySelector('.figures')?.dataset.band ?? 0) > {beyond}")
    return int(page.locator(".figures").get_attribute("data-band"))


def test_numbers_stand_in_the_address_and_are_named(opened: Open, served: Served, fitted: str) -> None:
    page = opened(fitted)
    before = banded(page)
    assert page.locator("p.changed").inner_text() == "" and "?" not in page.url
    slide(page, "stations.cpu.servers", 3)
    banded(page, before)
    assert page.locator("p.changed").inner_text() == "changed: servers of cpu 3" and "servers=3" in page.url
    other = page.context.new_page()
    other.goto(page.url)
    banded(other)
    assert other.get_by_label("servers of cpu, exact").input_value() == "3"
    page.get_by_role("link", name="Runs").click()
    page.wait_for_selector("section.series")
    page.evaluate("part => { location.hash = part; }", fitted)
    page.locator("p.changed").get_by_text("servers of cpu 3").wait_for()
    page.get_by_role("button", name="Reset").click()
    page.wait_for_function("() => !location.hash.includes('?')")


def test_measured_points_of_other_numbers_say_so_and_the_axis_reaches_saturation(opened: Open, fitted: str) -> None:
    page = opened(fitted)
    before = banded(page)
    slide(page, "stations.cpu.servers", 3)
    banded(page, before)
    page.locator(".figures figure").first.get_by_text("measured with the fitted numbers").first.wait_for()
    ends = page.locator(".figures figure").first.locator(".role-axis-label text").all_text_contents()
    assert "300" in ends and "600" not in ends  # three servers of 0.01 s saturate at 300/s
    page.get_by_role("button", name="Reset").click()
    page.wait_for_function("() => !document.querySelector('.figures.changed')")


def test_a_number_without_its_interval_is_provisional(opened: Open, fitted: str) -> None:
    page = opened()
    page.wait_for_selector("section.series")
    page.route("**/api/band", lambda route: None)  # no answer yet
    page.evaluate("part => { location.hash = part; }", fitted)
    settled(page)
    numbers = page.locator(".right .numbers dd")
    assert all("about" in text for text in numbers.all_inner_texts())
    assert numbers.evaluate_all("all => all.map(e => getComputedStyle(e).fontWeight)") == ["400"] * numbers.count()
    page.unroute("**/api/band")
    page.reload()
    banded(page)
    assert "saturates at" in page.locator(".right .numbers").inner_text()
    assert "(90 %: " in page.locator(".right .numbers").inner_text() and "about" not in numbers.all_inner_texts()


def test_the_chart_says_which_run_is_not_drawn(opened: Open, fitted: str) -> None:
    page = opened(fitted)
    banded(page)
    assert page.get_by_label("measured points").input_value() == "measured"
    page.get_by_text("1 of 6 runs not valid, not used:").wait_for()
    page.get_by_role("link", name="rate-70").click()
    page.wait_for_url("**rate-70")


def test_a_command_works_with_the_file_that_was_downloaded(opened: Open, fitted: str, tmp_path: Path) -> None:
    page = opened(fitted, accept_downloads=True)
    before = banded(page)
    slide(page, "classes.user.rate_per_s", 50)
    slide(page, "stations.cpu.servers", 2)
    banded(page, before)
    for button, name, verb in (
        ("Download the fit", "measured.toml", "predict"),
        ("Download TOML", "measured-changed.toml", "solve"),
    ):
        with page.expect_download() as taken:
            page.get_by_role("button", name=button).click()
        assert taken.value.suggested_filename == name
        taken.value.save_as(tmp_path / name)
        words = shlex.split(page.locator(".copied").inner_text())
        assert words[:3] == ["sojourn", verb, name]
        told = subprocess.run(
            [SOJOURN, *words[1:], "--json"], cwd=tmp_path, check=True, capture_output=True, text=True
        ).stdout
        assert "10.6" in told or "0.0106" in told  # M/M/2 with 0.01 s at 50/s: 0.01 / (1 - 0.25**2) s
    assert "holds rate 50.0 /s, servers of cpu 2, and no intervals" in page.locator(".copied + .note").inner_text()


def test_runs_and_models_lead_to_each_other(opened: Open, fitted: str) -> None:
    page = opened()
    section = page.locator("section.series").filter(has=page.get_by_role("heading", name="measured", exact=False))
    section.get_by_text("fitted from these runs:").wait_for()
    assert "6 runs, 1 not valid" in section.locator("h2").inner_text()
    section.get_by_role("link", name="measured.toml").click()
    banded(page)
    page.get_by_role("link", name="Models").first.click()
    page.get_by_text("measured.toml: fitted from measured").wait_for()


def test_a_plan_explains_its_words_and_has_no_success_where_nothing_was_measured(opened: Open, fitted: str) -> None:
    """One server of 0.01 s at 50/s takes 20 ms; two, which were never measured, take 10.7 ms."""
    page = opened(fitted)
    before = banded(page)
    slide(page, "classes.user.rate_per_s", 50)
    banded(page, before)
    page.locator(".planner > summary").click()
    page.get_by_label("objective").fill("mean < 15ms")
    page.get_by_role("button", name="Find the cheapest").click()
    page.locator(".planner .headline").get_by_text("no configuration within the measured range").wait_for()
    assert page.locator(".planner .verdict.warn").count() == 1
    page.get_by_text("What the words mean").click()
    assert "numbers of the model that agree with the measurements" in page.locator(".planner .words-list").inner_text()
    assert page.locator(".planner abbr[title]", has_text="draws").count() > 0
    assert "of the mean over a long time" in page.locator(".planner").inner_text()
