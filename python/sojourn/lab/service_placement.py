"""Cores and interrupt steering of a service that runs: read, set, put back.

Cores: the cpuset of its control group, where the service and what it started are alone in one; else the affinity of all its threads.
Steering: receive packet steering of the NICs in its network namespace (kernel: Documentation/networking/scaling.rst): `one core` has
all soft interrupts on the first of its cores, `spread` has receive queue k on core k (a single queue on all of them, by flow).
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.errors import LabError
from sojourn.lab.cgroups import write
from sojourn.lab.cpu_topology import core_list
from sojourn.lab.cpu_topology import cores as topology
from sojourn.lab.emulated_hosts import core_mask
from sojourn.lab.namespaces import in_namespace
from sojourn.lab.process_tree import descendants, stat

ONE_CORE, SPREAD = "one core", "spread"
STARTED = 19  # column of `process_tree.stat`: when it was started, ticks since boot
NEW_MOUNTS, RECURSIVE, PRIVATE = 0x20000, 0x4000, 1 << 18  # include/uapi/linux/{sched,mount}.h
QUEUES = "class/net/*/queues/rx-*/rps_cpus"


@dataclass(frozen=True)
class PlacementState:
    """What `restore` puts back: the group's cpuset (None: no group of its own), cores by thread, mask by receive queue."""

    cpuset: str | None
    threads: dict[int, list[int]]
    queues: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        return {"cpuset": self.cpuset, "threads": self.threads, "queues": self.queues}

    @classmethod
    def of(cls, data: dict[str, Any]) -> PlacementState:
        return cls(data["cpuset"], {int(thread): cores for thread, cores in data["threads"].items()}, data["queues"])


class ServicePlacement:
    """Of the process `pid` and what it started. `safe`: as found now, unless an earlier `state()` is given. LabError: there is no such
    process, or it is not ours to look at."""

    kind = "placement"
    names = ("cores", "packet_steering")
    limit_s = 2.0

    def __init__(self, pid: int, safe: PlacementState | None = None) -> None:
        columns = stat(pid)
        if not columns:
            raise LabError(f"no process {pid}", "the service", "give the number of a running process")
        self.pid, self.started = pid, int(columns[STARTED])
        try:
            self._queues = _receive_queues(pid)
            self._cpuset = own_cpuset(pid)
            self.safe = safe or self.state()
        except OSError as error:
            raise LabError(f"process {pid}: {error}", "its cores and NICs", "run as its user, or as root") from None
        own = {core for cores in self.safe.threads.values() for core in cores}
        number = os.cpu_count() or 1
        order = [core.number for core in topology(allowed=set(range(number)) | own)]
        self.order = sorted(order, key=lambda core: core not in own)  # its own first
        self.own = self.order[: len(own)]

    def told(self) -> dict[str, Any]:
        """What another process makes it of: `of(told)`."""
        group = str(self._cpuset) if self._cpuset else None
        return {
            "pid": self.pid,
            "started": self.started,
            "safe": self.safe.to_dict(),
            "group": group,
            "network": _network(self.pid),
        }

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> ServicePlacement:
        """LabError: it has ended; a number of a process comes again."""
        found = cls(int(told["pid"]), PlacementState.of(told["safe"]))
        if found.started != told["started"]:
            found.close()
            raise LabError(f"process {found.pid} has ended", "the service", "give the number of a running process")
        return found

    def key(self) -> str:
        """A number of a process comes again, with another time of start."""
        return f"{self.pid}-{self.started}"

    def read(self) -> dict[str, int | str]:
        """`cores`: how many, left out where they are not the first of `order`; `packet_steering`: left out where there is none that has a
        name. LabError."""
        try:
            cores = {core for each in self._threads().values() for core in each}
            masks = [_read(file) for file in self._queues.values()]
        except OSError as error:
            raise LabError(str(error), f"cores of process {self.pid}", "run as its user, or as root") from None
        found: dict[str, int | str] = {}
        if cores and cores == set(self.order[: len(cores)]):
            found["cores"] = len(cores)
        for name in (SPREAD, ONE_CORE):  # the same on one core, where it is the second
            if masks and [*map(_number, masks)] == [*map(_number, self._steered(name))]:
                found["packet_steering"] = name
        return found

    def state(self) -> PlacementState:
        """OSError."""
        cpuset = self._cpuset.read_text().strip() if self._cpuset else None
        return PlacementState(cpuset, self._threads(), {name: _read(file) for name, file in self._queues.items()})

    def set(self, wanted: dict[str, Any]) -> None:
        """`cores` (the first so many of `order`), `packet_steering`, or both. LabError: the kernel refused, or it cannot be."""
        try:
            if "cores" in wanted:
                self._set_cores(int(wanted["cores"]))
            if "packet_steering" in wanted:
                if wanted["packet_steering"] not in (ONE_CORE, SPREAD) or not self._queues:
                    raise LabError(
                        repr(wanted["packet_steering"]),
                        "packet_steering",
                        "give 'one core' or 'spread', of a host with NICs",
                    )
                for file, mask in zip(self._queues.values(), self._steered(wanted["packet_steering"]), strict=True):
                    os.pwrite(file, mask.encode(), 0)
        except OSError as error:
            raise LabError(f"{wanted}: {error.strerror}", f"process {self.pid}", "run as root") from None

    def restore(self) -> list[str]:
        """Puts back what was found; what could not be, each with its reason."""
        failed = []
        if self._cpuset and self.safe.cpuset is not None:
            try:
                write(self._cpuset, self.safe.cpuset)
            except OSError as error:
                failed.append(f"{self._cpuset}: {error.strerror}")
        if self.alive():
            for thread in self._tasks():
                try:
                    os.sched_setaffinity(thread, self.safe.threads.get(thread, self.own))
                except ProcessLookupError:
                    continue
                except OSError as error:
                    failed.append(f"cores of thread {thread}: {error.strerror}")
        for name, file in self._queues.items():
            try:
                os.pwrite(file, self.safe.queues[name].encode(), 0)
            except (OSError, KeyError) as error:
                failed.append(f"steering of {name}: {error}")
        return failed

    def gone(self) -> str:
        """Why there is no such process any more; "" where there is."""
        return "" if self.alive() else f"process {self.pid} has ended"

    def alive(self) -> bool:
        """Whether it is still the same process."""
        columns = stat(self.pid)
        return bool(columns) and int(columns[STARTED]) == self.started

    def close(self) -> None:
        for file in self._queues.values():
            os.close(file)
        self._queues = {}

    def _set_cores(self, count: int) -> None:
        if not 1 <= count <= len(self.order):
            raise LabError(f"{count} cores", f"process {self.pid}", f"give 1 to {len(self.order)}")
        cores = self.order[:count]
        if self._cpuset:
            write(self._cpuset, ",".join(map(str, sorted(cores))))
        for _ in range(2):  # once more for threads that were begun meanwhile
            for thread in self._tasks():
                before = self.safe.threads.get(thread)
                with suppress(ProcessLookupError):
                    os.sched_setaffinity(thread, before if before and count == len(self.own) else cores)

    def _steered(self, name: str) -> list[str]:
        """The mask of each receive queue."""
        count = len(self._queues)
        if name == ONE_CORE:
            return [core_mask(self.own[0])] * count
        if count == 1:
            return [core_mask(*self.own)]
        return [core_mask(self.own[k % len(self.own)]) for k in range(count)]

    def _tasks(self) -> list[int]:
        return [thread for pid in (self.pid, *descendants(self.pid)) for thread in threads_of(pid)]

    def _threads(self) -> dict[int, list[int]]:
        found = {}
        for thread in self._tasks():
            with suppress(ProcessLookupError):
                found[thread] = sorted(os.sched_getaffinity(thread))
        return found


