#!/usr/bin/env python3
"""Writes docs/howto/workbench-*.png: pages of the workbench on recorded runs. Needs chromium, as report_picture.py."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright
from report_picture import ARGS, recorded

from sojourn.cli.app import command_line

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs/howto"
WIDE, PHONE = (1100, 820), (390, 844)
MODEL = "#/model/fitted.toml"
# name → what stands behind # in the URL, what must be there, window in px, light or dark
PAGES = {
    "runs": ("", "section.series .bar >> nth=4", WIDE, "light"),
    "run": (
        "#/run/runs%2Frate-188/runs%2Frate-329/runs%2Frate-470/runs%2Frate-612/runs%2Frate-753",
        "figure [data-drawn]",
        WIDE,
        "light",
    ),
    "model": (MODEL, ".figures[data-band]", WIDE, "light"),
    "model-dark": (MODEL, ".figures[data-band]", WIDE, "dark"),
    "phone": (MODEL, ".figures[data-band]", PHONE, "dark"),
}


def main() -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit("no chromium on the path: apt install chromium")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "service"
        runs = recorded(folder / "runs")
        command_line(["fit"])(["fit", str(runs), "--out", str(folder / "fitted.toml")], standalone_mode=False)
        command = [Path(sys.executable).parent / "sojourn", "ui", folder]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as serving:
            try:
                assert serving.stdout is not None
                url = serving.stdout.readline().strip()
                with sync_playwright() as playwright:
                    browser = playwright.chromium.launch(executable_path=chromium, args=ARGS)
                    for name in PAGES:
                        taken(browser, url, name)
                    browser.close()
            finally:
                serving.terminate()


def taken(browser: Browser, url: str, name: str) -> None:
    """A page, as soon as what must be there is."""
    part, until, (width, height), scheme = PAGES[name]
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    page = context.new_page()
    page.goto(url + part)
    page.wait_for_selector(until, state="attached", timeout=60_000)
    page.wait_for_timeout(500)
    path = PICTURES / f"workbench-{name}.png"
    page.screenshot(path=path)
    context.close()
    print(f"{path}: {path.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
