"""How long a slider of the workbench takes until its curve is drawn, and its first page until all rows of 500 runs are, in headless
Chromium; of another checkout in turn.

    python benches/workbench/sliders.py [--moves 30] [--beside FOLDER] [--out FOLDER]

`--beside`: a folder `python` of another checkout, built. Models: two examples without users, one with, and a fit to recorded runs.
"""

from __future__ import annotations

import argparse
import csv
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests/unit"), str(ROOT)]

from screens import ARGS, recorded  # noqa: E402
from ui_folder import run_folder  # noqa: E402

from benches.record import describe  # noqa: E402
from sojourn.cli.app import command_line  # noqa: E402

EXAMPLES = ("counter", "site", "shop")
BLOCK = 5  # moves in turn
RUNS = 500
ALL_ROWS = """new MutationObserver((_, watch) => {
  if (document.querySelectorAll("section.series tbody tr").length < %d) return;
  watch.disconnect();
  requestAnimationFrame(() => setTimeout(() => { window.painted_ms = performance.now(); }));
}).observe(document, {childList: true, subtree: true});"""
MOVE = """([path, share]) => new Promise((done, failed) => {
  const slider = document.querySelector(`[data-path="${path}"]`), figures = document.querySelector(".figures");
  const before = figures.dataset.settled, late = setTimeout(() => failed(new Error("no answer within 20 s")), 20000);
  const look = new MutationObserver(() => {
    if (figures.dataset.settled === before) return;
    look.disconnect(); clearTimeout(late); done(+figures.dataset.answer_ms);
  });
  look.observe(figures, {attributes: true});
  slider.value = +slider.min + share * (slider.max - slider.min);
  slider.dispatchEvent(new Event("input"));
})"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moves", type=int, default=30, help="of each kind of slider")
    parser.add_argument("--beside", default="", help="a folder `python` of another checkout")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    codes = {"this": ""} | ({"beside": given.beside} if given.beside else {})
    with ExitStack() as stack:
        folder = work_folder(Path(stack.enter_context(tempfile.TemporaryDirectory())))
        browser = stack.enter_context(sync_playwright()).chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("chromium-browser"), args=ARGS
        )
        urls = {name: served(stack, folder, code) for name, code in codes.items()}
        rows = [row for model in (*EXAMPLES, "fitted") for row in measured(browser, urls, model, given.moves)]
        many = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for k in range(RUNS):
            run_folder(many / "many" / f"run-{k}", 1.0 + k / 10)
        urls = {name: served(stack, many, code) for name, code in codes.items()}
        rows += [
            {"model": f"{RUNS} runs", "slider": "first page", "code": name, "ms": painted_ms(browser, url)}
            for _ in range(BLOCK)
            for name, url in urls.items()
        ]
    print(summary(rows))
    if given.out:
        describe(given.out, {"load": lambda: " ".join(f"{x:.1f}" for x in os.getloadavg())})
        with open(given.out / "raw.csv", "w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


def work_folder(where: Path) -> Path:
    runs = recorded(where / "runs")
    command_line(["fit"])(["fit", str(runs), "--out", str(where / "fitted.toml")], standalone_mode=False)
    for name in EXAMPLES:
        shutil.copy(ROOT / f"examples/{name}.toml", where)
    return where


def served(stack: ExitStack, folder: Path, code: str) -> str:
    """The URL of a workbench that runs `code`, and ends with the stack."""
    environment = os.environ | ({"PYTHONPATH": code} if code else {})
    command = [sys.executable, "-m", "sojourn", "ui", str(folder)]
    serving = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment))
    stack.callback(serving.terminate)
    assert serving.stdout is not None
    return serving.stdout.readline().strip()


def measured(browser: Any, urls: dict[str, str], model: str, moves: int) -> list[dict[str, Any]]:
    """Moves of the load's slider, and of the first other one, each code in turn."""
    pages = {code: browser.new_page(viewport={"width": 1280, "height": 900}) for code in urls}
    for code, page in pages.items():
        page.goto(f"{urls[code]}#/model/{model}.toml")
        page.wait_for_selector(".figures[data-settled]", timeout=60_000, state="attached")
        rested(page)
    paths = next(iter(pages.values())).locator("[data-path]").evaluate_all("all => all.map(e => e.dataset.path)")
    load = [path for path in paths if path.endswith((".rate_per_s", ".population"))]
    kinds = {"load": load[0], "other": next(path for path in paths if path not in load)}
    rows = []
    for start in range(0, moves, BLOCK):
        for code, page in pages.items():
            for kind, path in kinds.items():
                for k in range(start, min(start + BLOCK, moves)):
                    share = 0.15 + 0.3 * ((k * 7) % moves) / moves
                    rows.append(
                        {"model": model, "slider": kind, "code": code, "ms": page.evaluate(MOVE, [path, share])}
                    )
            rested(page)
    for page in pages.values():
        page.close()
    return rows


def painted_ms(browser: Any, url: str) -> float:
    """The frame after the one in which all rows are there, from the moment when the page was asked for."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.add_init_script(ALL_ROWS % RUNS)
    page.goto(url)
    page.wait_for_function("() => window.painted_ms > 0")
    took = page.evaluate("() => window.painted_ms")
    page.close()
    return round(took, 1)


def rested(page: Any) -> None:
    """Until the band of a fit is there: the next code's moves are not slowed by it."""
    page.wait_for_timeout(400)  # the page asks for a band after 250 ms
    page.wait_for_function("() => document.querySelector('.figures').dataset.waiting !== 'band'", timeout=60_000)


def summary(rows: list[dict[str, Any]]) -> str:
    keys = dict.fromkeys((row["model"], row["slider"], row["code"]) for row in rows)
    lines = ["| model | slider | code | median, ms | largest |", "|---|---|---|---|---|"]
    for key in keys:
        own = sorted(row["ms"] for row in rows if (row["model"], row["slider"], row["code"]) == key)
        lines.append(f"| {' | '.join(key)} | {statistics.median(own):.0f} | {own[-1]} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
