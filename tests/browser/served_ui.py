"""A workbench served in this process and opened in headless Chromium: fixtures of the tests beside it."""

# ruff: noqa: F811  (a fixture is an argument)
from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
uvicorn = pytest.importorskip("uvicorn")

from headless import WITHOUT, browser, sync_api  # noqa: E402, F401  (for the tests, too)
from ui_folder import run_folder, work_folder  # noqa: E402

from sojourn.ui.guard import AccessSecrets  # noqa: E402
from sojourn.ui.serve import _config, listening  # noqa: E402
from sojourn.ui.work_folder import WorkFolder  # noqa: E402
from sojourn.ui.workbench import workbench  # noqa: E402

EVIL = "<img src=x onerror=document.title='broken-in'>"
MANY = 500


class Served:
    """A workbench in a thread of this process, on a free port."""

    def __init__(self, folder: Path, write: bool = False) -> None:
        self.secret = AccessSecrets()
        self.listener = listening()
        self.listener.bind(("127.0.0.1", 0))
        self.server = uvicorn.Server(_config(workbench(WorkFolder(folder), self.secret, write)))
        self.thread = threading.Thread(target=lambda: asyncio.run(self.server.serve([self.listener])), daemon=True)
        self.thread.start()
        port = self.listener.getsockname()[1]
        self.root = f"http://127.0.0.1:{port}{self.secret.root}"
        self.url = f"{self.root}?token={self.secret.token}"

    def end(self) -> None:
        self.server.should_exit = True
        self.thread.join(20)
        self.listener.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = work_folder(tmp_path_factory.mktemp("ui") / "work")
    for k in range(MANY):
        run_folder(where / "many" / f"run-{k}", 1.0 + k / 10)
    run_folder(where / "evil" / EVIL.replace("/", ""), 10.0, reasons=[EVIL], valid=False)
    return where


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[Served]:
    it = Served(folder, write=True)
    yield it
    it.end()


Open = Callable[..., Any]


@pytest.fixture
def opened(browser: Any, served: Served) -> Iterator[Open]:
    """Opens a page of the workbench in a context of its own; in the end nothing complained, and nothing was asked of anybody else."""
    contexts: list[Any] = []
    troubles: list[str] = []

    def page_of(part: str = "", **options: Any) -> Any:
        context = browser.new_context(**({"viewport": {"width": 1280, "height": 900}} | options))
        contexts.append(context)
        context.set_default_timeout(20_000)
        page = context.new_page()
        page.on("request", lambda r: troubles.append(r.url) if not r.url.startswith((served.root, "data:")) else None)
        page.on("console", lambda m: troubles.append(f"{m.type}: {m.text}") if "status of 422" not in m.text else None)
        page.on("pageerror", lambda e: troubles.append(str(e)))
        page.goto(served.url + part)
        return page

    yield page_of
    for context in contexts:
        context.close()
    assert troubles == []


CURVE = "() => document.querySelector('.figures figure .mark-line path').getAttribute('d')"


def settled(page: Any, beyond: int = 0) -> int:
    """Waits until all figures are drawn, after the `beyond`th time."""
    page.wait_for_function(f"() => +(document.querySelector('.figures')?.dataset.settled ?? 0) > {beyond}")
    return int(page.locator(".figures").get_attribute("data-settled"))


def slide(page: Any, path: str, value: float) -> None:
    page.locator(f'[data-path="{path}"]').evaluate(
        "(e, v) => { e.value = v; e.dispatchEvent(new Event('input')); }", value
    )
