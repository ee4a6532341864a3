"""A three-tier site, the bulletin board: nginx before one or several replicas of the application, tables in memory.

Each run starts its tiers anew, so that none inherits what the last one wrote. SiteTiers share the first `cores` cores; the client
has the others, or, where there is none left, shares them too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from sojourn.errors import InputError
from sojourn.lab.backends import Environment, environment
from sojourn.lab.cpu_affinity import pin
from sojourn.measure.execute_run import RunEnvironment, execute, machine
from sojourn.measure.resources import Resource, add_resources
from sojourn.measure.run_folder import RunFolder
from sojourn.measure.session_load import mix_of, session_load
from sojourn.system.http_system import LevelLoad
from sojourn.system.system import Factor, Point, Value
from sojourn.system.time_values import Seconds
from sojourn.testbed.bulletin import BulletinOptions, BulletinService
from sojourn.testbed.memcached import free_port
from sojourn.testbed.nginx import Nginx

ANY_PORT = "127.0.0.1:0"
HOST = "127.0.0.1"


class BulletinSystemOptions(BaseModel):
    """`[system]` of kind `bulletin`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["bulletin"] = "bulletin"
    scale: float = Field(default=0.02, ge=0.0001, le=10)
    data_seed: int = Field(default=1, ge=0)


class BulletinLoad(LevelLoad):
    """`[load]`: the run, the ramps before and behind it, which do not count, and how users go from page to page."""

    mix: str = "browse"
    ramp_up_s: Seconds = Field(default=1.0, alias="ramp_up", ge=0, le=3600)
    ramp_down_s: Seconds = Field(default=0.0, alias="ramp_down", ge=0, le=3600)

    def mix_file(self, mix: str, folder: Path) -> str:
        """A mix by name, or a matrix beside the study file."""
        return str(folder / mix) if mix.endswith(".csv") else mix


class BulletinSystem:
    """nginx and the application, started for each run."""

    options_type: ClassVar[type[BaseModel]] = BulletinSystemOptions
    load_type: ClassVar[type[BaseModel]] = BulletinLoad
    alone: ClassVar[bool] = True

    def __init__(self, options: BulletinSystemOptions, load: BulletinLoad, folder: Path) -> None:
        self.options, self.load, self.folder = options, load, folder

    @property
    def factors(self) -> dict[str, Factor]:
        """`cores`: that the tiers share. `workers` are threads of each of `replicas` of the application."""
        own = {
            "cores": Factor(default=_all_cores(), low=1, high=_all_cores()),
            "replicas": Factor(default=1, low=1, high=16),
            "workers": Factor(default=8, low=1, high=1024),
            "nginx_workers": Factor(default=1, low=1, high=64),
            "page_work_s": Factor(default=2e-3, low=0.0, high=1.0),
            "mix": Factor(default=self.load.mix),
        }
        return {**own, **self.load.factors()}

    def settled(self, given: Mapping[str, Any], place: str) -> dict[str, Value]:
        found = self.load.settled(self.factors, given, place)
        if "users" not in found:
            raise InputError(f"rate_per_s = {found['rate_per_s']}", place, "give users: sessions are a closed loop")
        mix_of(self.load.mix_file(str(found["mix"]), self.folder))
        return found

    @property
    def resources(self) -> dict[str, Resource | None]:
        return {"client": None, "nginx": None, "application": None, "cpu": None}

    def place(self) -> AbstractContextManager[Environment]:
        return environment("loopback")

    @contextmanager
    def open(self, place: Environment) -> Iterator[BulletinSession]:
        yield BulletinSession(self, place)


def _all_cores() -> int:
    return len(os.sched_getaffinity(0))


