"""Random numbers as people write them, and random distributions with a given mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

import sojourn as sj
from sojourn.model.distribution_types import Distribution, as_tuples

T = TypeVar("T")
NEAR_ONE = (0.99, 1 - 1e-3, 1 - 1e-6, 1 - 1e-9)
PHASE_TYPE = ("exponential", "erlang", "hyperexponential", "phase_type")
GENERAL = (*PHASE_TYPE, "deterministic", "uniform", "lognormal", "weibull", "pareto", "empirical")
MILD = (*PHASE_TYPE, "deterministic", "uniform", "empirical")


class Draw:
    """A stream of draws; everything a model is made of comes from one of these."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def one(self, values: Sequence[T]) -> T:
        return values[int(self.rng.integers(len(values)))]

    def chance(self, p: float) -> bool:
        return bool(self.rng.random() < p)

    def whole(self, low: int, high: int) -> int:
        """low … high, both included."""
        return int(self.rng.integers(low, high + 1))

    def number(self, low: float, high: float) -> float:
        """Uniform on the logarithm, 3 digits."""
        return float(f"{np.exp(self.rng.uniform(np.log(low), np.log(high))):.3g}")

    def share(self, low: float = 0.05, high: float = 0.95) -> float:
        return float(f"{self.rng.uniform(low, high):.2g}")

    def shares(self, count: int) -> list[float]:
        """Probabilities of two digits that sum to 1, all above 0."""
        cuts = np.sort(self.rng.choice(np.arange(1, 100), count - 1, replace=False))
        return [float(x) / 100 for x in np.diff(np.r_[0, cuts, 100])]

    def load(self, edge: float = 0.35) -> float:
        """Of the busiest server: usual, or with probability `edge` tiny, close to 1, 1, or above."""
        if not self.chance(edge):
            return self.share()
        return float(self.one((1e-9, 1e-4, *NEAR_ONE, *NEAR_ONE, 1.0, 1.02, 4.0)))

    def servers(self) -> int:
        return int(self.one((1, 1, 2, 3, 5, 8, 20, 100, 1000)))

    def time(self, mean: float, kinds: Sequence[str] = GENERAL) -> Any:
        """A distribution with this mean (s), or the number itself, which is an exponential."""
        return DRAWN[self.one(kinds)](self, mean)


def _exponential(d: Draw, mean: float) -> Any:
    return mean


def _erlang(d: Draw, mean: float) -> Distribution:
    return sj.Erlang(mean, d.one((1, 2, 3, 5, 12)))


def _hyperexponential(d: Draw, mean: float) -> Distribution:
    shares = d.shares(d.whole(2, 3))
    means = [d.number(0.05, 10) for _ in shares]
    scale = mean / sum(p * m for p, m in zip(shares, means, strict=True))
    return sj.Hyperexponential(tuple(shares), tuple(m * scale for m in means))


def _phase_type(d: Draw, mean: float) -> Distribution:
    size = d.whole(1, 4)
    rates = np.array([[d.number(0.1, 10) if d.chance(0.6) else 0.0 for _ in range(size)] for _ in range(size)])
    leaving = np.array([d.number(0.1, 10) if d.chance(0.7) else 0.0 for _ in range(size)])
    leaving[-1] = leaving[-1] or 1.0
    rates[:-1, -1] = np.where(rates[:-1, -1] > 0, rates[:-1, -1], 0.5)  # every phase leads to one that ends
    np.fill_diagonal(rates, 0.0)
    np.fill_diagonal(rates, -(rates.sum(axis=1) + leaving))
    start = np.array(d.shares(size) if size > 1 else [1.0])
    scale = float(start @ np.linalg.inv(-rates).sum(axis=1)) / mean
    return sj.PhaseType(tuple(start), (rates * scale).tolist())


def _uniform(d: Draw, mean: float) -> Distribution:
    half = mean * d.one((0.0001, 0.3, 0.9, 1.0))
    return sj.Uniform(mean - half, mean + half)


def _empirical(d: Draw, mean: float) -> Distribution:
    values = np.array([d.number(0.1, 10) for _ in range(d.whole(1, 8))])
    return sj.Empirical(tuple((values * mean / values.mean()).tolist()))


DRAWN = {
    "exponential": _exponential,
    "erlang": _erlang,
    "hyperexponential": _hyperexponential,
    "phase_type": _phase_type,
    "deterministic": lambda d, mean: sj.Deterministic(mean),
    "uniform": _uniform,
    "lognormal": lambda d, mean: sj.Lognormal(mean, d.one((0.05, 0.5, 2.0, 20.0))),
    "weibull": lambda d, mean: sj.Weibull(mean, d.one((0.4, 0.7, 1.5, 4.0))),
    "pareto": lambda d, mean: sj.Pareto(mean, d.one((1.5, 2.5, 3.5, 6.0))),
    "empirical": _empirical,
}


def markovian(d: Draw, rate: float) -> sj.MAP:
    """A MAP of this mean rate (1/s): an MMPP of two or three phases, or one whose arrivals change the phase too."""
    size = d.whole(2, 3)
    moves = np.array([[d.number(0.01, 3) for _ in range(size)] for _ in range(size)])
    arrivals = np.diag([d.number(0.1, 20) for _ in range(size)])
    if d.chance(0.3):
        arrivals = arrivals + np.array([[d.number(0.01, 2) for _ in range(size)] for _ in range(size)])
    np.fill_diagonal(moves, 0.0)
    np.fill_diagonal(moves, -(moves.sum(axis=1) + arrivals.sum(axis=1)))
    scale = rate / sj.MAP(as_tuples(moves), as_tuples(arrivals)).rate_per_s
    return sj.MAP(as_tuples(moves * scale), as_tuples(arrivals * scale))
