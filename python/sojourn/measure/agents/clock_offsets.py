"""How far an agent's clocks are from ours: by round trips, of which the shortest counts.

The agent reads its clocks between our sending and our receiving, so its reading belongs to a moment of that interval: the offset is
known to half of the round trip, whatever the way there and the way back took (Cristian, Probabilistic clock synchronization,
Distributed Computing 3, 1989, pp. 146-158).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

ROUNDS = 8
Clocks = tuple[float, float]  # CLOCK_MONOTONIC and the wall clock, s


@dataclass(frozen=True)
class ClockOffset:
    """An agent's clock minus ours, s, known to ± `bound_s`: of CLOCK_MONOTONIC, by which all times of a run are taken (it counts
    from each machine's start), and of the wall clock."""

    offset_s: float
    wall_s: float
    bound_s: float


def read_clocks(_shared: object = None, _piece: object = None) -> Clocks:
    return time.monotonic(), time.time()


def clock_offset(ask: Callable[[], Clocks], rounds: int = ROUNDS) -> ClockOffset:
    """By `rounds` calls of `ask`, which returns the other's clocks."""
    found = [_one(ask) for _ in range(rounds)]
    return min(found, key=lambda one: one.bound_s)


def _one(ask: Callable[[], Clocks]) -> ClockOffset:
    sent_s, wall_s = read_clocks()
    there_s, there_wall_s = ask()
    half_s = (time.monotonic() - sent_s) / 2
    return ClockOffset(there_s - (sent_s + half_s), there_wall_s - (wall_s + half_s), half_s)
