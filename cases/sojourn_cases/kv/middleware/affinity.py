"""Which cores each process of the study gets: the client one for itself, servers and middlewares the others.

Left to the scheduler, three or four busy threads on two cores meet on one of them at random, for as long as a run lasts: the
same point then differs by 10 % and more from run to run, and no model can say which threads share a core. Placed, it can.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Affinity:
    """Cores of the client, of each server and of each middleware."""

    client: tuple[int, ...]
    servers: tuple[tuple[int, ...], ...]
    proxies: tuple[tuple[int, ...], ...]


def assigned(cores: Sequence[int], servers: int, proxies: int) -> Affinity:
    """The client on the last core; the others dealt round and round, to the middlewares first, so that a process has
    several where there are enough. A server (one thread) uses the first of its own. One core is shared by all."""
    *free, last = cores
    free = free or [last]
    count = servers + proxies
    dealt = [tuple(free[k % len(free) :: max(count, 1)]) or (free[k % len(free)],) for k in range(count)]
    return Affinity((last,), tuple(own[:1] for own in dealt[proxies:]), tuple(dealt[:proxies]))
