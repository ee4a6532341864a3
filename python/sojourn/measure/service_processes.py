"""Whose CPU time a service's is: processes that are named, or found by their listening socket, with all that they started."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from sojourn.errors import InputError
from sojourn.lab.listening_process import listeners, refuse_closed
from sojourn.lab.process_tree import alive, name_of, service_tree
from sojourn.lab.service_placement import threads_of
from sojourn.measure.cpu_time import members
from sojourn.runs.watched_resources import WatchedResources

LEAST_S = 5e-6  # of CPU time an answer: reading a request and writing its answer are two system calls of some µs


@dataclass(frozen=True)
class ServiceProcesses:
    """`roots`: those that are named or found; `found`: by their socket, nobody having named any; `listening`: those at the address;
    `may_use`: cores, empty where nobody knows; `names`: of the processes when they were found, which outlive them; `urls`: what
    is asked."""

    watched: WatchedResources
    listening: tuple[int, ...] = ()
    found: bool = False
    may_use: tuple[int, ...] = ()
    names: Mapping[int, str] = field(default_factory=dict)
    urls: tuple[str, ...] = ()

    def now(self) -> WatchedResources:
        """With what the processes have started so far, a launcher's children in its place or beside it."""
        return replace(self.watched, pids=tuple(service_tree(self.watched.pids)) if self.watched.pids else ())

    def cores(self) -> list[int]:
        """Those of this process's that its threads may use, too; empty where no process is known."""
        pids = [*self.now().pids, *(pid for group in self.watched.cgroups for pid in members(group))]
        may: set[int] = set()
        for thread in (thread for pid in pids for thread in threads_of(pid)):
            with suppress(OSError):
                may |= os.sched_getaffinity(thread)
        return sorted(may & os.sched_getaffinity(0))

    def pinned_cores(self) -> tuple[int, ...]:
        """Those of `may_use` that single threads are kept to while others may use more; empty where there are no such threads.
        Threads that are pinned serve; one that is not, such as the one that started them, goes where there is room."""
        pins: set[int] = set()
        for thread in (thread for pid in self.now().pids for thread in threads_of(pid)):
            with suppress(OSError):
                own = os.sched_getaffinity(thread)
                pins |= own if own < set(self.may_use) else set()
        return tuple(sorted(pins))

    def told(self) -> str:
        """What is said of processes that were found; "" of those that somebody named."""
        if not self.found:
            return ""
        who = named(self.watched.pids, self.names)
        return f"the service is {who}, found by its listening socket, with its children; --service-pids changes this"

    def check_listens(self) -> None:
        """Raises ServiceError where nothing listens on this machine any more."""
        if not self.listening:
            refuse_closed(self.urls, loopback=True)

    def exited(self) -> tuple[str, bool]:
        """Which of the processes that were there at the start have ended since, in words, and whether that was all of those that listened
        (of a service that nobody saw listen, all that were named)."""
        there = dict.fromkeys([*self.listening, *self.watched.pids])
        gone = [pid for pid in there if not alive(pid)]
        serving = self.listening or self.watched.pids
        return named(gone, self.names), bool(serving) and set(serving) <= set(gone)

    def check(self, demands_s: Mapping[str, float]) -> None:
        """Raises InputError where named processes, with all that they started, used no CPU time while answers came."""
        used = demands_s.get("processes", sum(v for k, v in demands_s.items() if k.startswith("process ")))
        if self.found or not self.watched.pids or not demands_s or used >= LEAST_S:
            return
        other = [pid for pid in self.listening if pid not in self.now().pids]
        remedy = (
            f"{named(other, self.names)} listens there: give --service-pids {','.join(map(str, other))}"
            if other
            else "name those that answer"
        )
        who = named(self.watched.pids, self.names)
        value = f"{who} and its children used {used * 1e6:.2g} µs of CPU time per answer: this process does not serve"
        raise InputError(value, "--service-pids", remedy)


def service_processes(watched: WatchedResources | None, load: Mapping[str, Any]) -> ServiceProcesses:
    """What is watched of the service that `load` (the generator's configuration) asks: as named, else who listens at its address."""
    given = watched or WatchedResources()
    urls = [] if load.get("unix_socket") else [target["url"] for lane in load["lanes"] for target in lane["targets"]]
    there = listeners(dict.fromkeys(urls))
    about: dict[str, Any] = {
        "names": {pid: name_of(pid) for pid in (*given.pids, *there)},
        "urls": tuple(dict.fromkeys(urls)),
    }
    if given.pids or given.cgroups:
        return ServiceProcesses(given, there, **about)
    return ServiceProcesses(replace(given, pids=there), there, found=bool(there), **about)


def named(pids: Iterable[int], names: Mapping[int, str] | None = None) -> str:
    """`process 4711 (nginx), process 4712 (nginx)`; `names`: of those that may have ended."""
    known = {pid: (names or {}).get(pid) or name_of(pid) for pid in pids}
    return ", ".join(f"process {pid} ({name})" if name else f"process {pid}" for pid, name in known.items())
