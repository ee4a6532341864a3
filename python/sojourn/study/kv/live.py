"""The study's system on this machine: memcached servers, proxies and the load, each a process of its own; on loopback, or
each on a host of its own (`place.py`)."""

from __future__ import annotations

import socket
import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from sojourn.errors import ServiceError
from sojourn.lab.namespaces import inside
from sojourn.lab.process import Worker
from sojourn.lab.topology import cores
from sojourn.measure.kv_load import kv_load
from sojourn.measure.records import read_log
from sojourn.study.counters import Sampler, all_used_s
from sojourn.study.folder import scratch
from sojourn.study.kv import histograms
from sojourn.study.kv.place import CLIENT, Lab, Place, place
from sojourn.study.kv.points import Point
from sojourn.study.kv.reading import Window, seen
from sojourn.study.kv.seen import Seen
from sojourn.study.points import run_seed
from sojourn.system.kv.affinity import assigned, pin
from sojourn.testbed.memcached import start_server

READY_S, END_S = 20.0, 10.0
PINGS = 200
MIXES = {"set": (1.0, 0.0), "get": (0.0, 1.0), "mixed": (1.0, 1.0)}


@dataclass
class LiveSystem:
    """Runs points on this machine; all servers live and populated as long as the system."""

    folder: Path
    servers: int = 3
    keys: int = 10_000
    value_bytes: int = 1024
    warm_up_s: float = 0.5
    seed: int = 1
    lab: Lab = field(default_factory=Lab)
    proxies: int = 2
    kind: str = ""
    place: Place = field(default_factory=Place)
    _servers: list[Any] = field(default_factory=list)
    _stack: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> LiveSystem:
        with ExitStack() as stack:
            self.place = stack.enter_context(place(self.lab, self.servers, self.proxies))
            for k in range(self.servers):
                self._start(f"server{k + 1}", stack)
            self.kind = self._servers[0].kind
            self.populate()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _start(self, host: str, stack: ExitStack) -> None:
        memory_bytes = max(64 << 20, 4 * self.keys * (self.value_bytes + 512))
        server = start_server(memory_bytes=memory_bytes, **self.place.server_options(host))
        stack.callback(server.stop)
        self._servers.append(server)
        self.place.started(host, list(server.pids.values()))

    def populate(self) -> None:
        """Stores every key at every server."""
        config = self._load([s.url for s in self._servers], "get", len(self._servers), 0.05, 1)
        with scratch(self.folder, "populate") as out:
            summary = self._run(config | {"kv": config["kv"] | {"populate": True}}, out)
        asked, misses = summary["kv"]["keys_asked"], summary["kv"]["misses"]
        if misses or not asked:
            raise ServiceError(f"{misses} of {asked} keys are missing", "population of the servers", "give more memory")

    def ping(self) -> dict[str, float]:
        """Round trip of `version` from the client to the first server, s: median, smallest, largest of 200."""
        return inside(self.place.path(CLIENT), self._ping)

    def _ping(self) -> dict[str, float]:
        host, port = self._servers[0].address.rsplit(":", 1)
        times = []
        with socket.create_connection((host, int(port)), timeout=2.0) as talk:
            talk.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for _ in range(PINGS):
                start = time.perf_counter()
                talk.sendall(b"version\r\n")
                talk.recv(256)
                times.append(time.perf_counter() - start)
        return {"median_s": statistics.median(times), "low_s": min(times), "high_s": max(times)}

    def run(self, point: Point) -> Seen:
        """One run: proxies started, load with warm-up, everything read in the window after it.

        Raises:
            ServiceError: a process ended, or does not answer.
        """
        servers = self._servers[: point.servers]
        # a target has one connection at least
        point = replace(point, clients=max(point.clients, point.proxies or point.servers))
        with scratch(self.folder, point.name) as out, ExitStack() as stack:
            load = Worker("load", log=out / "log.txt")  # processes start side by side
            stack.callback(load.close)
            proxies = [self._proxy(point, servers, out, k, stack) for k in range(point.proxies)]
            ready = [worker.ready(READY_S) for worker in proxies]
            urls = [f"memcached://{proxy['address']}" for proxy in ready] or [s.url for s in servers]
            seed = run_seed(self.seed, point.name)
            config = self._load(urls, point.workload, point.clients, point.seconds + self.warm_up_s, seed)
            self._pin(point, load, servers, proxies)
            with Sampler(self._meters(load, servers, proxies)) as sampler:
                load.begin({"network": self.place.path(CLIENT), "load": config, "out": str(out)})
                summary = load.finish(config["duration_s"] + 60)["summary"]
            ends = [worker.result(END_S)["summary"] for worker in proxies]
            window = self._window(out, summary, ends, sampler)
            histograms.keep(self.folder, point, window)
            return seen(point, window)

    def _pin(self, point: Point, load: Worker, servers: list[Any], proxies: list[Worker]) -> None:
        """Keeps every process on its own cores, where the study says so."""
        if not self.lab.pinned:
            return
        who = assigned([core.number for core in cores()], point.servers, point.proxies)
        pin([load.process.pid], who.client)
        for server, own in zip(servers, who.servers, strict=True):
            pin(server.pids.values(), own)
        for proxy, own in zip(proxies, who.proxies, strict=True):
            pin([proxy.process.pid], own)

    def _window(self, out: Path, summary: dict[str, Any], ends: list[dict[str, Any]], sampler: Sampler) -> Window:
        """What was recorded from the end of the warm-up to the end of the load."""
        start, end = summary["start_s"] + self.warm_up_s, summary["end_s"]
        used = sampler.between(start, end)
        return Window(
            start, end, read_log(out / "requests.rec")[0], summary,
            [read_log(out / f"app{k}.rec") for k in range(len(ends))], ends, used,
            [read_log(out / f"bins{k}.rec")[0] for k in range(len(ends))], self.place.limits(used, end - start),
        )  # fmt: skip

    def _meters(self, load: Worker, servers: list[Any], proxies: list[Worker]) -> dict[str, Callable[[], float]]:
        """CPU times of the three kinds of process, and what the place counts."""
        pids = {
            "client": [load.process.pid],
            "servers": [pid for server in servers for pid in server.pids.values()],
            "proxies": [worker.process.pid for worker in proxies],
        }
        firsts = {f"server{k + 1}": next(iter(server.pids.values())) for k, server in enumerate(servers)}
        firsts |= {f"proxy{k + 1}": worker.process.pid for k, worker in enumerate(proxies)}
        return {name: partial(all_used_s, group) for name, group in pids.items()} | self.place.meters(firsts)

    def _proxy(self, point: Point, servers: list[Any], out: Path, k: int, stack: ExitStack) -> Worker:
        host = f"proxy{k + 1}"
        config = {
            "listen": f"{self.place.address(host)}:0", "servers": [s.address for s in servers], "design": point.design,
            "workers": max(point.workers, 1), "sharded": point.sharded, "log": str(out / f"app{k}.rec"), "period_s": 0.05,
            "timeout_s": 5.0, "bins": str(out / f"bins{k}.rec"),
        }  # fmt: skip
        worker = Worker("kv-proxy", {"network": self.place.path(host), "kv-proxy": config}, log=out / f"proxy{k}.txt")
        stack.callback(worker.close)
        return worker

    def _load(self, urls: list[str], workload: str, clients: int, seconds: float, seed: int) -> dict[str, Any]:
        keys = int(workload.removeprefix("multi-")) if workload.startswith("multi-") else None
        sets, gets = MIXES.get(workload, (0.0, 1.0))
        return kv_load(
            urls, connections=clients, duration_s=seconds, set_weight=sets, get_weight=gets,
            multi_get=keys, keys=self.keys, value_bytes=self.value_bytes, populate=False, seed=seed, timeout_s=5.0,
            record_limit=400_000,
        )  # fmt: skip

    def _run(self, config: dict[str, Any], out: Path) -> dict[str, Any]:
        told = {"network": self.place.path(CLIENT), "load": config, "out": str(out)}
        worker = Worker("load", told, log=out / "log.txt")
        try:
            summary: dict[str, Any] = worker.finish(config["duration_s"] + 120)["summary"]
            return summary
        finally:
            worker.close()
