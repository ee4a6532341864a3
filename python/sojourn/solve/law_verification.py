"""What every answer must satisfy before it leaves.

0 <= X <= min(N/(Z+D), m/D), numbers present that add up to N, utilisations in [0, 1] and equal to X D / m. Source:
Lazowska et al., Quantitative System Performance (1984), chapters 3 and 5 (pp. 40-46, 72-81).

A class that finds a station full or a limit reached may not get its work, so stations with a capacity are left out of
the bounds, and utilisation is compared only where nothing is lost. All points of a sweep are looked at together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sojourn.errors import SolverError
from sojourn.model.network_arrays import Array, Network
from sojourn.model.network_points import shared, some, stacked
from sojourn.solve.solution import Solution

CLOSE = 1e-6
ROUGH = 0.05  # an approximation may be off by this before it is called wrong


def verify(networks: Sequence[Network], solution: Solution, method: str) -> None:
    """Raises SolverError, naming the law and by how much it is broken. Points whose status is not ok are passed over."""
    if not (shared(networks, "capacity") and shared(networks, "rates")):
        for i, network in enumerate(networks):  # what the laws are about differs between the points
            verify([network], _point(solution, i), method)
        return
    status = solution.status
    look = [i for i in range(len(networks)) if not status or status[i] in ("ok", "approximate")]
    if not look:
        return
    slack = np.array([ROUGH if status and status[i] == "approximate" else CLOSE for i in look])
    whole = len(look) == len(networks)
    seen = networks if whole else some(networks, look)
    x, q, busy = (a if whole else a[look] for a in (solution.throughput, solution.queue_length, solution.utilisation))
    if not (np.isfinite(x).all() and (x >= 0).all() and (q >= -CLOSE).all()):
        raise _broken(method, f"throughput from {x.min():.9g}, queue lengths from {q.min():.9g}", "none is negative")
    held_back = np.zeros_like(solution.throughput) if solution.outside is None else solution.outside
    loss = solution.loss if solution.loss is None or whole else solution.loss[look]
    _population(seen, x, q.sum(axis=1) + (held_back if whole else held_back[look]), slack, method, loss)
    rate = None if solution.visit_rate is None else solution.visit_rate if whole else solution.visit_rate[look]
    if rate is None and not networks[0].choices:
        _capacity(seen, x, slack, method)
    _utilisation(seen, x, busy, rate, slack, method)


def _point(s: Solution, i: int) -> Solution:
    at = slice(i, i + 1)
    rate, loss, outside = (None if table is None else table[at] for table in (s.visit_rate, s.loss, s.outside))
    found = s.throughput[at], s.queue_length[at], s.utilisation[at], s.status[at]
    return Solution(*found, visit_rate=rate, loss=loss, outside=outside)


def _population(
    networks: Sequence[Network], x: Array, number: Array, slack: Array, method: str, loss: Array | None
) -> None:
    """Numbers present and thinking add up to the population of each closed chain, and X <= N/(Z + D).

    Those whose passes end by a loss think more often than X says: of such a chain no more than its population is there.
    """
    n = networks[0]
    if not n.closed.any():
        return
    population, think = stacked(networks, "population"), stacked(networks, "think_s")
    parts = _parts(n)
    demand = stacked(networks, "demands_s")[:, parts.alone].sum(axis=1)
    for c in parts.heads:
        own = n.chain == n.chain[c]
        wanted = population[:, own].sum(axis=1)
        there = (number + x * think)[:, own].sum(axis=1)
        lossy = loss is not None and bool((loss[:, :, own] > 0).any())
        gap = there - wanted if lossy else np.abs(there - wanted)
        _hold(
            gap <= slack * np.maximum(wanted, 1),
            there,
            wanted,
            method,
            "customers",
            "all are somewhere",
        )
        if own.sum() == 1 and not n.choices:
            least = think[:, c] + demand[:, c]
            most = np.divide(wanted, least, out=np.full_like(least, np.inf), where=least > 0)
            _hold(x[:, c] <= most * (1 + slack), x[:, c], most, method, "passes a second", "X <= N/(Z + D)")


@dataclass(frozen=True)
class NetworkParts:
    """What the laws are about in a network; kept with the first of a sweep, whose structure all points share."""

    alone: np.ndarray  # K: stations where one customer is served no faster than at its first rate, and none is lost
    finite: np.ndarray  # K: stations with servers
    plain: np.ndarray  # K: queues
    lossless: bool
    heads: list[int]  # the first class of each closed chain


def _parts(n: Network) -> NetworkParts:
    kept: NetworkParts | None = n.__dict__.get("parts")
    if kept is None:
        room = np.isinf(n.capacity)
        finite = np.array([kind in ("queue", "load_dependent") for kind in n.kind])
        plain = np.array([kind == "queue" for kind in n.kind])
        kept = n.__dict__["parts"] = NetworkParts(room & (_fastest(n) <= 1), finite, plain, bool(room.all()), _heads(n))
    return kept


def _heads(n: Network) -> list[int]:
    return [c for c in range(len(n.classes)) if n.closed[c] and c == int(np.argmax(n.chain == n.chain[c]))]


def _fastest(n: Network) -> Array:
    """K: the speed of one customer's service at best, relative to when it is alone; above 1 only for load-dependent."""
    fastest = np.ones(len(n.stations))
    for k, rates in n.rates.items():
        fastest[k] = (rates / rates[0] / np.arange(1, len(rates) + 1)).max()
    return fastest


