"""A three-tier site, the bulletin board: a proxy before one or several replicas of the application, before a database or tables in memory.

Each run starts its tiers anew, the database on a copy of a cluster that was loaded once, so that none inherits what the last one wrote.
The tiers share `cores` cores; the client has the others, or, where there is none left, shares them too.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel, Field

from sojourn.errors import InputError, LabError, ServiceError
from sojourn.lab import (
    CLIENT,
    FIRST_CORES,
    PLACEMENTS,
    CountedGroups,
    Environment,
    SlowDisk,
    counted_groups,
    environment,
    split_cores,
)
from sojourn.lab import cores as all_cores
from sojourn.load import mix_of, session_load
from sojourn.measure import RunEnvironment, execute, machine
from sojourn.runs import MeasuredResource, RunFolder, add_resources, metrics_row
from sojourn.study import Factor, LevelLoad, Point, Seconds, System, Value
from sojourn_cases.ntier import database_disk
from sojourn_cases.ntier.bulletin_board_options import OWN_STACK, BulletinSystemOptions
from sojourn_cases.ntier.bulletin_board_tiers import SiteTiers, TierCores
from sojourn_cases.ntier.default_stack import DefaultStack
from sojourn_cases.ntier.site_hosts import LOOPBACK
from sojourn_cases.ntier.site_stack import LoadedStack, SiteStack
from sojourn_cases.ntier.tier_demands import BACKGROUND, CORES, background_cores

PLACE = "[system]"


class BulletinLoad(LevelLoad):
    """`[load]`: the run, the ramps before and behind it, which do not count, and how users go from page to page."""

    mix: str = "browse"
    ramp_up_s: Seconds = Field(default=1.0, alias="ramp_up", ge=0, le=3600)
    ramp_down_s: Seconds = Field(default=0.0, alias="ramp_down", ge=0, le=3600)

    def mix_file(self, mix: str, folder: Path) -> str:
        """A mix by name, or a matrix beside the study file."""
        return str(folder / mix) if mix.endswith(".csv") else mix


class BulletinSystem(System):
    """For each run, the study starts nginx, the application and, with `database = true`, PostgreSQL; or other software (`stack`)."""

    options_type: ClassVar[type[BaseModel]] = BulletinSystemOptions
    load_type: ClassVar[type[BaseModel]] = BulletinLoad
    alone: ClassVar[bool] = True

    def __init__(self, options: BulletinSystemOptions, load: BulletinLoad, base_folder: Path) -> None:
        self.options, self.load, self.base_folder = options, load, base_folder
        self.stack = _stack(options)
        self.stack.check()

    @property
    def tiers(self) -> tuple[str, ...]:
        """Their names, which are those of the stations of a run's Metrics, front first."""
        return self.stack.tiers

    @property
    def factors(self) -> dict[str, Factor]:
        """`cores`: that the tiers share, or, `pinned`, divide, the last tier having half of them for itself; `placement`: which. The
        software has further ones, such as sizes of pools of each of `replicas` of the application, and `web_servers` where there may be
        several. Runs have `machine_cores` too."""
        number = len(all_cores())
        return {
            "cores": Factor(default=number, low=1, high=number),
            "mix": Factor(default=self.load.mix),
            **self.load.factors(),
            "replicas": Factor(default=1, low=1, high=self.options.application_servers),
            **({"web_servers": Factor(default=1, low=1, high=web)} if (web := self.options.web_servers) > 1 else {}),
            **self.stack.pools,
            "page_work_s": Factor(default=2e-3, low=0.0, high=1.0),
            "placement": Factor(default=FIRST_CORES, values=(FIRST_CORES, *PLACEMENTS)),
            "pinned": Factor(default=False),
            **self.stack.database_factors,
        }

    def settled(self, given: Mapping[str, Any], place: str) -> dict[str, Value]:
        found = self.load.settled(self.factors, given, place)
        if "users" not in found:
            raise InputError(f"rate_per_s = {found['rate_per_s']}", place, "set users: sessions are a closed loop")
        if int(found["users"]) < (web := int(found.get("web_servers", 1))):
            raise InputError(f"users = {found['users']}", place, f"give a user for each of {web} web servers")
        mix_of(self.load.mix_file(str(found["mix"]), self.base_folder))
        self.stack.check_factors(found, place)
        try:
            self.cores(found)
        except LabError as error:
            raise InputError(error.value, place, error.remedy) from None
        return found | {"machine_cores": len(all_cores())}

    def cores(self, factors: Mapping[str, Value]) -> TierCores:
        """Of each tier, and of the client.

        Raises:
            LabError: this machine does not have them so.
        """
        number = int(factors["cores"])
        shared, client = map(tuple, split_cores(number, str(factors["placement"]), all_cores()))
        if not factors["pinned"]:
            return TierCores(shared, dict.fromkeys(self.tiers, shared), client)
        if number < 2:
            raise LabError("pinned = true with 1 core", "placement", "give the tiers 2 cores or more")
        front, last = shared[: number - number // 2], shared[number - number // 2 :]
        return TierCores(shared, {**dict.fromkeys(self.tiers, front), self.tiers[-1]: last}, client)

    @property
    def resources(self) -> dict[str, MeasuredResource | None]:
        disk = (database_disk.NAME,) if self.options.disk else ()
        return dict.fromkeys((CLIENT, *self.tiers, "cpu", *disk))

    def place(self) -> AbstractContextManager[Environment]:
        return environment("loopback")

    @contextmanager
    def open(self, place: Environment) -> Iterator[BulletinSession]:
        """Loads the database, once.

        Raises:
            ServiceError, LabError: a program of it is not installed.
        """
        with ExitStack() as stack:
            groups = stack.enter_context(counted_groups())
            disk = stack.enter_context(database_disk.opened(self.options.disk, self._copies))
            software = stack.enter_context(self.stack.open(disk.folder if disk else self._copies))
            yield BulletinSession(self, place, groups, software, disk)

    @property
    def _copies(self) -> Path | None:
        return self.base_folder / self.options.database_folder if self.options.database_folder else None


def _stack(options: BulletinSystemOptions) -> SiteStack:
    if options.stack == OWN_STACK:
        return DefaultStack(options)
    from sojourn_cases.ntier.apache_tomcat_mariadb.java_tiers import JavaStack

    return JavaStack(options)


@dataclass(frozen=True)
class BulletinSession:
    """Runs points, each on tiers started for it."""

    system: BulletinSystem
    place: Environment
    groups: CountedGroups
    software: LoadedStack
    disk: SlowDisk | None = None

    def conditions(self, point: Point) -> dict[str, Any]:
        said = {"system": self.system.options.model_dump()}
        conditions = said | self.software.described
        urls = [f"http://{LOOPBACK}/"] * int(point.factors.get("web_servers", 1))
        return {"load": self._load(point, urls, 0), "machine": machine(), "conditions": conditions}

    def run(self, point: Point, out: Path, seed: int) -> RunFolder:
        logs = out.with_name(f".{out.name}")
        shutil.rmtree(logs, ignore_errors=True)
        logs.mkdir(parents=True)
        cores = self.system.cores(point.factors)
        tiers = self.software.start(point.factors, cores, self.groups, logs)
        try:
            with database_disk.written_so(self.disk, tiers.postgres, point.factors) as beside:
                folder = self._execute(point, out, seed, tiers, cores)
        except ServiceError as error:
            if tiers.stop() and tiers.died:
                raise ServiceError("; ".join(tiers.died), PLACE, "fix what the message says") from error
            raise
        finally:
            tiers.close()
            shutil.rmtree(logs, ignore_errors=True)
        if tiers.died:
            folder.manifest |= {"valid": False, "reasons": [*tiers.died, *folder.manifest["reasons"]]}
        folder.manifest |= {"database_activity": beside.record} if tiers.postgres else {}
        found = tiers.resources(folder.manifest["pids"]["generator"])
        others = background_cores(folder, [one for name, one in found.items() if name != CORES])
        more = [] if others is None else [metrics_row("utilisation", others, station=BACKGROUND, unit="1")]
        add_resources(folder, found | database_disk.resources(self.disk), point.factors, more)
        return folder

    def _execute(self, point: Point, out: Path, seed: int, tiers: SiteTiers, cores: TierCores) -> RunFolder:
        conditions = self.conditions(point)
        about = {
            "lab": self.place.describe() | tiers.hosts.described(),
            "tiers": tiers.described(),
            "conditions": conditions["conditions"],
        }
        around = RunEnvironment(
            client_network=tiers.hosts.path(CLIENT), client_cores=cores.client, client_cgroup=self.groups.path(CLIENT),
            cgroups=tiers.cgroups, all_known=True, core_speed=True, manifest=about,
        )  # fmt: skip
        folder = execute(
            out, self._load(point, tiers.urls, seed), service=tiers, what=point.record(seed), around=around
        )
        folder.manifest["load"]["lanes"] = conditions["load"]["lanes"]  # ports are whatever was free
        return folder

    def _load(self, point: Point, urls: list[str], seed: int) -> dict[str, Any]:
        load, factors = self.system.load, point.factors
        return session_load(
            urls, users=int(factors["users"]), think_s=float(factors["think_s"]),
            mix=load.mix_file(str(factors["mix"]), self.system.base_folder),
            duration_s=load.duration_s, ramp_up_s=load.ramp_up_s, ramp_down_s=load.ramp_down_s, seed=seed, timeout_s=load.timeout_s,
        )  # fmt: skip
