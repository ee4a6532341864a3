"""Runs a study: saturate, ramp, fit, predict, write the prediction down, run what was predicted, compare.

Everything lands in one folder and is written as soon as it is known, so that an interrupted study goes on where it
stopped: a run whose folder is complete is not run again.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sojourn.lab.environment import Environment, Virtual
from sojourn.lab.process import Event
from sojourn.lab.topology import Placement, cores
from sojourn.measure.folder import RunFolder
from sojourn.measure.rest import at_rest
from sojourn.measure.run import Surroundings, execute
from sojourn.study.folder import Say
from sojourn.study.plan import Configuration, Plan
from sojourn.study.points import run_seed
from sojourn.testbed import SERVICES, VirtualTestbed

AGAIN = 2


@dataclass(frozen=True)
class Point:
    """One run of a study, named."""

    configuration: Configuration
    name: str
    rate_per_s: float | None
    replication: int
    bare: bool
    attempt: int


@dataclass
class Runner:
    """Runs single points of a study in its folder, skipping those that are there."""

    plan: Plan
    place: Environment
    out: Path
    say: Say
    progress: Callable[[Event], None] | None = None
    _arranged: tuple[int, int] | None = None
    _placement: Placement | None = None
    _at_rest: dict[str, float] | None = None
    runs: list[RunFolder] = field(default_factory=list)

    def size(self, configuration: Configuration) -> tuple[int, int]:
        """Cores and NICs of a configuration on this machine: 0 means all the cores, and a NIC a core up to 4."""
        count = configuration.cores or len(cores())
        return count, configuration.nics or min(count, 4)

    def point(
        self,
        configuration: Configuration,
        name: str,
        rate_per_s: float | None,
        replication: int = 0,
        bare: bool = False,
    ) -> RunFolder:
        """One run: open loop at `rate_per_s`, or, where that is None, closed loop to find the saturation rate.

        A `bare` run has no known demand: it shows what the client itself costs.

        A run that was disturbed is kept and marked, and repeated at most twice.
        """
        for attempt in range(AGAIN + 1):
            point = Point(configuration, name + ("-again" * attempt), rate_per_s, replication, bare, attempt)
            folder = self._once(point)
            reasons = folder.manifest.get("reasons", [])
            if not any("disturbed" in reason for reason in reasons):
                break
            self.say(f"  {folder.path.name}: {'; '.join(reasons)}; run again")
        self.runs.append(folder)
        return folder

    def _once(self, point: Point) -> RunFolder:
        path = self.out / "runs" / point.name
        if (path / "manifest.json").exists():
            folder = RunFolder.open(path)
            if folder.manifest["status"] == "complete":
                return folder
            path.rename(path.with_name(f".{path.name}-cut-off-{int(time.time())}"))
        return self._execute(point, path)

    def _execute(self, point: Point, path: Path) -> RunFolder:
        """One run; what the service recorded beside it is moved into the run folder, and never left elsewhere."""
        if isinstance(self.place, Virtual):
            return self._simulate(point, path)
        staging = path.parent / f".{path.name}"
        shutil.rmtree(staging, ignore_errors=True)
        staging.mkdir(parents=True)
        try:
            return self._serve_and_load(point, path, staging)
        finally:
            shutil.rmtree(staging, ignore_errors=True)

    def _serve_and_load(self, point: Point, path: Path, staging: Path) -> RunFolder:
        study = self.plan.study
        count, nics = self.size(point.configuration)
        placement = self._arrange(count, nics)
        seed = run_seed(study.load.seed, path.name)
        demand = self.plan.demand_of(point.configuration)
        if point.bare:
            demand = demand.model_copy(update={"interrupt_s": 0.0, "page_s": 0.0})
        rest = self._rest(placement)
        service = SERVICES[study.testbed].start(
            self.place, placement, self.plan.options[point.configuration.name], demand, seed, staging
        )
        around = Surroundings(
            self.place.client_network,
            self.place.server_network,
            self.place.pids,
            placement.observer,
            {"placement": vars(placement), "lab": self.place.describe(), "at_rest": rest},
        )
        what = self._manifest(point, count, nics, seed, demand, service.ready)
        load = self._load(service.urls, placement, point.rate_per_s, seed)
        staged = _Staged(service, staging, path)
        try:
            return execute(path, load, what=what, around=around, service=staged, progress=self.progress)
        except BaseException:
            service.stop()
            raise

    def _simulate(self, point: Point, path: Path) -> RunFolder:
        """One run on a virtual host, in simulated time."""
        study = self.plan.study
        count, nics = self.size(point.configuration)
        seed = run_seed(study.load.seed, path.name)
        host = self.plan.host(point.configuration)
        what = self._manifest(point, count, nics, seed, self.plan.demand_of(point.configuration), {})
        return VirtualTestbed.run(
            path,
            host,
            rate_per_s=point.rate_per_s,
            users=study.saturation.users,
            duration_s=study.load.seconds if point.rate_per_s else study.saturation.seconds,
            timeout_s=study.load.timeout_s,
            seed=seed,
            manifest=what | {"lab": self.place.describe()},
        )

    def _manifest(
        self, point: Point, count: int, nics: int, seed: int, demand: Any, ready: dict[str, Any]
    ) -> dict[str, Any]:
        study = self.plan.study
        level = {"rate_per_s": point.rate_per_s} if point.rate_per_s else {"users": study.saturation.users}
        return {
            "name": point.name,
            "study": study.name,
            "testbed": study.testbed,
            "configuration": point.configuration.name,
            "factors": {"cores": count, "nics": nics, "replication": point.replication} | level,
            "seed": seed,
            "demand": demand.model_dump(),
            "service_options": self.plan.options[point.configuration.name].model_dump(),
            "ready": ready,
            "attempt": point.attempt,
        }

    def _rest(self, placement: Placement) -> dict[str, float]:
        """What the lab uses at rest, measured once."""
        if self._at_rest is None:
            found = at_rest(self.place.pids, placement.observer, self.out)
            self._at_rest = {str(core): share for core, share in found.items()}
        return self._at_rest

    def _arrange(self, count: int, nics: int) -> Placement:
        if self._arranged != (count, nics) or self._placement is None:
            self._placement = self.place.arrange(count, nics)
            self._arranged = (count, nics)
        return self._placement

    def _load(self, urls: list[str], placement: Placement, rate_per_s: float | None, seed: int) -> dict[str, Any]:
        """One lane a NIC: its own client thread on that NIC's client core, with an equal share of the load."""
        study = self.plan.study
        lanes = []
        for nic, url in enumerate(urls):
            lane: dict[str, Any] = {
                "targets": [{"url": url, "weight": 1.0, "class": "page"}],
                "connections": study.load.connections,
                "connections_max": study.load.connections * 16,
                "cpu": placement.client[nic],
            }
            if rate_per_s:
                lane["arrivals"] = {"kind": "poisson", "rate_per_s": rate_per_s / len(urls)}
            else:
                users = max(1, study.saturation.users // len(urls))
                lane["closed"] = {"users": users, "think": {"kind": "deterministic", "mean": 0.0}}
            lanes.append(lane)
        return {
            "lanes": lanes,
            "duration_s": study.load.seconds if rate_per_s else study.saturation.seconds,
            "seed": seed,
            "timeout_s": study.load.timeout_s,
            "expect": {"status": 200},
            "realtime": self.place.kind == "namespaces",
        }


class _Staged:
    """A service whose records are moved into the run folder when it has stopped."""

    def __init__(self, service: Any, staging: Path, path: Path) -> None:
        self._service, self._staging, self._path = service, staging, path
        self._summary: dict[str, Any] | None = None

    @property
    def pids(self) -> dict[str, int]:
        pids: dict[str, int] = self._service.pids
        return pids

    def stop(self) -> dict[str, Any]:
        if self._summary is None:
            self._summary = self._service.stop()
            for file in self._staging.iterdir():
                file.replace(self._path / file.name)
        return self._summary
