"""Predictions against runs that were not fitted: relative errors and their median; for every kind of study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

RESAMPLES = 2000


class Predicted(Protocol):
    """Of one configuration, with what else its model says."""

    @property
    def throughput_per_s(self) -> float: ...
    @property
    def response_s(self) -> float: ...


P = TypeVar("P", bound=Predicted, covariant=True)


@dataclass(frozen=True)
class Held(Generic[P]):
    """One held-out configuration at one number of clients: predicted, and measured (means over repetitions)."""

    configuration: str
    clients: int
    predicted: P
    throughput_per_s: float
    response_s: float

    @property
    def throughput_error(self) -> float:
        return self.predicted.throughput_per_s / self.throughput_per_s - 1

    @property
    def response_error(self) -> float:
        return self.predicted.response_s / self.response_s - 1


@dataclass(frozen=True)
class Judgement(Generic[P]):
    """A model on all held-out points; `fits`: what was fitted, by configuration, where each is fitted by itself."""

    model: str
    points: tuple[Held[P], ...]
    fits: tuple[tuple[str, Any], ...] = ()

    def median_error(self, what: str = "throughput_error") -> tuple[float, float, float]:
        """Median of |relative error| with its 95 % interval (bootstrap over points); NaN without points."""
        errors = np.array([abs(getattr(p, what)) for p in self.points])
        if not len(errors):
            return float("nan"), float("nan"), float("nan")
        drawn = np.random.default_rng(1).choice(errors, (RESAMPLES, len(errors)))
        low, high = np.quantile(np.median(drawn, axis=1), (0.025, 0.975))
        return float(np.median(errors)), float(low), float(high)
