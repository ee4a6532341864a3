"""The message service on a private PostgreSQL cluster: services and their load, each a process of its own.

The cluster lives as long as the session; its queues are thrown away before each run.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from sojourn.lab import Environment, LoopbackBackend, NamespaceBackend, WorkerProcess, environment, owned_folder
from sojourn.load import messages_load
from sojourn.measure import RunEnvironment, execute, machine
from sojourn.runs import MeasuredResource, RunFolder, add_resources
from sojourn.study import Factor, Point, Seconds, System, Value, all_factors
from sojourn_cases.common.postgres import Postgres
from sojourn_cases.messages.disk_flush_time import flush_s
from sojourn_cases.messages.message_service_metrics import ServiceLog, service_rows

READY_S, END_S = 30.0, 15.0
TIMEOUT_S = 30.0
SESSIONS = 400
PERIOD_S = 0.02
PREFIX = "study"
ANY_PORT = "127.0.0.1:0"
# What a cluster does for the first time is slower: runs that began 0, 12 and 17 s after one had started were 59, 26 and 11 %
# slower than later ones (benches/blind, messages-2026-11-22). These take four times the length of a run, and are thrown away.
FIRST_RUNS = 4
FIRST = Point("first", {"workers": 16, "connections": 16, "clients": 64, "retry_s": 0.0, "middlewares": 1})


class MessagesOptions(BaseModel):
    """`[system]` of kind `messages`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["messages"] = "messages"
    durability: str = Field(default="full", pattern="^(full|off)$")


class MessagesLoad(BaseModel):
    """`[load]`: each run's length, the weights of puts and takes, sizes in bytes."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    duration_s: Seconds = Field(default=10.0, alias="for", gt=0.5, le=600)
    seed: int = Field(default=1, ge=0)
    put: float = Field(default=1.0, gt=0, le=1e6)
    take: float = Field(default=1.5, gt=0, le=1e6)
    message_bytes: int = Field(default=16, ge=16, le=65_536)
    queues: int = Field(default=1, ge=1, le=1000)

    def generator(self, factors: Mapping[str, Any], urls: list[str], seed: int) -> dict[str, Any]:
        """The generator's configuration at a point."""
        return messages_load(
            urls, clients=factors["clients"], retry_delay_s=factors["retry_s"], duration_s=self.duration_s,
            put_weight=self.put, take_weight=self.take, queues=self.queues, prefix=PREFIX, fresh=True,
            message_bytes=self.message_bytes, seed=seed, timeout_s=TIMEOUT_S,
        )  # fmt: skip


class MessageSystemBase(System):
    """What can be varied of a message service, running or simulated. `workers` and `connections` are of each of `middlewares`,
    `clients` of all together; `retry_s`: what a client waits after a take that found nothing."""

    @property
    def factors(self) -> dict[str, Factor]:
        return {
            "workers": Factor(default=20, low=1, high=1024),
            "connections": Factor(default=20, low=1, high=1024),
            "clients": Factor(default=90, low=1, high=4096),
            "retry_s": Factor(default=0.1, low=0.0, high=60.0),
            "middlewares": Factor(default=1, low=1, high=16),
        }

    def settled(self, given: Mapping[str, Any], place: str) -> dict[str, Value]:
        """All factors; each middleware has one client at least."""
        found = all_factors(self.factors, given, place)
        return found | {"clients": max(int(found["clients"]), int(found["middlewares"]))}

    @property
    def resources(self) -> dict[str, MeasuredResource | None]:
        return {"client": None, "middleware": None, "database": None}


class MessagesSystem(MessageSystemBase):
    """A message service that a study starts by itself."""

    options_type: ClassVar[type[BaseModel]] = MessagesOptions
    load_type: ClassVar[type[BaseModel]] = MessagesLoad
    alone: ClassVar[bool] = True

    def __init__(self, options: MessagesOptions, load: MessagesLoad, folder: Path) -> None:
        self.options, self.load = options, load

    def place(self) -> AbstractContextManager[Environment]:
        return environment("loopback")

    @contextmanager
    def open(self, place: LoopbackBackend | NamespaceBackend) -> Iterator[MessagesSession]:
        with owned_folder("sojourn-messages-") as folder, ExitStack() as stack:
            postgres = Postgres(folder, connections=SESSIONS)
            stack.callback(postgres.close)
            version = str(postgres.run("SHOW server_version")[0][0]).split()[0]
            session = MessagesSession(self, place, postgres, f"PostgreSQL {version}", flush_s(postgres.data))
            for k in range(FIRST_RUNS):
                session.run(FIRST, folder / f"first-{k}", 1)
            yield session


