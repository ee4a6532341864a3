"""The web service on a virtual host (`simulate/virtual_host.py`) of any size, in simulated time; its demands are the truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sojourn import __version__
from sojourn.errors import InputError
from sojourn.file_errors import mistake
from sojourn.lab import environment
from sojourn.runs import MeasuredResource, RunFolder, add_resources
from sojourn.simulate import VirtualHost, host_placement, simulate_host, write_host_run
from sojourn.study import Factor, LevelLoad, Point, System, Value
from sojourn_cases.web.web_shop import at_work, core_groups

LAW = "^(deterministic|exponential)$"


class WebVirtualOptions(BaseModel):
    """`[system]` of kind `web-virtual`: the work of a request, and how the host places and runs threads. Times in s."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["web-virtual"] = "web-virtual"
    interrupt_s: float = Field(gt=0, le=1)
    page_s: float = Field(gt=0, le=10)
    interrupt: str = Field(default="deterministic", pattern=LAW)
    page: str = Field(default="exponential", pattern=LAW)
    placement: str = Field(default="pinned", pattern="^(pinned|uniform|least-loaded)$")
    stay: float | None = Field(default=None, ge=0, le=1)
    threads_per_core: int = Field(default=1, ge=0, le=100_000)
    quantum_s: float = Field(default=0.0, ge=0, le=1)
    switch_s: float = Field(default=0.0, ge=0, le=0.1)
    crossing_s: float = Field(default=0.0, ge=0, le=1)
    capacity: int | None = Field(default=None, ge=1)
    steering: str = Field(default="hash", pattern="^(hash|even)$")

    def host(self, factors: Mapping[str, Value]) -> VirtualHost:
        """The host with these factors."""
        now = self.model_copy(update=_options(factors))
        where: dict[str, Any] = {"policy": now.placement}
        if now.placement == "pinned":
            where["stay"] = now.stay
        own = {f.name for f in fields(VirtualHost)} - {"cores", "nics", "interrupt", "page", "placement"}
        interrupt = {"kind": now.interrupt, "mean": now.interrupt_s}
        page = {"kind": now.page, "mean": now.page_s}
        sizes = int(factors["cores"]), int(factors["nics"])
        return VirtualHost(*sizes, interrupt, page, where, **now.model_dump(include=own))


class WebVirtualSystem(System):
    """A simulation of the web service, in simulated time."""

    options_type: ClassVar[type[BaseModel]] = WebVirtualOptions
    load_type: ClassVar[type[BaseModel]] = LevelLoad
    alone: ClassVar[bool] = False

    def __init__(self, options: WebVirtualOptions, load: LevelLoad, folder: Path) -> None:
        self.options, self.load = options, load

    @cached_property
    def factors(self) -> dict[str, Factor]:
        """Sizes, and every number and word of `[system]` that has a value there."""
        sizes = {name: Factor(default=1, low=1, high=1024) for name in ("cores", "nics")}
        given = self.options.model_dump(exclude={"kind"}, exclude_none=True)
        own = {name: Factor(default=value) for name, value in given.items()}
        return {**self.load.factors(), **sizes, **own}

    def settled(self, given: Mapping[str, Any], place: str) -> dict[str, Value]:
        found = self.load.settled(self.factors, given, place)
        try:
            WebVirtualOptions.model_validate({**self.options.model_dump(), **_options(found)})
        except ValidationError as error:
            wrong = mistake(error, WebVirtualOptions)
            raise InputError(f"{wrong.path} = {wrong.value}", place, wrong.remedy) from None
        if int(found["nics"]) > int(found["cores"]):
            raise InputError(f"nics = {found['nics']}", place, f"give 1 to {found['cores']}, the number of cores")
        return at_work(found, self.factors)

    def why_not(self, factors: Mapping[str, Value]) -> str:
        """Every point can be run."""
        return ""

    @property
    def resources(self) -> dict[str, MeasuredResource | None]:
        return {"leading": None, "trailing": None}

    def place(self) -> AbstractContextManager[Any]:
        return environment("virtual")

    @contextmanager
    def open(self, place: Any = None) -> Iterator[WebVirtualSession]:
        yield WebVirtualSession(self)


@dataclass(frozen=True)
class WebVirtualSession:
    """Simulates points of it."""

    system: WebVirtualSystem

    def conditions(self, point: Point) -> dict[str, Any]:
        machine = {"kernel": "virtual host", "architecture": "simulated", "sojourn": __version__}
        said = {"system": self.system.options.model_dump(), "for": self.system.load.duration_s}
        return {"load": self._load(point), "machine": machine, "conditions": said}

    def run(self, point: Point, out: Path, seed: int) -> RunFolder:
        load, rate = self.system.load, point.factors.get("rate_per_s")
        host = self.system.options.host(point.factors)
        level: dict[str, Any] = {"rate_per_s": rate} if rate else {k: point.factors[k] for k in ("users", "think_s")}
        done = simulate_host(host, **level, duration_s=load.duration_s, sample_s=load.every_s, seed=seed)
        what = point.record(seed)
        folder = write_host_run(
            out, done, what | {"lab": {"kind": "virtual"}, **self.conditions(point)}, load.timeout_s
        )
        add_resources(folder, core_groups(host_placement(host.cores, host.nics)), point.factors)
        return folder

    def _load(self, point: Point) -> dict[str, Any]:
        """As the manifest of a measured run has it: a lane for each NIC."""
        factors, nics, duration_s = point.factors, int(point.factors["nics"]), self.system.load.duration_s
        rate, users = factors.get("rate_per_s"), int(factors.get("users", 0))
        if rate:
            lanes: list[dict[str, Any]] = [{"arrivals": {"kind": "poisson", "rate_per_s": float(rate) / nics}}] * nics
            return {"lanes": lanes, "duration_s": duration_s}
        think = {"kind": "exponential" if factors["think_s"] else "deterministic", "mean": factors["think_s"]}
        each = [users // nics + (nic < users % nics) for nic in range(nics)]
        return {"lanes": [{"closed": {"users": n, "think": think}} for n in each], "duration_s": duration_s}


def true_parameters(host: VirtualHost) -> dict[str, float]:
    """The parameters of the two-class model that this host has, where it has them: the host's own demands and delays
    (`switch_s` counts to the page: with one thread a core it comes once a page), p where threads are pinned. A host
    whose threads are placed by load has no p: the model's rule m/n stands in."""
    page_s = host.page["mean"] + host.switch_s
    found = {"mu1_per_s": 1 / host.interrupt["mean"], "mu2_per_s": 1 / page_s, "crossing_s": host.crossing_s}
    found["interrupt_scv"] = 1.0 if host.interrupt["kind"] == "exponential" else 0.0
    drawn = host.page["mean"] if host.page["kind"] == "exponential" else 0.0
    found["page_scv"] = (drawn / page_s) ** 2
    if host.capacity is not None:
        found["capacity"] = host.capacity
    if host.placement["policy"] == "pinned" and host.placement.get("stay") is not None:
        found["p"] = host.placement["stay"]
    return found


def _options(factors: Mapping[str, Value]) -> dict[str, Value]:
    return {name: value for name, value in factors.items() if name in WebVirtualOptions.model_fields}
