"""The works of run.py in SimPy, Ciw and salabim: `peers.py TOOL WORK COMPLETIONS`, prints CPU seconds and completions.

Each is written as its documentation writes such a model, with each customer's time at a station kept, no more.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

CYCLE = [0.020, 0.018, 0.016, 0.014, 0.012, 0.010]


def work(name: str) -> tuple[list[float], float | None]:
    """Means of the stations, mean time between arrivals (none: 50 customers in a circle)."""
    return {"mm1": ([1.0], 1 / 0.9), "tandem": ([1.0] * 5, 1 / 0.8), "cycle": (CYCLE, None)}[name]


def simpy(means: list[float], gap: float | None, completions: int) -> int:
    import simpy

    env = simpy.Environment()
    servers = [simpy.Resource(env) for _ in means]
    times: list[float] = []
    over = env.event()

    def visit() -> Iterator[Any]:
        for server, mean in zip(servers, means, strict=True):
            come = env.now
            with server.request() as turn:
                yield turn
                yield env.timeout(random.expovariate(1 / mean))
            times.append(env.now - come)
            if len(times) == completions:
                over.succeed()

    def again() -> Iterator[Any]:
        while True:
            yield from visit()

    def source() -> Iterator[Any]:
        while gap:
            yield env.timeout(random.expovariate(1 / gap))
            env.process(visit())

    if gap:
        env.process(source())
    for _ in range(0 if gap else 50):
        env.process(again())
    env.run(over)
    return len(times)


def ciw(means: list[float], gap: float | None, completions: int) -> int:
    import ciw

    n, none = len(means), None
    # A circle in Ciw: a burst of customers at the start, who are sent round by the routing.
    row = [[1.0 if j == i + 1 else 0.0 for j in range(n)] for i in range(n)]
    if not gap:
        row[n - 1][0] = 1.0
    first = ciw.dists.Exponential(1 / gap) if gap else ciw.dists.Sequential([1e-9] * 50 + [float("inf")])
    network = ciw.create_network(
        arrival_distributions=[first] + [none] * (n - 1),
        service_distributions=[ciw.dists.Exponential(1 / mean) for mean in means],
        number_of_servers=[1] * n,
        routing=row,
    )
    simulation = ciw.Simulation(network)
    span = completions / n * (gap or max(means))
    simulation.simulate_until_max_time(span)
    return len(simulation.get_all_records())


def salabim(means: list[float], gap: float | None, completions: int) -> int:
    import salabim as sim

    sim.yieldless(False)
    env = sim.Environment(trace=False)
    servers = [sim.Resource(f"q{i}") for i in range(len(means))]
    times: list[float] = []

    class Visit(sim.Component):  # type: ignore[misc]
        def process(self) -> Iterator[Any]:
            while True:
                for server, mean in zip(servers, means, strict=True):
                    come = env.now()
                    yield self.request(server)
                    yield self.hold(random.expovariate(1 / mean))
                    self.release(server)
                    times.append(env.now() - come)
                    if len(times) == completions:
                        env.main().activate()
                if gap:
                    return

    class Source(sim.Component):  # type: ignore[misc]
        def process(self) -> Iterator[Any]:
            while gap:
                yield self.hold(random.expovariate(1 / gap))
                Visit()

    if gap:
        Source()
    for _ in range(0 if gap else 50):
        Visit()
    env.run()
    return len(times)


def main() -> None:
    tools: dict[str, Callable[[list[float], float | None, int], int]] = {"simpy": simpy, "ciw": ciw, "salabim": salabim}
    means, gap = work(sys.argv[2])
    random.seed(1)
    # Loading the libraries is not simulating.
    __import__(sys.argv[1])
    started = time.process_time()
    done = tools[sys.argv[1]](means, gap, int(sys.argv[3]))
    print(time.process_time() - started, done)


if __name__ == "__main__":
    main()