class Middlewares:
    """The services of one run, started side by side; their logs are in `folder`."""

    def __init__(self, folder: Path, number: int, config: dict[str, Any]) -> None:
        self.folder = folder
        self._workers: list[WorkerProcess] = []
        try:
            for k in range(number):
                own = {**config, "log": str(folder / f"{k}.rec")}
                self._workers.append(WorkerProcess("messages", {"messages": own}, log=folder / f"{k}.txt"))
            self.urls = [f"messages://{worker.ready(READY_S)['address']}" for worker in self._workers]
        except BaseException:
            self.close()
            raise

    @property
    def pids(self) -> dict[str, int]:
        return {f"middleware {k + 1}": worker.process.pid for k, worker in enumerate(self._workers)}

    def stop(self) -> dict[str, Any]:
        """Ends them in good order; a summary each."""
        return {
            name: (w.stop(END_S) or {}).get("summary", {}) for name, w in zip(self.pids, self._workers, strict=True)
        }

    def close(self) -> None:
        for worker in self._workers:
            worker.close()


@dataclass(frozen=True)
class MessagesSession:
    """Runs points, each on services started for it; `flush_s`: what the database's disk takes for a commit."""

    system: MessagesSystem
    place: LoopbackBackend | NamespaceBackend
    postgres: Postgres
    database: str
    flush_s: float

    def conditions(self, point: Point) -> dict[str, Any]:
        load = self.system.load.generator(
            point.factors, [f"messages://{ANY_PORT}"] * int(point.factors["middlewares"]), 0
        )
        said = {"system": self.system.options.model_dump(), "database": self.database}
        return {"load": load, "machine": machine(), "conditions": said}

    def run(self, point: Point, out: Path, seed: int) -> RunFolder:
        logs = out.with_name(f".{out.name}")
        shutil.rmtree(logs, ignore_errors=True)
        logs.mkdir(parents=True)
        services = Middlewares(logs, int(point.factors["middlewares"]), self._service(point))
        try:
            folder = self._execute(point, out, seed, services)
        finally:
            services.close()
        pids = folder.manifest["pids"]
        cores = float(len(os.sched_getaffinity(0)))
        resources = {
            "client": MeasuredResource(1.0, (pids["generator"],)),
            "middleware": MeasuredResource(cores, tuple(services.pids.values())),
            "database": MeasuredResource(
                cores, tuple(pid for name, pid in pids.items() if name.startswith("postgres"))
            ),
        }
        rows = service_rows(
            folder, [ServiceLog.read(logs / f"{k}.rec") for k in range(len(services.urls))], point.factors
        )
        add_resources(folder, resources, point.factors, rows)
        shutil.rmtree(logs)
        return folder

    def _execute(self, point: Point, out: Path, seed: int, services: Middlewares) -> RunFolder:
        lab = {**self.place.describe(), "database": self.database, "flush_s": self.flush_s}
        manifest = {"lab": lab, "conditions": self.conditions(point)["conditions"]}
        around = RunEnvironment(pids=self._database(), manifest=manifest, all_known=True, core_speed=True)
        what = point.record(seed)
        load = self.system.load.generator(point.factors, services.urls, seed)
        folder = execute(out, load, what=what, around=around, service=services)
        # ports are whatever was free: they must not tell runs of a series apart
        folder.manifest["load"]["lanes"] = self.conditions(point)["load"]["lanes"]
        return folder

    def _database(self) -> dict[str, int]:
        """Its processes, which stay for the run: the services have all their sessions, and vacuum is theirs to ask for."""
        return {name: pid for name, pid in self.postgres.pids.items() if "autovacuum worker" not in name}

    def _service(self, point: Point) -> dict[str, Any]:
        return {
            "listen": ANY_PORT, "database": self.postgres.url, "design": "threaded", "workers": point.factors["workers"],
            "connections": point.factors["connections"], "durability": self.system.options.durability,
            "timeout_s": TIMEOUT_S, "period_s": PERIOD_S,
        }  # fmt: skip
