"""Storage paths in guests, as a system of studies: a virtual disk (virtio-blk), and the same of another guest by NFS or by iSCSI.

Both guests are booted once and stay for all runs. The load is ours and runs in the client, whose CPU time is told by guest and hypervisor
(guest_cpu.py); the server's is told apart. As in storage_system.py a run is a pulse, and one at zero IOPS is the same without a load.
"""

from __future__ import annotations

import base64
import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import polars as pl
from pydantic import BaseModel, Field

from sojourn.errors import InputError, LabError
from sojourn.lab import cores
from sojourn.load import block_load
from sojourn.measure import ResidualMeter, RunEnvironment, execute, machine, residual_meter
from sojourn.runs import PULSE, SERIES_LOAD, MeasuredResource, RunFolder, add_resources, read_log, write_parquet
from sojourn.study import Factor, Point, System, Value, all_factors
from sojourn.units import byte_count
from sojourn_cases.common.guest_kernel import GuestOptions, parts_of, way_of
from sojourn_cases.storage.guest_cpu import PairReader, guest_cpu, told
from sojourn_cases.storage.storage_factors import storage_factors
from sojourn_cases.storage.storage_guest_pair import GuestPair, guest_disks, guest_pair, lacking
from sojourn_cases.storage.storage_system import FOREIGN, VERDICTS, StorageLoad, assessed, disturbances
from sojourn_cases.storage.window_cpu import WindowCpu

LEAD_S = 0.8  # until both guests know of the run, and the generator has opened its file
ANSWER_S = 20.0  # beyond the run's own length
FOREIGN_BESIDE = (
    0.1  # of a core: others who cannot take one from threads with real-time priority, and disturb by their memory alone
)
TIMES = ("intended_s", "sent_s", "received_s", "done_s")


class StorageGuestsOptions(GuestOptions):
    """`[system]` of kind `storage-guests`. `folder`: where the disks of both guests are made, with a file of `size` each, removed at the
    end. `mtu`: of the link between the guests, bytes. `paths`: local, nfs and, where open-iscsi is installed, iscsi."""

    kind: Literal["storage-guests"] = "storage-guests"
    paths: list[Literal["local", "nfs", "iscsi"]] = Field(default=["local", "nfs"], min_length=1)
    folder: str = "/var/tmp"
    size: str = "128Mi"
    memory_mib: int = Field(default=384, ge=256, le=65_536)
    mtu: int = Field(default=9000, ge=1500, le=9000)


class StorageGuestsLoad(StorageLoad):
    """`[load]`: as of `storage`, with the `engine` of the load: auto, io_uring or psync (threads)."""

    engine: str = Field(default="auto", pattern="^(auto|io_uring|psync)$")


class StorageGuests(System):
    """A disk of a guest, and NFS or iSCSI between two guests."""

    options_type: ClassVar[type[BaseModel]] = StorageGuestsOptions
    load_type: ClassVar[type[BaseModel]] = StorageGuestsLoad
    alone: ClassVar[bool] = True

    def __init__(self, options: StorageGuestsOptions, load: StorageGuestsLoad, base_folder: Path) -> None:
        self.options, self.load, self.base_folder = options, load, base_folder
        self.folder = base_folder / options.folder
        self.size_bytes = int(byte_count(options.size, "[system] size"))
        for path in options.paths:
            if options.paths.count(path) > 1:
                raise InputError(f"{path!r} twice", "[system] paths", "name each path once")

    @property
    def factors(self) -> dict[str, Factor]:
        return storage_factors(self.options.paths)

    def settled(self, given: Mapping[str, Any], place: str) -> dict[str, Value]:
        return all_factors(self.factors, given, place)

    def why_not(self, factors: Mapping[str, Value]) -> str:
        """Why this machine cannot run a point; empty where it can."""
        o = self.options
        return lacking(parts_of(o, self.base_folder), "tcg" if o.guest == "auto" else o.guest, o.paths)

    @property
    def resources(self) -> dict[str, MeasuredResource | None]:
        return {"cpu": None}

    @contextmanager
    def place(self) -> Iterator[None]:
        yield None

    @contextmanager
    def open(self, place: None) -> Iterator[StorageGuestsSession]:
        """Makes the disks, boots both guests, starts the loops that measure.

        Raises:
            LabError: packages are missing, no room, or a guest does not boot.
        """
        o = self.options
        parts = parts_of(o, self.base_folder)
        way = way_of(o, parts)
        numbers = [core.number for core in cores()]
        with ExitStack() as stack:
            disks = stack.enter_context(guest_disks(self.folder, self.size_bytes, o.paths))
            pair = stack.enter_context(
                guest_pair(parts, way, disks, memory_mib=o.memory_mib, mtu=o.mtu, cores=numbers, paths=o.paths)
            )
            meter, why = None, ""
            try:
                meter = stack.enter_context(residual_meter())
            except LabError as error:
                why = str(error)
            yield StorageGuestsSession(self, way, pair, meter, why)