def _capacity(networks: Sequence[Network], x: Array, slack: Array, method: str) -> None:
    n = networks[0]
    finite = _parts(n).finite
    if not finite.any() or not _parts(n).lossless:
        return
    most = stacked(networks, "servers").astype(float)
    if n.rates:
        most = most.copy()
        for k in n.rates:
            most[:, k] = [(network.rates[k] / network.rates[k][0]).max() for network in networks]
    work = (stacked(networks, "demands_s") * (x @ n.same_chain)[:, None, :]).sum(axis=2)
    busy = np.where(finite, work / most, 0.0)
    worst = int(np.argmax(busy.max(axis=0)))
    law = f"X <= m/D at station {n.stations[worst]}"
    _hold(busy[:, worst] <= 1 + slack, work[:, worst], most[:, worst], method, "servers busy", law)


def _utilisation(
    networks: Sequence[Network], x: Array, busy: Array, rate: Array | None, slack: Array, method: str
) -> None:
    """X D / m, where each visit is served by one of m servers; `rate` visits served where they are told, as where some
    are lost or choose their way."""
    n = networks[0]
    plain = _parts(n).plain
    if not plain.any() or (rate is None and (n.limits or n.choices or not _parts(n).lossless)):
        return
    told = busy[:, plain].sum(axis=2)
    if rate is None:
        work = stacked(networks, "demands_s") * (x @ n.same_chain)[:, None, :]
    else:
        work = np.where(stacked(networks, "visits") > 0, rate * stacked(networks, "service_s"), 0.0)
    servers = stacked(networks, "servers")[:, plain]
    right = work[:, plain].sum(axis=2) / servers
    good = np.isnan(told) | (np.abs(told - right) <= slack[:, None] * np.maximum(right, 1e-3))
    worst = int(np.argmin(good.all(axis=0)))
    law = f"U = X D / m at station {np.array(n.stations)[plain][worst]}"
    _hold(good[:, worst], told[:, worst], right[:, worst], method, "busy", law)


def _hold(good: np.ndarray, found: Array, wanted: Array, method: str, what: str, law: str) -> None:
    if not good.all():
        p = int(np.argmin(good))
        raise _broken(method, f"{found[p]:.9g} {what} against {wanted[p]:.9g}", law)


def _broken(method: str, found: str, law: str) -> SolverError:
    return SolverError(f"{found}, but {law}", f"method {method}", "use another method, and report this model to us")
