"""The same system as a model with known times, run by the simulator: what a fit finds must be what was put in.

A client's request goes over the network (delay), waits for the net thread, then for a worker; a worker is held for its own
time and for one server's. All times exponential. Instrumented times are taken where the middleware takes them. Design staged
and reads only. A run is its manifest and metrics.parquet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

import sojourn as sj
from sojourn import Metrics, __version__
from sojourn.lab import environment
from sojourn.model import Closed, Delay, Model, Pool, Queue, Station
from sojourn.runs import MeasuredResource, RunFolder, add_resources, clock_times, metrics_row
from sojourn.study import Factor, Point, Seconds
from sojourn_cases.kv.middleware.kv_system import STAGED, KvSystem
from sojourn_cases.kv.middleware.run_table import USUAL_BYTES

SERVERS, NET = "server ", "net "
MANY_CORES = 64  # nobody waits for one


class KnownTimes(BaseModel):
    """`[system]` of kind `kv-simulated`: the times put in, s: network of one pass, net thread, worker outside the server, one
    server."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["kv-simulated"] = "kv-simulated"
    network_s: float = Field(default=3.77e-3, gt=0)
    net_s: float = Field(default=0.11e-3, gt=0)
    held_s: float = Field(default=1.2e-3, gt=0)
    server_s: float = Field(default=0.3e-3, gt=0)
    servers: int = Field(default=3, ge=1, le=16)
    proxies: int = Field(default=2, ge=1, le=16)


class SimulatedLoad(BaseModel):
    """`[load]`: simulated seconds a run."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    duration_s: Seconds = Field(default=2.0, alias="for", gt=0)
    seed: int = Field(default=1, ge=0)


class SimulatedKv(KvSystem):
    """A simulation of the system `kv`, in simulated time."""

    options_type: ClassVar[type[BaseModel]] = KnownTimes
    load_type: ClassVar[type[BaseModel]] = SimulatedLoad
    alone: ClassVar[bool] = False

    def __init__(self, options: KnownTimes, load: SimulatedLoad, folder: Path) -> None:
        self.true_times, self.simulated_load = options, load
        super().__init__(options, load, folder)  # type: ignore[arg-type]

    @property
    def factors(self) -> dict[str, Factor]:
        only = {
            "design": Factor(default=STAGED, values=(STAGED,)), "workload": Factor(default="get", values=("get",)),
            "sharded": Factor(default=False, values=(False,)), "value_bytes": Factor(default=USUAL_BYTES, values=(USUAL_BYTES,)),
        }  # fmt: skip
        return {**super().factors, **only}

    @property
    def value_bytes(self) -> int:
        """Of no effect here."""
        return USUAL_BYTES

    @property
    def most_client_hosts(self) -> int:
        return 1

    def model(self, factors: Mapping[str, Any]) -> Model:
        """The queueing network at a point."""
        servers = [Queue(f"{SERVERS}{k + 1}") for k in range(factors["servers"])]
        nets = [Queue(f"{NET}{k + 1}") for k in range(factors["proxies"])]
        held = ("held", *(s.name for s in servers))
        stations: list[Station] = [
            Delay("network"), *nets, Delay("held"), *servers, Pool("workers", factors["workers"] * factors["proxies"], held)
        ]  # fmt: skip
        routing = {
            "network": {n.name: 1 / len(nets) for n in nets},
            **{n.name: {"held": 1.0} for n in nets},
            "held": {s.name: 1 / len(servers) for s in servers},
            **{s.name: {"network": 1.0} for s in servers},
        }
        times = {"network": self.true_times.network_s, "held": self.true_times.held_s}
        times |= {n.name: self.true_times.net_s for n in nets} | {s.name: self.true_times.server_s for s in servers}
        return Model(
            stations, [Closed("c", factors["clients"], reference_station="network")],
            service_s={name: {"c": value} for name, value in times.items()}, routing={"c": routing},
        )  # fmt: skip

    def place(self) -> AbstractContextManager[Any]:
        return environment("virtual")

    @contextmanager
    def open(self, place: Any = None) -> Iterator[SimulatedSession]:
        yield SimulatedSession(self)


@dataclass(frozen=True)
class SimulatedSession:
    """Simulates points."""

    system: SimulatedKv

    def conditions(self, point: Point) -> dict[str, Any]:
        load = self.system.simulated_load.model_dump(exclude={"seed"})
        machine = {"kernel": "simulated", "sojourn": __version__}
        return {
            "load": load,
            "machine": machine,
            "conditions": {"system": self.system.true_times.model_dump(), "load": load},
        }

    def run(self, point: Point, out: Path, seed: int) -> RunFolder:
        found = sj.simulate(
            self.system.model(point.factors), until_s=self.system.simulated_load.duration_s, seed=seed, quantiles=()
        )
        resources: dict[str, MeasuredResource] = {"servers": MeasuredResource(float(point.factors["servers"]))}
        folder = RunFolder.create(out, {
            **point.record(seed), **self.conditions(point), "start": clock_times(), "end": clock_times(),
            "status": "complete", "simulated": True,
            "valid": True, "reasons": [], "checks": {}, "kv": {"misses": 0, "errors": 0, "pinned": False, "cores": list(range(MANY_CORES))},
        })  # fmt: skip
        Metrics.of([], "simulated").write(out / "metrics.parquet")
        add_resources(folder, resources, point.factors, _rows(found, int(point.factors["servers"])))
        return folder


def _rows(found: Metrics, servers: int) -> list[dict[str, Any]]:
    """As a measured run has them (`reading`)."""
    x = found.value("throughput", cls="c")
    known = {
        (r["metric"], r["station"]): float(r["value"])
        for r in found.frame.filter(found.frame["class"] == "", found.frame["q"].is_null()).iter_rows(named=True)
        if r["value"] is not None
    }

    def total(metric: str, prefix: str) -> float:
        return sum(value for (what, station), value in known.items() if what == metric and station.startswith(prefix))

    def passing_s(prefix: str) -> float:  # one pass, by Little's law
        return total("queue_length", prefix) / x

    service = passing_s("held") + passing_s(SERVERS)
    inside = passing_s(NET) + passing_s("workers")  # the pool's number has those that hold a worker in it
    return [
        metrics_row("throughput", x, unit="1/s"),
        metrics_row("response_time", passing_s("network") + inside),
        metrics_row("residence_time", 0.0, station="client"),
        metrics_row("utilisation", 0.0, station="client", unit="1"),
        metrics_row("throughput", x, station="middleware", unit="1/s"),
        metrics_row("response_time", inside, station="middleware"),
        metrics_row("waiting_time", passing_s("workers") - service, station="middleware"),
        metrics_row("service_time", service, station="middleware"),
        metrics_row("service_time", total("utilisation", NET) / x, station="net thread"),
        metrics_row("utilisation", total("utilisation", SERVERS) / servers, station="servers", unit="1"),
        metrics_row("service_demand", total("utilisation", SERVERS) / x, station="servers"),
    ]
