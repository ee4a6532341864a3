"""The system while it is open: memcached servers that live as long as it, filled; each run has its own middlewares."""

from __future__ import annotations

import socket
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.errors import ServiceError
from sojourn.lab import WorkerProcess, cores, in_namespace
from sojourn.load import kv_load
from sojourn.measure import ClientHost, ClientHosts, RunEnvironment, execute, machine
from sojourn.runs import MeasuredResource, RunFolder, add_resources
from sojourn.study import Point
from sojourn_cases.common.memcached import start_server
from sojourn_cases.kv.middleware.host_counters import HostCounterSampler
from sojourn_cases.kv.middleware.hosts import CLIENT, Hosts, client_names
from sojourn_cases.kv.middleware.middleware_records import keep_records, rows_of, said_of
from sojourn_cases.kv.middleware.middleware_service import KvService, Server
from sojourn_cases.kv.middleware.options import MOST_BYTES, KvLoad, KvOptions

PINGS = 200
RECORDS = 50_000  # requests kept of a run: half as many at least, where there are so many
MIXES = {"set": (1.0, 0.0), "get": (0.0, 1.0), "mixed": (1.0, 1.0), "multi": (0.0, 1.0)}  # weights of sets and gets


@contextmanager
def open_session(options: KvOptions, load: KvLoad, hosts: Hosts) -> Iterator[KvSession]:
    """Starts all servers; the first run stores every key at each.

    Raises:
        ServiceError: one does not start.
    """
    memory_bytes = max(64 << 20, 4 * load.keys * (max(load.value_bytes, MOST_BYTES) + 512))
    with ExitStack() as stack:
        servers: list[Server] = []
        for k in range(options.servers):
            host = f"server{k + 1}"
            servers.append(start_server(memory_bytes=memory_bytes, **hosts.server_options(host)))
            stack.callback(servers[-1].stop)
            hosts.started(host, list(servers[-1].pids.values()))
        yield KvSession(options, load, hosts, servers)


