"""One run: a service under a load, with host metrics beside it, into a run folder."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from sojourn.errors import FULL, RunFolderError, SojournError, StorageFull
from sojourn.lab.cleanup_registry import start_time
from sojourn.lab.real_time import GRANT
from sojourn.lab.worker_process import Event, WorkerProcess
from sojourn.measure.cpu_account import KnownProcesses, cpu_account
from sojourn.runs.host_samples import check_interval
from sojourn.runs.run_folder import RunFolder, clock_times
from sojourn.version import __version__

GRACE_S = 30.0
INSTRUMENTS = ("observer", "sojourn", "generator")  # roles of the processes that measure
REFUSED = "real-time priority was refused"  # the generator's note begins so
MOST_SAMPLES = 2000  # of the number in flight
POPULATE_S = 600.0  # to store the keys, or to make the queues, before the start


_LISTENER: ContextVar[Callable[[Event], None] | None] = ContextVar("listener", default=None)


@contextmanager
def listening(progress: Callable[[Event], None] | None) -> Iterator[None]:
    """All runs inside tell `progress` how they get on, where they are not told of another listener."""
    token = _LISTENER.set(progress)
    try:
        yield
    finally:
        _LISTENER.reset(token)


class ServiceUnderTest(Protocol):
    """What a run needs of a service that it can stop: process ids to watch, and a summary at the end."""

    @property
    def pids(self) -> dict[str, int]: ...

    def stop(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class RunEnvironment:
    """Where the client runs, which processes belong to the run, and what the manifest says of the place. `client_cores`,
    `client_cgroup` (its path): the generator is kept to them; `all_known`: every process of the system is in `pids`, so others
    disturb the run; `own_tree`: they are this process, those in `pids` and `cgroups`, and all that these started, which is told
    apart too; `has_other_parts`: … but the service may have parts that nobody named
    (`cpu_account`); `core_speed`: a piece of work is timed on each core all the while (one percent of it)."""

    client_network: str | None = None
    server_network: str | None = None
    pids: dict[str, int] = field(default_factory=dict)
    observer: int | None = None
    manifest: dict[str, Any] = field(default_factory=dict)
    cgroups: tuple[str, ...] = ()
    client_cores: tuple[int, ...] = ()
    client_cgroup: str | None = None
    all_known: bool = False
    own_tree: bool = False
    has_other_parts: bool = False
    core_speed: bool = False


def execute(
    out: Path,
    load: dict[str, Any],
    *,
    what: dict[str, Any],
    around: RunEnvironment | None = None,
    service: ServiceUnderTest | None = None,
    interval_s: float = 0.1,
    progress: Callable[[Event], None] | None = None,
    generate: Callable[[RunFolder], dict[str, Any]] | None = None,
) -> RunFolder:
    """Runs `load` (the generator's configuration, SI units) and returns the finished, judged run folder.

    `what` goes into the manifest (name, factors, testbed). The service, where given, is stopped at the end. `generate`:
    makes the load in this process instead of a generator of ours: it writes the records into the folder, and returns
    what the generator says of itself.

    Raises:
        InputError: `interval_s` is not 0.01 to 10 s. ServiceError: nothing answers there. RunFolderError: the disk is full …
        KeyboardInterrupt: after the run was marked as cut off and what was written was kept.

    A run that ended by an error before its load began leaves nothing.
    """
    check_interval(interval_s)
    around = around or RunEnvironment()
    pids = {**around.pids, **(service.pids if service else {})}
    owner = {"pid": os.getpid(), "pid_started": start_time(os.getpid()), "all_known": around.all_known}
    folder = RunFolder.create(
        out, {**what, **around.manifest, "load": load, **owner, "start": clock_times(), "machine": machine()}
    )
    workers: list[WorkerProcess] = []
    try:
        for kind in ("host",) if generate else ("host", "load"):
            # one by one: if the second cannot start, the first is ended below
            cgroup = around.client_cgroup if kind == "load" else None
            workers.append(WorkerProcess(kind, log=folder.path / "log.txt", cgroup=cgroup))
        observer = workers[0]
        pids |= {"observer": observer.process.pid, "sojourn": os.getpid()}
        if not generate:
            pids["generator"] = workers[1].process.pid
            if around.client_cores:
                os.sched_setaffinity(workers[1].process.pid, around.client_cores)  # its threads inherit it
        _observe(observer, folder, around, pids, interval_s)
        with _cpu_time(folder, around, pids, partial(_prepare_end, observer)):
            folder.manifest["generator"] = (
                generate(folder) if generate else _load(workers[1], folder, load, around, progress or _LISTENER.get())
            )
        _tell_priority(folder.manifest["generator"])
        if storage := folder.manifest["generator"].get("storage"):
            folder.manifest["storage"] = storage
        folder.manifest["observer"] = observer.result()["summary"]
        folder.manifest["service"] = service.stop() if service else {}
        _check_records(folder)
        folder.manifest |= {"end": clock_times(), "status": "complete", "pids": pids}
        from sojourn.runs.assess_run import conclude

        conclude(folder)
    except BaseException as error:
        _cut_off(folder, workers, service, error)
        if isinstance(error, SojournError) and not folder.has_records():
            folder.discard()
        raise
    finally:
        for worker in workers:
            worker.close()
    return folder


def _prepare_end(observer: WorkerProcess) -> None:
    """What ends a run is imported while the recorder ends."""
    observer.ask_to_stop()
    import sojourn.runs.assess_run  # noqa: F401  # slow to import, and not needed before

    _ = pl.DataFrame  # where polars is imported when it is first used (cli/late_modules.py)


@contextmanager
def _cpu_time(
    folder: RunFolder, around: RunEnvironment, pids: dict[str, int], then: Callable[[], None]
) -> Iterator[None]:
    """CPU time of the run's processes and of others while the load lasts, into the manifest, where they are told apart. `then`: what is
    done when it has ended, beside a look at who is busy without a load."""
    if not around.own_tree:
        yield
        then()
        return
    instruments = {
        role: pid for role, pid in pids.items() if role.partition(" ")[0] in INSTRUMENTS
    }  # and `generator 2`
    service = tuple(pid for role, pid in pids.items() if role not in instruments)
    known = KnownProcesses(instruments, service, around.cgroups, not around.has_other_parts)
    with cpu_account(folder.manifest, known, then):
        yield


def _observe(
    worker: WorkerProcess, folder: RunFolder, around: RunEnvironment, pids: dict[str, int], interval_s: float
) -> None:
    config = {
        "proc_root": "/proc",
        "sys_root": "/sys",
        "interval_s": interval_s,
        "out": str(folder.path / "host.ndjson"),
        "pids": list(pids.values()),
        "cgroups": list(around.cgroups),
        "cpu": around.observer,
        "disks": True,
        "nics": True,
        "core_speed": around.core_speed,
    }
    worker.begin({"network": around.server_network, "host": config})
    worker.ready()


def _load(
    worker: WorkerProcess,
    folder: RunFolder,
    load: dict[str, Any],
    around: RunEnvironment,
    progress: Callable[[Event], None] | None,
) -> dict[str, Any]:
    worker.begin({"network": around.client_network, "load": load, "out": str(folder.path)})
    longest = (
        load["duration_s"] + load.get("timeout_s", 10.0) + GRACE_S + ("kv" in load or "messages" in load) * POPULATE_S
    )
    in_flight: list[tuple[float, int]] = []

    def told(event: Event) -> None:
        """The generator's own count of requests that were taken up and have not ended, four times a second."""
        in_flight.append((event["elapsed_s"], event["in_flight"] + event["waiting"]))
        if progress:
            progress(event)

    try:
        summary: dict[str, Any] = worker.finish(longest, told)["summary"]
        return summary | {"in_flight": in_flight[:: 1 + len(in_flight) // MOST_SAMPLES]}
    except KeyboardInterrupt:
        stopped = worker.stop()
        folder.manifest["generator"] = (stopped or {}).get("summary") or {}
        raise


def _tell_priority(generator: dict[str, Any]) -> None:
    """Says what helps beside the generator's note that it got no real-time priority."""
    notes = generator.get("notes") or []
    generator["notes"] = [f"{note}; {GRANT} grants it" if note.startswith(REFUSED) else note for note in notes]


def lost_logs(said: Any) -> list[str]:
    """Why record logs end before the service did, of whatever summaries there are in what a service said."""
    if isinstance(said, dict):
        return [*said.get("lost_logs", []), *(why for one in said.values() for why in lost_logs(one))]
    return [why for one in said for why in lost_logs(one)] if isinstance(said, list) else []


def _check_records(folder: RunFolder) -> None:
    """A service of ours goes on where its record log cannot be written; its run is not whole then. RunFolderError."""
    for why in lost_logs(folder.manifest["service"]):
        value, _, remedy = why.rpartition("; ")
        raised = StorageFull if any(full in value for full in FULL) else RunFolderError
        raise raised(value, str(folder.path), remedy)


def _cut_off(
    folder: RunFolder, workers: list[WorkerProcess], service: ServiceUnderTest | None, error: BaseException
) -> None:
    """Keeps what was written, says why the run ended; never hides `error`.

    The mark is written first: stopping a service takes seconds on a busy machine, and a third signal may end this.
    """
    reason = "interrupted" if isinstance(error, KeyboardInterrupt) else str(error) or type(error).__name__
    folder.manifest |= {
        "status": "cut off",
        "valid": False,
        "reasons": [f"the run was cut off: {reason}"],
        "end": clock_times(),
    }
    stops = [one.stop for one in (*workers, service) if one]
    for step in (folder.save, *stops, folder.collect, folder.save):
        with suppress(SojournError, OSError, pl.exceptions.PolarsError):
            step()


def machine() -> dict[str, Any]:
    """What a reader of the numbers wants to know of the machine."""
    system = platform.uname()
    return {
        "kernel": system.release,
        "architecture": system.machine,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "sojourn": __version__,
    }
