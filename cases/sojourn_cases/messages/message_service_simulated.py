"""The message service as a model with known times, simulated: what a fit finds must be what was put in.

A request goes over the network (delay), waits for its dispatcher, then for a worker, who holds it while it is parsed, waits
for a connection, is in the database and is answered; both pools are resources of the simulation. The share
`empty_share` of the requests is followed by the retry delay. All times exponential. Instrumented times are taken where
the service takes them, and its Metrics are those of `messages_reading`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from sojourn import Metrics, __version__
from sojourn.lab import environment
from sojourn.model import Closed, Delay, LoadDependent, Model, Pool, Queue, Station
from sojourn.runs import RunFolder, clock_times, metrics_row
from sojourn.simulate import simulate
from sojourn.study import Point, Value
from sojourn_cases.messages.message_service import MessagesLoad, MessageSystemBase

MOST = 256  # connections of the database that have a rate of their own
LEAST_S = 1e-9
HELD = ("parse", "database", "respond")


class SimulatedOptions(BaseModel):
    """`[system]` of kind `messages-simulated`: the times put in, s, and the database's rate with n in it, which follows the
    universal scalability law: n `alone_per_s` / (1 + `contention` (n - 1) + `coherence` n (n - 1))."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["messages-simulated"] = "messages-simulated"
    network_s: float = Field(default=1e-3, gt=0)
    dispatch_s: float = Field(default=40e-6, gt=0)
    parse_s: float = Field(default=0.1e-3, gt=0)
    respond_s: float = Field(default=0.15e-3, gt=0)
    empty_share: float = Field(default=0.2, ge=0, le=1)
    alone_per_s: float = Field(default=400.0, gt=0)
    contention: float = Field(default=0.05, ge=0)
    coherence: float = Field(default=0.002, ge=0)

    @cached_property
    def rates_per_s(self) -> tuple[float, ...]:
        """With 1 … 256 in the database; by default 400/s alone, the most with 21 and 22, less beyond."""
        return tuple(
            n * self.alone_per_s / (1 + self.contention * (n - 1) + self.coherence * n * (n - 1))
            for n in range(1, MOST + 1)
        )


class SimulatedMessages(MessageSystemBase):
    """The message service in simulated time. A run lasts `[load] for` of this time."""

    options_type: ClassVar[type[BaseModel]] = SimulatedOptions
    load_type: ClassVar[type[BaseModel]] = MessagesLoad
    alone: ClassVar[bool] = False

    def __init__(self, options: SimulatedOptions, load: MessagesLoad, folder: Path) -> None:
        self.options, self.load = options, load

    def place(self) -> AbstractContextManager[Any]:
        return environment("virtual")

    @contextmanager
    def open(self, place: Any = None) -> Iterator[SimulatedSession]:
        yield SimulatedSession(self)

    def at(self, factors: Mapping[str, Value]) -> Model:
        """The model with these factors."""
        o, number = self.options, int(factors["middlewares"])
        nets = [Queue(f"dispatcher {k + 1}") for k in range(number)]
        stations: list[Station] = [
            Delay("network"), Delay("empty"), Delay("retry"), *nets, Delay("parse"), LoadDependent("database", o.rates_per_s),
            Delay("respond"), Pool("workers", int(factors["workers"]) * number, HELD),
            Pool("connections", int(factors["connections"]) * number, ("database",)),
        ]  # fmt: skip
        routing = {
            "network": {net.name: 1 / number for net in nets},
            **{net.name: {"parse": 1.0} for net in nets},
            "parse": {"database": 1.0},
            "database": {"respond": 1.0},
            "respond": {"empty": o.empty_share, "network": 1 - o.empty_share},
            "empty": {"retry": 1.0},  # no time: who enters the delay is counted there, not who leaves it
            "retry": {"network": 1.0},
        }
        times = {"network": o.network_s, "empty": LEAST_S, "retry": max(float(factors["retry_s"]), LEAST_S)}
        times |= {"parse": o.parse_s, "respond": o.respond_s} | {net.name: o.dispatch_s for net in nets}
        return Model(
            stations, [Closed("c", int(factors["clients"]), reference_station="network")],
            service_s={name: {"c": value} for name, value in times.items()}, routing={"c": routing},
        )  # fmt: skip


@dataclass(frozen=True)
class SimulatedSession:
    """Simulates points."""

    system: SimulatedMessages

    def conditions(self, point: Point) -> dict[str, Any]:
        machine = {"kernel": "simulated", "sojourn": __version__}
        said = {"system": self.system.options.model_dump(), "duration_s": self.system.load.duration_s}
        return {"load": {"lanes": [{}]}, "machine": machine, "conditions": said}

    def run(self, point: Point, out: Path, seed: int) -> RunFolder:
        seconds = self.system.load.duration_s
        what = point.record(seed)
        folder = RunFolder.create(out, {**what, **self.conditions(point), "simulated": True, "start": clock_times()})
        found = simulate(self.system.at(point.factors), until_s=seconds, seed=seed, quantiles=())
        rows = [{**one, "source": "simulated"} for one in _rows(found, point.factors)]
        Metrics.of(rows, "simulated").with_factors(run=folder.path.name, **point.factors).write(out / "metrics.parquet")
        folder.manifest |= {
            "status": "complete", "valid": True, "reasons": [], "checks": {}, "resources": {}, "window_s": [0.0, seconds],
            "lab": {"database": "simulated"}, "end": clock_times(),
        }  # fmt: skip
        folder.save()
        return folder


def _rows(found: Metrics, factors: Mapping[str, Value]) -> list[dict[str, Any]]:
    table = {
        (r["metric"], r["station"]): r["value"] for r in found.frame.to_dicts() if r["class"] == "" and r["q"] is None
    }
    x = found.value("throughput", cls="c")

    def passing_s(station: str) -> float:
        """Time of one pass, by Little's law; a pool's number has those that hold one of it in it."""
        return float(table["queue_length", station]) / x

    nets = [f"dispatcher {k + 1}" for k in range(int(factors["middlewares"]))]
    wait = passing_s("connections") - passing_s("database")
    inside = sum(map(passing_s, nets)) + passing_s("workers")
    return [
        metrics_row("throughput", x, unit="1/s"),
        metrics_row("throughput", table["throughput", "empty"], cls="empty", unit="1/s"),
        metrics_row("response_time", passing_s("network") + inside),
        metrics_row("residence_time", 0.0, station="client"),
        metrics_row("response_time", inside, station="middleware"),
        metrics_row("service_time", sum(table["utilisation", net] for net in nets) / x, station="dispatcher"),
        metrics_row("utilisation", max(table["utilisation", net] for net in nets), station="dispatcher", unit="1"),
        metrics_row("utilisation", table["utilisation", "workers"], station="workers", unit="1"),
        metrics_row("utilisation", table["utilisation", "connections"], station="connections", unit="1"),
        metrics_row("waiting_time", passing_s("workers") - wait - sum(map(passing_s, HELD)), station="workers"),
        metrics_row("service_time", passing_s("parse"), station="parse"),
        metrics_row("waiting_time", wait, station="connections"),
        metrics_row("response_time", passing_s("database"), station="database"),
        metrics_row("throughput", x, station="database", unit="1/s"),
        metrics_row("queue_length", table["queue_length", "database"], station="database", unit="1"),
        metrics_row("service_time", passing_s("respond"), station="respond"),
    ]
