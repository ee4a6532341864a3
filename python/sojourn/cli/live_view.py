"""The live view of a load in the terminal; without a terminal, nothing but what stays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn

from sojourn.terminal import SafeConsole
from sojourn.units import seconds


class LiveView:
    """Shows progress events of the generator."""

    def __init__(self, title: str, console: Console) -> None:
        self.console = console
        columns: list[ProgressColumn] = [
            TextColumn("{task.description}", markup=False), BarColumn(bar_width=24), TextColumn("{task.fields[left]}"),
            TextColumn("{task.fields[text]}", markup=False),
        ]  # fmt: skip
        self._progress = Progress(*columns, console=console, transient=True) if console.is_terminal else None
        self._task = self._progress.add_task(title, total=1.0, text="", left="") if self._progress else None

    def say(self, text: str) -> None:
        """A line that stays, above the live view."""
        self.console.print(text, soft_wrap=True, markup=False, highlight=False)

    def __call__(self, event: dict[str, Any]) -> None:
        text = event.get("text") or (
            f"{event.get('rate_per_s', 0):.0f}/s  p50 {seconds(event.get('p50_s'))}  p99 {seconds(event.get('p99_s'))}  "
            f"failed {event.get('failed', 0)}  in flight {event.get('in_flight', 0)}"
        )
        elapsed, total = event.get("elapsed_s", 0.0), event.get("duration_s", 1.0)
        left = f"{max(total - elapsed, 0.0):.0f} s left"
        if self._progress and self._task is not None:
            self._progress.update(self._task, completed=min(elapsed / total, 1.0), text=text, left=left)


@contextmanager
def live(title: str, console: Console | None = None) -> Iterator[LiveView]:
    """A live view on standard error."""
    view = LiveView(title, console or SafeConsole(stderr=True))
    if view._progress:
        with view._progress:
            yield view
    else:
        yield view
