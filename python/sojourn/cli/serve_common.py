"""What `sojourn serve` does with every service: it is watched over, and says what it did."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import typer

from sojourn.cli.json_answer import VERSIONS, say_answer
from sojourn.cli.stop_signals import too_late
from sojourn.errors import ServiceError, SojournError
from sojourn.lab.process_tree import how_ended
from sojourn.terminal import say

if TYPE_CHECKING:
    from sojourn.lab.worker_process import WorkerProcess

STANDARD_ERROR = 2
LOOK_S = 0.1
AGAIN, NOT_KNOWN = "start it again", "the service's counts are not known"
Summary = dict[str, Any]
_served: list[str] = []  # names of the services that have said where they listen


class Service(Protocol):
    """A service of ours, in a worker process."""

    @property
    def worker(self) -> WorkerProcess: ...


@dataclass(frozen=True)
class Watched:
    """A service and what it needs. `name`: as on the command line. `told`: its summary in lines. `look`: sees after its other parts,
    again and again, and raises what is to end the service. `counted`: what is known where the process could not say what it did. `version`:
    of what a service of a case prints with --json."""

    name: str
    service: Service
    told: Callable[[Summary], str]
    as_json: bool = False
    look: Callable[[], None] = lambda: None
    counted: Callable[[], str] = lambda: NOT_KNOWN
    version: int = 1

    def until_stopped(self, greeting: str) -> None:
        """Says where it listens, waits for Ctrl-C, and says what it did.

        Raises:
            ServiceError: a part of it ended by itself. SojournError: what `look` raised. What it did is said first.
        """
        process, asked, trouble = self.service.worker.process, False, None
        _served.append(self.name)
        try:
            say(f"{greeting}; process {process.pid} serves", err=self.as_json)
            while process.poll() is None:
                self.look()
                time.sleep(LOOK_S)
        except KeyboardInterrupt:
            asked = True
        except SojournError as error:
            trouble = error
        if not asked:
            too_late()  # it has ended by itself, which is what is said; a signal now is for nothing but what is put back
        summary = self._summary(trouble)
        if self.as_json:
            say_answer(self.name, summary, VERSIONS.get(self.name, self.version))
        else:
            say(self.told(summary))
        if trouble is None and not asked:
            trouble = ServiceError(f"process {process.pid} ended unexpectedly", self.name, AGAIN)
        if trouble:
            raise trouble

    def _summary(self, trouble: SojournError | None) -> Summary:
        """From the process itself, in good order."""
        process = self.service.worker.process
        try:
            found: Summary = self.service.worker.result()["summary"]
            return found
        except ServiceError as error:
            if trouble or process.returncode >= 0:  # what it said itself says more
                raise trouble or error from None
            how = f"process {process.pid} {how_ended(process.returncode)}; {self.counted()}"
            raise ServiceError(
                how, self.name, f"{AGAIN}; it may have been killed because memory ran out (dmesg)"
            ) from None


@contextmanager
def stopped_early() -> Iterator[None]:
    """A service that is stopped before it serves ends in good order, too: nothing was measured that could be kept. One that served, and
    is stopped again while it puts things back, is interrupted."""
    before = len(_served)
    try:
        yield
    except KeyboardInterrupt:
        if len(_served) > before:
            raise
        say("stopped before it served", err=True)
        raise typer.Exit(0) from None
