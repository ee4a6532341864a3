"""The model for processes that keep to no cores: the same network, with CPU times stretched by the cores that threads share.

Client, net threads, workers and servers of one machine compete for its cores. A thread that works has a core to itself
while no more threads than cores work, and an equal share beyond (processor sharing). So each CPU time D_k becomes s_k D_k,
s_k = E[max(1, (1 + B_k)/C)], with B_k the number of other threads that work. Threads are taken as independent, busy with
probability X s_j D_j/threads_j (its share of one customer less: (N-1)/N, as in Schweitzer's approximation); X comes from
the network with the stretched times; a fixed point, solved by damped substitution.
Source of the parts: Jacobson and Lazowska, Analyzing queueing networks with simultaneous resource possession, CACM 25(2),
1982 (surrogate delays); Lazowska et al. (1984), chapter 11. Limits: all cores equal, threads not pinned, one machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import binom

from sojourn_cases.kv.models.middleware_network import (
    MeanValues,
    MiddlewareConfig,
    OperationDemands,
    solve,
)
from sojourn_cases.kv.models.operation_work import CLIENT, NET, SERVER, WORKERS

ROUNDS, CLOSE, DAMPING = 60, 1e-4, 0.5


@dataclass(frozen=True)
class ThreadGroup:
    """Equal threads and their CPU time of one operation together, s."""

    threads: int
    cpu_s: float


def shared_cores(
    seconds: Mapping[str, float],
    rest_s: float,
    network_s: float,
    shape: MiddlewareConfig,
    clients: int,
    cores: float,
) -> MeanValues:
    """The network with stretched times; `utilisation` has "cores" too. `seconds`: CPU time of an operation by component (`work`);
    `rest_s` of an answer inside the middleware beside it, `network_s` outside."""
    groups = {
        "client": ThreadGroup(1, seconds.get(CLIENT, 0.0)),
        "net": ThreadGroup(max(shape.proxies, 1), seconds.get(NET, 0.0)),
        "workers": ThreadGroup(max(shape.workers * shape.proxies, 1), seconds.get(WORKERS, 0.0)),
        "servers": ThreadGroup(shape.servers, seconds.get(SERVER, 0.0)),
    }
    found, _ = _fixed_point(groups, shape, rest_s, network_s, clients, cores)
    used = sum(g.cpu_s for g in groups.values()) * found.throughput_per_s / cores
    return MeanValues(clients, found.throughput_per_s, found.utilisation | {"cores": used})


def _fixed_point(
    groups: dict[str, ThreadGroup],
    shape: MiddlewareConfig,
    rest: float,
    delay: float,
    clients: int,
    cores: float,
) -> tuple[MeanValues, dict[str, float]]:
    stretch = dict.fromkeys(groups, 1.0)
    for _ in range(ROUNDS):
        found = solve(_demands(groups, stretch, rest, delay), shape, clients)
        wanted = _stretch(groups, stretch, found.throughput_per_s, clients, cores)
        change = max(abs(wanted[k] / stretch[k] - 1) for k in groups)
        stretch = {k: (1 - DAMPING) * stretch[k] + DAMPING * wanted[k] for k in groups}
        if change < CLOSE:
            break
    return found, stretch


def _demands(groups: dict[str, ThreadGroup], stretch: dict[str, float], rest: float, delay: float) -> OperationDemands:
    cpu = {k: g.cpu_s * stretch[k] for k, g in groups.items()}
    return OperationDemands(delay, cpu["client"], cpu["net"], rest + cpu["workers"], cpu["servers"])


def _stretch(
    groups: dict[str, ThreadGroup], now: dict[str, float], x: float, clients: int, cores: float
) -> dict[str, float]:
    busy = {k: min(1.0, x * g.cpu_s * now[k] / g.threads) * (clients - 1) / clients for k, g in groups.items()}
    found = {}
    for tagged in groups:
        law = np.ones(1)
        for k, g in groups.items():
            n = g.threads - (k == tagged)
            at_work = np.arange(n + 1)
            law = np.convolve(law, binom(n, at_work) * busy[k] ** at_work * (1 - busy[k]) ** (n - at_work))
        found[tagged] = float(law @ np.maximum(1.0, (1 + np.arange(len(law))) / cores))
    return found
