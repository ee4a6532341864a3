"""The wait of GI/G/1 on a grid: the ascending Wiener-Hopf factor of service less gap, by its cepstrum.

Source: M. H. Ackroyd, Computing the waiting time distribution for the G/G/1 queue by signal processing methods, IEEE
Trans. Commun. COM-28(1), 1980, pp. 52-58; W. K. Grassmann, J. L. Jain, Numerical solutions of the waiting time
distribution and idle time distribution of the arithmetic GI/G/1 queue, Oper. Res. 37(1), 1989, pp. 141-150 (the grid);
F. Spitzer, A combinatorial lemma and its application to probability theory, Trans. Amer. Math. Soc. 82(2), 1956, pp.
323-339, Theorem 4.1.

    source            here
    S_n               sum of n steps, each a service less a gap (Lindley: W is the largest of 0, S_1, S_2, …)
    phi(z)            transform of a step on the grid
    d_j               `weights`: sum over n of P(S_n = j cells)/n, j >= 1

The transform of W is exp(sum_j d_j (z^j - 1)): W is a compound Poisson sum, so E[W] = sum j d_j, Var[W] = sum j^2 d_j, P(W = 0) =
exp(-sum d_j). The d_j are the coefficients at j >= 1 of -log(1 - phi), taken on a circle |z| > 1 on which phi < 1 (exponential
tilting): no zero is near, and what lies beyond the grid hardly comes back.
Laws are put on the grid by hat functions, which keep their means; errors of means are then of the order of cell^2, and two
grids take that term out (Richardson).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sojourn.model.distribution_registry import Deterministic, Distribution, Empirical
from sojourn.model.network_arrays import Array
from sojourn.solve.single.service_transforms import excess

COARSE = 4  # cells in a standard deviation of a step, to find how far waits reach
CELLS = 32, 16, 8  # the same of the coarser of the two grids; fewer where waits are long
VALUES = 128, 64, *CELLS  # the same where a law has certain values, off which cells are by different shares
NARROW = 512, 256, *VALUES  # where a law that is not constant is narrower than a cell, which sees no shape
FIRST, MOST = 2**9, 2**20  # points of a grid
TILT = 40.0  # what comes round from beyond the grid is less by exp of it
BEYOND = 1e-8, 1e-6  # shares of E[W] and Var[W] that may lie in the second half of the grid
LEAST = 1e-6  # of E[W], in cells: less is not told from rounding
BISECTIONS = 60
NEXT = 1e-6  # to P(W > 0), relative: a quantile is 0
DIGITS = 1e-10  # 1e6 roundings, in 1e16: of a gap's probabilities, which are differences of its mean


@dataclass(frozen=True)
class WaitGrid:
    """A grid of `points` cells of `cell_s`, the first half for waits."""

    gap: Distribution
    service: Distribution
    cell_s: float
    points: int

    @cached_property
    def weights(self) -> Array | None:
        """d_0 … d_(points/2 - 1). None where the grid is too short for the tilt."""
        from scipy.fft import irfft, rfft  # slow to import

        half = self.points // 2
        tilt = np.exp(TILT / self.points * np.arange(half))
        up, down = on_grid(self.service, self.cell_s, half) * tilt, on_grid(self.gap, self.cell_s, half) / tilt
        if up.sum() * down.sum() >= 1:
            return None
        step = rfft(up, self.points) * np.conj(rfft(down, self.points))
        return np.asarray(-irfft(np.log(1 - step), self.points)[:half] / tilt)

    @property
    def _weights(self) -> Array:
        assert self.weights is not None, "grids gives none that is too short"
        return self.weights

    @property
    def mean_s(self) -> float:
        return float(np.arange(len(self._weights)) @ self._weights) * self.cell_s

    @property
    def variance(self) -> float:
        """s^2."""
        return float(np.arange(len(self._weights), dtype=float) ** 2 @ self._weights) * self.cell_s**2

    @property
    def waits(self) -> float:
        """P(W > 0): half of the sums in the cell around 0 are above it."""
        return -math.expm1(self._weights[0] / 2 - self._weights.sum())

    @property
    def long_enough(self) -> bool:
        """Little of E[W] and Var[W] lies in the second half of the grid, so that less lies beyond it."""
        if self.weights is None:
            return False
        j, half = np.arange(len(self.weights), dtype=float), len(self.weights) // 2
        for power, share in zip((1, 2), BEYOND, strict=True):
            parts = j**power * self.weights
            if parts[half:].sum() > share * max(parts.sum(), LEAST):
                return False
        return True

    def quantile(self, q: float, *, response: bool) -> float:
        """Of W, or of W + service: the time that is not exceeded with probability q, s; NaN beyond the grid."""
        if response and isinstance(self.service, Deterministic | Empirical):
            return self._jumping(self.service, q)
        x, tail = self._tails[response]
        if tail[0] <= (1 - q) * (1 + NEXT):
            return 0.0
        k = int(np.argmax(tail < 1 - q))
        if k == 0:
            return math.nan
        share = math.log((1 - q) / tail[k - 1]) / math.log(max(tail[k], 1e-300) / tail[k - 1])
        return float(x[k - 1] + (x[k] - x[k - 1]) * share)

    def _jumping(self, law: Deterministic | Empirical, q: float) -> float:
        """Of W + a service of certain values: those who do not wait make jumps, which no grid has; by bisection."""
        values = np.array(law.values if isinstance(law, Empirical) else [law.mean])
        x, tail = self._tails[False]

        def over(t: float) -> float:
            left = t - values
            return float(np.where(left < 0, 1.0, np.interp(left, x, tail, right=0.0)).mean())

        low, high = 0.0, float(values.max() + x[-1])
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            low, high = (middle, high) if over(middle) > 1 - q else (low, middle)
        return high

    @cached_property
    def _tails(self) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        return self.tail(response=False), self.tail(response=True)

    def tail(self, *, response: bool) -> tuple[Array, Array]:
        """x, s, and P(W > x), or P(W + service > x), at 0 and at the middles between cells."""
        from scipy.fft import irfft, rfft  # slow to import

        wave = self._wave * (rfft(on_grid(self.service, self.cell_s, self.points)) if response else 1.0)
        mass = np.maximum(irfft(wave, self.points)[: self.points // 2], 0.0)
        over = np.asarray(np.cumsum(mass[::-1])[::-1])
        x = self.cell_s * (np.arange(len(mass), dtype=np.float64) - 0.5)
        x[0], over[0] = 0.0, 1.0 if response else self.waits
        return x, np.asarray(np.minimum(over, over[0]))

    @cached_property
    def _wave(self) -> NDArray[np.complex128]:
        from scipy.fft import rfft  # slow to import

        return np.asarray(np.exp(rfft(self._weights, self.points) - self._weights.sum()))


def on_grid(law: Distribution, cell_s: float, points: int) -> Array:
    """Probabilities at 0, cell_s, 2 cell_s …, of the same mean; what lies beyond is put at the end."""
    over = excess(law, cell_s * np.arange(points, dtype=float))
    slope = np.append(np.diff(over, prepend=law.first + cell_s) / cell_s, 0.0)
    return np.maximum(np.diff(slope), 0.0)


def grids(gap: Distribution, service: Distribution) -> tuple[WaitGrid, WaitGrid] | None:
    """Two grids as long as waits need, the second with cells half as wide; None where `MOST` points are too few, or where
    waits are lost in rounding."""
    cell, points = _coarse_cell(gap, service), FIRST
    while not WaitGrid(gap, service, cell, points).long_enough:
        points *= 2
        if 2 * points * CELLS[-1] // COARSE > MOST:
            return None
    finer = next(n // COARSE for n in _cells(cell, gap, service) if 2 * points * n // COARSE <= MOST)
    coarse, fine = (WaitGrid(gap, service, cell / n, points * n) for n in (finer, 2 * finer))
    return (coarse, fine) if fine.mean_s > _least_s(fine) else None


def _cells(cell_s: float, *laws: Distribution) -> tuple[int, ...]:
    if any(
        not isinstance(law, Deterministic) and law.scv**0.5 * law.first < cell_s * COARSE / CELLS[0] for law in laws
    ):
        return NARROW
    return VALUES if any(isinstance(law, Empirical) for law in laws) else CELLS


def _least_s(grid: WaitGrid) -> float:
    """The shortest mean wait that is told: gaps that are long beside services lose the digits of their small values."""
    gap, service = grid.gap.first / grid.cell_s, grid.service.first / grid.cell_s
    return grid.cell_s * max(LEAST, DIGITS * gap * service**2)


def _coarse_cell(gap: Distribution, service: Distribution) -> float:
    """A part of the standard deviation of a step, or of the mean service if that is less, s; whole cells in a constant time."""
    deviation = math.sqrt(gap.scv * gap.first**2 + service.scv * service.first**2)
    cell = min(deviation, service.first) / COARSE
    whole = next((law.first for law in (gap, service) if isinstance(law, Deterministic)), cell)
    return whole / math.ceil(whole / cell)