@dataclass
class KvSession:
    """Runs points on servers that are there. `stored_bytes`: the size of the values that they have; 0 before the first run."""

    options: KvOptions
    load: KvLoad
    hosts: Hosts
    servers: list[Server]
    stored_bytes: int = 0

    def conditions(self, point: Point) -> dict[str, Any]:
        """Alike for all points: what differs between them are factors, and ports are given anew with each start."""
        load = self.load.model_dump(exclude={"seed"})
        said = {"system": self.options.model_dump(), "load": load, "server": self.servers[0].kind}
        return {"load": load, "machine": machine(), "conditions": said}

    def store(self, value_bytes: int) -> None:
        """Stores every key at every server with values of this size, and reads some back; nothing where they have it.

        Raises:
            ServiceError: one does not keep what is stored.
        """
        if value_bytes == self.stored_bytes:
            return
        factors = {"workload": "get", "clients": len(self.servers), "value_bytes": value_bytes}
        config = self._load([server.url for server in self.servers], factors, 1, 0.05)
        config["kv"]["populate"] = True
        with tempfile.TemporaryDirectory(prefix="sojourn-kv-") as out:
            worker = WorkerProcess("load", {"network": self.hosts.path(CLIENT), "load": config, "out": out})
            try:
                done = worker.finish(config["duration_s"] + 120)["summary"]["kv"]
            finally:
                worker.close()
        if done["misses"] or not done["keys_asked"]:
            said = f"{done['misses']} of {done['keys_asked']} keys are missing"
            raise ServiceError(said, "population of the servers", "give more memory")
        self.stored_bytes = value_bytes

    def ping(self) -> dict[str, float]:
        """Round trip of `version` from the client to the first server, s: median, smallest, largest of 200."""
        return in_namespace(self.hosts.path(CLIENT), self._ping)

    def _ping(self) -> dict[str, float]:
        host, port = self.servers[0].address.rsplit(":", 1)
        times = []
        with socket.create_connection((host, int(port)), timeout=2.0) as talk:
            talk.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for _ in range(PINGS):
                start = time.perf_counter()
                talk.sendall(b"version\r\n")
                talk.recv(256)
                times.append(time.perf_counter() - start)
        return {"median_s": statistics.median(times), "low_s": min(times), "high_s": max(times)}

    def run(self, point: Point, out: Path, seed: int) -> RunFolder:
        """
        Raises:
            ServiceError: a process ended, or does not answer. RunFolderError: `out` exists.
        """
        factors, load = point.factors, self.load
        servers = self.servers[: int(factors["servers"])]
        self.store(int(factors["value_bytes"]))
        ping = self.ping()
        with (
            closing(KvService(self.hosts, servers, factors, out.with_name(f".{out.name}"))) as service,
            self._clients(factors, service) as clients,
        ):
            pids = clients.pids if clients else {}
            on_hosts = dict(zip(client_names(len(pids)), pids.values(), strict=True)) if pids else {}
            meters = self.hosts.meters(service.on_hosts | on_hosts)
            with HostCounterSampler(meters, load.every_s) as counting:
                folder = execute(
                    out, self._load(service.urls, factors, seed, load.duration_s + load.warm_up_s),
                    what=self._what(point, seed, ping), around=self._around(point, service, pids), service=service,
                    interval_s=load.every_s, generate=clients.generate if clients else None,
                )  # fmt: skip
            counting.keep(folder)
            keep_records(folder, service.logs, len(service.workers))
        folder.manifest["kv"] = {"cores": [core.number for core in cores()], **said_of(folder, self.hosts)}
        _judge(folder)
        generators = [pid for role, pid in folder.manifest["pids"].items() if role.startswith("generator")]
        add_resources(folder, self._resources(service, generators), factors, rows_of(folder))
        return folder

    def _clients(self, factors: Mapping[str, Any], service: KvService) -> AbstractContextManager[ClientHosts | None]:
        """Several client hosts, or one with limits; None for one without, whose generator the run starts."""
        number, options = int(factors.get("client_hosts", 1)), self.hosts.options
        if number == 1 and not (options.client_cores or options.client_rate_bit_per_s):
            return nullcontext()
        own = service.affinity.client if service.affinity else ()
        shares = self.hosts.shares
        return closing(ClientHosts([
            ClientHost(self.hosts.path(name), own, str(shares[name].path) if name in shares else None)
            for name in client_names(number)
        ]))  # fmt: skip

    def _what(self, point: Point, seed: int, ping: dict[str, float]) -> dict[str, Any]:
        return {**point.record(seed), "warm_up_s": self.load.warm_up_s, "ping": ping}

    def _around(self, point: Point, service: KvService, pids: dict[str, int]) -> RunEnvironment:
        who = service.affinity
        placement: dict[str, Any] = {}
        if who is not None:
            used = sorted({core for own in (*who.servers, *who.proxies) for core in own})
            placement = {"server": used, "interrupts": used, "client": list(who.client), "client_shares": False}
        manifest = {
            "lab": self.hosts.describe(), "conditions": self.conditions(point)["conditions"], "placement": placement,
        }  # fmt: skip
        client = who.client if who is not None else ()
        return RunEnvironment(
            self.hosts.path(CLIENT), manifest=manifest, client_cores=client, all_known=True, core_speed=True, pids=pids
        )

    def _resources(self, service: KvService, generators: Sequence[int]) -> dict[str, MeasuredResource]:
        """CPU time of the three kinds of process: of a core for each server (or its share), of those of the middlewares, of the one
        of all client hosts (or their shares)."""
        pids, all_cores = service.pids, float(len(cores()))
        of = {
            kind: tuple(pid for name, pid in pids.items() if name.startswith(kind)) for kind in ("server", "middleware")
        }
        own = {core for cores in service.affinity.proxies for core in cores} if service.affinity else set()
        share, clients_share = self.hosts.options.server_cores or 1.0, self.hosts.options.client_cores
        found = {
            "client": MeasuredResource(len(generators) * clients_share if clients_share else 1.0, tuple(generators)),
            "servers": MeasuredResource(len(of["server"]) * share, of["server"]),
        }  # fmt: skip
        if of["middleware"]:
            found["middleware"] = MeasuredResource(float(len(own)) or all_cores, of["middleware"])
        return found

    def _load(self, urls: list[str], factors: Mapping[str, Any], seed: int, duration_s: float) -> dict[str, Any]:
        kind, _, several = str(factors["workload"]).partition("-")
        sets, gets = MIXES[kind]
        keys = int(several) if several else None
        return kv_load(
            urls, connections=factors["clients"], duration_s=duration_s, set_weight=sets, get_weight=gets, multi_get=keys,
            keys=self.load.keys, value_bytes=factors["value_bytes"], populate=False, seed=seed, timeout_s=5.0,
            record_limit=RECORDS, threads=int(factors.get("client_hosts", 1)),
        )  # fmt: skip


def _judge(folder: RunFolder) -> None:
    """A key that is missing, or has another's value, makes a run worthless."""
    for name, said in (("misses", "keys were missing"), ("wrong", "values were wrong")):
        if count := folder.manifest["kv"].get(name):
            folder.manifest["reasons"].append(f"{count} {said}, of which every one was stored")
            folder.manifest["valid"] = False