class SiteTiers:
    """The processes of one run. `url`: nginx."""

    def __init__(
        self, options: BulletinSystemOptions, factors: Mapping[str, Value], cores: list[int], log: Path
    ) -> None:
        self._replicas: list[BulletinService] = []
        self._nginx: Nginx | None = None
        try:
            with open(log, "ab") as complaints:
                for _ in range(int(factors["replicas"])):
                    own = BulletinOptions(
                        listen=ANY_PORT, scale=options.scale, seed=options.data_seed, workers=int(factors["workers"]),
                        page_work_s=float(factors["page_work_s"]),
                    )  # fmt: skip
                    self._replicas.append(BulletinService(own, log=complaints.fileno()))
            pin([one.pid for one in self._replicas], cores)
            self._nginx = Nginx(
                f"{HOST}:{free_port(HOST)}", [one.address for one in self._replicas],
                workers=int(factors["nginx_workers"]), cores=cores,
            )  # fmt: skip
            self.url = self._nginx.url
            self.nginx_pids = self._nginx.pids
        except BaseException:
            self.close()
            raise

    @property
    def application_pids(self) -> dict[str, int]:
        return {f"application {k}": one.pid for k, one in enumerate(self._replicas, 1)}

    @property
    def pids(self) -> dict[str, int]:
        return {**self.nginx_pids, **self.application_pids}

    def stop(self) -> dict[str, Any]:
        """Ends them, front first; what each counted."""
        assert self._nginx is not None
        front = self._nginx.stop()
        return {"nginx": front, "application": [one.stop() for one in self._replicas]}

    def close(self) -> None:
        """Makes sure that they are gone."""
        if self._nginx:
            self._nginx.close()
        for one in self._replicas:
            one.close()


@dataclass(frozen=True)
class BulletinSession:
    """Runs points, each on tiers started for it."""

    system: BulletinSystem
    place: Environment

    def conditions(self, point: Point) -> dict[str, Any]:
        return {
            "load": self._load(point, f"http://{HOST}/", 0), "machine": machine(),
            "conditions": {"system": self.system.options.model_dump()},
        }  # fmt: skip

    def run(self, point: Point, out: Path, seed: int) -> RunFolder:
        cores, others = split_cores(int(point.factors["cores"]))
        log = out.with_name(f".{out.name}.txt")
        log.parent.mkdir(parents=True, exist_ok=True)
        conditions = self.conditions(point)
        tiers = SiteTiers(self.system.options, point.factors, cores, log)
        try:
            folder = execute(
                out, self._load(point, tiers.url, seed), service=tiers,
                what={"name": point.name, "section": point.section, "factors": dict(point.factors), "seed": seed},
                around=RunEnvironment(
                    client_cores=tuple(others), all_known=True, core_speed=True,
                    manifest={"lab": self.place.describe(), "conditions": conditions["conditions"]},
                ),
            )  # fmt: skip
        finally:
            tiers.close()
        log.unlink(missing_ok=True)
        folder.manifest["load"]["lanes"] = conditions["load"]["lanes"]  # ports are whatever was free
        pids, capacity = folder.manifest["pids"], float(len(cores))
        ours = {"nginx": tuple(tiers.nginx_pids.values()), "application": tuple(tiers.application_pids.values())}
        resources = {"client": Resource(1.0, (pids["generator"],))}
        resources |= {name: Resource(capacity, own) for name, own in ours.items()}
        shared = () if set(others).isdisjoint(cores) else resources["client"].pids
        resources["cpu"] = Resource(capacity, (*ours["nginx"], *ours["application"], *shared))
        add_resources(folder, resources, point.factors)
        return folder

    def _load(self, point: Point, url: str, seed: int) -> dict[str, Any]:
        load, factors = self.system.load, point.factors
        return session_load(
            url, users=int(factors["users"]), think_s=float(factors["think_s"]), mix=load.mix_file(str(factors["mix"]), self.system.folder),
            duration_s=load.duration_s, ramp_up_s=load.ramp_up_s, ramp_down_s=load.ramp_down_s, seed=seed, timeout_s=load.timeout_s,
        )  # fmt: skip


def split_cores(number: int) -> tuple[list[int], list[int]]:
    """The first `number` cores, which the tiers share, and those of the client: the others, or all where there are none."""
    all_ = sorted(os.sched_getaffinity(0))
    return all_[:number], all_[number:] or all_
