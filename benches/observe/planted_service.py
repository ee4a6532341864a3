"""A service whose truth is known: one processor-sharing server, work beside the requests, demands that change at a moment.

What it leaves is what telemetry has: a request log, and how busy the CPU was in each second. Background work comes as small jobs that share
the server as requests do (Poisson), or as one long job every ten seconds, which is no such thing.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
JOB_S, EVERY_S = 0.002, 10.0  # a small job of background work; how often a long one comes


@dataclass(frozen=True)
class Planted:
    """`demand_s` of each class, exponential; `background`: share of the server; `bursts`: whether it is one long job every ten seconds.
    Open classes come at `rate_per_s` each, times `day` (of the time in s); with `users` each class has so many, that think for N/rate.
    From `changed_s` on demands are `by` times as large."""

    demand_s: tuple[float, ...]
    rate_per_s: tuple[float, ...]
    until_s: float
    background: float = 0.0
    bursts: bool = False
    users: int = 0
    day: Callable[[float], float] | None = field(default=None, compare=False)
    most: float = 1.0  # of `day`
    changed_s: float = float("inf")
    by: float = 1.0


@dataclass(frozen=True)
class Seen:
    """`came_s`, `took_s`, `of` (class), in order of arrival; `busy` by second."""

    came_s: Array
    took_s: Array
    of: NDArray[np.intp]
    busy: Array


def simulated(one: Planted, seed: int) -> Seen:
    """By virtual time: with n inside each gets 1/n of the server, so that a job ends when as much has been done for all."""
    rng = np.random.default_rng(seed)
    draw = _Exponentials(rng)
    kinds = len(one.demand_s)
    due: list[tuple[float, int]] = []  # what comes next: class, or `kinds` for background work
    for c in range(kinds):
        for _ in range(one.users or 1):
            mean = one.users / one.rate_per_s[c] if one.users else 1 / (one.rate_per_s[c] * one.most)
            heapq.heappush(due, (draw(mean), c))
    if one.background:
        heapq.heappush(due, (0.0, kinds))
    inside: list[tuple[float, float, int]] = []  # virtual time of the end, when it came, class
    now = done = since = 0.0
    busy = np.zeros(int(one.until_s) + 1)
    found: list[tuple[float, float, int]] = []
    while True:
        ends = now + (inside[0][0] - done) * len(inside) if inside else np.inf
        at = min(ends, due[0][0]) if due else ends
        if at > one.until_s:
            break
        if inside:
            done += (at - now) / len(inside)
        now = at
        if ends <= at:
            _, came, c = heapq.heappop(inside)
            if c < kinds:
                found.append((came, now - came, c))
                if one.users:
                    heapq.heappush(due, (now + draw(one.users / one.rate_per_s[c]), c))
            if not inside:
                _add(busy, since, now)
            continue
        _, c = heapq.heappop(due)
        if c == kinds:
            work = one.background * EVERY_S if one.bursts else draw(JOB_S)
            heapq.heappush(due, (now + (EVERY_S if one.bursts else draw(JOB_S / one.background)), c))
        else:
            if not one.users:
                heapq.heappush(due, (now + draw(1 / (one.rate_per_s[c] * one.most)), c))
                if one.day is not None and rng.random() * one.most > one.day(now):
                    continue
            work = draw(one.demand_s[c] * (one.by if now >= one.changed_s else 1.0))
        if not inside:
            since = now
        heapq.heappush(inside, (done + work, now, c))
    if inside:
        _add(busy, since, one.until_s)
    came, took, of = (np.array(column) for column in zip(*sorted(found), strict=True))
    return Seen(came, took, of.astype(np.intp), np.minimum(busy[: int(one.until_s)], 1.0))


def _add(busy: Array, start_s: float, end_s: float) -> None:
    first, last = int(start_s), min(int(end_s), len(busy) - 1)
    if first == last:
        busy[first] += end_s - start_s
        return
    busy[first] += first + 1 - start_s
    busy[first + 1 : last] += 1.0
    busy[last] += end_s - last


class _Exponentials:
    """Drawn many at a time."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng, self.left = rng, iter(())

    def __call__(self, mean: float) -> float:
        one = next(self.left, None)
        if one is None:
            self.left = iter(self.rng.standard_exponential(10_000).tolist())
            one = next(self.left)
        return mean * one
