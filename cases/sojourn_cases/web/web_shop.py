"""The web shop of `cases/crates/web` on hosts of its own: its cores, its NICs and their interrupts, the known work of a request.

In network namespaces NIC k interrupts server core k, and each request packet costs a known time there; on loopback there
is one NIC and no interrupt work. The client has a thread for each NIC.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from sojourn.errors import InputError, LabError
from sojourn.lab import (
    CorePlacement,
    Environment,
    LoopbackBackend,
    NamespaceBackend,
    cores,
    environment,
    why_not_namespaces,
)
from sojourn.lab import place as place_on_cores
from sojourn.load import http_load
from sojourn.measure import RunEnvironment, execute, machine
from sojourn.runs import MeasuredResource, RunFolder, add_resources
from sojourn.study import Factor, LevelLoad, Point, System, Value
from sojourn_cases.web.idle_baseline import at_rest
from sojourn_cases.web.interrupt_times import table_of_times
from sojourn_cases.web.web_service import KnownDemand, WebOptions, WebService, WebTestbed, choose_demand

MOST_NICS = 4
OFTEN_SET = ("cores", "nics", "interrupt_s", "page_s")  # a point has these; what else it may set only where it does
CONNECTIONS_SPARE = 16


class LabOptions(BaseModel):
    """`[system.lab]`: the hosts on which client and service run."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: str = Field(default="auto", pattern="^(auto|namespaces|loopback)$")
    mtu_bytes: int = Field(default=1500, ge=576, le=9000)
    spinners: bool = True


class WebSystemOptions(WebOptions, KnownDemand):
    """`[system]` of kind `web`: what the service is started with, and the known work of a request."""

    kind: Literal["web"] = "web"
    lab: LabOptions = LabOptions()


class WebLoad(LevelLoad):
    """`[load]`: as of a URL, with `connections` for each NIC, opened before the start."""

    connections: int = Field(default=64, ge=1, le=4096)


def sizes() -> dict[str, Factor]:
    """Cores of the service (0: all that this process may use), and NICs (0: one a core, at most 4)."""
    return {"cores": Factor(default=0, low=0, high=1024), "nics": Factor(default=1, low=0, high=MOST_NICS)}


def at_work(found: Mapping[str, Value], factors: Mapping[str, Factor]) -> dict[str, Value]:
    """Of all factors the level, `OFTEN_SET`, and those that differ from their default; names of runs stay readable."""
    level = [name for name in found if name in ("rate_per_s", "users", "think_s")]
    others = [name for name in found if name not in (*level, *OFTEN_SET) and found[name] != factors[name].default]
    return {name: found[name] for name in (*level, *OFTEN_SET, *others)}


class WebSystem(System):
    """The web shop."""

    options_type: ClassVar[type[BaseModel]] = WebSystemOptions
    load_type: ClassVar[type[BaseModel]] = WebLoad
    alone: ClassVar[bool] = True

    def __init__(self, options: WebSystemOptions, load: WebLoad, folder: Path) -> None:
        demand = choose_demand(options, len(cores()))
        self.options = options.model_copy(update={k: float(getattr(demand, k)) for k in ("interrupt_s", "page_s")})
        self.load = load

    @cached_property
    def factors(self) -> dict[str, Factor]:
        o = self.options
        demands = {name: Factor(default=getattr(o, name), low=0.0, high=0.01) for name in ("interrupt_s", "page_s")}
        own = {
            "pinned": Factor(default=o.pinned),
            "threads_per_core": Factor(default=o.threads_per_core, low=1, high=64),
            "page_bytes": Factor(default=o.page_bytes, low=1024, high=204800),
        }
        return {**self.load.factors(), **sizes(), **demands, **own}

    def settled(self, given: Mapping[str, Any], place: str) -> dict[str, Value]:
        found = self.load.settled(self.factors, given, place)
        found["cores"] = int(found["cores"]) or len(cores())
        found["nics"] = int(found["nics"]) or min(found["cores"], MOST_NICS)
        try:
            place_on_cores(int(found["cores"]), int(found["nics"]))
            if self.most_nics == 1:  # nothing to attach interrupt work to
                found["interrupt_s"] = 0.0
            table_of_times(float(found["interrupt_s"]), self.options.interrupt)
        except LabError as error:
            raise InputError(error.value, place, error.remedy) from None
        return at_work(found, self.factors)

    @cached_property
    def not_shown(self) -> list[str]:
        """Why there are no interrupts and no more than one NIC, with the remedy; empty where there are."""
        kind = self.options.lab.kind
        return ["loopback was asked for"] if kind == "loopback" else why_not_namespaces() if kind == "auto" else []

    @property
    def most_nics(self) -> int:
        """1 on loopback."""
        return LoopbackBackend.most_nics if self.not_shown else NamespaceBackend.most_nics

    def why_not(self, factors: Mapping[str, Value]) -> str:
        """Why a point cannot be run here; empty where it can."""
        nics = int(factors["nics"])
        return "" if nics <= self.most_nics else f"it needs {nics} NICs, and loopback has {self.most_nics}"

    @property
    def resources(self) -> dict[str, MeasuredResource | None]:
        return {"leading": None, "trailing": None}

    def place(self) -> AbstractContextManager[Environment]:
        """Where it runs: hosts of its own, or loopback."""
        lab = self.options.lab
        return environment(lab.kind, mtu_bytes=lab.mtu_bytes, spinners=lab.spinners)

    @contextmanager
    def open(self, place: LoopbackBackend | NamespaceBackend) -> Iterator[WebSession]:
        yield WebSession(self, place)


