"""The web shop in a guest: its interrupts are those of real virtual NICs, counted by the guest's own kernel, and no work is put into them.

Cores, NICs and interrupts are the guest's; the client is outside, on the host. A guest stays while cores, NICs and pages do. Its counters
are the run's, on the host's clock; what the virtual machine used beyond what its guest did is the resource `hypervisor`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

import polars as pl
from pydantic import BaseModel, Field

from sojourn.lab import (
    GuestParts,
    GuestShape,
    GuestWorker,
    cores,
    guest_worker,
    merge_samples,
    ticks_busy,
    why_not_namespaces,
)
from sojourn.measure import RunEnvironment, execute, machine
from sojourn.runs import MeasuredResource, RunFolder, add_resources, busy_per_s, metrics_row
from sojourn.study import Factor, LevelLoad, Point, System, Value
from sojourn_cases.common.guest_kernel import GuestOptions, parts_of, way_of
from sojourn_cases.web.web_shop import MOST_NICS, at_work, core_groups, loads_by_nic

CALL = "sojourn_cases.worker_kinds:web"
GUEST_PORT = 80
MOST_CPUS = 4
SETTLES_S, REST_S = 1.0, 6.0  # after its start, and then of a guest that nobody asks: its clock and the collector
KEPT = ("cores", "nics", "page_s", "page_bytes")  # a guest stays while these do


class WebGuestOptions(GuestOptions):
    """`[system]` of kind `web-guest`. `port`: of the host, for the first NIC. `network`: user (QEMU's own), lab (a namespace, as root), or
    auto: lab where it can be had. `offloads`: the NICs split answers into packets and sum these; without, the guest does."""

    kind: Literal["web-guest"] = "web-guest"
    network: str = Field(default="auto", pattern="^(auto|user|lab)$")
    offloads: bool = True
    memory_mib: int = Field(default=384, ge=256, le=65_536)
    port: int = Field(default=18080, ge=1, le=65_531)
    path: str = Field(default="/item/7", pattern=r"^/\S*$")
    page_bytes: int = Field(default=2048, ge=1024, le=204_800)
    page_s: float = Field(default=0.0, ge=0, le=0.01)
    page: str = Field(default="exponential", pattern="^(deterministic|exponential)$")


class WebGuestLoad(LevelLoad):
    """`[load]`: as of a URL, with `connections` for each NIC."""

    connections: int = Field(default=64, ge=1, le=1024)


class WebGuestSystem(System):
    """The web shop in a guest."""

    options_type: ClassVar[type[BaseModel]] = WebGuestOptions
    load_type: ClassVar[type[BaseModel]] = WebGuestLoad
    alone: ClassVar[bool] = True

    def __init__(self, options: WebGuestOptions, load: WebGuestLoad, base_folder: Path) -> None:
        self.options, self.load, self.base_folder = options, load, base_folder

    @property
    def factors(self) -> dict[str, Factor]:
        o = self.options
        return {
            **self.load.factors(),
            "cores": Factor(default=2, low=1, high=MOST_CPUS),
            "nics": Factor(default=1, low=1, high=MOST_NICS),
            "interrupt_s": Factor(default=0.0, low=0.0, high=0.0),
            "page_s": Factor(default=o.page_s, low=0.0, high=0.01),
            "page_bytes": Factor(default=o.page_bytes, low=1024, high=204_800),
        }

    def settled(self, given: Mapping[str, Any], place: str) -> dict[str, Value]:
        return at_work(self.load.settled(self.factors, given, place), self.factors)

    @cached_property
    def in_lab(self) -> bool:
        """Whether the guest's NICs are on a network of the lab."""
        asked = self.options.network
        return asked == "lab" or (asked == "auto" and not why_not_namespaces())

    def urls(self, nics: int) -> list[str]:
        """Of the page, through each NIC."""
        o = self.options
        if self.in_lab:
            return [f"http://10.0.{k + 1}.15:{GUEST_PORT}{o.path}" for k in range(nics)]
        return [f"http://127.0.0.1:{o.port + k}{o.path}" for k in range(nics)]

    def why_not(self, factors: Mapping[str, Value]) -> str:
        return ""

    @property
    def resources(self) -> dict[str, MeasuredResource | None]:
        return {"leading": None, "trailing": None, "hypervisor": None}

    @contextmanager
    def place(self) -> Iterator[None]:
        yield None

    @contextmanager
    def open(self, place: None) -> Iterator[WebGuestSession]:
        parts = parts_of(self.options, self.base_folder)
        way = way_of(self.options, parts)
        parts.check(way)
        with ExitStack() as stack:
            yield WebGuestSession(self, parts, way, stack)


@dataclass
class WebGuestSession:
    """Runs points, each on the guest of its configuration."""

    system: WebGuestSystem
    parts: GuestParts
    way: str
    _stack: ExitStack
    _kept: dict[str, Value] = field(default_factory=dict)
    _running: GuestWorker | None = None
    _at_rest: dict[str, float] = field(default_factory=dict)

    def conditions(self, point: Point) -> dict[str, Any]:
        said = self.system.options.model_dump(exclude={"kind"})
        load = self._load(point, 0)
        return {"load": load, "machine": machine(), "conditions": {"system": said, "place": self.way}}

    def run(self, point: Point, out: Path, seed: int) -> RunFolder:
        worker = self._guest(point, seed)
        placement = _placement(point)
        about = {
            "placement": placement, "at_rest": self._at_rest,
            "lab": {
                "kind": "guest", "way": self.way, "kernel": worker.guest.kernel,
                "host_cores": list(worker.cores), "real_time": worker.real_time,
                "network": "lab" if worker.guest.network else "user",
            },
            "conditions": self.conditions(point)["conditions"],
        }  # fmt: skip
        around = RunEnvironment(worker.guest.network, pids={"guest": worker.guest.pid}, manifest=about)
        counted = _Counted(worker, out)
        folder = execute(
            out, self._load(point, seed), what=point.record(seed), around=around, service=counted,
            interval_s=self.system.load.every_s,
        )  # fmt: skip
        groups = {
            **core_groups(placement),
            "machine": MeasuredResource(float(len(worker.cores)), pids=(worker.guest.pid,)),
        }
        add_resources(folder, groups, point.factors, _hypervisor(folder, len(worker.cores)))
        return folder

    def _guest(self, point: Point, seed: int) -> GuestWorker:
        wanted = {name: point.factors.get(name, self.system.factors[name].default) for name in KEPT}
        if self._running is None or wanted != self._kept:
            self._running = None
            self._stack.close()  # one at a time
            self._running, self._kept = self._stack.enter_context(self._started(wanted, seed)), wanted
            time.sleep(REST_S + SETTLES_S)
            self._at_rest = ticks_busy(self._running.samples, REST_S)
        return self._running

    def _started(self, wanted: Mapping[str, Any], seed: int) -> Any:
        o, nics, cpus = self.system.options, int(wanted["nics"]), int(wanted["cores"])
        leading = _interrupts(cpus, nics)
        web = {
            "listen": [f"10.0.{k + 1}.15:{GUEST_PORT}" for k in range(nics)], "cores": list(range(cpus)), "leading": leading,
            "pinned": True, "threads_per_core": 1, "page_bytes": wanted["page_bytes"], "seed": seed, "out": None, "backend": None,
            "demand": {"kind": o.page, "mean": wanted["page_s"]} if wanted["page_s"] else None,
        }  # fmt: skip
        ports = [o.port + k for k in range(nics)]
        shape = GuestShape(cpus, o.memory_mib, ports, GUEST_PORT, 1 if self.system.in_lab else 0, o.offloads)
        return guest_worker(
            self.parts, self.way, shape, CALL, {"network": None, "web": web}, cores=[core.number for core in cores()],
            interrupt_cores=leading, interval_s=self.system.load.every_s,
        )  # fmt: skip

    def _load(self, point: Point, seed: int) -> dict[str, Any]:
        """A lane a NIC, with an equal share of the load."""
        urls = self.system.urls(int(point.factors["nics"]))
        load = self.system.load
        configs = loads_by_nic(load, load.connections, urls, point.factors, seed)
        return {**configs[0], "lanes": [config["lanes"][0] for config in configs], "realtime": True}


def _interrupts(cpus: int, nics: int) -> list[int]:
    """The virtual CPU of each NIC's interrupts: 0 for the first, then the others in turn."""
    return [k % cpus for k in range(nics)]


def _placement(point: Point) -> dict[str, Any]:
    """As a lab of namespaces says it; the client has no core of the guest."""
    cpus, nics = int(point.factors["cores"]), int(point.factors["nics"])
    return {
        "server": list(range(cpus)), "interrupts": _interrupts(cpus, nics), "client": [], "client_shares": False, "observer": None,
    }  # fmt: skip


class _Counted:
    """A guest as the service of one run: when it ends, the guest's counters are put in the place of the host's."""

    def __init__(self, worker: GuestWorker, run: Path) -> None:
        self._worker, self._run = worker, run
        self._interrupts, self._cpu_s, self._began_s = worker.interrupts(), worker.cpu_s(), time.monotonic()
        self._wait_s = worker.wait_s()
        self._summary: dict[str, Any] | None = None

    @property
    def pids(self) -> dict[str, int]:
        return {"guest": self._worker.guest.pid}

    def stop(self) -> dict[str, Any]:
        """Interrupts of each NIC by virtual CPU; CPU time on the host of each virtual CPU and of all else of the virtual machine, and how
        long these waited for a core, s, over `over_s`; the offset of the clocks and its error."""
        if self._summary is None:
            over_s = time.monotonic() - self._began_s
            cpu_s, wait_s, interrupts = self._worker.cpu_s(), self._worker.wait_s(), self._worker.interrupts()
            offset_s, error_s = self._worker.clock_offset_s()
            samples = self._run / "host.ndjson"
            if samples.exists():
                merge_samples(self._worker.samples, samples, offset_s, samples)
            counted = {
                nic: [now - then for now, then in zip(after, self._interrupts[nic], strict=True)]
                for nic, after in interrupts.items()
            }
            used = {name: now - self._cpu_s.get(name, 0.0) for name, now in cpu_s.items()}
            waited = {name: now - self._wait_s.get(name, 0.0) for name, now in wait_s.items()}
            self._summary = {
                "interrupts": counted, "cpu_s": used, "wait_s": waited, "over_s": over_s,
                "clock_offset_s": offset_s, "clock_error_s": error_s,
            }  # fmt: skip
        return self._summary


def _hypervisor(folder: RunFolder, host_cores: int) -> Iterator[dict[str, Any]]:
    """Of the virtual machine on the host what its guest's CPUs did not do: its own threads, and what a virtual CPU's thread used beyond
    the busy time that the guest saw. And the time in which a virtual CPU could run and had no core, `stolen K`: a translated guest takes
    it for busy time.

    Of the window; what of the machine's CPU time each thread had is that of the whole run."""
    frame, service = folder.frame("metrics"), folder.manifest["service"]
    cpu_s, wait_s, rest = service["cpu_s"], service["wait_s"], folder.manifest.get("at_rest", {})
    used = busy_per_s(folder).get(("procs", str(folder.manifest["pids"]["guest"]), "run_s"))
    if frame is None or used is None or not sum(cpu_s.values()):
        return
    known = frame.filter(pl.col("metric").is_in(["utilisation", "throughput"]), pl.col("class") == "")
    value = {(row["station"], row["metric"]): row["value"] for row in known.iter_rows(named=True)}
    rate, per_s = value.get(("", "throughput")), used / sum(cpu_s.values())
    own = per_s * sum(own_s for name, own_s in cpu_s.items() if not name.startswith("CPU "))
    for name in cpu_s:
        number = name.removeprefix("CPU ")
        inside = value.get((f"core {number}", "utilisation"))
        if inside is None:
            continue
        stolen = per_s * wait_s[name]
        own += max(0.0, per_s * cpu_s[name] + stolen - inside - rest.get(number, 0.0))
        yield metrics_row("utilisation", stolen, station=f"stolen {number}", unit="1")
    yield metrics_row("utilisation", own / host_cores, station="hypervisor", unit="1")
    if rate:
        yield metrics_row("service_demand", own / rate, station="hypervisor")
