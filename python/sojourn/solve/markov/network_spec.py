"""A `Network` as the chain's kernel takes it (`crates/solve/src/markov/network_spec.rs`): phases, rules, routes, sources, limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sojourn.model.distribution_registry import Exponential
from sojourn.model.network_arrays import Network
from sojourn.solve.markov.phase_type import arrivals, phases

RULES = {"fcfs": "ordered", "priority": "ordered", "ps": "shared", "siro": "random", "lcfs_pr": "last",
         "priority_preemptive": "preemptive"}  # fmt: skip
UNLIMITED = 2**62
MOST_SPEEDS = 100_000  # more customers than any chain counts
Target = tuple[int, int, float, int | None]


@dataclass(frozen=True)
class ServicePhase:
    cls: int
    start: float
    done: float  # 1/s
    moves: list[tuple[int, float]]


@dataclass(frozen=True)
class Station:
    rule: str
    servers: int
    speed: list[float]
    capacity: int
    block: bool
    levels: bool
    phases: list[ServicePhase]


@dataclass(frozen=True)
class ArrivalSource:
    cls: int
    silent: list[list[tuple[int, float]]]
    arriving: list[list[tuple[int, float]]]


@dataclass(frozen=True)
class PopulationLimit:
    size: int
    inside: list[bool]
    lose: bool


@dataclass(frozen=True)
class NetworkSpec:
    """Nodes are the stations of the network, then outside; routes and `shortest` are by node · classes + class."""

    stations: list[Station]
    priority: list[int]
    population: list[int]
    open: list[bool]
    routes: list[list[Target]]
    shortest: list[bool]
    sources: list[ArrivalSource]
    limits: list[PopulationLimit]
    most_open: int


def rule(network: Network, k: int) -> str:
    """How the chain's kernel calls the discipline of station k."""
    if network.kind[k] in ("delay", "fork_join"):
        return network.kind[k]
    return RULES[network.discipline[k]]


def spec(network: Network, most_open: int = UNLIMITED) -> NetworkSpec:
    """The kernel's form of a network that `ctmc.refuses` let pass, with at most `most_open` open customers at once."""
    out = len(network.stations)
    return NetworkSpec(
        stations=[_station(network, k) for k in range(out)] + [_outside(network)],
        priority=_levels(network),
        population=[max(int(n), 0) for n in network.population],
        open=[not closed for closed in network.closed],
        routes=_routes(network),
        shortest=[
            (k, c) in network.choices and network.choices[k, c].policy == "jsq"
            for k in range(out + 1) for c in range(len(network.classes))
        ],
        sources=[_source(network, c)
            for c in range(len(network.classes))
            if not network.closed[c] and network.arrivals[c] is not None],
        limits=[
            PopulationLimit(x.size, [k in x.stations for k in range(out + 1)], x.on_full == "lose") for x in network.limits
        ],
        most_open=most_open,
    )  # fmt: skip


def _station(network: Network, k: int) -> Station:
    found: list[ServicePhase] = []
    for c in np.flatnonzero(network.visits[k]):
        found += _phases(network.service[k][c], int(c), len(found))
    kind = rule(network, k)
    servers = UNLIMITED if kind == "delay" else int(network.servers[k])
    speed: list[float] = []
    if k in network.rates:
        speed = (network.rates[k] / network.rates[k][0]).tolist()
    elif kind == "shared":
        speed = [float(n) for n in range(1, min(servers, MOST_SPEEDS) + 1)]
    elif kind == "fork_join":
        servers = int(getattr(network.model.station(network.stations[k]), "branches", 2))
    full = network.capacity[k]
    return Station(
        rule=kind, servers=servers, speed=speed, capacity=int(full) if np.isfinite(full) else UNLIMITED,
        block=bool(np.isfinite(full)) and network.on_full[k] == "block",
        levels=network.discipline[k].startswith("priority"), phases=found,
    )  # fmt: skip


def _phases(time: object, cls: int, first: int) -> list[ServicePhase]:
    if isinstance(time, Exponential):
        return [ServicePhase(cls, 1.0, 1 / time.mean, [])]
    law = phases(time)
    assert law is not None, "ctmc.refuses let a law pass that has no phases"
    return [
        ServicePhase(cls, float(law.start[i]), float(law.end[i]),
              [(first + j, float(r)) for j, r in enumerate(law.rates[i]) if j != i and r > 0])
        for i in range(len(law.start))
    ]  # fmt: skip


def _outside(network: Network) -> Station:
    """Where closed customers think."""
    found: list[ServicePhase] = []
    for c in np.flatnonzero(network.think_s > 0):
        found += _phases(network.think[c], int(c), len(found))
    return Station("delay", UNLIMITED, [], UNLIMITED, False, False, found)


def _levels(network: Network) -> list[int]:
    """Priorities as 0, 1, …, so that any number given fits."""
    if not network.priority.any():
        return [0] * len(network.classes)
    return np.unique(network.priority, return_inverse=True)[1].astype(int).tolist()


def _routes(network: Network) -> list[list[Target]]:
    """Of all states; kept with the routes, which many networks share."""
    at_once = (network.closed & (network.think_s == 0)).tobytes()
    kept: dict[bytes, list[list[Target]]] = network.routes.__dict__.setdefault("targets", {})
    if at_once not in kept:
        states = [(k, c) for k in range(len(network.stations) + 1) for c in range(len(network.classes))]
        kept[at_once] = [_targets(network, k, c) for k, c in states]
    return kept[at_once]


def _targets(network: Network, k: int, c: int) -> list[Target]:
    """Where to from (k, c); a closed class that does not think goes through outside to where its next pass begins."""
    out = len(network.stations)
    found: list[Target] = []
    for node, other, p in network.routes.row(k, c):
        if node < out or not network.closed[other] or network.think_s[other] > 0:
            found.append((node, other, p, None))
            continue
        for again, begun, share in network.routes.row(out, other):
            found.append((again, begun, p * share, other))
    return found


def _source(network: Network, c: int) -> ArrivalSource:
    process = arrivals(network.arrivals[c])
    assert process is not None, "ctmc.refuses accepted arrivals that have no phases"
    size = range(len(process.silent))
    silent = [[(j, float(process.silent[i, j])) for j in size if j != i and process.silent[i, j] > 0] for i in size]
    arriving = [[(j, float(process.arriving[i, j])) for j in size if process.arriving[i, j] > 0] for i in size]
    return ArrivalSource(int(c), silent, arriving)
