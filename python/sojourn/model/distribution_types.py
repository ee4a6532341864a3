"""Distributions of service, think and inter-arrival times: frozen data with their moments; SI units.

A number stands for an exponential with that mean. `mean` in s, `scv` is the squared coefficient of variation,
`third` the third raw moment in s^3 (infinite where it does not exist). The simulator draws them in `crates/dist`.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar


def as_tuples(value: Any) -> Any:
    """Lists and arrays as tuples, at any depth: frozen data can be compared and hashed."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, tuple) and type(value) is not tuple:  # a formula of rates
        return value
    return tuple(as_tuples(v) for v in value) if isinstance(value, (list, tuple)) else value


def freeze(data: Any) -> None:
    """For `__post_init__` of frozen data: every list or array among its fields becomes a tuple."""
    for name, value in data.__dict__.items():
        if not isinstance(value, float) and (isinstance(value, (list, tuple)) or hasattr(value, "tolist")):
            object.__setattr__(data, name, as_tuples(value))


@dataclass(frozen=True)
class Distribution:
    """What all have: `kind` in a file, `mean`, `scv`, `third`."""

    kind: ClassVar[str] = ""

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def first(self) -> float:
        """The mean, s."""
        raise NotImplementedError

    @property
    def scv(self) -> float:
        raise NotImplementedError

    @property
    def third(self) -> float:
        raise NotImplementedError

    @property
    def second(self) -> float:
        """Second raw moment, s^2."""
        return self.first**2 * (1 + self.scv)

    def scaled(self, by: float) -> Distribution:
        """Of times that are `by` (above 0) as long."""
        raise NotImplementedError

    def table(self) -> dict[str, Any]:
        """As in a model file."""
        return {"kind": self.kind, **asdict(self)}


@dataclass(frozen=True)
class GivenByMean(Distribution):
    """Those whose first parameter is the mean, s."""

    mean: float

    @property
    def first(self) -> float:
        return self.mean

    def scaled(self, by: float) -> Distribution:
        return replace(self, mean=self.mean * by)


@dataclass(frozen=True)
class Exponential(GivenByMean):
    kind = "exponential"

    @property
    def scv(self) -> float:
        return 1.0

    @property
    def third(self) -> float:
        return 6 * self.mean**3


@dataclass(frozen=True)
class Deterministic(GivenByMean):
    kind = "deterministic"

    @property
    def scv(self) -> float:
        return 0.0

    @property
    def third(self) -> float:
        return self.mean**3


@dataclass(frozen=True)
class Erlang(GivenByMean):
    """The sum of `shape` exponential phases."""

    shape: int
    kind = "erlang"

    @property
    def scv(self) -> float:
        return 1 / self.shape

    @property
    def third(self) -> float:
        k = self.shape
        return self.mean**3 * (k + 1) * (k + 2) / k**2


@dataclass(frozen=True)
class Hyperexponential(Distribution):
    """With probability `probabilities[i]`, an exponential time with mean `means[i]`."""

    probabilities: tuple[float, ...]
    means: tuple[float, ...]
    kind = "hyperexponential"

    @property
    def first(self) -> float:
        return sum(p * m for p, m in zip(self.probabilities, self.means, strict=True))

    @property
    def scv(self) -> float:
        second = sum(2 * p * m * m for p, m in zip(self.probabilities, self.means, strict=True))
        return second / self.first**2 - 1

    @property
    def third(self) -> float:
        return sum(6 * p * m**3 for p, m in zip(self.probabilities, self.means, strict=True))

    def scaled(self, by: float) -> Distribution:
        return replace(self, means=tuple(m * by for m in self.means))


@dataclass(frozen=True)
class Uniform(Distribution):
    low: float
    high: float
    kind = "uniform"

    @property
    def first(self) -> float:
        return (self.low + self.high) / 2

    @property
    def scv(self) -> float:
        return ((self.high - self.low) / self.first) ** 2 / 12

    @property
    def third(self) -> float:
        return (self.low + self.high) * (self.low**2 + self.high**2) / 4

    def scaled(self, by: float) -> Distribution:
        return replace(self, low=self.low * by, high=self.high * by)


@dataclass(frozen=True)
class Lognormal(GivenByMean):
    scv_: float
    kind = "lognormal"

    @property
    def scv(self) -> float:
        return self.scv_

    @property
    def third(self) -> float:
        return self.mean**3 * (1 + self.scv_) ** 3

    def table(self) -> dict[str, Any]:
        return {"kind": self.kind, "mean": self.mean, "scv": self.scv_}


@dataclass(frozen=True)
class Weibull(GivenByMean):
    shape: float
    kind = "weibull"

    @property
    def scv(self) -> float:
        return math.gamma(1 + 2 / self.shape) / math.gamma(1 + 1 / self.shape) ** 2 - 1

    @property
    def third(self) -> float:
        return self.mean**3 * math.gamma(1 + 3 / self.shape) / math.gamma(1 + 1 / self.shape) ** 3


@dataclass(frozen=True)
class Pareto(GivenByMean):
    """P(X > x) = (low/x)^shape. The `mean` is given instead of low, and `shape` is above 1."""

    shape: float
    kind = "pareto"

    @property
    def scv(self) -> float:
        a = self.shape
        return (a - 1) ** 2 / (a * (a - 2)) - 1 if a > 2 else math.inf

    @property
    def third(self) -> float:
        a, low = self.shape, self.mean * (self.shape - 1) / self.shape
        return a * low**3 / (a - 3) if a > 3 else math.inf


@dataclass(frozen=True)
class PhaseType(Distribution):
    """Time to absorption of a Markov chain. `start` has the probabilities of the first phase, `rates` the generator among phases (1/s)."""

    start: tuple[float, ...]
    rates: tuple[tuple[float, ...], ...]
    kind = "phase_type"

    def _moment(self, k: int) -> float:
        import numpy as np

        inverse = np.linalg.inv(-np.array(self.rates))
        return float(math.factorial(k) * np.array(self.start) @ np.linalg.matrix_power(inverse, k).sum(axis=1))

    @property
    def first(self) -> float:
        return self._moment(1)

    @property
    def scv(self) -> float:
        return self._moment(2) / self.first**2 - 1

    @property
    def third(self) -> float:
        return self._moment(3)

    def scaled(self, by: float) -> Distribution:
        return replace(self, rates=tuple(tuple(rate / by for rate in row) for row in self.rates))


@dataclass(frozen=True)
class Empirical(Distribution):
    """One of `values`, all equally likely."""

    values: tuple[float, ...]
    kind = "empirical"

    @property
    def first(self) -> float:
        return math.fsum(self.values) / len(self.values)

    @property
    def scv(self) -> float:
        return math.fsum(v * v for v in self.values) / len(self.values) / self.first**2 - 1

    @property
    def third(self) -> float:
        return math.fsum(v**3 for v in self.values) / len(self.values)

    def scaled(self, by: float) -> Distribution:
        return replace(self, values=tuple(v * by for v in self.values))
