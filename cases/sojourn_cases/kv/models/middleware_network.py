"""The report's closed network: the network as a delay, the net thread as a queue, workers of which each holds one request.

Source: exact solution of a product-form closed network (Lazowska et al. 1984, chapters 6 and 8); a worker is held while
memcached serves, so the workers are a flow-equivalent station: memcached and the rest of the service are solved alone for
1 … W customers, and their throughputs are its rates (chapter 8.3; exact here, since the inner network is product-form and
at most W are in it, up to the waiting for a worker). Limits: one class; exponential times; workers of all proxies are
taken as one pool.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sojourn as sj
from sojourn.model import Closed, Delay, Model, Pool, Queue, Station
from sojourn_cases.kv.models.instrumented_times import InstrumentedTimes

LEAST_S = 1e-9


@dataclass(frozen=True)
class MiddlewareConfig:
    """The configuration: `workers` of one proxy (0: no limit on what is under way), `to_all`: an operation goes to every server."""

    servers: int = 1
    proxies: int = 1
    workers: int = 0
    to_all: bool = False


def shape_of(factors: Mapping[str, Any]) -> MiddlewareConfig:
    """Sets go to every server where there is a middleware."""
    to_all = factors["workload"] == "set" and factors["proxies"] > 0
    return MiddlewareConfig(factors["servers"], factors["proxies"], factors["workers"], to_all)


@dataclass(frozen=True)
class OperationDemands:
    """Times of one operation in s: `delay_s` outside all queues, `client_s` and `net_s` of one thread each, `held_s` of a
    worker outside the servers, `server_s` of all servers together."""

    delay_s: float
    client_s: float
    net_s: float
    held_s: float
    server_s: float


@dataclass(frozen=True)
class MeanValues:
    """Throughput, and utilisation by station (of one server)."""

    clients: int
    throughput_per_s: float
    utilisation: dict[str, float]

    @property
    def cycle_s(self) -> float:
        """Of a client, until it sends again: Little's law."""
        return self.clients / self.throughput_per_s

    @property
    def bottleneck(self) -> str:
        """The busiest queue; a delay is none."""
        return max(self.utilisation, key=self.utilisation.__getitem__) if self.utilisation else ""


def closed_network(
    times: InstrumentedTimes, shape: MiddlewareConfig, clients: int, server_s: float | None = None
) -> MeanValues:
    """With constant times: awake time of the net thread, the service time that few clients saw, the network's delay.

    `server_s`: what of the service time all servers together work; default their CPU time, else all of it.
    """
    service = times.light_service_s.value - times.light_waiting_s
    work = times.mean("server_cpu_s") if server_s is None else server_s
    each = work / shape.servers if shape.to_all else work
    each = min(each or service, service)
    demands = OperationDemands(
        times.network_s.value, 0.0, times.mean("net_s"), service - each, each * (shape.servers if shape.to_all else 1)
    )
    return solve(demands, shape, clients)


def solve(d: OperationDemands, shape: MiddlewareConfig, clients: int) -> MeanValues:
    """The network for one number of clients."""
    demands = {
        "network": max(d.delay_s, LEAST_S),
        **_each("client", d.client_s, 1),
        **_each("net", d.net_s, shape.proxies),
    }
    used = {name: s for name, s in demands.items() if name != "network"}
    servers = {
        f"server {k + 1}": max(d.server_s / shape.servers, LEAST_S) for k in range(1 if shape.to_all else shape.servers)
    }
    inside = {"rest": max(d.held_s, LEAST_S), **servers}
    stations: list[Station] = [
        Delay("network"), *map(Queue, used), Delay("rest"), *map(Queue, servers),
        Pool("workers", shape.workers * shape.proxies or clients, tuple(inside)),
    ]  # fmt: skip
    times = {name: {"c": s} for name, s in (demands | inside).items()}
    found = sj.solve(Model(stations, [Closed("c", clients)], demands_s=times), "layered")
    x = found.value("throughput", cls="c")
    used = {name: x * s for name, s in used.items()} | {"servers": x * d.server_s / shape.servers}
    if shape.workers:
        used["workers"] = found.value("utilisation", "workers")
    return MeanValues(clients, x, used)


def _each(name: str, total_s: float, count: int) -> dict[str, float]:
    """The time by queue, where there is one."""
    names = [name] if count == 1 else [f"{name} {k + 1}" for k in range(count)]
    return dict.fromkeys(names, total_s / count) if total_s > 0 else {}
