"""Where a run's warm-up ends, and whether what follows is stationary; measured and simulated alike.

Warm-up: MSER-5 (White, Cobb and Spratt, A comparison of five steady-state truncation heuristics, WSC 2000,
pp. 755-760): cut where the standard error of what remains is smallest, in batches of five. MSER alone also cuts busy
periods that happen to come early, and so biases the mean (of the response times of 2000 requests to an M/M/1 queue that
is busy for 80 %, stationary from the start: -7 %, where it may cut half). So the cut lies in the first fifth, and what it
removes must lie outside the rest by more than chance allows. A cut at the end of that fifth says that the warm-up may go on.
Stationarity: the trend of batch means against time (Spearman's rank correlation), which a constant load and a
constant service leave at zero; batches are long enough that neighbours hardly correlate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sojourn.stats.rank_correlation import rank_correlation
from sojourn.stats.student import student_quantile

BATCH = 5
LATEST_SHARE = 0.2
EDGE = 0.9  # of that share: a cut beyond it is at its end
CUT_LEVEL = 0.001
TREND_LEVEL = 0.001
TREND_BATCHES = 20


@dataclass(frozen=True)
class StationarityTest:
    """Trend of the batch means: rank correlation with time, its p-value, the drift over the run relative to the mean."""

    correlation: float
    p_value: float
    drift: float

    @property
    def steady(self) -> bool:
        return not (self.p_value < TREND_LEVEL and abs(self.drift) > 0.2)


def warm_up(values: NDArray[np.float64], batches: int = TREND_BATCHES, level: float = CUT_LEVEL) -> int:
    """How many leading values are warm-up, at most `LATEST_SHARE` of them. Shape of `values`: (n,), in order of time. The rest
    is taken as so many independent `batches` to tell, at `level`, whether it differs from what would be cut."""
    first = mser(values)
    rest = values.size - first
    if first == 0 or rest < 2 * batches:
        return first
    length = rest // batches
    means = values[values.size - length * batches :].reshape(batches, length).mean(axis=1)
    error = np.sqrt(means.var(ddof=1) * length * (1 / first + 1 / rest))
    apart = abs(values[:first].mean() - values[first:].mean())
    return first if apart > student_quantile(1 - level / 2, batches - 1) * error else 0


def at_edge(cut: float, size: float) -> bool:
    """Whether a cut lies at the end of where it may lie, so that what stays may be warm-up too; both in one unit."""
    return cut > EDGE * LATEST_SHARE * size


def mser(values: NDArray[np.float64], latest_share: float = LATEST_SHARE) -> int:
    """How many leading values MSER-5 cuts; at most `latest_share` of them."""
    batches = values[: values.size // BATCH * BATCH].reshape(-1, BATCH).mean(axis=1)
    if batches.size < 10:
        return 0
    remaining = np.arange(batches.size, 0, -1)
    total = np.cumsum(batches[::-1])[::-1]
    squares = np.cumsum(batches[::-1] ** 2)[::-1]
    first = slice(max(1, int(batches.size * latest_share)))  # where it may cut
    spread = squares[first] - total[first] ** 2 / remaining[first]
    score = spread / remaining[first].astype(float) ** 2
    return int(np.argmin(score)) * BATCH


def steadiness(values: NDArray[np.float64]) -> StationarityTest:
    """Trend of `values` (n,) over time, from 20 batch means."""
    if values.size < 2 * TREND_BATCHES:
        return StationarityTest(0.0, 1.0, 0.0)
    means = np.array([chunk.mean() for chunk in np.array_split(values, TREND_BATCHES)])
    if np.ptp(means) == 0:
        return StationarityTest(0.0, 1.0, 0.0)
    test = rank_correlation(np.arange(float(TREND_BATCHES)), means)
    slope = np.polyfit(np.linspace(0, 1, TREND_BATCHES), means, 1)[0]
    mean = float(means.mean())
    return StationarityTest(test.value, test.p_value, float(slope / mean) if mean else 0.0)