@dataclass(frozen=True)
class StorageGuestsSession:
    """Runs points. `meter` None: the machine's CPU by ticks, `why`; that of the guests needs none."""

    system: StorageGuests
    way: str
    pair: GuestPair
    meter: ResidualMeter | None
    why: str

    def conditions(self, point: Point) -> dict[str, Any]:
        said = {"system": self.system.options.model_dump(), "load": self.system.load.model_dump(), "place": self.way}
        meter = {"meter": "residual" if self.meter else f"ticks: {self.why}"}
        load = {"lanes": [{}], "path": str(point.factors["path"])}
        return {"load": load, "machine": machine(), "conditions": {**said, **meter}}

    def run(self, point: Point, out: Path, seed: int) -> RunFolder:
        run = _PairRun(self, point, seed)
        guests = {"client guest": self.pair.client, "server guest": self.pair.server}
        core = list(self.pair.client.cores)
        real_time = all(one.real_time for one in guests.values())
        conditions = self.conditions(point)
        about = {
            SERIES_LOAD: conditions["load"], "conditions": conditions["conditions"],
            "lab": {
                "kind": "guests", "way": self.way, "kernel": self.pair.client.guest.kernel, "link": "unix stream socket",
                "host_cores": {name: list(one.cores) for name, one in guests.items()},
                "real_time": real_time,
            },
            # the generator has the one CPU of the client together with the path: to be held up there is part of it
            "placement": dict.fromkeys(("interrupts", "server", "client"), core) | {"client_shares": True}, PULSE: True,
        }  # fmt: skip
        around = RunEnvironment(pids={name: one.guest.pid for name, one in guests.items()}, manifest=about)
        load = run.load(0.0) or {"lanes": [{}], "duration_s": self.system.load.duration_s}
        folder = execute(out, load, what=point.record(seed), around=around, generate=run.generate)
        used = run.reader.result({os.getpid(), *folder.manifest["pids"].values()})
        found = [
            *disturbances(used, FOREIGN_BESIDE if real_time else FOREIGN),
            *(assessed(folder) if point.factors["iops"] else ()),
        ]
        reasons = list(dict.fromkeys(reason for _, reason in found))
        verdict = {"verdict": min((v for v, _ in found), key=VERDICTS.index, default="")}
        folder.manifest |= {
            "block_load": folder.manifest["load"], "load": conditions["load"],
            "storage": self._told(folder, used, run.inside) | verdict, "cpu": vars(used), "valid": not reasons, "reasons": reasons,
        }  # fmt: skip
        add_resources(folder, {}, point.factors)
        return folder

    def _told(self, folder: RunFolder, used: WindowCpu, inside: Mapping[str, Any]) -> dict[str, Any]:
        """What of the run the analysis takes beside what the generator told."""
        done = folder.manifest.get("storage") or {"completed": 0, "achieved_iops": 0.0, "cache_share": 0.0, "reaps": 0}
        by_side = {who: guest_cpu(used.parts, who, inside[who]) for who in inside}
        return {
            **done, "window_s": self.system.load.duration_s, **told(by_side, used.cpu_cores), "foreign_cores": used.foreign_cores,
            "steal": used.steal, "meter": used.meter, "cores": len(os.sched_getaffinity(0)),
        }  # fmt: skip


