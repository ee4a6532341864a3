"""Users of one closed class among stations whose threads share cores, state by state: many points at once.

A state is the number of customers at each station; the others think. Levels are the numbers at all stations together: from one level to
the next goes whoever ends thinking, back whoever ends a pass, so that the chain is block tridiagonal and is solved level by level from
the top (G. Latouche, V. Ramaswami, Introduction to Matrix Analytic Methods in Stochastic Modeling (1999), chapter 12: level reduction).

What the cores give in a state is weighted fair sharing (generalised processor sharing; A. K. Parekh, R. G. Gallager, IEEE/ACM Transactions
on Networking 1(3), 1993, pp. 344-357): each station has the share of its weight, of no more than its busy servers, and what one leaves
goes to the others by their weights. Two stations on one core are the coupled processors of G. Fayolle, R. Iasnogorodski, Zeitschrift fuer
Wahrscheinlichkeitstheorie 47, 1979, pp. 325-351.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Whole = NDArray[np.int64]

PIECE_BYTES = 5e8  # of points that are solved at once


@dataclass(frozen=True)
class StationsSharingCores:
    """Stations (numbers) that share cores; `weights` of a busy server of each."""

    stations: tuple[int, ...]
    weights: tuple[float, ...]


@dataclass(frozen=True)
class SharedCoreChains:
    """P points of one shape: K stations, N customers. `rates` P x K, a server's completions a second with a core for itself; `servers` K,
    `route` (K + 1) x (K + 1), where to from each station and from thinking (the last); `think_per_s` P; `cores` P x groups, what the cores
    of each group give to its stations. A station in no group has a core for each server."""

    customers: int
    rates: Array
    servers: Whole
    route: Array
    think_per_s: Array
    groups: tuple[StationsSharingCores, ...]
    cores: Array


@dataclass(frozen=True)
class SharedCoreMeans:
    """`throughput` P, passes a second; P x K: `present`, `runnable` servers (at work or waiting for a core)."""

    throughput: Array
    present: Array
    runnable: Array


def fair_shares(wanted: Array, weights: Sequence[float], cores: Array) -> Array:
    """Cores for each of J, of `wanted` (… x J, cores that each could use) and `cores` (…): by weights times `wanted`, none above `wanted`,
    all given away as far as somebody wants them."""
    weight = wanted * np.asarray(weights, float)
    given, open_ = np.zeros_like(wanted), wanted > 0
    left = np.broadcast_to(np.asarray(cores, float), wanted.shape[:-1]).copy()
    for _ in range(wanted.shape[-1]):  # each round at least one more has what it wants
        whole = (weight * open_).sum(axis=-1)
        offer = np.divide(left, whole, out=np.zeros_like(left), where=whole > 0)[..., None] * weight
        full = open_ & (offer >= wanted)
        given = np.where(full, wanted, np.where(open_, offer, given))
        left = left - np.where(full, wanted, 0.0).sum(axis=-1)
        open_ &= ~full
        if not full.any():
            break
    return given


@lru_cache(maxsize=32)
def states(stations: int, customers: int) -> tuple[Whole, ...]:
    """By level, 0 to `customers`: the states of that many customers at the stations, states x stations."""
    return tuple(_compositions(total, stations) for total in range(customers + 1))


def _compositions(total: int, parts: int) -> Whole:
    cuts = list(combinations(range(total + parts - 1), parts - 1))
    ends = np.array(cuts, np.int64).reshape(len(cuts), parts - 1)
    edges = np.concatenate([np.full((len(ends), 1), -1), ends, np.full((len(ends), 1), total + parts - 1)], axis=1)
    return np.asarray(np.diff(edges, axis=1) - 1)


def level_size(stations: int, customers: int) -> float:
    """How many states have so many customers at the stations; the largest level is what a solution costs."""
    found = 1.0
    for i in range(1, stations):
        found *= (customers + i) / i
    return found


def chain_bytes(stations: int, customers: int) -> float:
    """Memory of a solution of one point: what leads from each level to the next, which is kept, and the matrices of the largest level."""
    sizes = [level_size(stations, level) for level in range(customers + 1)]
    return 8 * (sum(below * above for below, above in pairwise(sizes)) + 5 * sizes[-1] ** 2)


def pieces(points: Whole, bytes_each: float) -> list[Whole]:
    """Of the numbers of points, those that are solved at once."""
    count = max(1, int(PIECE_BYTES / max(bytes_each, 1.0)))
    return [points[k : k + count] for k in range(0, len(points), count)]


def solved(points: SharedCoreChains) -> SharedCoreMeans:
    """The stationary means of each point."""
    levels = states(points.rates.shape[1], points.customers)
    ups: list[Array] = [np.zeros((len(points.rates), 0, 0))] * len(levels)
    behind: Array | None = None  # what returns from the levels above, a rate into each state of this one
    shared = [_served(points, state) for state in levels]
    for total in range(points.customers, -1, -1):
        inside, down = _moves(points, levels, total, shared[total][0])
        block = inside if behind is None else inside + behind
        leaving = -block
        if total:
            # pi(total) = pi(total - 1) · ups(total): what comes up from below, times the time spent here before it is left downwards
            below = _arrivals(points, levels, total - 1)
            ups[total] = np.swapaxes(np.linalg.solve(np.swapaxes(leaving, 1, 2), np.swapaxes(below, 1, 2)), 1, 2)
            behind = ups[total] @ down
    return _means(points, levels, ups, shared)


def _served(points: SharedCoreChains, state: Whole) -> tuple[Array, Array]:
    """Cores of each station in each state, P x states x K, and its busy servers, states x K."""
    wanted = np.minimum(state, points.servers).astype(float)
    given = np.broadcast_to(wanted, (len(points.rates), *wanted.shape)).copy()
    for g, group in enumerate(points.groups):
        own = list(group.stations)
        each = np.broadcast_to(wanted[:, own], (len(points.rates), len(state), len(own)))
        given[:, :, own] = fair_shares(np.array(each), group.weights, points.cores[:, g, None])
    return given, wanted


def _places(level: Whole) -> dict[tuple[int, ...], int]:
    return {tuple(row): i for i, row in enumerate(level.tolist())}


@lru_cache(maxsize=256)
def _targets(stations: int, customers: int, total: int) -> tuple[list[tuple[int, int, Whole, Whole]], ...]:
    """Of a level, (station, to, from states, target states): moves inside, moves down (to = stations), and arrivals into the next."""
    levels = states(stations, customers)
    level = levels[total]
    here = _places(level)
    under = _places(levels[total - 1]) if total else {}
    above = _places(levels[total + 1]) if total < customers else {}
    inside, down, up = [], [], []
    for k in range(stations):
        there = np.flatnonzero(level[:, k] > 0)
        less = level[there].copy()
        less[:, k] -= 1
        down.append((k, stations, there, np.array([under[tuple(row)] for row in less.tolist()], np.int64)))
        for j in range(stations):
            if j == k:
                continue
            to = less.copy()
            to[:, j] += 1
            inside.append((k, j, there, np.array([here[tuple(row)] for row in to.tolist()], np.int64)))
        if above:
            more = level.copy()
            more[:, k] += 1
            up.append(
                (stations, k, np.arange(len(level)), np.array([above[tuple(row)] for row in more.tolist()], np.int64))
            )
    return inside, down, up


def _moves(points: SharedCoreChains, levels: Sequence[Whole], total: int, served: Array) -> tuple[Array, Array]:
    """The generator inside a level, with all that leaves its states on the diagonal, and the rates down to the next lower level."""
    stations, state = points.rates.shape[1], levels[total]
    count, size = len(points.rates), len(state)
    rate = served * points.rates[:, None, :]  # completions of visits, P x states x K
    inside = np.zeros((count, size, size))
    down = np.zeros((count, size, len(levels[total - 1]) if total else 0))
    within, under, _ = _targets(stations, points.customers, total)
    for k, j, there, to in within:
        inside[:, there, to] += rate[:, there, k] * points.route[k, j]
    for k, out, there, to in under:
        down[:, there, to] += rate[:, there, k] * points.route[k, out]
    leave = (rate * (1 - np.diag(points.route)[:stations])).sum(axis=2)
    leave = leave + points.think_per_s[:, None] * (points.customers - total)
    at = np.arange(size)
    inside[:, at, at] -= leave
    return inside, down


def _arrivals(points: SharedCoreChains, levels: Sequence[Whole], total: int) -> Array:
    """Rates from a level up to the next."""
    stations = points.rates.shape[1]
    if total == points.customers:
        return np.zeros((len(points.rates), len(levels[total]), 0))
    found = np.zeros((len(points.rates), len(levels[total]), len(levels[total + 1])))
    for out, k, there, to in _targets(stations, points.customers, total)[2]:
        found[:, there, to] += (points.think_per_s * (points.customers - total) * points.route[out, k])[:, None]
    return found


def _means(
    points: SharedCoreChains, levels: Sequence[Whole], ups: Sequence[Array], shared: Sequence[tuple[Array, Array]]
) -> SharedCoreMeans:
    count, stations = points.rates.shape
    law = np.ones((count, 1))  # of level 0, then of each level by the one below, scaled where it grows
    whole, passes = law.sum(axis=1), np.zeros(count)
    present, runnable = (np.zeros((count, stations)) for _ in range(2))
    for total, state in enumerate(levels):
        if total:
            law = (law[:, None, :] @ ups[total])[:, 0]
            whole = whole + law.sum(axis=1)
        passes += law.sum(axis=1) * points.think_per_s * (points.customers - total)
        present += law @ state
        runnable += law @ shared[total][1]
        big = law.sum(axis=1) > 1e100
        if big.any():
            by = np.where(big, 1e-100, 1.0)
            law, whole, passes = law * by[:, None], whole * by, passes * by
            present, runnable = (x * by[:, None] for x in (present, runnable))
    return SharedCoreMeans(passes / whole, present / whole[:, None], runnable / whole[:, None])
