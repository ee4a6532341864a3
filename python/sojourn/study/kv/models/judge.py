"""Which points are fitted, and how far the predictions of the others are off."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from sojourn.study.kv.models.network import Prediction
from sojourn.study.kv.models.times import Times, fit_times

RESAMPLES = 2000


@dataclass(frozen=True)
class Point:
    """One held-out client count of one configuration."""

    configuration: str
    clients: int
    predicted: Prediction
    throughput_per_s: float
    response_s: float

    @property
    def throughput_error(self) -> float:
        return self.predicted.throughput_per_s / self.throughput_per_s - 1

    @property
    def response_error(self) -> float:
        return self.predicted.response_s / self.response_s - 1


@dataclass(frozen=True)
class Judgement:
    """A model on all held-out points; `fits`: what was fitted, by configuration."""

    model: str
    points: tuple[Point, ...]
    fits: tuple[tuple[str, Times], ...] = ()

    def median_error(self, what: str = "throughput_error") -> tuple[float, float, float]:
        """Median of |relative error| with its 95 % interval (bootstrap over points); NaN without points."""
        errors = np.array([abs(getattr(p, what)) for p in self.points])
        if not len(errors):
            return float("nan"), float("nan"), float("nan")
        drawn = np.random.default_rng(1).choice(errors, (RESAMPLES, len(errors)))
        low, high = np.quantile(np.median(drawn, axis=1), (0.025, 0.975))
        return float(np.median(errors)), float(low), float(high)


def split(clients: Sequence[int]) -> tuple[list[int], list[int]]:
    """Fitted and held-out client counts: every second one is fitted, from the fewest, and the most always."""
    order = sorted(set(clients))
    fitted = sorted({*order[::2], order[-1]}) if len(order) > 2 else order[:1]
    return fitted, [n for n in order if n not in fitted]


def judge(
    model: str, name: str, rows: pl.DataFrame, predict: Callable[[Times, int], Prediction]
) -> tuple[Times, list[Point]]:
    """Fits one configuration on its part of the points and predicts the others."""
    fitted, held = split(rows["clients"].to_list())
    times = fit_times(rows.filter(pl.col("clients").is_in(fitted)))
    points = []
    for n in held:
        here = rows.filter(pl.col("clients") == n)
        x, r = (float(here[c].mean()) for c in ("throughput_per_s", "response_s"))  # type: ignore[arg-type]
        points.append(Point(name, n, predict(times, n), x, r))
    return times, points
