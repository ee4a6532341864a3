"""The law of the wait in M/G/1 under FCFS: a geometric sum of residual service times, exactly or on a grid.

Source: Kleinrock, Queueing Systems vol. 1 (1975), p. 200 (the sum); M. F. Neuts, Matrix-Geometric Solutions in
Stochastic Models (1981), Section 5.3 (phase type: P(W > x) = rho b exp((T + rho t b) x) 1, b = start (-T)^-1 / mean);
H. C. Tijms, A First Course in Stochastic Models (2003), Section 9.2 (numerical evaluation).

The grid keeps the mean of what is put on it (hat functions), sums by FFT with exponential tilting, so that what falls
beyond its end does not come back. It is as long as the quantile asks for.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sojourn.model.distribution_registry import Distribution, PhaseType
from sojourn.model.network_arrays import Array
from sojourn.solve.single import service_transforms
from sojourn.solve.single.station_arrays import quantile

Mixture = Sequence[tuple[float, Distribution]]
PHASES = 24  # more are slower than the grid
SPREAD = 1e9  # with phases of rates further apart the grid has more digits
CELLS = 2**16
TILT = 20.0
DECAY = np.exp(-TILT * np.arange(CELLS) / CELLS)
FIRST, OCTAVES, PARTS = (
    64,
    48,
    8,
)  # cells done with care; the first by panels that halve so often, in so many steps each
# Gauss's with four points (Abramowitz, Stegun, 25.4.30); numpy.polynomial takes longer to import than most models to solve
INNER, OUTER = np.sqrt(3 / 7 - 2 / 7 * np.sqrt(6 / 5)), np.sqrt(3 / 7 + 2 / 7 * np.sqrt(6 / 5))
NODES = np.array([-OUTER, -INNER, INNER, OUTER])
WEIGHTS = (18 + np.sqrt(30) * np.array([-1, 1, 1, -1])) / 36
GRIDS, LARGEST = (
    24,
    400,
)  # how many are tried, each four times as long as the last; powers of 4 that are looked at first


class PhaseTypeWaitingTime:
    """Exact: the wait is of phase type, and so is the response of a class whose service is."""

    def __init__(self, rate_per_s: float, mixture: Mixture) -> None:
        from scipy.linalg import block_diag  # slow to import

        forms = [(share, *form) for share, d in mixture if (form := service_transforms.phases(d)) is not None]
        start = np.concatenate([share * alpha for share, alpha, _ in forms])
        rates = block_diag(*(t for _, _, t in forms))
        lasting = rate_per_s * np.linalg.solve(-rates.T, start)  # rho b
        self.start, self.rates = lasting, rates - np.outer(rates.sum(axis=1), lasting)
        self.scale_s = sum(share * d.first for share, d in mixture) / max(1 - lasting.sum(), 1e-15)

    def quantiles(self, q: Sequence[float]) -> Array:
        """s."""
        return self._quantiles(self.start, self.rates, q)

    def response_quantiles(self, q: Sequence[float], own: Distribution) -> Array:
        """s; `own` is the service of the class."""
        form = service_transforms.phases(own)
        assert form is not None
        alpha, t = form
        link = np.outer(-self.rates.sum(axis=1), alpha)
        rates = np.block([[self.rates, link], [np.zeros((len(t), len(self.rates))), t]])
        return self._quantiles(np.concatenate([self.start, (1 - self.start.sum()) * alpha]), rates, q)

    def tail(self, x: Array) -> Array:
        """P(W > x)."""
        return _decay(self.start, self.rates, x)

    def _quantiles(self, start: Array, rates: Array, q: Sequence[float]) -> Array:
        return quantile(lambda x: _decay(start, rates, x), np.array(q), np.full(len(q), self.scale_s))


def _decay(start: Array, rates: Array, x: Array) -> Array:
    return (start @ service_transforms.flow(rates, x)).sum(axis=-1)


class GridWaitingTime:
    """Any service time with a mean: cells of `cell_s`, 2^16 of them."""

    def __init__(self, rate_per_s: float, mixture: Mixture) -> None:
        self.rate_per_s, self.mixture = rate_per_s, mixture
        self.mean_s = sum(share * d.first for share, d in mixture)
        self.load = rate_per_s * self.mean_s

    def quantiles(self, q: Sequence[float]) -> Array:
        """s."""
        return np.array([0.0 if self.load <= 1 - level else self._find(level, None) for level in q])

    def response_quantiles(self, q: Sequence[float], own: Distribution) -> Array:
        """s; `own` is the service of the class."""
        return np.array([self._find(level, own) for level in q])

    def _find(self, q: float, own: Distribution | None) -> float:
        """On the first grid on whose first half the quantile lies."""
        cells = self._width_s * 4.0 ** np.arange(LARGEST) / CELLS
        for cell in cells[~self._beyond(cells * CELLS / 2, q)][:GRIDS]:
            x, tail = self._tail(float(cell), own)
            if tail[len(x) // 2] < 1 - q:
                k = int(np.argmax(tail < 1 - q))
                level = np.log((1 - q) / tail[k]) / np.log(tail[k - 1] / tail[k])
                return float(x[k] - (x[k] - x[k - 1]) * level)
        return float("nan")

    def _beyond(self, x: Array, q: float) -> NDArray[np.bool_]:
        """Where the quantile certainly lies beyond x: the longest of the residuals summed exceeds x too often already.

        P(W > x) >= load b/(1 - load + load b), b = P(R > x); near the truth for heavy tails, which reach over many grids.
        """
        with np.errstate(over="ignore"):
            b = np.sum([share * service_transforms.excess(d, x) for share, d in self.mixture], axis=0) / self.mean_s
        return np.asarray(self.load * b * q > (1 - self.load) * (1 - q))

    @cached_property
    def _width_s(self) -> float:
        """Length of the first grid: four times the mean response, or some services where that is infinite."""
        second = sum(share * d.second for share, d in self.mixture)
        wait = self.rate_per_s * second / (2 * (1 - self.load))
        return 4 * (self.mean_s + (wait if np.isfinite(wait) else 4 * self.mean_s))

    def _tail(self, cell: float, own: Distribution | None) -> tuple[Array, Array]:
        """P(W > x), or P(W + own service > x), at x = 0 and the middles between cells."""
        key = (cell, own)
        if key not in self._kept:
            wave = self._wave(cell)
            if own is not None:
                wave = wave * np.fft.rfft(_whole(own, cell) * DECAY)
            mass = np.maximum(np.fft.irfft(wave, CELLS) / DECAY, 0.0)
            over = np.maximum(1 - np.cumsum(mass), 1e-300)
            first = 1.0 if own is not None else self.load
            self._kept[key] = np.r_[0.0, cell * (np.arange(CELLS) + 0.5)], np.r_[first, np.minimum(over, first)]
        return self._kept[key]

    def _wave(self, cell: float) -> NDArray[np.complex128]:
        """The transform of the wait on a grid, tilted; the same for the response of each class."""
        if cell not in self._waves:
            beyond = np.sum([share * d.first / self.mean_s * _residual(d, cell) for share, d in self.mixture], axis=0)
            # 1 - load·E[exp(-z R)] from what lies beyond the first cell: near saturation the difference would lose all
            missing = beyond[0] - np.fft.rfft(np.r_[0.0, -np.diff(beyond)] * DECAY)
            self._waves[cell] = (1 - self.load) / (1 - self.load + self.load * missing)
        return self._waves[cell]

    @cached_property
    def _kept(self) -> dict[tuple[float, Distribution | None], tuple[Array, Array]]:
        return {}

    @cached_property
    def _waves(self) -> dict[float, NDArray[np.complex128]]:
        return {}


def _residual(d: Distribution, cell: float) -> Array:
    """P(R > x) of the residual service time, averaged over each cell of the grid: E[(S - x)+]/mean."""
    over = np.empty(CELLS)
    over[0] = _average(d, cell * np.r_[0.0, 2.0 ** np.arange(-OCTAVES, 1 / PARTS, 1 / PARTS)])
    # services may end within the first cells: a corner there would be missed by few points
    over[1:FIRST] = _average(d, cell * np.linspace(np.arange(1, FIRST), np.arange(2, FIRST + 1), 4 * PARTS, axis=1))
    x = cell * (np.arange(FIRST, CELLS, dtype=np.float64)[:, None] + (1 + NODES) / 2)
    over[FIRST:] = (service_transforms.excess(d, x) @ WEIGHTS) / 2
    return over / d.first


def _average(d: Distribution, edges: Array) -> Array:
    """Of E[(S - x)+] between the first and the last of `edges` (… x panels + 1), panel by panel."""
    half = np.diff(edges)[..., None] / 2
    values = service_transforms.excess(d, edges[..., :-1, None] + half * (1 + NODES)) * half
    return np.asarray((values @ WEIGHTS).sum(axis=-1) / (edges[..., -1] - edges[..., 0]))


def _whole(d: Distribution, cell: float) -> Array:
    """Service time on the grid."""
    over = service_transforms.excess(d, cell * np.arange(CELLS + 1, dtype=np.float64)) / cell
    mass = -np.diff(over)
    return np.concatenate([[1 - mass[0]], mass[:-1] - mass[1:]])


def waiting_law(rate_per_s: float, mixture: Mixture) -> PhaseTypeWaitingTime | GridWaitingTime:
    """The exact law where there is one of moderate size, else the grid; load < 1."""
    forms = [form for _, d in mixture if (form := service_transforms.phases(d)) is not None]
    if len(forms) < len(mixture) or sum(len(start) for start, _ in forms) > PHASES:
        return GridWaitingTime(rate_per_s, mixture)
    apart = service_transforms.spread(forms) > SPREAD and not any(isinstance(d, PhaseType) for _, d in mixture)
    return GridWaitingTime(rate_per_s, mixture) if apart else PhaseTypeWaitingTime(rate_per_s, mixture)
