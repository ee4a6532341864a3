"""A bar on a terminal that shows how near the precision is; nothing where standard error is no terminal."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from sojourn.simulate.simulate import ProgressSnapshot
from sojourn.terminal import SafeConsole
from sojourn.units import percent, seconds


@contextmanager
def bar(console: Console | None = None) -> Iterator[Callable[[ProgressSnapshot], None] | None]:
    """Gives the function that `simulate` takes as `progress`; None where nobody would see it."""
    console = console or SafeConsole(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = (TextColumn("simulating"), BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as shown:
        task = shown.add_task("", total=1.0)
        yield lambda look: shown.update(task, completed=share(look), description=text(look))


def share(look: ProgressSnapshot) -> float:
    """Part of the work that is done, in [0, 1]: the half-width shrinks with the square root of the length."""
    if not math.isfinite(look.precision) or look.precision <= 0 or look.known_s <= 0:
        return 0.0 if look.precision else 1.0
    return min(1.0, (look.wanted / look.precision) ** 2 * look.now_s / look.known_s)


def text(look: ProgressSnapshot) -> str:
    known = f"±{percent(look.precision)}" if math.isfinite(look.precision) else "not yet known"
    return f"{known} of ±{percent(look.wanted)}, {seconds(look.now_s)} simulated"
