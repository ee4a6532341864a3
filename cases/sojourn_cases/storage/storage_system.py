"""Paths to storage on this machine, as a system of studies: a load of I/Os on a file of ours or a device, directly or through a server.

All paths lead to the same file, which is written once, whole, so that no read is answered by a hole. A server is started for each run in a
control group of its own. CPU is read at both ends of the load's schedule (`window_cpu.py`); a run at zero IOPS is the same without
a load. Runs in which strangers used more than `FOREIGN` of a core, or the host took time, are disturbed: the engine repeats them.
A run is a pulse: what it tells is a mean over a window that was planned, so no steady response time is asked of it. It is valid unless it
has a verdict, and those with a verdict are the ones that the analysis leaves out.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from sojourn.errors import InputError, LabError
from sojourn.lab import CLIENT, CountedGroups, Environment, counted_groups, environment
from sojourn.load import block_load
from sojourn.measure import STOLEN, ResidualMeter, RunEnvironment, execute, machine, residual_meter
from sojourn.runs import (
    BEYOND_CAPACITY,
    NOT_BALANCED,
    PULSE,
    SERIES_LOAD,
    STEAL_TICK_S,
    MeasuredResource,
    RunFolder,
    add_resources,
)
from sojourn.runs import REQUESTS_FAILED as FAILURES
from sojourn.study import Factor, Point, Seconds, System, Value, all_factors
from sojourn.units import byte_count
from sojourn_cases.storage.storage_factors import storage_factors
from sojourn_cases.storage.storage_paths import NBD, SERVER, PathServer, StoragePath, filled_file, serve
from sojourn_cases.storage.window_cpu import WindowCpu, WindowReader

FOREIGN = 0.02  # of a core
LEAD_S = 0.35  # until the generator has begun and opened its target
FAILED, SATURATED, DISTURBED, INVALID = VERDICTS = (
    "failed",
    "saturated",
    "disturbed",
    "invalid",
)  # the first that holds is told


class StorageSystemOptions(BaseModel):
    """`[system]` of kind `storage`: paths by their names; `folder`: where the file of `size` is made, removed at the end."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["storage"] = "storage"
    folder: str = "/var/tmp"
    size: str = "256Mi"
    paths: dict[str, StoragePath] = Field(
        default={"local": StoragePath(), "nbd": StoragePath(server=NBD)}, min_length=1
    )


