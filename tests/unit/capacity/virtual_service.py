"""Services in numpy that leave judged run folders: c workers in order of arrival behind a delay, some with a lock, a pool or times that
grow. Truths are Erlang's formula or a long run of the same recursion."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sojourn.capacity import LightLoad, light_load
from sojourn.capacity.light_load import LIGHT_S
from sojourn.runs.run_folder import RunFolder
from sojourn.simulate.simulated_folder import write_run

LONG = 200_000  # requests of a run that tells the truth
WARM = 10_000


@dataclass
class VirtualService:
    """`workers` take requests in order of arrival and hold them for `service_s` on average, `law` `constant`, `exponential` or `uneven`
    (two exponential phases, squared coefficient of variation 2.5); a constant `delay_s` before. `then_s`: a second, exponential time that
    each worker needs one of `seconds` for: 1 is a lock, more a pool of connections. `grows`: the time of a request with all workers
    busy is that much longer than alone. `watched`: workers compute, and their CPU time is recorded. `fails_above`: a rate in 1/s beyond
    which one request of ten is refused."""

    out: Path
    workers: int = 2
    service_s: float = 0.006
    law: str = "exponential"
    delay_s: float = 0.001
    then_s: float = 0.0
    seconds: int = 1
    grows: float = 0.0
    seed: int = 1
    fails_above: float = float("inf")
    watched: bool = False
    told: bool = True  # the number of workers, as a factor
    asked: tuple[float, ...] = ()
    requests: int = 0
    work_s: float = 0.0  # of a request of the last run, without its second time

    @property
    def full_per_s(self) -> float:
        """Where it is full; with a second time about, as its workers can be full of waiting."""
        first = self.workers / (self.service_s * (1 + self.grows) + self.then_s)
        return min(first, self.seconds / self.then_s) if self.then_s else first

    def run(self, rate_per_s: float, run_s: float = 15.0) -> RunFolder:
        """At a rate in 1/s."""
        self.asked = (*self.asked, rate_per_s)
        random = np.random.default_rng([self.seed, len(self.asked)])
        arrivals, responses = self.responses(rate_per_s, int(rate_per_s * run_s * 1.2) + 50, random)
        known = arrivals < run_s
        arrivals, responses = arrivals[known], responses[known]
        self.requests += len(arrivals)
        done = np.where(arrivals + responses < run_s + 10, arrivals + responses, np.nan)
        requests = {"intended_s": arrivals, "done_s": done}
        if rate_per_s > self.fails_above:
            requests["failure"] = (random.random(len(arrivals)) < 0.1).astype(int)
        factors = {"rate_per_s": rate_per_s, **({"workers": self.workers} if self.told else {})}
        about = {"name": f"rate-{rate_per_s:g}", "factors": factors, "duration_s": run_s}
        folder = write_run(self.out / f"rate-{rate_per_s:.10g}", manifest=about, requests=requests)
        if self.watched:  # as `measure` writes it
            folder.manifest["demands_s"] = {"processes": self.work_s * float(random.normal(1, 0.01))}
            folder.manifest["placement"] = {"server": list(range(self.workers)), "client": []}
            folder.save()
        return folder

    def responses(self, rate_per_s: float, count: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Arrival times and response times, s."""
        arrivals = np.cumsum(random.exponential(1 / rate_per_s, count))
        service = self.service_s * self._drawn(random, count)
        then = random.exponential(self.then_s, count) if self.then_s else None
        return arrivals, self._leaving(arrivals, service, then) - arrivals + self.delay_s

    def _drawn(self, random: np.random.Generator, count: int) -> np.ndarray:
        """Of mean 1."""
        if self.law == "constant":
            return np.ones(count)
        drawn = random.exponential(1.0, count)
        if self.law == "uneven":  # balanced means: p = (1 + sqrt((c-1)/(c+1)))/2 with c = 2.5
            p = (1 + (1.5 / 3.5) ** 0.5) / 2
            drawn *= np.where(random.random(count) < p, 1 / (2 * p), 1 / (2 * (1 - p)))
        return drawn

    def _leaving(self, arrivals: np.ndarray, service: np.ndarray, then: np.ndarray | None) -> np.ndarray:
        free = [0.0] * self.workers
        if then is None and not self.grows:
            found = np.empty(len(arrivals))
            self.work_s = float(service.mean())
            for k, (at, own) in enumerate(zip(arrivals.tolist(), service.tolist(), strict=True)):
                end = max(at, free[0]) + own
                heapq.heapreplace(free, end)
                found[k] = end
            return found
        return self._by_events(arrivals.tolist(), service.tolist(), then.tolist() if then is not None else None)

    def _by_events(
        self, arrivals: list[float], service: list[float], then: list[float] | None, until_s: float | None = None
    ) -> np.ndarray:
        """Workers are held while the second time is waited for, first come first served. `until_s`: `arrivals` are users, each of whom
        asks again as soon as an answer is there, until then; `arrivals` grows."""
        found = np.full(len(service), np.nan)
        events: list[tuple[float, int, int]] = []  # time, kind, request; 0: the first time ends, 1: the second ends
        idle, held = self.workers, 0
        waiting: list[int] = []  # for a worker; from `first` on
        queue: list[int] = []  # for the second; from `begun` on
        first = begun = arrived = 0
        worked = 0.0
        while arrived < len(arrivals) or events:
            if arrived < len(arrivals) and (not events or arrivals[arrived] <= events[0][0]):
                now, kind, one = arrivals[arrived], 2, arrived
                arrived += 1
            else:
                now, kind, one = heapq.heappop(events)
            if kind == 2:
                waiting.append(one)
            elif kind == 0 and then is not None:
                queue.append(one)
            else:
                found[one] = now
                if until_s is not None and now + self.delay_s < until_s and len(arrivals) < len(service):
                    arrivals.append(now + self.delay_s)
                idle += 1
                held -= then is not None
            while idle and first < len(waiting):
                own = waiting[first]
                first, idle = first + 1, idle - 1
                busy = (self.workers - idle - 1) / max(self.workers - 1, 1)
                worked += service[own] * (1 + self.grows * busy)
                heapq.heappush(events, (now + service[own] * (1 + self.grows * busy), 0, own))
            while then is not None and held < self.seconds and begun < len(queue):
                own = queue[begun]
                begun, held = begun + 1, held + 1
                heapq.heappush(events, (now + then[own], 1, own))
        self.work_s = worked / len(arrivals)
        return found[: len(arrivals)]

    def long_run(self, rate_per_s: float) -> np.ndarray:
        """Response times of a run that tells the truth, s; the same draws at every rate."""
        return self.responses(rate_per_s, LONG, np.random.default_rng(77))[1][WARM:]

    def truth(self, figure: str, limit_s: float) -> float:
        """The largest rate in 1/s at which `mean` or `p99` is below `limit_s`, by bisection over long runs."""
        low, high = 0.3 * self.full_per_s, self.full_per_s
        for _ in range(9):
            rate = (low + high) / 2
            low, high = (rate, high) if figure_of(figure, self.long_run(rate)) < limit_s else (low, rate)
        return (low + high) / 2

    def users(self, count: int) -> RunFolder:
        """So many users, each of whom asks again as soon as an answer is there."""
        random = np.random.default_rng([self.seed, 1000 + count])
        most = count + int(2 * LIGHT_S * min(self.full_per_s, count / (self.service_s + self.then_s + self.delay_s)))
        then = random.exponential(self.then_s, most).tolist() if self.then_s else None
        begun = [0.0] * count
        left = self._by_events(begun, (self.service_s * self._drawn(random, most)).tolist(), then, LIGHT_S)
        self.requests += len(begun)
        about = {"name": f"users-{count}", "factors": {"users": count}, "duration_s": LIGHT_S}
        about["load"] = {"lanes": [{"closed": {"users": count, "think_s": 0.0}}]}
        requests = {"intended_s": begun, "done_s": left + self.delay_s}
        return write_run(self.out / f"users-{count}", manifest=about, requests=requests)

    def light(self) -> LightLoad:
        """What the product sees of a few users."""
        return light_load(self.users, [])


def figure_of(figure: str, times_s: np.ndarray) -> float:
    """`mean` or `pQ`, s."""
    return float(times_s.mean() if figure == "mean" else np.quantile(times_s, float(figure[1:]) / 100))


def drawn_limit(kind: str, service_s: float, random: np.random.Generator) -> dict[str, Any]:
    """What limits a service of that kind of the benches, as arguments of `VirtualService`: workers behind nothing (`cores`) or a constant
    delay, a lock, a pool of connections, or times that grow (any other kind)."""
    if kind == "cores":
        return {"workers": int(random.choice([1, 2, 4, 8])), "delay_s": 0.0003}
    if kind == "delay":
        return {"workers": int(random.choice([1, 2, 4])), "delay_s": service_s * float(random.uniform(1, 5))}
    if kind == "lock":
        return {"workers": int(random.choice([8, 16])), "then_s": service_s / float(random.uniform(1, 3))}
    if kind == "pool":
        seconds = int(random.choice([2, 4]))
        return {"workers": 32, "seconds": seconds, "then_s": service_s * float(random.uniform(2, 5))}
    return {"workers": int(random.choice([2, 4, 8])), "grows": float(random.uniform(0.2, 0.6))}
