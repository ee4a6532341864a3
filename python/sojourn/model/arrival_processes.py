"""Arrival processes that are more than a distribution between arrivals: frozen data with their mean rate; SI units."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sojourn.model.distribution_types import freeze


@dataclass(frozen=True)
class MAP:
    """Markovian arrival process. `D0` has the rates of transitions without an arrival (1/s), and `D1` those of transitions with an
    arrival. Each row of D0 + D1 sums to 0.

    An MMPP is a MAP whose D1 is diagonal.
    """

    D0: tuple[tuple[float, ...], ...]
    D1: tuple[tuple[float, ...], ...]
    kind: ClassVar[str] = "map"

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def rate_per_s(self) -> float:
        d0, d1 = np.array(self.D0, float), np.array(self.D1, float)
        with np.errstate(divide="ignore", invalid="ignore"):
            phase = stationary(d0 + d1)
        if not np.isfinite(phase).all():  # reducible: which of several, the elimination cannot say
            full = np.vstack([(d0 + d1).T, np.ones(len(d0))])
            phase = np.linalg.lstsq(full, np.r_[np.zeros(len(d0)), 1.0], rcond=None)[0]
        return float(phase @ d1.sum(axis=1))

    def table(self) -> dict[str, Any]:
        return {"kind": "map", "D0": self.D0, "D1": self.D1}


@dataclass(frozen=True)
class Steps:
    """Poisson arrivals whose rate changes. `steps` has pairs (rate in 1/s, duration in s). After the last step, the first follows."""

    steps: tuple[tuple[float, float], ...]
    kind: ClassVar[str] = "steps"

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def rate_per_s(self) -> float:
        return sum(rate * length for rate, length in self.steps) / sum(length for _, length in self.steps)

    def table(self) -> dict[str, Any]:
        return {"kind": "steps", "steps": self.steps}


@dataclass(frozen=True)
class Trace:
    """Arrivals at given times (s, ascending, from 0). `run` names the run folder or file of these times, if there is one."""

    times_s: tuple[float, ...] = ()
    run: str = ""
    kind: ClassVar[str] = "trace"

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def rate_per_s(self) -> float:
        """Arrivals after the first over the time they take; NaN where that is none."""
        length = self.times_s[-1] - self.times_s[0] if self.times_s else 0.0
        return (len(self.times_s) - 1) / length if length > 0 else math.nan

    def table(self) -> dict[str, Any]:
        return {"kind": "trace", "run": self.run} if self.run else {"kind": "trace", "times_s": self.times_s}


def stationary(generator: NDArray[np.float64]) -> NDArray[np.float64]:
    """Stationary distribution of a small generator, by elimination without subtractions (Grassmann et al. 1985)."""
    q = np.array(generator, float)
    np.fill_diagonal(q, 0.0)
    n = len(q)
    for k in range(n - 1, 0, -1):
        q[:k, k] /= q[k, :k].sum()
        q[:k, :k] += np.outer(q[:k, k], q[k, :k])
    p = np.ones(n)
    for k in range(1, n):
        p[k] = p[:k] @ q[:k, k]
    return p / p.sum()