class StorageLoad(BaseModel):
    """`[load]`: seconds of a run, and how I/Os are given to a path."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    duration_s: Seconds = Field(default=1.4, alias="for", gt=0, le=3600)
    seed: int = Field(default=1, ge=0)
    arrivals: str = "poisson"
    depth: int = Field(default=128, ge=1)
    queue: int = Field(default=1024, ge=0)
    timeout_s: Seconds = Field(default=10.0, alias="timeout", gt=0)


class StorageSystem(System):
    """Paths to storage. If a path has a server, each run starts a new server."""

    options_type: ClassVar[type[BaseModel]] = StorageSystemOptions
    load_type: ClassVar[type[BaseModel]] = StorageLoad
    alone: ClassVar[bool] = True

    def __init__(self, options: StorageSystemOptions, load: StorageLoad, folder: Path) -> None:
        self.options, self.load = options, load
        self.folder = folder / options.folder
        self.size_bytes = int(byte_count(options.size, "[system] size"))
        for name, path in options.paths.items():
            path.check(f"[system.paths.{name}]")

    @property
    def factors(self) -> dict[str, Factor]:
        return storage_factors(self.options.paths)

    def settled(self, given: Mapping[str, Any], place: str) -> dict[str, Value]:
        found = all_factors(self.factors, given, place)
        path = self.options.paths[str(found["path"])]
        if float(found["read"]) < 1 and found["iops"] and path.url and not path.may_write:
            raise InputError(
                f"read = {found['read']} on {path.url}", place, "write the device again in yes_destroy, or only read"
            )
        return found

    def why_not(self, factors: Mapping[str, Value]) -> str:
        """Why this machine cannot run a point; empty where it can."""
        return self.options.paths[str(factors["path"])].lacking() if factors["iops"] else ""

    @property
    def resources(self) -> dict[str, MeasuredResource | None]:
        return {"cpu": None}

    def place(self) -> AbstractContextManager[Environment]:
        return environment("loopback")

    @contextmanager
    def open(self, place: Environment) -> Iterator[StorageSession]:
        """Writes the file, starts the loops that measure.

        Raises:
            LabError: no room for the file, or it takes no O_DIRECT.
        """
        with ExitStack() as stack:
            groups = stack.enter_context(counted_groups())
            needs_file = any(not path.url for path in self.options.paths.values())
            file = stack.enter_context(filled_file(self.folder, self.size_bytes)) if needs_file else None
            meter, why = None, ""
            try:
                meter = stack.enter_context(residual_meter())
            except LabError as error:
                why = str(error)
            yield StorageSession(self, place, groups, file, meter, why)


@dataclass(frozen=True)
class StorageSession:
    """Runs points. `meter` None: CPU by ticks, `why`."""

    system: StorageSystem
    place: Environment
    groups: CountedGroups
    file: Path | None
    meter: ResidualMeter | None
    why: str

    def conditions(self, point: Point) -> dict[str, Any]:
        name = str(point.factors["path"])
        said = {"system": self.system.options.model_dump(), "load": self.system.load.model_dump()}
        meter = {"meter": "residual" if self.meter else f"ticks: {self.why}", "scope": scope()}
        return {"load": {"lanes": [{}], "path": name}, "machine": machine(), "conditions": {**said, **meter}}

    def run(self, point: Point, out: Path, seed: int) -> RunFolder:
        path = self.system.options.paths[str(point.factors["path"])]
        busy = float(point.factors["iops"]) > 0
        with serve(path if busy else StoragePath(), self.file, self.groups.path(SERVER)) as server:
            folder, used = self._execute(point, out, seed, path, server)
        conditions = self.conditions(point)
        found = [*self._reasons(used, server, folder), *(assessed(folder) if busy else ())]
        reasons = list(dict.fromkeys(reason for _, reason in found))
        told = self._told(folder, point, used) | {"verdict": min((v for v, _ in found), key=VERDICTS.index, default="")}
        folder.manifest |= {
            "block_load": folder.manifest["load"], "load": conditions["load"], "conditions": conditions["conditions"],
            "storage": told, "cpu": vars(used), "valid": not reasons, "reasons": reasons,
        }  # fmt: skip
        add_resources(folder, {}, point.factors)
        return folder

    def _execute(
        self, point: Point, out: Path, seed: int, path: StoragePath, server: PathServer | None
    ) -> tuple[RunFolder, WindowCpu]:  # fmt: skip
        load, factors, cores = self.system.load, point.factors, sorted(os.sched_getaffinity(0))
        start_s = time.monotonic() + LEAD_S
        groups = {name: self.groups.path(name) for name in (CLIENT, SERVER)}
        reader = WindowReader(
            self.meter, {name: Path(group) for name, group in groups.items() if group}, cores, start_s, load.duration_s
        )  # fmt: skip
        # generator, server and the kernel's part of an I/O share all cores: to be held up there is part of the path
        placement = {"interrupts": cores, "server": cores, "client": cores, "client_shares": True}
        conditions = self.conditions(point)
        series = {SERIES_LOAD: conditions["load"], "conditions": conditions["conditions"]}
        about = {"lab": self.place.describe(), "placement": placement, PULSE: True, **series}
        around = RunEnvironment(client_cgroup=groups[CLIENT], manifest=about)
        if float(factors["iops"]) > 0:
            target = path.url or (server.url if server else f"file:{self.file}")
            config = block_load(
                target, iops=float(factors["iops"]), read=float(factors["read"]), random=float(factors["random"]),
                block=f"{factors['block_kib']}k", duration_s=load.duration_s, start_at_s=start_s, seed=seed, arrivals=load.arrivals,
                direct=not target.startswith("nbd"), depth=load.depth, queue=load.queue, timeout_s=load.timeout_s,
                yes_destroy=path.device, quick_ack=path.quick_ack, cache_of=str(self.file) if server else None,
            )  # fmt: skip
            folder = execute(out, config, service=server, what=point.record(seed), around=around)
        else:
            rest = {"lanes": [{}], "duration_s": load.duration_s}
            folder = execute(out, rest, what=point.record(seed), around=around, generate=lambda _: _rest(reader))
        ours = {os.getpid(), *folder.manifest["pids"].values()}
        return folder, reader.result(ours)

    def _told(self, folder: RunFolder, point: Point, used: WindowCpu) -> dict[str, Any]:
        """What of the run the analysis takes beside what the generator told."""
        path = self.system.options.paths[str(point.factors["path"])]
        told = folder.manifest.get("storage") or {"completed": 0, "achieved_iops": 0.0, "cache_share": 0.0, "reaps": 0}
        split = {f"{name}_cores": used.parts.get(name) for name in (SERVER, CLIENT)} if self.groups.made else {}
        return {
            **told, "window_s": self.system.load.duration_s, "cpu_cores": used.cpu_cores, "ticks_cores": used.ticks_cores, **split,
            "foreign_cores": used.foreign_cores, "scanned_cores": used.scanned_cores, "steal": used.steal, "meter": used.meter,
            "cores": len(os.sched_getaffinity(0)), "work_per_s": used.work_per_s if self.meter else None, "server": path.server,
        }  # fmt: skip

    def _reasons(self, used: WindowCpu, server: PathServer | None, folder: RunFolder) -> Iterator[tuple[str, str]]:
        """Verdicts with their reasons, of what is read beside the load."""
        yield from disturbances(used)
        died = (folder.manifest.get("service") or {}).get("died")
        if server is not None and died is not None:
            yield FAILED, f"{server.kind} ended during the run: {died}"


def disturbances(used: WindowCpu, most_foreign: float = FOREIGN) -> Iterator[tuple[str, str]]:
    """The verdict `DISTURBED` with its reasons: strangers with more than `most_foreign` cores, and time that the host took."""
    if used.foreign_cores > most_foreign:
        names = ", ".join(f"{name} {cores:.3f}" for name, cores in used.strangers)
        yield (
            DISTURBED,
            f"disturbed: other processes used {used.foreign_cores:.1%} of a core ({names}); at most {most_foreign:.0%}; run again",
        )
    most_steal = STOLEN + STEAL_TICK_S / used.window_s
    if used.steal > most_steal:
        yield (
            DISTURBED,
            f"disturbed: the hypervisor took {used.steal:.1%} of the machine; at most {most_steal:.1%}; run again",
        )


def assessed(folder: RunFolder) -> Iterator[tuple[str, str]]:
    """Verdicts with their reasons, of what every load is judged by."""
    kinds = {BEYOND_CAPACITY: SATURATED, FAILURES: FAILED, NOT_BALANCED: SATURATED, DISTURBED: DISTURBED}
    for reason in folder.manifest["reasons"]:
        yield next((verdict for words, verdict in kinds.items() if words in reason), INVALID), reason


def _rest(reader: WindowReader) -> dict[str, Any]:
    reader.join()
    return {"kind": "none"}


def scope(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """Whose CPU is seen: of a guest the host's part is missing."""
    return (
        "guest only: the host's own CPU time for this load is not visible"
        if "hypervisor" in cpuinfo.read_text()
        else "host"
    )
