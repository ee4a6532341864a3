"""A queue whose number of workers changes while it runs: FCFS, one line, exact, event by event.

A worker that is added serves `lag_s` later; one that is taken away ends what it has begun and costs until then. Since starts are in the
order of arrival, the next to start is always the head of the line at the first worker to become free: a heap of the times at which
workers become free is the whole state (Kiefer, Wolfowitz, On the theory of queues with many servers, 1955, pp. 1-18). Decisions
fall between windows, so that no start is decided before the change that it depends on.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from sojourn.control.decision import Seen
from sojourn.control.load_trace import Array


@dataclass(frozen=True)
class Downstream:
    """A service that each request calls first, holding its worker: `servers` of mean `service_s` (exponential), FCFS."""

    servers: int
    service_s: float


class VaryingQueue:
    """Requests `arrival_s` (ascending) with `service_s` on the CPU and `waits_s` off it, on `workers` workers to begin with."""

    def __init__(
        self, arrival_s: Array, service_s: Array, workers: int, lag_s: float = 0.0,
        waits_s: Array | None = None, downstream: Downstream | None = None, seed: int = 1,
    ) -> None:  # fmt: skip
        self.arrival_s, self.service_s, self.lag_s = arrival_s, service_s, lag_s
        self.held_s = (service_s if waits_s is None else service_s + waits_s).tolist()
        self.arrivals = arrival_s.tolist()
        self.end_s = np.full(len(arrival_s), np.inf)
        self.start_s = np.full(len(arrival_s), np.inf)
        self.next, self.now_s = 0, 0.0
        self.free = [0.0] * workers
        self.starting: list[float] = []
        self.pending = np.zeros(0, int)  # started, not ended
        self.worker_s = 0.0
        self.below = [0.0] * downstream.servers if downstream else []
        rng = np.random.default_rng([seed, 3])
        self.calls_s = rng.exponential(downstream.service_s, len(arrival_s)).tolist() if downstream else []

    def set_workers(self, workers: int) -> None:
        """From now on; `workers` >= 1."""
        for _ in range(workers - len(self.free)):
            heapq.heappush(self.free, self.now_s + self.lag_s)
            if self.lag_s:
                self.starting.append(self.now_s + self.lag_s)
        for _ in range(len(self.free) - workers):
            if self.starting:
                self.free.remove(self.starting.pop())
                heapq.heapify(self.free)
            else:
                self.worker_s += max(heapq.heappop(self.free) - self.now_s, 0.0)

    def run(self, length_s: float) -> Seen:
        """A window: what could be measured in it."""
        begin, end = self.now_s, self.now_s + length_s
        first = self.next
        self._serve(end)
        inside = np.concatenate([self.pending, np.arange(first, self.next)])
        ends, starts = self.end_s[inside], self.start_s[inside]
        arrived = int(np.searchsorted(self.arrival_s, end))
        done = inside[ends <= end]
        self.pending = inside[ends > end]
        self.starting = [at for at in self.starting if at > end]
        self.now_s, workers = end, len(self.free)
        self.worker_s += workers * length_s
        ready = workers - len(self.starting)
        spans = np.minimum(ends, end) - np.maximum(starts, begin)
        on_cpu = spans * self.service_s[inside] / np.maximum(ends - starts, 1e-12)
        came = self.arrival_s[inside]
        line = self.arrival_s[self.next : arrived]
        present = (np.minimum(ends, end) - np.maximum(came, begin)).sum() + (end - np.maximum(line, begin)).sum()
        room = length_s * max(ready, 1)
        return Seen(
            window_end_s=end, window_s=length_s, workers=workers, ready_workers=ready,
            rate_per_s=(arrived - int(np.searchsorted(self.arrival_s, begin))) / length_s,
            throughput_per_s=len(done) / length_s,
            utilisation=min(float(spans.sum()) / room, 1.0), cpu=min(float(on_cpu.sum()) / room, 1.0),
            in_system=float(present) / length_s, waiting=float(len(line)),
            response_s=float((self.end_s[done] - self.arrival_s[done]).mean()) if len(done) else None,
        )  # fmt: skip

    def _serve(self, until_s: float) -> None:
        """All starts before `until_s`."""
        free, held, arrivals = self.free, self.held_s, self.arrivals
        starts: list[float] = []
        ends: list[float] = []
        first = k = self.next
        for k in range(first, len(arrivals)):
            at = arrivals[k]
            start = at if at > free[0] else free[0]
            if start >= until_s:
                break
            end = (self._call(start, k) if self.below else start) + held[k]
            heapq.heapreplace(free, end)
            starts.append(start)
            ends.append(end)
        self.next = first + len(starts)
        self.start_s[first : self.next], self.end_s[first : self.next] = starts, ends

    def _call(self, start: float, k: int) -> float:
        """When the call to the service below has ended."""
        end = max(start, self.below[0]) + self.calls_s[k]
        heapq.heapreplace(self.below, end)
        return end
