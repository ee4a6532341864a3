#!/usr/bin/env python3
"""Writes docs/howto/workbench-*.png: pages of the workbench on recorded runs. Needs chromium, as report_picture.py."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright
from report_picture import ARGS, recorded

from sojourn.cli.app import command_line

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs/howto"
WIDTH, HEIGHT = 1100, 820


def main() -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit("no chromium on the path: apt install chromium")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "service"
        runs = recorded(folder / "runs")
        command_line(["fit"])(["fit", str(runs), "--out", str(folder / "fitted.toml")], standalone_mode=False)
        serving = subprocess.Popen(
            [Path(sys.executable).parent / "sojourn", "ui", folder], stdout=subprocess.PIPE, text=True
        )
        try:
            assert serving.stdout is not None
            url = serving.stdout.readline().strip()
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=chromium, args=ARGS)
                page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
                taken(page, url, "runs", "section.series .bar >> nth=4")
                taken(page, f"{url}#/model/fitted.toml", "model", ".figures[data-band]")
                browser.close()
        finally:
            serving.terminate()
            serving.wait(20)


def taken(page: Page, url: str, name: str, until: str) -> None:
    """The page at `url`, as soon as `until` is there."""
    page.goto("about:blank")
    page.goto(url)
    page.wait_for_selector(until, state="attached", timeout=60_000)
    page.wait_for_timeout(500)
    path = PICTURES / f"workbench-{name}.png"
    page.screenshot(path=path)
    print(f"{path}: {path.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
