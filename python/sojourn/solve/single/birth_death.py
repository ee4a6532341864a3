"""The stationary law of a birth-death chain whose ratios p(n)/p(n-1) fall with n: M/M/m/K, machine repair.

Source: Kleinrock, Queueing Systems vol. 1 (1975), pp. 90-94; the products start at the mode and go outward, so they
only shrink: nothing overflows, and what underflows is below 1e-300. Only states within that window are kept, so the
work grows with the square root of the number of states.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sojourn.model.network_arrays import Array

LEAST = 1e-300
Ratio = Callable[[Array], Array]


@dataclass(frozen=True)
class BirthDeathDistribution:
    """`p[i]` is P(N = first + i); all other states together have less than 1e-290."""

    first: int
    p: Array

    @property
    def n(self) -> Array:
        return np.arange(self.first, self.first + len(self.p), dtype=float)

    def mean(self, of: Callable[[Array], Array] = lambda n: n) -> float:
        """E[of(N)], summed from small to large."""
        return float(np.sort(of(self.n) * self.p).sum())

    @property
    def variance(self) -> float:
        middle = self.mean()
        return self.mean(lambda n: (n - middle) ** 2)

    def at(self, n: ArrayLike) -> Array:
        """P(N = n)."""
        k = np.asarray(n, int) - self.first
        inside = (k >= 0) & (k < len(self.p))
        return np.where(inside, self.p[np.clip(k, 0, len(self.p) - 1)], 0.0)


@dataclass(frozen=True)
class BirthDeathDistributions:
    """P laws: `p[i, j]` is P(N = first[i] + j) of the i-th, 0 beyond the states that are kept of it."""

    first: NDArray[np.int64]
    p: Array

    @property
    def n(self) -> Array:
        """P x states; below 0 where there is none."""
        return self.first[:, None] + np.arange(self.p.shape[1], dtype=float)

    def mean(self, of: Callable[[Array], Array] = lambda n: n) -> Array:
        """P, E[of(N)], summed from small to large; `of` takes P x states."""
        return np.asarray(np.sort(of(self.n) * self.p, axis=1).sum(axis=1))

    def __getitem__(self, i: int) -> BirthDeathDistribution:
        kept = np.flatnonzero(self.p[i])
        return BirthDeathDistribution(int(self.first[i] + kept[0]), self.p[i, kept[0] : kept[-1] + 1])


def stationary(ratio: Ratio, most: ArrayLike) -> BirthDeathDistributions:
    """P laws on 0 … most; `ratio(n)` = p(n)/p(n-1) for n = 1 … most, P x some, not increasing in n, may be 0 or infinite."""
    last = np.atleast_1d(np.asarray(most, np.int64))
    with np.errstate(all="ignore"):  # beyond its last state a law is asked too, and not heard
        mode = _mode(ratio, last)
        up = _side(lambda k: ratio(mode[:, None] + k), last - mode)
        down = _side(lambda k: 1 / ratio(mode[:, None] - k + 1), mode)
    p = np.concatenate([down[:, ::-1], np.ones((len(last), 1)), up], axis=1)
    return BirthDeathDistributions(mode - down.shape[1], p / np.sort(p, axis=1).sum(axis=1, keepdims=True))


def _mode(ratio: Ratio, most: NDArray[np.int64]) -> NDArray[np.int64]:
    low, high = np.zeros_like(most), most
    while (low < high).any():
        middle = (low + high + 1) // 2
        up = (ratio(middle[:, None].astype(float))[:, 0] >= 1) & (low < high)
        low, high = np.where(up, middle, low), np.where(up | (low >= high), high, middle - 1)
    return low


def _side(factor: Ratio, steps: NDArray[np.int64]) -> Array:
    """Products of `factor(1), factor(2), …`, P x as many as are kept of any, in pieces that grow."""
    pieces, last, done, size = [np.empty((len(steps), 0))], np.ones((len(steps), 1)), 0, 64
    while done < steps.max() and (last > LEAST).any():
        k = np.arange(done + 1, min(done + size, steps.max()) + 1, dtype=float)
        piece = last * np.cumprod(np.where(k <= steps[:, None], factor(k), 0.0), axis=1)
        piece[~(piece > LEAST)] = 0.0
        pieces.append(piece)
        last, done, size = piece[:, -1:], done + len(k), 2 * size
    found = np.concatenate(pieces, axis=1)
    return found[:, : int((found > 0).sum(axis=1).max())]


@dataclass(frozen=True)
class FcfsWaitingTime:
    """Waiting and response under FCFS of those who find n with P(n) of `seen`, m servers, mean `service_s`."""

    seen: BirthDeathDistribution
    servers: float
    service_s: float

    @cached_property
    def _ahead(self) -> tuple[Array, Array]:
        """Number of completions to wait for, 1 or more, and its probability."""
        n = self.seen.n
        late = n >= self.servers
        return n[late] - self.servers + 1, self.seen.p[late]

    @cached_property
    def _nodes(self) -> tuple[Array, Array]:
        return compressed(*self._ahead)

    @property
    def probability(self) -> float:
        return float(self._ahead[1].sum())

    @property
    def mean_s(self) -> float:
        j, p = self._ahead
        return float((j * p).sum()) * self.service_s / self.servers

    @property
    def variance(self) -> float:
        """s^2: an Erlang of j steps has variance j; those who do not wait are j = 0."""
        j, p = self._ahead
        mean = float((j * p).sum())
        spread = float(((j - mean) ** 2 * p).sum()) + mean**2 * (1 - self.probability)
        return (spread + mean) * (self.service_s / self.servers) ** 2

    def waiting_tail(self, t: Array) -> Array:
        """P(wait > t), t >= 0."""
        from scipy.special import gammaincc  # slow to import

        j, p = self._nodes
        x = np.atleast_1d(t)[:, None] * self.servers / self.service_s
        return gammaincc(j[None, :], x) @ p

    def response_tail(self, t: Array) -> Array:
        """P(response > t): an Erlang wait of rate m mu, then a service of rate mu."""
        from scipy.special import gammainc, gammaincc  # slow to import

        j, p = self._nodes
        u = np.atleast_1d(t)[:, None] / self.service_s
        at_once = (1 - p.sum()) * np.exp(-u[:, 0])
        if self.servers == 1:
            return at_once + gammaincc(j[None, :] + 1, u) @ p
        m = self.servers
        with np.errstate(divide="ignore"):
            tilted = j * np.log1p(1 / (m - 1)) + np.log(gammainc(j[None, :], (m - 1) * u)) - u
        return at_once + (gammaincc(j[None, :], m * u) + np.exp(tilted)) @ p


def compressed(j: Array, p: Array) -> tuple[Array, Array]:
    """Fewer nodes with weights that give the same sum of p f(j), for f that changes over j^(1/2) as Erlang tails do.

    Blocks as long as that are replaced by interpolation at 12 Chebyshev nodes, exact for polynomials of degree 11.
    """
    keep = p > 1e-20 * p.max(initial=0.0)
    j, p = j[keep], p[keep]
    nodes, weights, low = [], [], 0
    while low < len(j):
        size = int(np.sqrt(j[low]))
        block = slice(low, low + max(size, 1))
        x, w = j[block], p[block]
        if len(x) > 2 * DEGREE:
            x, w = _interpolated(x, w)
        nodes.append(x)
        weights.append(w)
        low += max(size, 1)
    return (np.concatenate(nodes), np.concatenate(weights)) if nodes else (np.ones(1), np.zeros(1))


DEGREE = 12


def _interpolated(x: Array, w: Array) -> tuple[Array, Array]:
    """Barycentric Lagrange basis at Chebyshev nodes of the first kind."""
    angle = np.pi * (np.arange(DEGREE) + 0.5) / DEGREE
    middle, half = (x[0] + x[-1]) / 2, (x[-1] - x[0]) / 2
    node = middle + half * np.cos(angle)
    sign = np.where(np.arange(DEGREE) % 2 == 0, 1.0, -1.0) * np.sin(angle)
    gap = x[:, None] - node
    hit = gap == 0
    basis = sign / np.where(hit, 1.0, gap)
    basis = np.where(hit.any(axis=1, keepdims=True), hit, basis)
    return node, w @ (basis / basis.sum(axis=1, keepdims=True))
