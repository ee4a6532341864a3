"""Service demands from windows of a running service, and when they have changed.

Recursive least squares with forgetting on the utilisation law, busy = sum over classes of throughput x demand (Lazowska, Zahorjan, Graham,
Sevcik, Quantitative System Performance, 1984, Section 3.2), each window weighted by its own noise; CUSUM (Page, Continuous inspection
schemes, Biometrika 41, 1954, pp. 100-115) on the normalised innovations, both sides.

    x, U          throughputs by class, 1/s; mean number of busy servers
    D, P          demands, s; their covariance, s^2
    f             forgetting factor, 1 - 1/memory
    g, k, h       CUSUM, its slack and its limit

Noise: with exponential service the busy time of a window less demand x departures is a martingale of variance departures x
demand^2, whatever the edges of the window; other distributions scale it by their squared coefficient of variation, about. Limits:
windows with departures; demands >= 0 are not enforced, a status says where classes cannot be told apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sojourn.control.load_trace import Array
from sojourn.errors import InputError

FRESH, STALE, UNTOLD, OUTSIDE = "fresh", "stale", "not identifiable", "outside range"
WIDE = 1e3  # prior standard deviation, in demands: nothing is known
LIMIT = 8.0  # of the CUSUM, in standard errors
MOST_SPREAD = 0.05  # of a demand's standard deviation over the demand, above which it is not told


@dataclass(frozen=True)
class ValidatedRange:
    """How far a fit was validated: up to `most_per_s` requests a second, and `most_utilisation` of the servers; None: no limit."""

    most_per_s: float | None = None
    most_utilisation: float | None = None

    def beyond(self, rate_per_s: float | None, utilisation: float | None) -> str:
        """What lies outside of it; "" where nothing does."""
        if self.most_per_s is not None and (rate_per_s or 0) > self.most_per_s:
            return f"{rate_per_s:.0f}/s, validated up to {self.most_per_s:g}/s"
        if self.most_utilisation is not None and (utilisation or 0) > self.most_utilisation:
            return f"utilisation {utilisation:.2f}, validated up to {self.most_utilisation:g}"
        return ""


@dataclass(frozen=True)
class DemandEstimate:
    """`demands_s` by class with `covariance`; `above`, `below`: the two sums of the CUSUM; `windows` since the start or the last alarm;
    `alarms`: how many there were."""

    demands_s: Array
    covariance: Array
    above: float = 0.0
    below: float = 0.0
    windows: int = 0
    alarms: int = 0

    @staticmethod
    def start(demands_s: Sequence[float], spread: float = 0.1) -> DemandEstimate:
        """From a fit: its demands (s, > 0), known to the relative standard error `spread`; 1000 for not at all. InputError."""
        found = np.asarray(demands_s, float)
        if found.ndim != 1 or not len(found) or not np.all(np.isfinite(found) & (found > 0)):
            raise InputError(found.tolist(), "demands_s", "give finite demands > 0 in s, one per class")
        return DemandEstimate(found, np.diag((spread * found) ** 2))

    @property
    def error_s(self) -> Array:
        """Standard error of each demand."""
        return np.sqrt(np.diag(self.covariance))

    def status(self, young: int = 5) -> str:
        """`stale` for `young` windows after an alarm; `not identifiable` where a demand is known worse than to 5 %."""
        if self.alarms and self.windows < young:
            return STALE
        known = self.error_s <= MOST_SPREAD * np.abs(self.demands_s)
        return FRESH if known.all() else UNTOLD


def updated(
    now: DemandEstimate, throughput_per_s: Sequence[float], busy: float, window_s: float, *,
    scv: float = 1.0, memory: float = 30.0, slack: float = 0.5, limit: float = LIMIT,
) -> DemandEstimate:  # fmt: skip
    """The estimate after one more window: departures by class (1/s), mean number of busy servers, length (s). `scv` of service times;
    `memory` in windows; `slack` and `limit` of the CUSUM in standard deviations. A window without departures changes nothing."""
    x = np.asarray(throughput_per_s, float)
    if not np.all(np.isfinite(x)) or not np.isfinite(busy) or x.sum() <= 0:
        return now
    noise = max(scv, 1e-3) * float(x @ now.demands_s**2) / window_s
    innovation = busy - float(x @ now.demands_s)
    spread = float(np.sqrt(noise + x @ now.covariance @ x))
    normal = innovation / spread
    above, below = max(0.0, now.above + normal - slack), max(0.0, now.below - normal - slack)
    if max(above, below) > limit:
        return _restarted(now, x, busy, window_s, scv)
    demands, covariance = _step(now.demands_s, now.covariance, x, busy, noise, 1 - 1 / memory)
    return DemandEstimate(demands, covariance, above, below, now.windows + 1, now.alarms)


def _step(demands: Array, covariance: Array, x: Array, busy: float, noise: float, keep: float) -> tuple[Array, Array]:
    """One step of least squares with the factor `keep` for what is older. The covariance stays below that of knowing nothing."""
    gain = covariance @ x / (keep * noise + x @ covariance @ x)
    after = (covariance - np.outer(gain, x @ covariance)) / keep
    after = (after + after.T) / 2
    over = np.sqrt(np.maximum(np.diag(after), 0) / (WIDE * np.maximum(np.abs(demands), 1e-12)) ** 2)
    scale = 1 / np.maximum(over, 1.0)
    return demands + gain * (busy - float(x @ demands)), after * np.outer(scale, scale)


def _restarted(now: DemandEstimate, x: Array, busy: float, window_s: float, scv: float) -> DemandEstimate:
    """After an alarm: what was known counts for nothing, the window that raised it is the first."""
    wide = np.diag((WIDE * np.maximum(np.abs(now.demands_s), 1e-12)) ** 2)
    noise = max(scv, 1e-3) * float(x @ now.demands_s**2) / window_s
    demands, covariance = _step(now.demands_s, wide, x, busy, noise, 1.0)
    return DemandEstimate(demands, covariance, alarms=now.alarms + 1)
