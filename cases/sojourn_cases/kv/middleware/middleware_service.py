"""The middlewares of one run, each a process of its own on its host, kept to its cores; and the servers behind them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from sojourn.lab import EmbeddedKv, WorkerProcess, cores, pin
from sojourn_cases.common.memcached import Memcached
from sojourn_cases.kv.middleware.affinity import Affinity, assigned
from sojourn_cases.kv.middleware.hosts import Hosts

READY_S, END_S = 20.0, 10.0
PERIOD_S = 0.05
Server = Memcached | EmbeddedKv


class KvService:
    """Started with their logs in the folder `logs`, which is made and removed; ready when all accept."""

    def __init__(self, hosts: Hosts, servers: list[Server], factors: Mapping[str, Any], logs: Path) -> None:
        """
        Raises:
            ServiceError: one ends, or does not answer.
        """
        self.hosts, self.servers, self.logs = hosts, servers, logs
        self.affinity: Affinity | None = None
        self._summary: dict[str, Any] | None = None
        shutil.rmtree(logs, ignore_errors=True)
        logs.mkdir(parents=True)
        with ExitStack() as stack:
            stack.callback(shutil.rmtree, logs, ignore_errors=True)
            self.workers = [self._start(k, factors, stack) for k in range(factors["proxies"])]  # side by side
            ready = [worker.ready(READY_S) for worker in self.workers]
            self.urls = [f"memcached://{one['address']}" for one in ready] or [server.url for server in servers]
            if hosts.options.pinned:
                self._pin()
            self._stack = stack.pop_all()

    def _start(self, k: int, factors: Mapping[str, Any], stack: ExitStack) -> WorkerProcess:
        host = f"proxy{k + 1}"
        config = {
            "listen": f"{self.hosts.address(host)}:0", "servers": [server.address for server in self.servers],
            "design": factors["design"], "workers": max(factors["workers"], 1), "sharded": factors["sharded"],
            "log": str(self.logs / f"log{k}.rec"), "bins": str(self.logs / f"bins{k}.rec"), "period_s": PERIOD_S,
            "timeout_s": 5.0, "batch": 1,  # a worker serves one request at a time, as the report has it
        }  # fmt: skip
        told = {"network": self.hosts.path(host), "kv-proxy": config}
        worker = WorkerProcess("kv-proxy", told, log=self.logs / f"{host}.txt")
        stack.callback(worker.close)
        return worker

    def _pin(self) -> None:
        self.affinity = assigned([core.number for core in cores()], len(self.servers), len(self.workers))
        for server, own in zip(self.servers, self.affinity.servers, strict=True):
            pin(server.pids.values(), own)
        for worker, own in zip(self.workers, self.affinity.proxies, strict=True):
            pin([worker.process.pid], own)

    @property
    def pids(self) -> dict[str, int]:
        """All processes by what they are: `server 1`, `middleware 1` …"""
        found = {f"server {k + 1}": next(iter(one.pids.values())) for k, one in enumerate(self.servers)}
        return found | {f"middleware {k + 1}": one.process.pid for k, one in enumerate(self.workers)}

    @property
    def on_hosts(self) -> dict[str, int]:
        """A process of each host."""
        return {name.replace("middleware", "proxy").replace(" ", ""): pid for name, pid in self.pids.items()}

    def stop(self) -> dict[str, Any]:
        """Ends the middlewares in good order; what each of them says."""
        if self._summary is None:
            self._summary = {"middlewares": [(one.stop(END_S) or {}).get("summary") for one in self.workers]}
        return self._summary

    def close(self) -> None:
        """Makes sure that they are gone, and their logs with them."""
        self._stack.close()