class _PairRun:
    """One run: what each guest is told, and what they answered (`inside`)."""

    reader: PairReader

    def __init__(self, session: StorageGuestsSession, point: Point, seed: int) -> None:
        self._session, self._point, self._seed = session, point, seed
        self.inside: dict[str, Any] = {}

    def load(self, start_s: float) -> dict[str, Any] | None:
        """The generator's configuration, to begin at `start_s` of the client's clock; None of a run at rest."""
        f, load = self._point.factors, self._session.system.load
        if not f["iops"]:
            return None
        return block_load(
            self._session.pair.file(str(f["path"])), iops=float(f["iops"]), read=float(f["read"]), random=float(f["random"]),
            block=f"{f['block_kib']}k", duration_s=load.duration_s, start_at_s=start_s, seed=self._seed, arrivals=load.arrivals,
            direct=True, depth=load.depth, queue=load.queue, timeout_s=load.timeout_s, engine=load.engine,
        )  # fmt: skip

    def generate(self, folder: RunFolder) -> dict[str, Any]:
        """Runs it in the client; writes the requests into `folder`, on the host's clock; what the generator said."""
        session, length_s = self._session, self._session.system.load.duration_s
        offset_s = {
            "client": session.pair.client.clock_offset_s()[0],
            "server": session.pair.server.clock_offset_s()[0],
        }
        start_s = time.monotonic() + LEAD_S
        self.reader = PairReader(session.meter, session.pair, sorted(os.sched_getaffinity(0)), start_s, length_s)
        at_s = {who: start_s - offset for who, offset in offset_s.items()}
        orders: dict[str, dict[str, Any]] = {
            "client": {"load": self.load(at_s["client"])}, "server": {"load": None, "forget": True}
        }  # fmt: skip
        limit_s = LEAD_S + length_s + session.system.load.timeout_s + ANSWER_S
        failed: list[LabError] = []

        def ask(who: str) -> None:
            order = {**orders[who], "window": [at_s[who], at_s[who] + length_s]}
            try:
                self.inside[who] = getattr(session.pair, who).do(order, limit_s)
            except LabError as error:
                failed.append(error)

        asked = [threading.Thread(target=ask, args=(who,)) for who in orders]
        for one in asked:
            one.start()
        for one in asked:
            one.join()
        self.reader.join()
        if failed:
            raise failed[0]
        return self._written(folder, offset_s["client"])

    def _written(self, folder: RunFolder, offset_s: float) -> dict[str, Any]:
        told = self.inside["client"]
        if "summary" not in told:
            return {"kind": "none"}
        log = folder.path / "requests-guest.rec"
        log.write_bytes(base64.b64decode(told.pop("records")))
        write_parquet(on_host_clock(read_log(log)[0], offset_s), folder.path / "requests.parquet")
        log.unlink()
        summary: dict[str, Any] = told.pop("summary")
        return summary | {name: summary[name] + offset_s for name in ("start_s", "end_s") if name in summary}


def on_host_clock(requests: pl.DataFrame, offset_s: float) -> pl.DataFrame:
    """Requests whose times are of the client's clock, moved by `offset_s`; a time that is not there (0 or NaN) stays so."""
    return requests.with_columns(
        pl.when(pl.col(name) > 0).then(pl.col(name) + offset_s).otherwise(pl.col(name)).alias(name)
        for name in TIMES
        if name in requests.columns
    )
