"""What runs tasks: the protocol that processes of this machine, a dask cluster and any Executor share, and what a worker does.

Inputs that all tasks share travel once to a worker (`send`); a task has its pieces only. A worker of another version is
refused by its own name, also one that joined later.
"""

from __future__ import annotations

import os
import platform
import socket
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import cache
from typing import Any, Protocol

from sojourn.errors import WorkerError

Piece = Any
Function = Callable[[Any, Piece], Any]  # what is shared, a piece → a result
Done = tuple[float, list[Any]]  # seconds in the worker, results of the pieces in order
Tell = Callable[[int, int, float | None], None]  # pieces done, of how many, seconds left (None: not known yet)
CHECKED = ("numpy", "scipy", "polars")  # whose versions may change the last bits of a result


class Workers(Protocol):
    """`count` slots, each of which does one task at a time."""

    tell: Tell | None

    @property
    def count(self) -> int: ...

    def send(self, shared: Any) -> Any:
        """A handle of inputs that `submit` takes."""

    def submit(self, slot: int, function: Function, handle: Any, pieces: Sequence[Piece]) -> Future[Done]:
        """Pieces on a slot, where state of them may be kept; on another only where its worker is lost."""

    def drop(self, handle: Any) -> None:
        """Forgets what was sent."""

    def lost(self, slot: int, error: BaseException) -> WorkerError:
        """What to say when a task of a slot ended without an answer."""

    def silent(self, slots: set[int], for_s: float) -> list[str]:
        """Names of those of `slots` that show no sign of life, and have not for so long where that can be known."""

    def place(self, slot: int) -> str:
        """The worker that has the slot, as messages name it; slots of one worker have one name."""

    def left(self, slots: set[int]) -> list[str]:
        """Names of those of `slots` whose worker has gone, where that is known otherwise than by its task's error."""

    def end_early(self, name: str) -> None:
        """Asks tasks of this name to end with what they have (early_end.py), where that can be asked."""

    def stop(self) -> None:
        """Ends what runs, at once; nothing can be submitted afterwards."""

    def close(self) -> None:
        """Frees what was started for it."""


@cache
def versions() -> dict[str, str]:
    """Of this process: what must be the same everywhere."""
    from importlib.metadata import version

    python = ".".join(platform.python_version_tuple()[:2])
    return {
        "sojourn": sys.modules["sojourn"].__version__,
        "python": python,
        **{name: version(name) for name in CHECKED},
    }


def here() -> str:
    """The name of this worker in messages."""
    return f"process {os.getpid()} on {socket.gethostname()}"


def do(wanted: dict[str, str], function: Function, shared: Any, pieces: Sequence[Piece]) -> Done:
    """One task, in the worker. Raises WorkerError where the worker's versions are not those `wanted`."""
    found = versions()
    if found != wanted:
        wrong = ", ".join(
            f"{name} {found[name]} instead of {wanted[name]}" for name in wanted if found[name] != wanted[name]
        )
        raise WorkerError(f"{here()} has {wrong}", "--parallel", "install the same versions on every worker")
    started = time.perf_counter()
    results = [function(shared, piece) for piece in pieces]
    return time.perf_counter() - started, results
