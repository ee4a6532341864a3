"""A closed network whose stations are cores, each with the CPU times of all who run there.

Who runs where is known (`affinity`), so a core is one queue: its demand is the sum of the CPU times per operation of the
processes on it, by processor sharing, and everything else is a delay. Mean value analysis (Lazowska et al. 1984,
chapters 6 and 10: a processor shared by several activities of a transaction is one centre with the sum of their demands),
exact where a process has one core; several by Seidmann's transformation (D/c of a queue, the rest a delay). Workers bound the
throughput: not more than the servers and the workers' own time let through with all workers held. Limits: one class; interrupts
are charged to whom they interrupt; a loop and a server are one thread each.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from sojourn.solve import exact_mva
from sojourn_cases.kv.middleware.affinity import Affinity, assigned
from sojourn_cases.kv.models.operation_work import CLIENT, NET, SERVER, WORKERS

Cores = tuple[int, ...]
Shares = dict[Cores, dict[str, float]]  # of a component's CPU time that is used on a set of cores
PLACES = ("servers", "proxies", "workers")
LEAST_S = 1e-9


@dataclass(frozen=True)
class CoreNetworkSolution:
    """A value a point: throughput, the utilisation of the busiest core, and how long an operation is at the client's core, s."""

    throughput_per_s: np.ndarray
    busiest: np.ndarray
    at_client_s: np.ndarray


def solved(
    rows: pl.DataFrame, times: Mapping[str, np.ndarray], delay_s: np.ndarray, cores: Sequence[int]
) -> CoreNetworkSolution:
    """Many points at once: `rows` with servers, proxies, workers, clients; `times` by component in s, and `delay_s`, a value a row."""
    x, busiest, at_client = (np.zeros(rows.height) for _ in range(3))
    numbered = rows.with_row_index("row")
    for (servers, proxies, workers), own in numbered.partition_by(PLACES, as_dict=True).items():
        at = own["row"].to_numpy()
        here = {name: values[at] for name, values in times.items()}
        affinity, clients = assigned(cores, servers, proxies), own["clients"].to_numpy()
        stations = demands(shares_of(affinity, workers > 0), here)
        x[at], at_client[at] = _throughput(stations, delay_s[at], clients, affinity.client)
        if workers:
            inside = demands(shares_of(affinity, True, inside=True), here)
            held = np.full(len(at), workers * max(proxies, 1))
            x[at] = np.minimum(x[at], _throughput(inside, np.zeros(len(at)), held, affinity.client)[0])
        busiest[at] = np.max([x[at] * d / len(c) for c, d in stations.items()], axis=0)
    return CoreNetworkSolution(x, busiest, at_client)


def shares_of(affinity: Affinity, staged: bool, *, inside: bool = False) -> Shares:
    """Who works where; with `inside` only what happens while a worker is held."""
    found: defaultdict[Cores, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    if not inside:
        found[affinity.client][CLIENT] += 1.0
    for own in affinity.servers:
        found[own][SERVER] += 1 / len(affinity.servers)
    for own in affinity.proxies:
        cores = own if staged else own[:1]  # a loop is one thread
        for name in (WORKERS,) if inside else (NET, WORKERS):
            found[cores][name] += 1 / len(affinity.proxies)
    return {cores: dict(of) for cores, of in found.items()}


def demands(shares: Shares, times: Mapping[str, np.ndarray]) -> dict[Cores, np.ndarray]:
    """CPU seconds of an operation on each set of cores, where there are any."""
    none = np.zeros_like(next(iter(times.values())))
    found = {c: sum((s * times.get(name, none) for name, s in of.items()), none) for c, of in shares.items()}
    return {cores: value for cores, value in found.items() if (value > 0).any()}


def _throughput(
    stations: Mapping[Cores, np.ndarray], delay_s: np.ndarray, clients: np.ndarray, of: Cores
) -> tuple[np.ndarray, np.ndarray]:
    """And how long an operation is at the cores `of`."""
    queued = np.stack([d / len(cores) for cores, d in stations.items()], axis=1)
    beside = sum((d * (1 - 1 / len(cores)) for cores, d in stations.items()), delay_s)
    think = np.maximum(beside, LEAST_S)
    x, length = exact_mva(queued, think, clients)
    where = list(stations)
    return x, length[:, where.index(of)] / x if of in where else np.zeros(len(x))


def named(cores: Cores, affinity: Affinity) -> str:
    """Such as "cores 0 (middleware, server)"."""
    who = [
        name
        for name, sets in (
            ("client", [affinity.client]), ("middleware", [*affinity.proxies, *(p[:1] for p in affinity.proxies)]),
            ("server", affinity.servers),
        )
        if cores in sets
    ]  # fmt: skip
    return f"cores {' '.join(map(str, cores))} ({', '.join(who)})"
