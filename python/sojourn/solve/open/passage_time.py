"""Time to pass through a network without cycles whose stations' times are independent: mean, variance, tail.

The time at a station is a sequence of exponential stages, entered at one of them, or a fixed time. All stages are the
phases of one chain with an upper triangular generator Q; fixed times are shifts, of which a path has a sum of its own.

    P(T > t) = sum over shifts d of  start exp(Q (t - d)) · (probability to end with shift d, from each phase)

Stable: exp(Q h) for h = 1/(largest rate) by a series of positive terms, then squared, and its diagonal set to what it is,
exp(-rate h 2^j), at each squaring: without that an error grows like 2^j, with it like the number of phases (the idea is
of A. H. Al-Mohy, N. J. Higham, SIAM J. Matrix Anal. Appl. 31(3), 2009, pp. 970-989, Section 2). So rates may be equal or
differ by any factor, and no term is negative. P points at once, which differ in rates and probabilities only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sojourn.model.network_arrays import Array

TERMS = 20  # of exp at 1: the rest is below 1e-18
Past = tuple[int, ...]  # stations with a fixed time that were passed
Node = tuple[int, Past]


@dataclass(frozen=True)
class StationTime:
    """The time at one station: P x S probabilities to enter at each stage, P x S rates of the stages (1/s), which follow
    each other, and P fixed times (s) after them."""

    enter: Array
    rates: Array
    fixed_s: Array

    @property
    def moments(self) -> tuple[Array, Array]:
        """Mean (s) and variance (s^2), P each; who enters at a stage passes all later ones."""
        behind = np.cumsum((1 / self.rates)[:, ::-1], axis=1)[:, ::-1]
        spread = np.cumsum((1 / self.rates**2)[:, ::-1], axis=1)[:, ::-1]
        mean = (self.enter * behind).sum(axis=1)
        variance = (self.enter * (spread + (behind - mean[:, None]) ** 2)).sum(axis=1)
        return mean + self.fixed_s, variance


def nodes(after: NDArray[np.bool_], fixed: Sequence[bool]) -> list[Node]:
    """Every station with what fixed times may have been passed before it, those that come first first.

    `after`: (K + 1) x K, whether the route leads from a station, or from outside (the last row), to another; no cycles.
    """
    found: dict[Node, None] = {}

    def visit(k: int, past: Past) -> None:
        stack: list[tuple[Node, bool]] = [((k, past), False)]
        while stack:
            node, done = stack.pop()
            if done:
                found[node] = None
            elif node not in found:
                stack.append((node, True))
                stack += [((int(j), _past(node, fixed)), False) for j in np.flatnonzero(after[node[0]])]

    for k in np.flatnonzero(after[-1]):
        visit(int(k), ())
    return list(found)[::-1]


def _past(node: Node, fixed: Sequence[bool]) -> Past:
    k, past = node
    return (*past, k) if fixed[k] else past


class NetworkPassage:
    """The time from source to exit at P points; `stops` K, `route` P x (K+1) x (K+1), the last is outside."""

    def __init__(self, stops: Sequence[StationTime], route: Array) -> None:
        self.stops, self.route, self.out = stops, route, len(stops)
        self.fixed = [bool(stop.fixed_s.any()) for stop in stops]
        self.nodes = nodes(route[0, :, : self.out] > 0, self.fixed)
        sizes = np.array([stops[k].rates.shape[1] for k, _ in self.nodes], int)
        self.first = dict(zip(self.nodes, (np.cumsum(sizes) - sizes).tolist(), strict=True))
        self.ends = list(dict.fromkeys([(), *(_past(node, self.fixed) for node in self.nodes)]))
        self.points, self.size = len(route), int(sizes.sum())
        self._chain()

    def _chain(self) -> None:
        """Q, where a pass starts in it, and with which shift it ends from where."""
        q = np.zeros((self.points, self.size, self.size))
        ending = np.zeros((self.points, self.size, len(self.ends)))
        entry: dict[Node, tuple[Array, Array, Array]] = {}
        for node in reversed(self.nodes):
            stop, i = self.stops[node[0]], self.first[node]
            starts, gone, end = self._next(node[0], _past(node, self.fixed), entry)
            stages = stop.rates.shape[1]
            for s in range(stages):
                q[:, i + s, i + s] = -stop.rates[:, s]
                if s + 1 < stages:
                    q[:, i + s, i + s + 1] = stop.rates[:, s]
            if stages:
                q[:, i + stages - 1] += stop.rates[:, -1:] * starts
                ending[:, i : i + stages] = end[:, None]
                starts, gone = np.zeros((self.points, self.size)), np.zeros_like(gone)
                starts[:, i : i + stages] = stop.enter
            entry[node] = starts, gone, end
        self.q, self.ending = q, ending
        self.start, self.gone, _ = self._next(self.out, (), entry)
        fixed = np.stack([stop.fixed_s for stop in self.stops], axis=1)
        self.shift = np.stack([fixed[:, list(past)].sum(axis=1) for past in self.ends], axis=1)

    def _next(self, k: int, past: Past, entry: dict[Node, tuple[Array, Array, Array]]) -> tuple[Array, Array, Array]:
        """After station k: phases entered, shares that are out without one, by shift, and shares by shift at the end."""
        starts, gone = np.zeros((self.points, self.size)), np.zeros((self.points, len(self.ends)))
        gone[:, self.ends.index(past)] = self.route[:, k, self.out]
        end = gone.copy()
        for j in np.flatnonzero(self.route[0, k, : self.out] > 0):
            share = self.route[:, k, j, None]
            found = entry[int(j), past]
            starts, gone, end = starts + share * found[0], gone + share * found[1], end + share * found[2]
        return starts, gone, end

    @cached_property
    def moments(self) -> tuple[Array, Array]:
        """Mean (s) and variance (s^2) of the pass, P each: sums of positive terms from the end of the routes on."""
        togo = {self.out: (np.zeros(self.points), np.zeros(self.points))}
        for k in dict.fromkeys(k for k, _ in reversed(self.nodes)):
            mean, variance = self.stops[k].moments
            more = self._mixed(k, togo)
            togo[k] = mean + more[0], variance + more[1]
        return self._mixed(self.out, togo)

    def _mixed(self, k: int, togo: dict[int, tuple[Array, Array]]) -> tuple[Array, Array]:
        parts = [(self.route[:, k, j], *togo[int(j)]) for j in np.flatnonzero(self.route[0, k] > 0)]
        mean = np.sum([p * m for p, m, _ in parts], axis=0)
        return mean, np.sum([p * (v + (m - mean) ** 2) for p, m, v in parts], axis=0)

    @cached_property
    def _fastest(self) -> Array:
        """P, the largest rate."""
        return np.asarray(np.abs(np.diagonal(self.q, axis1=1, axis2=2)).max(axis=1, initial=1e-300))

    @cached_property
    def _step(self) -> Array:
        """P x n x n, I + Q/largest rate: no entry is negative."""
        return np.asarray(np.eye(self.size) + self.q / self._fastest[:, None, None])

    @cached_property
    def _levels(self) -> list[Array]:
        """exp(Q 2^j / largest rate), j = 0, 1, …: as far as was asked."""
        power, total = np.broadcast_to(np.eye(self.size), self.q.shape), np.zeros_like(self.q)
        for k in range(TERMS):
            total = total + power / math.factorial(k)
            power = power @ self._step
        return [self._sharp(total * math.exp(-1), 0)]

    def _sharp(self, found: Array, j: int) -> Array:
        k = np.arange(self.size)
        found[:, k, k] = np.exp(self.q[:, k, k] * 2.0**j / self._fastest[:, None])
        return found

    @cached_property
    def _first(self) -> Array:
        """P x TERMS x n, the start after 0, 1, 2, … steps, over the factorials."""
        found = [self.start]
        for k in range(1, TERMS):
            found.append(np.squeeze(found[-1][:, None] @ self._step, axis=1) / k)
        return np.stack(found, axis=1)

    def _law(self, t: Array, index: np.ndarray) -> Array:
        """Where a pass is after t >= 0: rows as t, n phases."""
        steps = t * self._fastest[index]
        whole = np.floor(steps)
        rest = np.maximum(steps - whole, 0.0)[:, None]
        weights = np.exp(-rest) * rest ** np.arange(TERMS)
        law = (weights[:, None] @ self._first[index])[:, 0]
        for j in range(int(np.log2(max(float(whole.max(initial=0.0)), 1.0))) + 1):
            if len(self._levels) == j:
                last = self._levels[-1]
                self._levels.append(self._sharp(last @ last, j))
            set_ = np.flatnonzero(np.floor(whole / 2.0**j) % 2 == 1)
            law[set_] = (law[set_, None] @ self._levels[j][index[set_]])[:, 0]
        return np.asarray(law)

    def tail(self, t: Array, index: np.ndarray) -> Array:
        """P(T > t) at the points `index`, one for each t >= 0 in s."""
        index = np.asarray(index, int)
        found = np.zeros(len(t))
        for d in range(len(self.ends)):
            left = t - self.shift[index, d]
            found += np.where(left < 0, self.gone[index, d], 0.0)
            law = self._law(np.maximum(left, 0.0), index)
            found += (law * self.ending[index, :, d]).sum(axis=1)
        return found
