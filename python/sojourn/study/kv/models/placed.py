"""The model we think best: a closed network whose stations are cores, each with the CPU times of all who run there.

Who runs where is known (`affinity`), so a core is one queue: its demand is the sum of the CPU times per operation of the
processes on it, by processor sharing, and everything else is a delay. Exact by mean value analysis (Lazowska et al. 1984,
chapters 6 and 10: a processor shared by several activities of a transaction is one centre with the sum of their demands).

CPU times per operation are the instrumented ones. They fall with the number of clients, because more is done at each
waking; between fitted client counts they are taken straight in 1/N. The delay is what a client's cycle at the
fewest clients has more than its CPU times. Workers bound the throughput: not more than the servers and the workers' own
time let through with all workers held. Limits: one class; interrupts are charged to whom they interrupt; a process is not
limited to one core by its threads where it was given several, but for those that have a single thread.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import sojourn as sj
from sojourn.model import Closed, Delay, Model, Queue
from sojourn.model.nouns import Station
from sojourn.study.kv.models.network import LEAST_S, Prediction, Shape
from sojourn.study.kv.models.times import Times
from sojourn.system.kv.affinity import Affinity

HALVINGS = 40
Cores = tuple[int, ...]


def placed_cores(times: Times, shape: Shape, clients: int, affinity: Affinity) -> Prediction:
    """Throughput with `clients`."""
    delay = _delay(demands_at(times, shape, times.fewest, affinity), times.fewest, times.light_cycle_s)
    demands = demands_at(times, shape, clients, affinity)
    x = _throughput(demands, delay, clients)
    if shape.workers:
        x = min(x, _throughput(demands_at(times, shape, clients, affinity, inside=True), 0.0, _workers(shape)))
    used = {_named(cores, affinity): x * d / len(cores) for cores, d in demands.items()}
    return Prediction(clients, x, used)


def demands_at(
    times: Times, shape: Shape, clients: int, affinity: Affinity, *, inside: bool = False
) -> dict[Cores, float]:
    """CPU seconds of an operation on each set of cores; with `inside` only what happens while a worker is held."""
    found: defaultdict[Cores, float] = defaultdict(float)
    if not inside:
        found[affinity.client] += times.at("client_cpu_s", clients)
    for own in affinity.servers:
        found[own] += times.at("server_cpu_s", clients) / shape.servers
    for own in affinity.proxies:
        net = 0.0 if inside else times.at("net_cpu_s", clients)
        cores = own if shape.workers else own[:1]  # a loop is one thread
        found[cores] += (net + times.at("worker_cpu_s", clients)) / shape.proxies
    return {cores: value for cores, value in found.items() if value > 0}


def _workers(shape: Shape) -> int:
    return shape.workers * max(shape.proxies, 1)


def _throughput(demands: Mapping[Cores, float], delay_s: float, clients: int) -> float:
    stations: list[Station] = [Delay("elsewhere")]
    stations += [Queue(_station(cores), servers=len(cores)) for cores in demands]
    seconds = {"elsewhere": max(delay_s, LEAST_S)} | {_station(cores): d for cores, d in demands.items()}
    model = Model(stations, [Closed("c", clients)], demands_s={name: {"c": s} for name, s in seconds.items()})
    return sj.solve(model).value("throughput", cls="c")


def _delay(demands: Mapping[Cores, float], clients: int, cycle_s: float) -> float:
    """The delay with which a client's cycle takes so long, by bisection; 0 where CPU times alone take as long."""
    low, high = 0.0, cycle_s
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if clients / _throughput(demands, middle, clients) < cycle_s:
            low = middle
        else:
            high = middle
    return low


def _station(cores: Cores) -> str:
    return "cores " + " ".join(map(str, cores))


def _named(cores: Cores, affinity: Affinity) -> str:
    who = [
        name
        for name, sets in (
            ("client", [affinity.client]), ("middleware", [*affinity.proxies, *(p[:1] for p in affinity.proxies)]),
            ("server", affinity.servers),
        )
        if cores in sets
    ]  # fmt: skip
    return f"{_station(cores)} ({', '.join(who)})"
