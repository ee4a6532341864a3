"""A small event simulator of the priority variant, written from its description and not from its formulas.

m leading cores, each with Poisson arrivals at rate/m. A request's interrupt (client_s + S, constant, or S exponential)
is served first come first served and preempts pages; its page (exponential) then waits on the same core with
probability p, else on one of the n - m trailing cores chosen evenly. Preempted pages resume.
"""

from __future__ import annotations

import heapq
import random
from collections import deque

ARRIVE, DONE = 0, 1


class Core:
    """Two queues; the first preempts the second. `version` makes the end of preempted work void."""

    def __init__(self) -> None:
        self.queues: tuple[deque, deque] = (deque(), deque())
        self.running: tuple[int, float] | None = None
        self.version = 0

    def start(self, now: float, events: list, number: int) -> None:
        """Runs the head of the higher queue; what was running goes back with the work left."""
        if self.running is not None:
            kind, since = self.running
            self.queues[kind][0][1] -= now - since
        self.version += 1
        kind = 0 if self.queues[0] else 1
        self.running = (kind, now) if self.queues[kind] else None
        if self.running is not None:
            heapq.heappush(events, (now + self.queues[kind][0][1], DONE, number, self.version))


def simulate(
    rate: float, interrupt_s: float, page_s: float, p: float, cores: int, nics: int, client_s: float, requests: int,
    seed: int, exponential_interrupts: bool = False, crossing_s: float = 0.0,
) -> list[float]:  # fmt: skip
    """Response times in s of `requests` requests after a tenth as many of warm-up, in order of completion; a page that
    went to another core took `crossing_s` longer."""
    rng = random.Random(seed)
    machine = [Core() for _ in range(cores)]
    events: list = [(rng.expovariate(rate), ARRIVE, 0, 0)]
    answers: list[float] = []
    while len(answers) < requests * 11 // 10:
        now, what, number, version = heapq.heappop(events)
        if what == ARRIVE:
            heapq.heappush(events, (now + rng.expovariate(rate), ARRIVE, 0, 0))
            work = rng.expovariate(1 / interrupt_s) if exponential_interrupts else interrupt_s
            core = rng.randrange(nics)
            machine[core].queues[0].append([now, work + client_s])
            if machine[core].running is None or machine[core].running[0] == 1:
                machine[core].start(now, events, core)
            continue
        if version != machine[number].version:
            continue
        kind = machine[number].running[0]
        born, _ = machine[number].queues[kind].popleft()
        machine[number].running = None
        if kind == 1:
            answers.append(now - born + (crossing_s if number >= nics else 0.0))
        else:
            target = number if rng.random() < p or cores == nics else rng.randrange(nics, cores)
            machine[target].queues[1].append([born, rng.expovariate(1 / page_s)])
            if target != number and machine[target].running is None:
                machine[target].start(now, events, target)
        machine[number].start(now, events, number)
    return answers[requests // 10 :]
