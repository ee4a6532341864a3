"""`--parallel 2` or `--parallel tls://HOST:PORT`: where the work of a command is done, and how far it is, on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from sojourn.terminal import shown
from sojourn.units import seconds

if TYPE_CHECKING:
    from sojourn.parallel import Workers

ParallelOption = Annotated[
    str,
    typer.Option(
        "--parallel",
        help="compute in parallel: 2 in two processes on this machine, tls://HOST:PORT on a dask cluster; the results are the same",
    ),
]
EVERY_S, EVERY_LINE_S = 0.5, 15.0


@contextmanager
def workers_on(parallel: str, doing: str) -> Iterator[Workers | None]:
    """The workers that the option names, None without it."""
    if not parallel:
        yield None
        return
    from sojourn.parallel import open_workers

    told = ProgressLine(doing, sys.stderr)
    with open_workers(parallel, told) as workers:
        try:
            yield workers
        finally:
            told.end()


class ProgressLine:
    """Done, of how many, time left: one line that is written over on a terminal, elsewhere a new one now and then."""

    def __init__(self, doing: str, out: TextIO) -> None:
        self.doing, self.out = doing, out
        self.live = out.isatty()
        self.last = time.monotonic()
        self.shown = 0

    def __call__(self, done: int, total: int, left_s: float | None) -> None:
        now = time.monotonic()
        if now - self.last < (EVERY_S if self.live else EVERY_LINE_S):
            return
        self.last = now
        left = "" if left_s is None else f", about {seconds(left_s, 2)} left"
        text = shown(f"{self.doing}: {done} of {total}{left}")
        self.out.write(f"\r{text:<{self.shown}}" if self.live else f"{text}\n")
        self.out.flush()
        self.shown = len(text)

    def end(self) -> None:
        """Takes the line away."""
        if self.live and self.shown:
            self.out.write(f"\r{'':<{self.shown}}\r")
            self.out.flush()