def restore_after_its_end(told: Mapping[str, Any]) -> list[str]:
    """Puts back what outlives a process, by what `told()` said of it: the cpuset of its group, and the steering of NICs that are this
    process's, too; those of another network end with it. What could not be, each with its reason."""
    safe, failed = PlacementState.of(told["safe"]), []
    files = {Path(told["group"]): safe.cpuset} if told.get("group") else {}
    if told.get("network") == _network(os.getpid()):
        for name, mask in safe.queues.items():
            nic, queue = name.split("/")
            files[Path("/sys/class/net", nic, "queues", queue, "rps_cpus")] = mask
    for file, value in files.items():
        try:
            if file.exists() and value is not None:
                write(file, value)
        except OSError as error:
            failed.append(f"{file}: {error.strerror}")
    return failed


def _network(pid: int) -> int | None:
    """The number of its network namespace; None where it has ended, or is not ours to look at."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/ns/net").stat().st_ino
    return None


def threads_of(pid: int) -> list[int]:
    """None where it is gone."""
    try:
        return sorted(int(task.name) for task in Path(f"/proc/{pid}/task").iterdir())
    except FileNotFoundError:
        return []


def own_cpuset(pid: int, root: Path = Path("/sys/fs/cgroup")) -> Path | None:
    """The file of the cpuset of its control group, where nobody but it and what it started is in one; else None."""
    ours = {pid, *descendants(pid)}
    for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        _, controllers, name = line.split(":", 2)
        if name == "/" or (controllers and "cpuset" not in controllers.split(",")):
            continue
        group = root / ("cpuset" if controllers else "") / name.strip("/")
        with suppress(OSError):
            file = group / "cpuset.cpus"
            if set(map(int, (group / "cgroup.procs").read_text().split())) <= ours and core_list(
                file.read_text().strip()
            ):
                return file
    return None


def _receive_queues(pid: int) -> dict[str, int]:
    """The steering file of each receive queue of the NICs that the process sees, open: they outlive the mount that they were found in."""
    network = f"/proc/{pid}/ns/net"
    if Path(network).stat().st_ino == Path("/proc/self/ns/net").stat().st_ino:
        return _opened(Path("/sys").glob(QUEUES))

    def look() -> dict[str, int]:
        libc = ctypes.CDLL(None, use_errno=True)
        for failed in (
            libc.unshare(NEW_MOUNTS),
            libc.mount(b"none", b"/", None, RECURSIVE | PRIVATE, None),
            libc.mount(b"sysfs", b"/sys", b"sysfs", 0, None),
        ):
            if failed:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), "/sys of its network")
        return _opened(Path("/sys").glob(QUEUES))

    return in_namespace(network, look)


def _opened(paths: Iterable[Path]) -> dict[str, int]:
    found: dict[str, int] = {}
    for path in sorted(paths):
        nic, queue = path.parts[-4], path.parts[-2]
        if nic != "lo":
            found[f"{nic}/{queue}"] = _open(path)
    return found


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR)
    except PermissionError:  # it can be read, then, and what is written is refused
        return os.open(path, os.O_RDONLY)


def _number(mask: str) -> int:
    return int(mask.replace(",", ""), 16)


def _read(file: int) -> str:
    return os.pread(file, 4096, 0).decode().strip()
