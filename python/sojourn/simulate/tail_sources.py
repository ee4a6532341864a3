"""Which times of a model are drawn from heavy tails, what they hold up, and which of their moments a figure needs.

A long time x of a server holds up those behind it. What it adds to the sum of a figure over the run grows like a power of x, so
that the mean of the figure needs the moment of that power, and the variance of its estimate the moment of twice the power.

    r         1 for means of times and numbers, 2 for variances of times
    x^r       own time, shared or pre-empted servers (PS and LCFS-PR are insensitive: BCMP 1975), delays, and wherever the number
              present is bounded: closed classes, full stations that lose
    spare     servers that must be held together until the others cannot keep up: servers less the whole part of the load
    1 + r/spare           moment of which the mean of W^r in an open line exists
    1 + (2r + 1)/spare    and that of which its estimate has a variance; with one server 2 and 4 for the mean wait

Sources: J. Kiefer, J. Wolfowitz, Ann. Math. Stat. 27 (1956), pp. 147-161 (one server: E[W^r] needs E[S^(r+1)]); A. Scheller-Wolf,
R. Vesilo, Queueing Systems 54 (2006), pp. 221-232 (several servers, loads that are no whole number); the variance of the estimate from
the sum over a busy period, whose part by a time x is x^2/2 of wait for one server: W. Whitt, Planning queueing simulations, Management
Science 35 (1989), pp. 1341-1366; D. Gross et al., Difficulties in simulating queues with Pareto service, WSC 2002, pp. 407-415.

Limits: where a condition is only sufficient (a load that is a whole number, limits, routes that look at the state, stations behind a
line, schedules, blocking) a mean is not called infinite, only not believed (`certain`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn.model.distribution_registry import Distribution
from sojourn.model.network_arrays import Network
from sojourn.simulate.rare_times import LIGHT

LINE = ("fcfs", "siro", "priority", "priority_preemptive")


@dataclass(frozen=True)
class TailSource:
    """Times of law `law`: `kind` service | think | arrivals | repair, at `station` (K: outside) by class `cls` (None: all)."""

    kind: str
    law: Distribution
    station: int
    cls: int | None
    spare: float | None  # None: effects grow with x^r only
    certain: bool
    reaches: NDArray[np.bool_]  # K: stations whose figures it moves

    def told(self, network: Network) -> str:
        names = (*network.stations, "outside")
        if self.kind == "service":
            assert self.cls is not None
            return f"service of {network.classes[self.cls]} at {names[self.station]} ({law_told(self.law)})"
        if self.kind == "repair":
            return f"repairs of {names[self.station]} ({law_told(self.law)})"
        assert self.cls is not None
        return f"{self.kind} of {network.classes[self.cls]} ({law_told(self.law)})"


def law_told(law: Distribution) -> str:
    own: Any = law.table()
    about = next((f", {name} {own[name]:g}" for name in ("shape", "scv") if isinstance(own.get(name), int | float)), "")
    return law.kind.replace("_", " ") + (about or f", scv {law.scv:.3g}")


def tail_sources(network: Network) -> list[TailSource]:
    """All that are not light."""
    behind = _reachable(network)
    found = []
    for k, c in np.argwhere(network.visits > 0):
        law = network.service[k][c]
        if law is not None and not isinstance(law, LIGHT):
            found.append(_served(network, int(k), int(c), law, behind))
    for k, name in enumerate(network.stations):
        down = getattr(network.model.station(name), "breakdowns", None)
        if down and not isinstance(down.down, LIGHT):
            spare = 1.0 if _open_at(network, k) and not np.isfinite(network.capacity[k]) else None
            found.append(TailSource("repair", down.down, k, None, spare, False, behind[k]))
    everywhere = np.ones(len(network.stations), bool)
    for c in range(len(network.classes)):
        for kind, law in (("think", network.think[c]), ("arrivals", network.arrivals[c])):
            if isinstance(law, Distribution) and not isinstance(law, LIGHT):
                found.append(TailSource(kind, law, len(network.stations), c, None, True, everywhere))
    return found


def _served(network: Network, k: int, c: int, law: Distribution, behind: NDArray[np.bool_]) -> TailSource:
    limited = [limit for limit in network.limits if k in limit.stations]
    held_up = any(limit.on_full == "wait" for limit in limited) or network.on_full[k] == "block"
    bounded = not _open_at(network, k) or any(limit.on_full == "lose" for limit in limited)
    bounded |= bool(np.isfinite(network.capacity[k])) and not held_up
    line = network.kind[k] != "delay" and network.discipline[k] in LINE
    own = np.arange(len(network.stations)) == k
    if bounded or not (line or held_up):
        return TailSource("service", law, k, c, None, True, np.ones_like(own) if network.closed[c] else own)
    if held_up:
        return TailSource("service", law, k, c, 1.0, False, np.ones(len(network.stations), bool))
    spare, certain = _spare(network, k)
    return TailSource("service", law, k, c, spare, certain, behind[k])


def _spare(network: Network, k: int) -> tuple[float, bool]:
    """How many long times together stop a line; and whether that is known."""
    servers = int(network.servers[k])
    timed = bool(getattr(network.model.station(network.stations[k]), "server_schedule", ()))
    if network.kind[k] != "queue" or timed or network.choices:
        return 1.0, False
    if servers == 1:
        return 1.0, True
    if network.closed.any():
        return 1.0, False
    load = float((network.demands_s[k] * (network.rate_per_s @ network.same_chain)).sum())
    whole = abs(load - round(load)) < 1e-9
    return max(servers - np.floor(load + 1e-9), 1.0), not whole


def _open_at(network: Network, k: int) -> bool:
    return bool((~network.closed & (network.visits[k] > 0)).any())


def _reachable(network: Network) -> NDArray[np.bool_]:
    """K x K: whether somebody who leaves one station comes to another, or is at it."""
    stations, classes = len(network.stations), len(network.classes)
    route = network.route.reshape(stations + 1, classes, stations + 1, classes)
    step = np.asarray(route.any(axis=(1, 3)))[:-1, :-1]
    for (node, _), choice in network.choices.items():
        if node < stations:
            step[node, [network.stations.index(name) for name in choice.to]] = True
    found = step | np.eye(stations, dtype=bool)
    for _ in range(max(stations - 1, 1).bit_length()):
        found = (found.astype(float) @ found) > 0
    return found
