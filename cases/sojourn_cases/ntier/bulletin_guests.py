"""The bulletin board in two guests beside each other: the application in one (`front`), PostgreSQL in the other (`database`).

A guest is a virtual machine with CPUs of its own; `placement` says on which cores of the host these run. The client is on the host, before
all others. Guests stay from run to run, frozen while others are asked; what is moved is their virtual CPUs. A run has the counters of both
kernels and of the host on one clock: `guest_account.py` says whose CPU time is whose.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, Field

from sojourn.errors import InputError
from sojourn.lab import GuestParts, SlowDisk, why_not_namespaces
from sojourn.lab import cores as all_cores
from sojourn.load import mix_of, session_load
from sojourn.measure import RunEnvironment, execute, machine
from sojourn.runs import MeasuredResource, RunFolder, add_resources
from sojourn.study import Factor, Point, System, Value
from sojourn_cases.common.guest_kernel import GuestOptions, parts_of, way_of
from sojourn_cases.common.postgres_programs import programs, runs_as
from sojourn_cases.ntier import database_disk
from sojourn_cases.ntier.bulletin_board import BulletinLoad
from sojourn_cases.ntier.bulletin_cluster import BulletinCluster, bulletin_cluster
from sojourn_cases.ntier.bulletin_database import TableSizes
from sojourn_cases.ntier.guest_account import GUESTS, account_rows, by_host, cores_of
from sojourn_cases.ntier.guest_disk import MEMORY, STRATEGIES, WrittenDisk, guest_disk
from sojourn_cases.ntier.guest_tiers import FRONT_PORT, CountedGuests, GuestTiers, at_rest

MOST_CPUS = 4
MOST_PAIRS = 2  # of guests at a time
SETTLES_S = 2.0
WARM_USERS = 20
SHARED, APART = "shared", "apart"
KEPT = ("cpus", "workers", "pool", "page_work_s")  # guests stay while these do
DISK_NEEDED = "set disk in [system] for a database on a disk"


class BulletinGuestOptions(GuestOptions):
    """`[system]` of kind `bulletin-guests`. `port`: of the host, for the application; the next one for a second pair of guests. `network`:
    of the client, user (QEMU's own), lab (a namespace, as root), or auto: lab where it can be had. `scale`, `data_seed`: of the tables;
    `database_settings`: of PostgreSQL, by their names; `disk`: size of a slow disk of the host (as root), for the disk of the database's
    guest. `warm_s`: how long new guests are asked before their first run."""

    kind: Literal["bulletin-guests"] = "bulletin-guests"
    network: str = Field(default="auto", pattern="^(auto|user|lab)$")
    memory_mib: int = Field(default=384, ge=256, le=65_536)
    database_memory_mib: int = Field(default=768, ge=512, le=65_536)
    port: int = Field(default=18080, ge=1, le=65_534)
    scale: float = Field(default=0.002, ge=0.001, le=1)
    data_seed: int = Field(default=1, ge=0)
    database_settings: dict[str, str] = Field(default_factory=dict)
    disk: str | None = None
    warm_s: float = Field(default=30.0, ge=0, le=300)


class BulletinGuestSystem(System):
    """The bulletin board in two guests."""

    options_type: ClassVar[type[BaseModel]] = BulletinGuestOptions
    load_type: ClassVar[type[BaseModel]] = BulletinLoad
    alone: ClassVar[bool] = True

    def __init__(self, options: BulletinGuestOptions, load: BulletinLoad, base_folder: Path) -> None:
        self.options, self.load, self.base_folder = options, load, base_folder
        TableSizes.of(options.scale)
        database_disk.check(options.disk)

    @property
    def factors(self) -> dict[str, Factor]:
        """`cpus`: virtual ones of each guest; `placement`: both guests on the same cores of the host, or each on its own. `strategy`: where
        the database lies and how its guest writes (`guest_disk.py`); `disk_bps`: of the host's slow disk, 0: no limit."""
        return {
            "cpus": Factor(default=1, low=1, high=MOST_CPUS),
            "placement": Factor(default=SHARED, values=(SHARED, APART)),
            "mix": Factor(default=self.load.mix),
            **self.load.factors(),
            "workers": Factor(default=16, low=1, high=1024),
            "pool": Factor(default=16, low=1, high=200),
            "page_work_s": Factor(default=0.0, low=0.0, high=1.0),
            "strategy": Factor(
                default=MEMORY, values=(MEMORY, *STRATEGIES) if self.options.disk else (MEMORY,), others=DISK_NEEDED
            ),
            **(database_disk.RATE if self.options.disk else {}),
        }

    def settled(self, given: Mapping[str, Any], place: str) -> dict[str, Value]:
        found = self.load.settled(self.factors, given, place)
        if "users" not in found:
            raise InputError(f"rate_per_s = {found['rate_per_s']}", place, "set users: sessions are a closed loop")
        mix_of(self.load.mix_file(str(found["mix"]), self.base_folder))
        return found

    def why_not(self, factors: Mapping[str, Value]) -> str:
        needs = int(factors["cpus"]) * (2 if factors["placement"] == APART else 1)
        here = len(all_cores())
        return "" if needs <= here else f"placement {factors['placement']} needs {needs} cores; this machine has {here}"

    @cached_property
    def in_lab(self) -> bool:
        """Whether the client reaches the first guest on a network of the lab."""
        asked = self.options.network
        return asked == "lab" or (asked == "auto" and not why_not_namespaces())

    def url(self, port: int | None = None) -> str:
        """Of the application, through this port of the host."""
        return f"http://10.0.1.15:{FRONT_PORT}/" if self.in_lab else f"http://127.0.0.1:{port or self.options.port}/"

    @property
    def resources(self) -> dict[str, MeasuredResource | None]:
        return dict.fromkeys((*GUESTS, *by_host(1), *([database_disk.NAME] if self.options.disk else ())))

    @contextmanager
    def place(self) -> Iterator[None]:
        yield None

    @contextmanager
    def open(self, place: None) -> Iterator[BulletinGuestSession]:
        """Loads the database, once.

        Raises:
            LabError: no such guest, or PostgreSQL is not installed.
        """
        parts = parts_of(self.options, self.base_folder)
        way = way_of(self.options, parts)
        parts.check(way)
        programs(runs_as(), "a study without guests")
        with (
            bulletin_cluster(self.options.scale, self.options.data_seed) as cluster,
            database_disk.opened(self.options.disk, None) as disk,
            ExitStack() as stack,
        ):
            yield BulletinGuestSession(self, parts, way, cluster, stack, disk)


def host_cores(placement: str, cpus: int, available: Sequence[int]) -> dict[str, tuple[int, ...]]:
    """The host's core of each virtual CPU of each guest: the first `cpus`, for both (`shared`), or the next ones for the second."""
    front = tuple(available[:cpus])
    return {GUESTS[0]: front, GUESTS[1]: front if placement == SHARED else tuple(available[cpus : 2 * cpus])}


@dataclass
class BulletinGuestSession:
    """Runs points, each on guests of its configuration."""

    system: BulletinGuestSystem
    parts: GuestParts
    way: str
    cluster: BulletinCluster
    _stack: ExitStack
    disk: SlowDisk | None = None
    _pairs: dict[str, GuestTiers] = field(default_factory=dict)  # by their factors; all but one are frozen

    def conditions(self, point: Point) -> dict[str, Any]:
        said = self.system.options.model_dump(exclude={"kind"})
        about = {"system": said, "place": self.way, "database": self.cluster.version, "rows": dict(self.cluster.rows)}
        return {"load": self._load(point, 0), "machine": machine(), "conditions": about}

    def run(self, point: Point, out: Path, seed: int) -> RunFolder:
        placed = host_cores(
            str(point.factors["placement"]), int(point.factors["cpus"]), [core.number for core in all_cores()]
        )
        strategy = str(point.factors["strategy"])
        if not self.disk or strategy == MEMORY:
            return self._run(self._kept(point, placed), point, out, seed, placed)
        self._freeze()
        # a database that was written to is no other run's
        with (
            guest_disk(self.disk, strategy, int(point.factors["cpus"])) as written,
            self._started(point.factors, placed, written) as tiers,
            written.at(float(point.factors["disk_bps"])),
        ):
            time.sleep(SETTLES_S)
            return self._run(tiers, point, out, seed, placed)

    def _run(
        self, tiers: GuestTiers, point: Point, out: Path, seed: int, placed: Mapping[str, tuple[int, ...]]
    ) -> RunFolder:
        cpus, available = int(point.factors["cpus"]), [core.number for core in all_cores()]
        used = {core for own in placed.values() for core in own}
        client = [core for core in available if core not in used] or available[-1:]
        about = {
            "lab": {
                "kind": "guests", "way": self.way, "kernel": tiers.kernel, "host_cores": {name: list(own) for name, own in placed.items()},
                "guest_cores": {name: list(cores_of(name, cpus)) for name in GUESTS}, "client_cores": client,
                "network": "lab" if tiers.network else "user",
            },
            "conditions": self.conditions(point)["conditions"],
        }  # fmt: skip
        around = RunEnvironment(tiers.network, pids=tiers.pids, client_cores=tuple(client), manifest=about)
        folder = execute(
            out, self._load(point, seed, tiers.port), what=point.record(seed), around=around, service=CountedGuests(tiers, out),
            interval_s=self.system.load.every_s,
        )  # fmt: skip
        groups = {name: MeasuredResource(float(cpus), cores=cores_of(name, cpus)) for name in GUESTS}
        groups |= by_host(cpus)
        add_resources(
            folder,
            groups | database_disk.resources(self.disk),
            point.factors,
            account_rows(folder, cpus, tiers.at_rest),
        )
        return folder

    def _kept(self, point: Point, placed: Mapping[str, tuple[int, ...]]) -> GuestTiers:
        """The guests of this point; those of others stand still meanwhile, since a boot takes as long as a run."""
        wanted = {name: point.factors.get(name, self.system.factors[name].default) for name in KEPT}
        key = repr(wanted)
        self._freeze(but=key)
        if key not in self._pairs:
            if len(self._pairs) >= MOST_PAIRS:
                self._pairs.clear()
                self._stack.close()
            found = self._pairs[key] = self._stack.enter_context(self._started(wanted, placed))
            self._warm(found, point, placed)
            found.at_rest = at_rest(found.guests)
        found = self._pairs[key]
        found.thaw()
        found.move(placed)
        time.sleep(SETTLES_S)
        return found

    def _warm(self, tiers: GuestTiers, point: Point, placed: Mapping[str, tuple[int, ...]]) -> None:
        """Asks new guests for `warm_s`, without a record: until most of what they run has been translated, and the database has read its
        tables, a request takes up to three times its CPU time."""
        if not self.system.options.warm_s:
            return
        load = self._load(point, 0, tiers.port, warm=True)
        client = [c.number for c in all_cores() if c.number not in placed[GUESTS[0]]] or [all_cores()[-1].number]
        around = RunEnvironment(tiers.network, pids=tiers.pids, client_cores=tuple(client))
        with tempfile.TemporaryDirectory(prefix="sojourn-warm-") as folder:
            execute(Path(folder) / "run", load, what={"name": "warm-up", "factors": {}}, around=around)

    def _freeze(self, but: str = "") -> None:
        for name, pair in self._pairs.items():
            if name != but:
                pair.freeze()

    def _started(
        self, wanted: Mapping[str, Any], placed: Mapping[str, tuple[int, ...]], written: WrittenDisk | None = None
    ) -> AbstractContextManager[GuestTiers]:
        o = self.system.options
        return GuestTiers.started(
            self.parts, self.way, self.cluster, placed, cpus=int(wanted["cpus"]), memory_mib=(o.memory_mib, o.database_memory_mib),
            port=None if self.system.in_lab else o.port + len(self._pairs), workers=int(wanted["workers"]), pool=int(wanted["pool"]),
            page_work_s=float(wanted["page_work_s"]), settings=o.database_settings, interval_s=self.system.load.every_s,
            disk=written.disk if written else None, database_cpus=written.cpus if written else (),
        )  # fmt: skip

    def _load(self, point: Point, seed: int, port: int | None = None, warm: bool = False) -> dict[str, Any]:
        load, factors = self.system.load, point.factors
        users = WARM_USERS if warm else int(factors["users"])
        lengths_s = (
            (self.system.options.warm_s, 0.0, 0.0) if warm else (load.duration_s, load.ramp_up_s, load.ramp_down_s)
        )
        config = session_load(
            self.system.url(port), users=users, think_s=float(factors["think_s"]),
            mix=load.mix_file(str(factors["mix"]), self.system.base_folder),
            duration_s=lengths_s[0], ramp_up_s=lengths_s[1], ramp_down_s=lengths_s[2], seed=seed, timeout_s=load.timeout_s,
        )  # fmt: skip
        return {**config, "realtime": True}