@dataclass
class WebSession:
    """Runs points, each on a shop started for it. The NICs stay from run to run while their number does."""

    system: WebSystem
    lab: LoopbackBackend | NamespaceBackend
    _arranged: tuple[int, int] | None = None
    _at_rest: dict[str, float] = field(default_factory=dict)

    def conditions(self, point: Point) -> dict[str, Any]:
        options = self._options(point)
        placement = place_on_cores(int(point.factors["cores"]), int(point.factors["nics"]))
        load = self._load(WebTestbed.urls(self.lab, placement, options), placement, point.factors, 0)
        said = self.system.options.model_dump(exclude={"kind", "lab"})
        return {"load": load, "machine": machine(), "conditions": {"system": said, "place": self.lab.kind}}

    def run(self, point: Point, out: Path, seed: int) -> RunFolder:
        """What the service records beside the run is moved into the run folder, and never left elsewhere."""
        staging = out.with_name(f".{out.name}")
        shutil.rmtree(staging, ignore_errors=True)
        staging.mkdir(parents=True)
        try:
            return self._run(point, out, seed, staging)
        finally:
            shutil.rmtree(staging, ignore_errors=True)

    def _run(self, point: Point, out: Path, seed: int, staging: Path) -> RunFolder:
        placement, options = self._arrange(point), self._options(point)
        rest = self._rest(placement, staging)
        service = WebTestbed.start(self.lab, placement, options, options, seed, staging)
        about = {
            "placement": vars(placement), "lab": self.lab.describe(), "at_rest": rest, "ready": service.ready,
            "demand": options.model_dump(include=set(KnownDemand.model_fields)),
            "conditions": self.conditions(point)["conditions"],
        }  # fmt: skip
        around = RunEnvironment(
            self.lab.client_network, self.lab.server_network, self.lab.pids, placement.observer, about
        )
        what = point.record(seed)
        load = self._load(service.urls, placement, point.factors, seed)
        staged = _ServiceWithRecords(service, staging, out)
        try:
            folder = execute(out, load, what=what, around=around, service=staged, interval_s=self.system.load.every_s)
        except BaseException:
            service.stop()
            raise
        add_resources(folder, core_groups(vars(placement)), point.factors)
        return folder

    def _options(self, point: Point) -> WebSystemOptions:
        changed = {name: value for name, value in point.factors.items() if name in WebSystemOptions.model_fields}
        return self.system.options.model_copy(update=changed)

    def _arrange(self, point: Point) -> CorePlacement:
        wanted = int(point.factors["cores"]), int(point.factors["nics"])
        if wanted == self._arranged:
            return place_on_cores(*wanted)
        self._arranged = None
        placement = self.lab.arrange(*wanted)
        self._arranged = wanted
        return placement

    def _rest(self, placement: CorePlacement, folder: Path) -> dict[str, float]:
        """What the lab uses at rest, measured once."""
        if not self._at_rest:
            found = at_rest(self.lab.pids, placement.observer, folder)
            self._at_rest = {str(core): share for core, share in found.items()}
        return self._at_rest

    def _load(
        self, urls: list[str], placement: CorePlacement, factors: Mapping[str, Value], seed: int
    ) -> dict[str, Any]:
        """One lane a NIC: its own client thread on that NIC's client core, with an equal share of the load."""
        load = self.system.load
        configs = loads_by_nic(load, load.connections, urls, factors, seed)
        lanes = [
            {**config["lanes"][0], "cpu": core, "connections_max": load.connections * CONNECTIONS_SPARE}
            for config, core in zip(configs, placement.client, strict=True)
        ]
        return {**configs[0], "lanes": lanes, "realtime": self.lab.kind == "namespaces"}


def loads_by_nic(
    load: LevelLoad, connections: int, urls: list[str], factors: Mapping[str, Value], seed: int
) -> list[dict[str, Any]]:
    """A load for the URL of each NIC, with an equal share of the rate or the users; `connections` for each."""
    nics, rate, users = len(urls), factors.get("rate_per_s"), factors.get("users")
    level: dict[str, Any] = (
        {"rate_per_s": float(rate) / nics}
        if rate
        else {"users": max(1, int(users or 0) // nics), "think_s": float(factors["think_s"])}
    )
    return [
        http_load(
            [url], **level, duration_s=load.duration_s, connections=connections, seed=seed,
            timeout_s=load.timeout_s,
        )
        for url in urls
    ]  # fmt: skip


def core_groups(placement: Mapping[str, Any]) -> dict[str, MeasuredResource]:
    """The cores that take interrupts, and those that do not, as resources."""
    leading = tuple(dict.fromkeys(placement["interrupts"]))
    trailing = tuple(core for core in placement["server"] if core not in leading)
    groups = {"leading": leading, "trailing": trailing}
    return {name: MeasuredResource(float(len(group)), cores=group) for name, group in groups.items() if group}


class _ServiceWithRecords:
    """A service whose records are moved into the run folder when it has stopped."""

    def __init__(self, service: WebService, staging: Path, path: Path) -> None:
        self._service, self._staging, self._path = service, staging, path
        self._summary: dict[str, Any] | None = None

    @property
    def pids(self) -> dict[str, int]:
        return self._service.pids

    def stop(self) -> dict[str, Any]:
        if self._summary is None:
            self._summary = self._service.stop()
            for file in self._staging.iterdir():
                file.replace(self._path / file.name)
        return self._summary
