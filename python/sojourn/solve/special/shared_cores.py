"""Guests (virtual machines) whose virtual CPUs run on the same cores: users of one closed class among queues whose servers share cores.

Sources: how a processor is shared in a state: `shared_core_chain`. Users in a closed loop: E. D. Lazowska et al., Quantitative System
Performance (1984), chapter 6. What the hypervisor takes grows with what guests take: T. Wood et al., Profiling and Modeling Resource Usage
of Virtualized Applications, Middleware 2008, pp. 366-387; whose it is: L. Cherkasova, R. Gardner, Measuring CPU Overhead for I/O
Processing in the Xen Virtual Machine Monitor, USENIX Annual Technical Conference 2005, pp. 387-390.

| letters | here                                                                                    | unit |
|---------|-----------------------------------------------------------------------------------------|------|
| m       | `cores` of the group; of each station by itself where `together` is 0                   | 1    |
| w       | `weights`, of each busy server of a station                                             | 1    |
| h       | `overhead`: what the hypervisor takes on these cores beside each second of the stations | 1    |
| D       | demands, by the host's account: CPU time of a pass                                      | s    |
| b       | `background` of a station: cores that its guest uses without customers                  | 1    |

In each state a station has its share of what the hypervisor and the guests' own work leave of the cores, m - (1 + h) b - h X D in the
mean (a fixed point in the throughput X).

A host and a guest count differently. The row `utilisation` of a station is the host's: what its servers had of the cores, X D over its
servers. `STATION.guest` is the guest's own: its servers that could run, with a core or waiting for one, as a kernel counts that
is not told of stolen time. A guest that waits after it was woken counts that as idle: its own account lies between the two rows.

Limits: one closed class that thinks, exponential service (only means count at a station with cores of its own); queues and delays; at
most `MOST_STATES` states of a level. Exact where `overhead` is 0; else see benches/shared-cores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sojourn.errors import MethodRefused
from sojourn.model.components import SharedCores
from sojourn.model.distribution_registry import Exponential
from sojourn.model.network_arrays import Array, Network
from sojourn.model.network_points import NetworkPoints, as_points
from sojourn.solve.closed import METHODS as CLOSED
from sojourn.solve.load_dependent_times import LEAST_LEFT
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.solution import Solution
from sojourn.solve.special.shared_core_chain import (
    SharedCoreChains,
    SharedCoreMeans,
    StationsSharingCores,
    chain_bytes,
    level_size,
    pieces,
    solved,
)
from sojourn.solve.special.shared_core_rows import rows

MOST_STATES = 1500.0  # of a level: a matrix of that size is inverted for each number of customers
CLOSE, ROUNDS = 1e-8, 100  # of the throughput, where the hypervisor's part is found
PRODUCT_S = 3e-10  # for a product of two numbers
PLAIN = ("mva", "convolution")  # for queues that have their cores for themselves
MESSAGE = (
    "`utilisation` of a station is the host's account of it; STATION.guest is what its guest can see at most: it could run, with a core "
    "or waiting for one"
)


def refuses(network: Network) -> str | None:
    """Why it does not apply, in words."""
    if not network.sharing:
        return "no stations share cores"
    if len(network.classes) != 1 or not network.closed[0]:
        return "this method needs exactly one closed class"
    if network.think_s[0] <= 0:
        return f"the class `{network.classes[0]}` does not think, which this method needs"
    if other := next((kind for kind in network.kind if kind not in ("queue", "delay")), None):
        return f"a station is of kind `{other}`: this method takes queues and delays"
    if np.isfinite(network.capacity).any():
        return "a station has a capacity"
    if full := next(
        (shared.name for shared, names in _sharing(network) if _full_at_rest(network, shared, names)), None
    ):
        return f"the stations of shared_cores.{full} use all of its cores without customers (`background`)"
    if _alone(network):
        return _plain_refusal(network)
    if not all(isinstance(law, Exponential) for (law,) in network.service if law is not None and law.first > 0):
        return "the times of a station are not exponential"
    if not isinstance(network.think[0], Exponential):
        return "the think time is not exponential"
    states = level_size(len(network.stations), int(network.population[0]))
    if states > MOST_STATES:
        return f"a level of its chain has {states:.3g} states, more than {MOST_STATES:g}: take fewer users or stations"
    return None


def _alone(network: Network) -> bool:
    """Whether every station has its cores for itself."""
    return all(not group.together for group in network.sharing)


def _full_at_rest(network: Network, shared: SharedCores, names: Sequence[str]) -> bool:
    """Whether `background` and what the hypervisor takes beside it leave nothing of the cores."""
    at_rest = sum(network.background[network.stations.index(name)] for name in names)
    return bool((1 + shared.overhead) * at_rest >= shared.cores)


def _plain(network: Network) -> Network:
    return network.altered(sharing=())


def _plain_refusal(network: Network) -> str | None:
    plain = _plain(network)
    reasons = [m.refuses(plain) for m in CLOSED if m.name in PLAIN]
    return None if None in reasons else reasons[0]


def run(networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
    """All points, those of one shape together."""
    points = as_points(networks)
    shape = (len(points), len(points.bases[0].stations))
    passes, present, guests = np.zeros(shape[0]), np.zeros(shape), np.zeros(shape)
    shapes = [_shape(base) for base in points.bases]
    numbers = np.array([shapes.index(one) for one in shapes])[points.which]
    for number in np.unique(numbers):
        base = points.bases[number]
        for own in pieces(np.flatnonzero(numbers == number), _memory_bytes(base)):
            some = points.take(own)
            found = _of_alone(some, base, wanted) if _alone(base) else _of_shared(some, base)
            passes[own], present[own], guests[own] = found
    servers = points.column("servers").astype(float)
    demands = points.column("demands_s")[:, :, 0]  # longer by what background work leaves
    delay = np.array([kind == "delay" for kind in points.bases[0].kind])
    busy = np.where(delay, np.nan, passes[:, None] * demands / servers)
    names = points.bases[0].stations
    rows_of = {name: row for shared in points.bases[0].sharing for name, row in shared.guests.items()}
    parts = {row: guests[:, names.index(name)] for name, row in rows_of.items()}
    status = ["ok" if METHOD.exact_for(points.bases[base]) else "approximate" for base in points.which]
    return Solution(
        passes[:, None], present[:, :, None], busy[:, :, None], status, busy_of=parts, message=MESSAGE,
        more=rows(points, guests, passes, demands) if wanted.further else [],
    )  # fmt: skip


def _shape(base: Network) -> tuple[Any, ...]:
    """What points solved together have alike: all but numbers."""
    groups = tuple((g.stations, g.weights, g.together) for g in base.sharing)
    return int(base.population[0]), base.servers.tobytes(), base.visits.tobytes(), groups


def _core_numbers(points: NetworkPoints) -> tuple[Array, Array]:
    """`cores` and `overhead` of each of `_groups`, P x groups."""
    asked, which = np.unique(points.which, return_inverse=True)  # other bases may have other groups
    each = [[(shared.cores, shared.overhead) for shared, _ in _sharing(points.bases[k])] for k in asked]
    found = np.array(each, float)[which]
    return found[:, :, 0], found[:, :, 1]


def _groups(base: Network) -> tuple[StationsSharingCores, ...]:
    place = {name: k for k, name in enumerate(base.stations)}
    found = []
    for shared, names in _sharing(base):
        weights = shared.weights if shared.together and shared.weights else (1.0,) * len(names)
        found.append(StationsSharingCores(tuple(place[name] for name in names), weights))
    return tuple(found)


def _sharing(base: Network) -> list[tuple[SharedCores, tuple[str, ...]]]:
    """Stations that are on the same cores, with what is said of these: where they are not together, each is by itself."""
    return [
        (shared, names)
        for shared in base.sharing
        for names in ([shared.stations] if shared.together else [(name,) for name in shared.stations])
    ]


def _of_shared(points: NetworkPoints, base: Network) -> tuple[Array, Array, Array]:
    """By the chain: throughput P, present and runnable servers P x K."""
    groups, (most, overhead) = _groups(base), _core_numbers(points)
    demands = points.column("demands_s")[:, :, 0]
    background = points.column("background")
    left_of = 1 - background / points.column("servers")
    demands = demands * left_of
    service = points.column("service_s")[:, :, 0] * left_of
    customers = int(base.population[0])
    route = _route(base)
    servers = np.where([kind == "delay" for kind in base.kind], customers, base.servers)
    rates = np.divide(1.0, service, out=np.full_like(service, 1e12), where=service > 0)
    think = 1 / points.column("think_s")[:, 0]
    at_rest = np.stack([background[:, list(g.stations)].sum(axis=1) for g in groups], axis=1)

    def at(left: Array) -> SharedCoreMeans:
        left = np.maximum(left, LEAST_LEFT * most)
        return solved(SharedCoreChains(customers, rates, np.asarray(servers, np.int64), route, think, groups, left))

    def given(passes: Array) -> Array:
        taken = np.stack([demands[:, list(g.stations)].sum(axis=1) for g in groups], axis=1) * passes[:, None]
        # no less than what guests have where the cores are full
        return np.asarray(
            np.maximum(most - (1 + overhead) * at_rest - overhead * taken, most / (1 + overhead) - at_rest)
        )

    found = at(most - (1 + overhead) * at_rest)
    if overhead.any():
        found = _settled(at, given, found, 1 + float(overhead.max()))
    return found.throughput, found.present, _with_rest(found.runnable, background, np.asarray(servers, float))


def _settled(
    at: Callable[[Array], SharedCoreMeans], given: Callable[[Array], Array], found: SharedCoreMeans, step: float
) -> SharedCoreMeans:
    """The fixed point in the throughput: `given` says what cores it leaves, and `at` what throughput these allow; `found` is a first
    answer. On full cores one step of 1/`step` ends there."""
    now = found.throughput
    before = gap = np.full_like(now, np.nan)
    for _ in range(ROUNDS):
        found = at(given(now))
        last_gap, gap = gap, found.throughput - now
        if (np.abs(gap) <= CLOSE * now).all():
            return found
        with np.errstate(divide="ignore", invalid="ignore"):
            secant = now - gap * (now - before) / (gap - last_gap)
        good = np.isfinite(secant) & (secant > 0) & (np.abs(secant - now) <= 3 * np.abs(gap))
        before, now = now, np.where(good, secant, now + gap / step)
    raise MethodRefused("the hypervisor's part did not converge", "method shared-cores", "give a smaller overhead")


def _of_alone(points: NetworkPoints, base: Network, wanted: RequestedOutputs) -> tuple[Array, Array, Array]:
    """Each station with its own cores: slower by what the hypervisor takes of them; else a plain closed network."""
    plain = NetworkPoints([_plain(b) for b in points.bases], points.which, points.columns, points.parts)
    shape = len(points), len(base.stations)
    overhead, cores = np.zeros(shape), np.full(shape, np.inf)
    own_of = [group.stations[0] for group in _groups(base)]
    cores[:, own_of], overhead[:, own_of] = _core_numbers(points)
    servers = points.column("servers").astype(float)
    method = next(m for m in CLOSED if m.name in PLAIN and m.refuses(_plain(base)) is None)
    service, demands = points.column("service_s"), points.column("demands_s")[:, :, 0]
    quiet = RequestedOutputs((), None, wanted.budget_s, further=False)
    fits = np.minimum(cores, servers)  # cores that its servers can use
    background = points.column("background")
    own = servers - background
    service = service * (own / servers)[:, :, None]
    demands = demands * own / servers

    def at(left: Array) -> SharedCoreMeans:
        longer = servers / np.minimum(np.maximum(left, LEAST_LEFT * cores), own)
        answer = method.run(plain.altered(service_s=service * longer[:, :, None]), quiet)
        runnable = answer.throughput[:, :1] * demands * longer
        return SharedCoreMeans(answer.throughput[:, 0], answer.queue_length[:, :, 0], runnable)

    def given(passes: Array) -> Array:
        taken = demands * passes[:, None]
        least = fits / (1 + overhead) - background
        return np.asarray(np.maximum(cores - (1 + overhead) * background - overhead * taken, least))

    found = at(cores - (1 + overhead) * background)
    if overhead.any():
        found = _settled(at, given, found, 1 + float(overhead.max()))
    return found.throughput, found.present, _with_rest(found.runnable, background, servers)


def _with_rest(runnable: Array, background: Array, servers: Array) -> Array:
    """Servers that could run, with what guests do of their own while no customer is there."""
    return np.asarray(runnable + background * np.maximum(1 - runnable / servers, 0.0))


def _route(base: Network) -> Array:
    size = len(base.stations) + 1
    found = np.zeros((size, size))
    for node in range(size):
        for to, _, p in base.routes.row(node, 0):
            found[node, to] += p
    return found


def _cost_s(network: Network) -> float:
    customers = int(network.population[0])
    if _alone(network):
        return 1e-3
    rounds = 8 if any(g.overhead for g in network.sharing) else 1
    stations = len(network.stations)
    work = sum(level_size(stations, level) ** 3 for level in range(customers + 1))
    return rounds * (3e-4 * customers + PRODUCT_S * 4 * work)


def _memory_bytes(network: Network) -> float:
    return 0.0 if _alone(network) else chain_bytes(len(network.stations), int(network.population[0]))


METHOD = Method(
    name="shared-cores",
    title="guests whose virtual CPUs share cores by weights, state by state",
    exact=True,
    sources=(
        "A. K. Parekh, R. G. Gallager: IEEE/ACM Transactions on Networking 1(3), 1993, pp. 344-357",
        "G. Fayolle, R. Iasnogorodski: Zeitschrift fuer Wahrscheinlichkeitstheorie 47, 1979, pp. 325-351",
        "T. Wood et al.: Middleware 2008, pp. 366-387 (the hypervisor's part)",
    ),
    refuses=refuses,
    run=run,
    cost_s=_cost_s,
    memory_bytes=_memory_bytes,
    reads=("sharing",),
    approximate_if=("`overhead` is above 0", lambda network: any(group.overhead for group in network.sharing)),
)
