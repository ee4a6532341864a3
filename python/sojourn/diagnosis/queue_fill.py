"""How full a queue is by the growth of its response times alone.

R = A + B u^a/(1 - u), u = X/saturation, a = sqrt(2 (m + 1)) - 1, B at most VARIABLE A/m: G/G/m queues with any variance in B and
other places in A (H. Sakasegawa: An Approximation Formula L ≈ αρ^β/(1-ρ). Ann. Inst. Statist. Math. 29, 1977, pp. 67-75; exact
for M/G/1). m is not known: what is said of u holds for all m that fit as well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LEVELS = 4  # fewer cannot tell
FLOOR = 0.03  # relative error of a mean response time that no repetition has less of
SHARES = np.linspace(0.02, 0.995, 196)
SERVERS = (1, 2, 4, 8, 16, 32)
VARIABLE = 4.0  # (variance of arrivals + of service)/2, in squared means: more is not thought of
BEYOND = 2.71  # chi-square of one degree of freedom, 90 %


def queue_utilisation(
    throughput_per_s: Sequence[float], response_s: Sequence[float], error: Sequence[float] = ()
) -> tuple[float, float] | None:
    """How full the queue is at the highest throughput by the growth of its response times alone: least and most, at 90 %.

    error: relative standard errors of the response times. None for fewer than four levels, which cannot tell.
    """
    found = queue_growth(throughput_per_s, response_s, error)
    return None if found is None else found.interval


@dataclass(frozen=True)
class QueueGrowth:
    """How well each share of `shares` explains the response times: `excess`, servers x shares, of the least weighted sum of squares, in
    units of what the best leaves."""

    shares: Array
    excess: Array

    @property
    def interval(self) -> tuple[float, float]:
        """Least and most, at 90 %, of whatever number of servers."""
        good = self.shares[(self.excess <= BEYOND).any(axis=0)]
        return float(good[0]), float(good[-1])

    @property
    def likelihood(self) -> Array:
        """Of each share, all numbers of servers alike beforehand; relative."""
        return np.asarray(np.exp(-self.excess / 2).mean(axis=0))


def queue_growth(
    throughput_per_s: Sequence[float], response_s: Sequence[float], error: Sequence[float] = ()
) -> QueueGrowth | None:
    """As `queue_utilisation`."""
    x, r = np.asarray(throughput_per_s, float), np.asarray(response_s, float)
    if len(np.unique(x.round(6))) < LEVELS:
        return None
    weight = 1 / (r * np.hypot(np.asarray(error, float) if len(error) else 0.0, FLOOR))
    squares = np.array([[_misfit(x / x.max() * u, r, weight, m) for u in SHARES] for m in SERVERS])
    scale = max(1.0, float(squares.min()) / max(len(x) - 3, 1))
    return QueueGrowth(SHARES, (squares - squares.min()) / scale)


def _misfit(share: np.ndarray, response_s: np.ndarray, weight: np.ndarray, servers: int) -> float:
    from scipy.optimize import nnls  # slow to import, and every command would wait

    growth = share ** (math.sqrt(2 * (servers + 1)) - 1) / (1 - share)
    # A + B growth with B at most VARIABLE A/m
    columns = np.stack([np.ones_like(share), servers / VARIABLE + growth], axis=1)
    return float(nnls(columns * weight[:, None], response_s * weight)[1] ** 2)
