"""Logs of one server in order of arrival, simulated by a loop of their own."""

from __future__ import annotations

import heapq

import numpy as np

from sojourn.observe.load_feedback import ArrivalsByInFlight

Log = tuple[np.ndarray, np.ndarray]  # when requests came, how long they took


def closed(users: int, think_s: float, service_s: float, until_s: float, seed: int) -> Log:
    """Users that wait and think; exponential times."""
    rng = np.random.default_rng(seed)
    due = [rng.exponential(think_s) for _ in range(users)]
    heapq.heapify(due)
    free, came, took = 0.0, [], []
    while due[0] < until_s:
        at = heapq.heappop(due)
        free = max(at, free) + rng.exponential(service_s)
        came.append(at)
        took.append(free - at)
        heapq.heappush(due, free + rng.exponential(think_s))
    order = np.argsort(came)
    return np.array(came)[order], np.array(took)[order]


def served(came: np.ndarray, service_s: float, rng: np.random.Generator) -> Log:
    """What comes at given times, whatever is under way; exponential service."""
    free, took = 0.0, []
    for at in came:
        free = max(at, free) + rng.exponential(service_s)
        took.append(free - at)
    return came, np.array(took)


def windows(log: Log, length_s: float, count: int) -> list[ArrivalsByInFlight]:
    return [ArrivalsByInFlight.of(*log, i * length_s, (i + 1) * length_s) for i in range(count)]
