"""What an agent does on its worker: it runs its share of the load as any run on one machine, and hands over what it recorded.

Its run folder is a temporary one of its own, removed when it ends; the next agent on that machine removes what a killed one left.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sojourn.errors import LabError, SojournError, WorkerError
from sojourn.lab.owned_folder import owned_folder
from sojourn.lab.worker_process import WorkerProcess
from sojourn.measure.execute_run import execute
from sojourn.parallel.early_end import asked
from sojourn.runs.manifest import Manifest
from sojourn.runs.run_folder import RunFolder

PREFIX = "sojourn-agent-"


@dataclass(frozen=True)
class AgentProcess:
    """The process that is an agent: what was asked for one clock must not run by another."""

    host: str
    pid: int

    @staticmethod
    def own() -> AgentProcess:
        return AgentProcess(socket.gethostname(), os.getpid())

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


@dataclass(frozen=True)
class AgentTask:
    """Agent `index` (from 0): `start_s` is the common start by its own CLOCK_MONOTONIC."""

    index: int
    start_s: float
    identity: AgentProcess


@dataclass(frozen=True)
class AgentResult:
    """The manifest of an agent's run, and its files, by name, as bytes."""

    manifest: Manifest
    files: dict[str, bytes]


def look(_shared: object, _piece: object) -> tuple[AgentProcess, float]:
    """Who runs here, and how long a process of a generator takes to start, s."""
    started = time.monotonic()
    worker = WorkerProcess("host")
    worker.begin({"host": {}})  # refused, when all is imported
    try:
        worker.ready()
    except SojournError:
        pass
    finally:
        worker.close()
    return AgentProcess.own(), time.monotonic() - started


def run_agent(shared: dict[str, Any], task: AgentTask) -> AgentResult:
    """The share of agent `task.index` of `shared["load"]`, the generator's configuration; what there is of it, cut off, where
    `shared["run"]` was asked to end.

    Raises:
        WorkerError: this is another process than was asked, or nobody wants its result any more. SojournError: as `execute`.
    """
    count = shared["count"]
    name = f"agent {task.index + 1} of {count}"
    if (own := AgentProcess.own()) != task.identity:
        raise WorkerError(
            f"{name} was {task.identity}, which is gone", "--agents", "find out why it ended, and run again"
        )
    load = {**shared["load"], "agent": {"index": task.index, "count": count}, "start_at_s": task.start_s}
    still_wanted = _still_wanted(name)

    def check(_event: object) -> None:
        still_wanted()
        if asked(shared["run"]):
            raise KeyboardInterrupt  # the run ends as one that its user interrupts

    with owned_folder(PREFIX) as place:
        try:
            what = {"name": name, "failures_allowed": shared.get("allowed", 0.0)}
            folder = execute(place / "run", load, what=what, progress=check)
        except KeyboardInterrupt:
            if not asked(shared["run"]):
                raise
            folder = RunFolder.open(place / "run")
            folder.complete()
        except SojournError as error:
            raise type(error)(error.value, f"{name} ({own}), {error.place}", error.remedy) from None
        files = {path.name: path.read_bytes() for path in folder.path.iterdir() if path.name != "manifest.json"}
    return AgentResult(folder.manifest, files)


def _still_wanted(name: str) -> Callable[[], None]:
    """A function that raises where dask has given this task up: its client or its scheduler is gone."""
    try:
        from distributed import get_worker

        worker = get_worker()
        key = worker.get_current_task()
    except (ImportError, ValueError, AttributeError, KeyError):
        return lambda: None  # no worker of dask: the process ends with its parent

    def check() -> None:
        task = worker.state.tasks.get(key)
        if task is None or task.state not in ("executing", "long-running") or worker.status.name != "running":
            raise LabError(f"{name} was given up", "--agents", "no longer needed")

    return check
