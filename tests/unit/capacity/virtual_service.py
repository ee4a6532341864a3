"""A service of c workers in order of arrival behind a delay, in numpy, that leaves judged run folders: its truth is Erlang's formula or,
of a quantile, a long run of the same recursion."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sojourn.capacity import LightLoad
from sojourn.runs.run_folder import RunFolder
from sojourn.simulate.simulated_folder import write_run


@dataclass
class VirtualService:
    """`law`: `exponential` or `constant` service times of mean `service_s`, `workers` at a time; a constant `delay_s` before.
    `fails_above`: a rate in 1/s beyond which one request of ten is refused."""

    out: Path
    workers: int = 2
    service_s: float = 0.006
    law: str = "exponential"
    delay_s: float = 0.001
    run_s: float = 15.0
    seed: int = 1
    fails_above: float = float("inf")
    watched: bool = False
    asked: tuple[float, ...] = ()

    def run(self, rate_per_s: float) -> RunFolder:
        """At a rate in 1/s."""
        self.asked = (*self.asked, rate_per_s)
        random = np.random.default_rng([self.seed, len(self.asked)])
        arrivals, responses = self.responses(rate_per_s, int(rate_per_s * self.run_s * 1.2) + 50, random)
        known = arrivals < self.run_s
        arrivals, responses = arrivals[known], responses[known]
        done = np.where(arrivals + responses < self.run_s + 10, arrivals + responses, np.nan)
        requests = {"intended_s": arrivals, "done_s": done}
        if rate_per_s > self.fails_above:
            requests["failure"] = (random.random(len(arrivals)) < 0.1).astype(int)
        factors = {"rate_per_s": rate_per_s, "workers": self.workers}
        about = {"name": f"rate-{rate_per_s:g}", "factors": factors, "duration_s": self.run_s}
        return write_run(self.out / f"rate-{rate_per_s:.10g}", manifest=about, requests=requests)

    def responses(self, rate_per_s: float, count: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Arrival times and response times, s."""
        arrivals = np.cumsum(random.exponential(1 / rate_per_s, count))
        service = (
            random.exponential(self.service_s, count) if self.law == "exponential" else np.full(count, self.service_s)
        )
        free = [0.0] * self.workers
        found = np.empty(count)
        for k, (at, own) in enumerate(zip(arrivals.tolist(), service.tolist(), strict=True)):
            begun = max(at, heapq.heappop(free))
            heapq.heappush(free, begun + own)
            found[k] = begun + own - at + self.delay_s
        return arrivals, found

    def truth(self, figure: str, limit_s: float) -> float:
        """The largest rate in 1/s at which `mean` or `p99` is below `limit_s`, by bisection over runs of 400 000 requests."""
        low, high = 0.0, self.workers / self.service_s
        for _ in range(12):
            rate = (low + high) / 2
            _, times = self.responses(rate, 400_000, np.random.default_rng(77))
            times = times[20_000:]
            value = float(times.mean() if figure == "mean" else np.quantile(times, float(figure[1:]) / 100))
            low, high = (rate, high) if value < limit_s else (low, rate)
        return low

    def light(self) -> LightLoad:
        """What as many users as workers would have."""
        return LightLoad(self.workers / (self.service_s + self.delay_s), self.service_s + self.delay_s)
