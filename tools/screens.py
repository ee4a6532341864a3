#!/usr/bin/env python3
"""Writes docs/howto/screens.md and docs/howto/screens/*.webp: the first screen of each report and each page of the workbench, wide and
narrow, light and dark. Needs chromium and playwright, as tests/browser do.

The runs are those of benches/web/recorded/2026-11-26 and, where their requests are needed, simulated ones.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

import sojourn as sj
from sojourn.capacity import capacity_document, capacity_of_runs
from sojourn.cli.app import command_line
from sojourn.compare import compare
from sojourn.compare.comparison_report import comparison_document
from sojourn.report import write_html
from sojourn.simulate.simulated_run import as_run
from sojourn.study import run_study

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/unit"))
from ui_folder import running_run, study  # noqa: E402

PAGE, PICTURES = ROOT / "docs/howto/screens.md", ROOT / "docs/howto/screens"
SCREENS = {"1280": (1280, 800), "390": (390, 844)}
QUALITY = 30
RECORDED, SERIES = ROOT / "benches/web/recorded/2026-11-26/runs.tar.xz", "interrupts_spread-"
ARGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
RUNS = "/".join(f"runs%2Frate-{rate}" for rate in (188, 329, 470, 612, 753))
# report → what it is of
REPORTS = {
    "one-run": "`sojourn report` of one run (simulated)", "runs": "`sojourn report` of some runs", "model": "`sojourn report --model`",
    "study": "`sojourn study` (of a simulated system)", "capacity": "`sojourn capacity` (from simulated runs)",
    "compare": "`sojourn compare --html` (simulated runs)", "design": "`sojourn design analyse`", "oscillation": "`sojourn oscillation`",
}  # fmt: skip
# page of the workbench → what it is of, what stands behind # in its URL, what must be there
WORKBENCH = {
    "ui-runs": ("the runs of a folder", "", "section.series > p:not([hidden]) a"),
    "ui-one-run": ("one run", "#/run/simulated", "article figure [data-drawn]"),
    "ui-report": ("a report of some runs", f"#/run/{RUNS}", "article figure [data-drawn]"),
    "ui-compare": ("two runs side by side", "#/compare/a%2F1/b%2F1", "figure [data-drawn]"),
    "ui-model": ("a fitted model", "#/model/fitted.toml", ".figures[data-band]"),
    "ui-plan": ("the plan of a model", "#/model/fitted.toml", ".figures[data-band]"),
    "ui-models": ("the models of a folder", "#/models", "ul.plain .muted:not(:empty)"),
    "ui-studies": ("the studies of a folder", "#/studies", "ul.plain a"),
    "ui-study": ("a study that is running", "#/study/studies%2Fshop-1", "progress"),
    "ui-live": ("a run that is being recorded", "#/run/live", "main[data-live='30']"),
}
SHOP = """name = "shop"
[stations.cpu]
servers = 2
[classes.user]
kind = "open"
rate_per_s = %.1f
[demands_s]
cpu = { user = %s }
"""
STUDY = """name = "shop"
[system]
kind = "virtual"
model = "truth.toml"
[load]
for = "60s"
[[section]]
name = "ramp"
vary = { rate_per_s = "20..60:20" }
[fit]
model = "shop.toml"
[[predict]]
name = "more"
vary = { rate_per_s = [70, 80, 90] }
"""


def main() -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit("no chromium on the path: apt install chromium")
    shutil.rmtree(PICTURES, ignore_errors=True)
    PICTURES.mkdir()
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        folder = Path(place) / "service"
        reports = made(folder)
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGS)
        for name, path in reports.items():
            taken(browser, path.as_uri(), name, "main")
        for url in served(folder):
            for name, (_, part, until) in WORKBENCH.items():
                taken(browser, url + part, name, until)
        browser.close()
    PAGE.write_text("\n".join(page()) + "\n")
    print(f"{sum(path.stat().st_size for path in PICTURES.iterdir()) / 1e6:.2f} MB")


def recorded(where: Path) -> Path:
    """The run folders of the series below `where`, named by their rate; what is the same in all of them is no factor, so that names are
    short."""
    with tarfile.open(RECORDED) as archive:
        archive.extractall(where / "all", filter="data")
    for folder in sorted((where / "all").glob(f"{SERIES}*")):
        manifest = json.loads((folder / "manifest.json").read_text())
        rate = manifest["factors"]["rate_per_s"]
        manifest["factors"] = {"rate_per_s": rate}
        (folder / "manifest.json").write_text(json.dumps(manifest))
        folder.rename(where / f"rate-{rate:g}")
    shutil.rmtree(where / "all")
    return where


def said(*words: object) -> None:
    command_line([str(words[0])])([str(word) for word in words], standalone_mode=False)


def made(folder: Path) -> dict[str, Path]:
    """The folder for the workbench, and each report."""
    found = {name: folder.parent / f"{name}.html" for name in REPORTS}
    runs = recorded(folder / "runs")
    said("fit", runs, "--out", folder / "fitted.toml")
    said("report", runs, "--out", found["runs"])
    said("report", runs, "--model", folder / "fitted.toml", "--out", found["model"])
    simulated = as_run(sj.Model.parse(SHOP % (75, 0.02)), folder / "simulated", until_s=120.0, seed=1)
    simulated.manifest["objectives"] = [{"objective": "p99 < 150ms", "met": True}]
    simulated.save()
    said("report", folder / "simulated", "--out", found["one-run"])
    for side, service_s in (("a", 0.02), ("b", 0.0215)):
        for number in range(1, 5):
            as_run(sj.Model.parse(SHOP % (70, service_s)), folder / side / str(number), until_s=100.0, seed=number)
    write_html(comparison_document(compare(folder / "a", folder / "b")), found["compare"])
    steps = folder.parent / "steps"
    for rate in (20, 40, 60, 75, 85):
        as_run(sj.Model.parse(SHOP % (rate, 0.02)), steps / f"rate-{rate}", until_s=200.0, seed=rate)
    write_html(capacity_document(capacity_of_runs([steps], "p99 < 150ms"), "a shop"), found["capacity"])
    plan = folder.parent / "plan"
    plan.mkdir()
    (plan / "truth.toml").write_text(SHOP % (30, 0.02))
    (plan / "shop.toml").write_text(SHOP % (30, "{ free = true }"))
    (plan / "study.toml").write_text(STUDY)
    run_study(plan / "study.toml", out=plan / "out", say=lambda _: None)
    shutil.copy(plan / "out/report.html", found["study"])
    rows = [f"{cores},{cache},{10 * cores + 4 * cache + k}" for cores in (1, 2) for cache in (0, 1) for k in (0, 1)]
    (plan / "runs.csv").write_text("\n".join(["cores,cache,throughput", *rows]))
    said("design", "analyse", plan / "runs.csv", "--response", "throughput", "--out", found["design"])
    shares = [f"{0.95 if k % 2 else 0.2},{0.2 if k % 2 else 0.95}" for k in range(600)]
    (plan / "shares.csv").write_text("\n".join(["app,db", *shares]))
    which = ("--resource-a", "app", "--resource-b", "db", "--sample-interval", "100ms")
    with contextlib.chdir(plan):  # the report names the file as it was given
        said("oscillation", "shares.csv", *which, "--out", found["oscillation"])
    study(folder / "studies")
    times = [[10 + (k * m) % 17 for m in range(50)] for k in range(30)]
    running_run(folder / "live", 50.0, os.getpid(), times, load={"duration_s": 600.0})
    return found


def served(folder: Path) -> Iterator[str]:
    """The URL of the workbench, while it is up and the study is held as by a process that runs it."""
    held = os.open(folder / "studies/shop-1", os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    command = [Path(sys.executable).parent / "sojourn", "ui", folder]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as serving:
        try:
            assert serving.stdout is not None
            yield next(one.strip() for one in serving.stdout if one.startswith("http"))
        finally:
            serving.terminate()
            os.close(held)


def taken(browser: Browser, url: str, name: str, until: str) -> None:
    """The first screen, wide and narrow, light and dark, as soon as what must be there is."""
    for width, (width_px, height_px) in SCREENS.items():
        for scheme in ("light", "dark"):
            context = browser.new_context(viewport={"width": width_px, "height": height_px}, color_scheme=scheme)  # type: ignore[arg-type]
            page = context.new_page()
            page.goto(url)
            page.wait_for_selector(until, state="attached", timeout=60_000)
            if name == "ui-plan":
                planned(page)
            page.wait_for_timeout(300)
            shot = context.new_cdp_session(page).send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY})
            (PICTURES / f"{name}-{width}-{scheme}.webp").write_bytes(base64.b64decode(shot["data"]))
            context.close()


def planned(page: Page) -> None:
    """As a user presses it."""
    page.locator(".planner > summary").click()
    page.get_by_role("button", name="Find the cheapest").click()
    page.wait_for_selector(".planner [data-drawn]", state="attached", timeout=60_000)
    page.locator(".planner").evaluate("one => one.scrollIntoView()")


def page() -> Iterator[str]:
    yield "# Pictures of all reports and pages"
    yield ""
    yield "<!-- written by tools/screens.py -->"
    yield "These pictures show the first screen of each report, and of each page of [the workbench](workbench.md)."
    yield "They are 1280 or 390 pixels wide, and light or dark."
    yield "The runs were recorded for the web study (`benches/web/recorded/2026-11-26`), or simulated where the caption says so."
    yield "The run that is being recorded, and the study that is running, are made up."
    for title, about in (("Reports", REPORTS), ("The workbench", {name: one[0] for name, one in WORKBENCH.items()})):
        yield f"\n## {title}"
        for name, what in about.items():
            yield f"\n### {what[0].upper() + what[1:]}\n"
            for width in SCREENS:
                yield from (
                    f"![{what.replace('`', '')}, {width} px wide, {scheme}](screens/{name}-{width}-{scheme}.webp)"
                    for scheme in ("light", "dark")
                )


if __name__ == "__main__":
    main()
