#!/usr/bin/env python3
"""Writes docs/howto/report.png: the report of recorded runs, as a browser shows it. Needs chromium and playwright, as tests/browser do.

The runs are those of benches/web/recorded/2026-11-26 with interrupts on both cores; what is the same in all of
them is left out of the factors, so that names are short.
"""

from __future__ import annotations

import json
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from sojourn.cli.app import command_line

ROOT = Path(__file__).resolve().parent.parent
RUNS, SERIES = ROOT / "benches/web/recorded/2026-11-26/runs.tar.xz", "interrupts_spread-"
PICTURE = ROOT / "docs/howto/report.png"
WIDTH, HEIGHT = 760, 1000
ARGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]


def recorded(where: Path) -> Path:
    """The run folders of the series below `where`, named by their rate."""
    with tarfile.open(RUNS) as archive:
        archive.extractall(where / "all", filter="data")
    for folder in sorted((where / "all").glob(f"{SERIES}*")):
        manifest = json.loads((folder / "manifest.json").read_text())
        rate = manifest["factors"]["rate_per_s"]
        manifest["factors"] = {"rate_per_s": rate}
        (folder / "manifest.json").write_text(json.dumps(manifest))
        folder.rename(where / f"rate-{rate:g}")
    shutil.rmtree(where / "all")
    return where


def main() -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit("no chromium on the path: apt install chromium")
    with tempfile.TemporaryDirectory() as place:
        runs = recorded(Path(place) / "runs")
        fitted, report = Path(place) / "fitted.toml", Path(place) / "report.html"
        for words in (("fit", runs, "--out", fitted), ("report", runs, "--model", fitted, "--out", report)):
            command_line([words[0]])([str(word) for word in words], standalone_mode=False)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=ARGS)
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
            page.goto(report.as_uri())
            page.wait_for_selector(".role-mark path", state="attached")
            box = page.locator("figure").first.bounding_box()
            assert box is not None, "the report has a figure"
            clip = {"x": 0, "y": 0, "width": WIDTH, "height": box["y"] + box["height"] + 20}
            page.screenshot(path=PICTURE, full_page=True, clip=clip)
            browser.close()
    print(f"{PICTURE}: {PICTURE.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
