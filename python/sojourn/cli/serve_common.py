"""What `sojourn serve` does with every service: options checked, watched over, its summary in lines."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import typer
from pydantic import BaseModel, ValidationError

from sojourn.cli.stop_signals import too_late
from sojourn.errors import InputError, ServiceError, SojournError
from sojourn.file_errors import mistake
from sojourn.lab.process_tree import how_ended
from sojourn.terminal import say

if TYPE_CHECKING:
    from sojourn.lab.worker_process import WorkerProcess

STANDARD_ERROR = 2
LOOK_S = 0.1
AGAIN, NOT_KNOWN = "start it again", "what it served is not known"
Options = TypeVar("Options", bound=BaseModel)
Summary = dict[str, Any]
_served: list[str] = []  # names of the services that have said where they listen


def options(kind: type[Options], place: str, **given: Any) -> Options:
    """`kind(**given)`.

    Raises:
        InputError: the first value that is wrong, named at `place`.
    """
    try:
        return kind(**given)
    except ValidationError as error:
        found = mistake(error, kind)
        raise InputError(f"{found.path} = {found.value}", place, found.remedy) from None


class Service(Protocol):
    """A service of ours, in a worker process."""

    @property
    def worker(self) -> WorkerProcess: ...


@dataclass(frozen=True)
class Watched:
    """A service and what it needs. `name`: as on the command line. `told`: its summary in lines. `look`: sees after its other parts,
    again and again, and raises what is to end the service. `counted`: what is known where the process could not say what it did."""

    name: str
    service: Service
    told: Callable[[Summary], str]
    as_json: bool = False
    look: Callable[[], None] = lambda: None
    counted: Callable[[], str] = lambda: NOT_KNOWN

    def until_stopped(self, greeting: str) -> None:
        """Says where it listens, waits for Ctrl-C, and says what it did.

        Raises:
            ServiceError: a part of it ended by itself. SojournError: what `look` raised. What it did is said first.
        """
        process, asked, trouble = self.service.worker.process, False, None
        _served.append(self.name)
        try:
            say(greeting, err=self.as_json)
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
        say(json.dumps(summary) if self.as_json else self.told(summary))
        if trouble is None and not asked:
            trouble = ServiceError(f"process {process.pid} ended, and nobody here had asked for it", self.name, AGAIN)
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
                how, self.name, f"{AGAIN}; if nobody killed it, memory may have run out (dmesg)"
            ) from None


def logged(log: Path | None, column: str, of: str = "sum") -> str:
    """How many requests the record log `log` tells of: the `sum` of a column, or its `last` value; it is written each period."""
    from sojourn.runs.record_logs import read_log

    if log is None:
        return f"{NOT_KNOWN}: --log keeps count"
    try:
        counts = read_log(log)[0][column]
    except (OSError, SojournError):
        return NOT_KNOWN
    count = int(counts.sum() if of == "sum" else counts[-1]) if len(counts) else 0
    return f"{log} has {count} requests until its last period"


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


def event(level: str, name: str, **fields: object) -> None:
    """A line of the log on standard error, as the services' own processes write theirs."""
    at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
    words = "".join(f" {key}={json.dumps(str(value), ensure_ascii=False)}" for key, value in fields.items())
    say(f"{at} {level} {name}{words}", err=True)


def done(summary: Mapping[str, Any]) -> str:
    """How many requests, how fast, of which kinds."""
    kinds = ", ".join(f"{kind} {count}" for kind, count in summary["by_kind"].items() if count) or "none"
    return f"{summary['completions']} requests in {summary['seconds']:.1f} s ({summary['throughput']:.0f}/s): {kinds}"


def lost(summary: Mapping[str, Any]) -> list[str]:
    """A line for each record log that could not be written to the end, and how many rows that cost."""
    lines = [f"a log ends before the service did: {why}" for why in summary["lost_logs"]]
    return [*lines, f"{summary['lost_rows']} rows of logs were not written"] if lines else []


def times(found: Mapping[str, Any], names: Iterable[str]) -> list[str]:
    """A line for each distribution of times."""
    lines = []
    for name in names:
        at = " ".join(f"p{q} {found[name]['percentiles_s'][q] * 1e3:.3f}" for q in ("50", "90", "99"))
        mean, most = found[name]["mean_s"], found[name]["max_s"]
        lines.append(f"{name:8} ms: mean {mean * 1e3:.3f} {at} max {most * 1e3:.3f}")
    return lines
