"""The study's system on this machine: a PostgreSQL cluster, services and the load, each processes of their own, on loopback."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from sojourn.lab.process import Worker
from sojourn.measure.messages_load import messages_load
from sojourn.measure.records import read_log
from sojourn.study.counters import Sampler, all_used_s
from sojourn.study.folder import scratch
from sojourn.study.messages.plan import Load
from sojourn.study.messages.points import Point
from sojourn.study.messages.reading import Window, seen
from sojourn.study.messages.seen import Seen
from sojourn.study.points import run_seed
from sojourn.testbed.flush import flush_s
from sojourn.testbed.postgres import Postgres

READY_S, END_S = 30.0, 15.0
SESSIONS = 400
RECORDS = 400_000
PERIOD_S = 0.02
PREFIX = "study"
WARM = Point("warm", 16, 16, 64, 0.0, seconds=1.5)


@dataclass
class LiveSystem:
    """Runs points on this machine; the cluster lives as long as the system, queues are thrown away before each run."""

    folder: Path
    load: Load = field(default_factory=Load)
    kind: str = ""
    _postgres: Postgres | None = None
    _stack: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> LiveSystem:
        with ExitStack() as stack:
            place = stack.enter_context(tempfile.TemporaryDirectory(prefix="sojourn-messages-"))
            self._postgres = Postgres(Path(place), connections=SESSIONS)
            stack.callback(self._postgres.close)
            version = str(self._postgres.run("SHOW server_version")[0][0]).split()[0]
            self.kind = f"PostgreSQL {version}, a flush to disk takes {1e3 * flush_s(self._postgres.data):.2f} ms"
            self.run(WARM)  # what a cluster does for the first time is slower
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def run(self, point: Point) -> Seen:
        """One run: services started, load with warm-up, everything read in the window after it.

        Raises:
            ServiceError: a process ended, or does not answer.
        """
        with scratch(self.folder, point.name) as out, ExitStack() as stack:
            load = Worker("load", log=out / "log.txt")  # processes start side by side
            stack.callback(load.close)
            services = [self._service(point, out, k, stack) for k in range(point.middlewares)]
            urls = [f"messages://{service.ready(READY_S)['address']}" for service in services]
            config = self._config(point, urls)
            with Sampler(self._meters(load, services)) as sampler:
                load.begin({"load": config, "out": str(out)})
                summary = load.finish(config["duration_s"] + 60)["summary"]
            ends = [service.result(END_S)["summary"] for service in services]
            start, end = summary["start_s"] + self.load.warm_up_s, summary["end_s"]
            requests, levels = (
                [read_log(out / f"app{k}{what}.rec")[0] for k in range(len(services))] for what in ("", "-levels")
            )
            records, _ = read_log(out / "requests.rec")
            used = sampler.between(start, end)
            return seen(point, Window(start, end, records, summary, requests, levels, ends, used))

    def _meters(self, load: Worker, services: list[Worker]) -> dict[str, Callable[[], float]]:
        """CPU times of the three kinds of process. What is in the cluster now stays for the run: the services have all
        their sessions, and vacuum is theirs to ask for."""
        assert self._postgres is not None
        pids = {
            "client": [load.process.pid],
            "service": [service.process.pid for service in services],
            "database": [pid for name, pid in self._postgres.pids.items() if "autovacuum worker" not in name],
        }
        return {name: partial(all_used_s, group) for name, group in pids.items()}

    def _service(self, point: Point, out: Path, k: int, stack: ExitStack) -> Worker:
        assert self._postgres is not None
        config = {
            "listen": "127.0.0.1:0", "database": self._postgres.url, "workers": point.workers,
            "connections": point.connections, "durability": self.load.durability, "timeout_s": 30.0,
            "log": str(out / f"app{k}.rec"), "period_s": PERIOD_S,
        }  # fmt: skip
        worker = Worker("messages", {"messages": config}, log=out / f"service{k}.txt")
        stack.callback(worker.close)
        return worker

    def _config(self, point: Point, urls: list[str]) -> dict[str, Any]:
        return messages_load(
            urls, clients=max(point.clients, len(urls)), retry_delay_s=point.retry_s,
            duration_s=point.seconds + self.load.warm_up_s, put_weight=self.load.put, take_weight=self.load.take,
            queues=self.load.queues, prefix=PREFIX, fresh=True, message_bytes=self.load.message_bytes,
            seed=run_seed(self.load.seed, point.name), timeout_s=30.0, record_limit=RECORDS,
        )  # fmt: skip
