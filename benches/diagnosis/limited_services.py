"""Services whose limit is known, drawn at random and run by recursions of queues in order of arrival: what `sojourn measure` would
leave of them, as run folders.

A request passes the generator's thread, its connections, the service's cores, a lock, a pool before a back end, and a disk; one of
these is full at `full_per_s`, the others at rates that are 1.4 to 5 times as high. Of a third of the services a request takes up to
30 % less CPU time at full load than at rest, and of a third up to 10 ms of waiting that limits nothing. Meters of CPU time are off by
1 % from run to run.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn.runs.run_folder import RunFolder
from sojourn.simulate.simulated_folder import write_run

Array = NDArray[np.float64]
Times = Callable[[np.random.Generator, int], Array]  # of mean 1
LIMITS = ("cores", "lock", "pool", "disk", "client", "nothing yet")
# what a diagnosis may say of each: a lock that computes is a thread that is always busy, and is said to be that
RIGHT = {
    "cores": ("cores",),
    "lock": ("unseen",),
    "lock that computes": ("unseen", "thread"),
    "pool": ("unseen",),
    "disk": ("disk",),
    "client": ("client",),
    "nothing yet": ("unknown",),
}
LAWS: dict[str, Times] = {
    "constant": lambda random, n: np.ones(n),
    "exponential": lambda random, n: random.exponential(1.0, n),
    "lognormal, c² = 2": lambda random, n: random.lognormal(-np.log(3) / 2, np.sqrt(np.log(3)), n),
}
CORES = (0, 1, 2, 3)


@dataclass(frozen=True)
class PlantedService:
    """`limit`: one of LIMITS; `hidden`: what would be the limit of one that is measured at low load, else the same; `full_per_s`:
    where that is full; `rates`: the levels, 1/s; `saved`: of the CPU time at rest, at full load; `contention`: how much longer a lock
    is held for each that waits for it; `how`: of a client, whether its thread, its connections or its share of the cores are in the way."""

    seed: int
    limit: str
    hidden: str
    full_per_s: float
    rates: tuple[float, ...]
    cores: int
    law: str
    shares: dict[str, float] = field(default_factory=dict)  # of each part at full_per_s, 1 of the limit
    pool: int = 4
    connections: int = 512
    delay_s: float = 0.0
    saved: float = 0.0
    contention: float = 0.0
    computes: bool = False  # inside of the lock
    how: str = ""
    run_s: float = 10.0

    def cpu_s(self, rate: float) -> float:
        """CPU time of a request at a rate."""
        at_rest = self.cores * self.shares["cores"] / self.full_per_s / (1 - self.saved)
        return at_rest * (1 - self.saved * min(rate / self.full_per_s, 1.0))

    def measure(self, out: Path) -> list[RunFolder]:
        """A run folder a level."""
        return [self.run(rate, number, out) for number, rate in enumerate(self.rates)]

    def run(self, rate: float, number: int, out: Path) -> RunFolder:
        """One level."""
        random = np.random.default_rng([self.seed, 8, number])
        count = int(rate * self.run_s * 1.3) + 100
        came = np.cumsum(random.exponential(1 / rate, count))
        law, full = LAWS[self.law], self.full_per_s
        client_s, cpu = self.shares["client"] / full, self.cpu_s(rate)
        sent, done = self.passed(came, random, law, client_s, cpu)
        known = came < self.run_s
        requests = {"intended_s": came, "sent_s": sent, "done_s": np.where(done < self.run_s + 20, done, np.nan)}
        about: dict[str, Any] = {
            "name": f"rate-{rate:.4g}", "factors": {"rate_per_s": rate}, "duration_s": self.run_s,
            "load": {"lanes": [{"connections": self.connections}]},
        }  # fmt: skip
        folder = write_run(out / about["name"], manifest=about, requests={k: v[known] for k, v in requests.items()})
        done_per_s = float(((done < self.run_s) & (done > 0)).sum()) / self.run_s
        own = cpu * float(1 + 0.01 * random.standard_normal())
        cores = list(CORES[: self.cores])
        beside = self.how == "shares"
        disk = {"disk vda": self.shares["disk"] / full} if self.shares["disk"] else {}
        folder.manifest |= {
            "placement": {"server": cores, "client": cores if beside else [7]},
            "demands_s": {"process 7": own} | disk,
        }
        folder.manifest["generator"]["lanes"] = [{"cpu_s": min(client_s * done_per_s, 1.0) * 10, "wall_s": 10.0}]
        folder.save()
        return folder

    def passed(
        self, came: Array, random: np.random.Generator, law: Times, client_s: float, cpu_s: float
    ) -> tuple[Array, Array]:
        """When requests were sent, and answered."""
        count, full = len(came), self.full_per_s
        if self.how == "shares":  # the generator and the service take turns on the cores
            ready = came
            cpu_s = cpu_s + client_s
        else:
            ready = in_turn(came, np.full(count, client_s), 1)
        wait = self.delay_s * np.ones(count)
        lock = self.shares["lock"] / full * (np.ones(count) if self.computes else law(random, count))
        if self.computes:
            computed = ready
            lock = np.maximum(lock, 1e-9) * law(random, count)
        else:
            computed = in_turn(ready, cpu_s * law(random, count), self.cores)
        after = in_turn(computed, lock, 1, self.contention)
        after = in_turn(after, self.pool * self.shares["pool"] / full * law(random, count), self.pool)
        after = in_turn(after, self.shares["disk"] / full * law(random, count), 1) + wait
        if self.how != "connections":
            return ready, after
        sent = in_turn(ready, after - ready, self.connections) - (after - ready)
        return sent, sent + (after - ready)


def in_turn(came: Array, service_s: Array, servers: int, contention: float = 0.0) -> Array:
    """When each leaves a station of so many servers in order of arrival; times are longer by `contention` for each that is before it."""
    if not service_s.any():
        return came
    order = np.argsort(came, kind="stable")
    free = [0.0] * servers
    left = np.empty(len(came))
    present: list[float] = []
    for k, at, own in zip(order.tolist(), came[order].tolist(), service_s[order].tolist(), strict=True):
        if contention:
            while present and present[0] <= at:
                heapq.heappop(present)
            own *= 1 + contention * min(len(present), 8)
        end = max(at, heapq.heappop(free)) + own
        heapq.heappush(free, end)
        left[k] = end
        if contention:
            heapq.heappush(present, end)
    return left


def planted(seed: int, limit: str) -> PlantedService:
    """A service of that limit, drawn at random."""
    random = np.random.default_rng([seed, 29, LIMITS.index(limit)])
    hidden = str(random.choice(LIMITS[:5])) if limit == "nothing yet" else limit
    full = float(np.exp(random.uniform(np.log(80), np.log(600))))
    top = float(random.uniform(0.1, 0.4) if limit == "nothing yet" else random.uniform(0.75, 1.1))
    levels = int(random.choice([4, 5, 6]))
    cores = int(random.choice([1, 2, 4]))
    shares = {part: float(1 / random.uniform(1.4, 5)) for part in LIMITS[:5]}
    shares["client"] = float(random.uniform(0.01, 0.2))
    if random.random() < 0.5:
        shares["disk"] = 0.0
    how = str(random.choice(["thread", "connections", "shares"])) if hidden == "client" else ""
    computes = hidden == "lock" and cores > 1 and random.random() < 0.4
    delay_s = float(random.uniform(0, 0.01)) if random.random() < 0.35 else 0.0
    connections = 512
    if how in ("", "thread"):
        shares[hidden] = 1.0
    elif how == "shares":  # of one core; together with the service it fills all of them
        shares["cores"] = float(random.uniform(0.35, 0.6))
        shares["client"] = cores * (1 - shares["cores"])
    else:
        delay_s = float(random.uniform(0.02, 0.08))
        connections = max(2, round(full * delay_s))
        shares |= {part: share / 3 for part, share in shares.items()}
    if computes:
        shares["cores"] = 1 / cores
    return PlantedService(
        seed, limit, hidden, full, tuple(np.linspace(0.15, 1.0, levels) * top * full), cores, str(random.choice(list(LAWS))), shares,
        pool=int(random.integers(2, 11)), connections=connections, delay_s=delay_s,
        saved=float(random.uniform(0.05, 0.3)) if random.random() < 0.35 and not computes else 0.0,
        contention=float(random.uniform(0.02, 0.1)) if hidden == "lock" and not computes and random.random() < 0.3 else 0.0,
        computes=computes, how=how,
    )  # fmt: skip


def is_right(service: PlantedService, kind: str) -> bool:
    """Whether a diagnosis of this kind names its limit."""
    return kind in RIGHT["lock that computes" if service.computes and service.limit == "lock" else service.limit]
