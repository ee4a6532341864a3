"""The workbench in headless Chromium: what a reader without documentation misunderstood is said (issue 34)."""

# ruff: noqa: F811  (a fixture is an argument)
from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("playwright.sync_api")

from served_ui import WITHOUT, Open, browser, folder, opened, served  # noqa: F401  (fixtures)
from ui_folder import run_folder, study

pytestmark = WITHOUT


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
