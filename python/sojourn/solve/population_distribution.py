"""Numbers present at a station of an open network with a product form, at P loads at once.

A station that completes s(n) times as fast with n present as with one has p(n) proportional to a^n/(s(1) … s(n)); from
its full speed on this is geometric, so all sums are closed. Source: G. Bolch et al., Queueing Networks and Markov
Chains, 2nd ed. (2006), 7.3.4 (BCMP), Table 7.5, and 6.5 (M/M/m). In logarithms: with hundreds of servers neither a^n
nor the factorials stay in range; only positive terms are added.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sojourn.model.network_arrays import Array


@dataclass(frozen=True)
class PopulationDistribution:
    """`log_weight`: P x (m+1), log p(0) … log p(m); `ratio`: P, p(n+1)/p(n) from m on (0 for a delay)."""

    load: Array
    log_weight: Array
    ratio: Array
    speed: Array  # m

    @staticmethod
    def of(load: Array, speed: Array) -> PopulationDistribution:
        """`load` P (mean busy servers asked for), 0 <= load < speed[-1]."""
        m = len(speed)
        with np.errstate(divide="ignore"):
            steps = np.log(load)[:, None] - np.log(speed)
        weights = np.concatenate([np.zeros((len(load), 1)), np.cumsum(steps, axis=1)], axis=1)
        ratio = load / speed[-1]
        last = weights[:, m:] - np.log1p(-ratio)[:, None]
        high = np.maximum(weights.max(axis=1, keepdims=True), last)
        total = np.exp(weights[:, :m] - high).sum(axis=1, keepdims=True) + np.exp(last - high)
        return PopulationDistribution(load, weights - high - np.log(total), ratio, np.asarray(speed, float))

    @property
    def mean(self) -> Array:
        """P, mean number present."""
        m, r = len(self.speed), self.ratio
        p = np.exp(self.log_weight)
        return np.asarray(p[:, :m] @ np.arange(m) + p[:, m] * (m / (1 - r) + r / (1 - r) ** 2))

    @property
    def variance(self) -> Array:
        """P, about the mean: sums of squares of differences, so that nothing cancels."""
        m, r, mean = len(self.speed), self.ratio, self.mean
        p = np.exp(self.log_weight)
        low = (p[:, :m] * (np.arange(m) - mean[:, None]) ** 2).sum(axis=1)
        off = m - mean + r / (1 - r)
        return np.asarray(low + p[:, m] / (1 - r) * (off**2 + r / (1 - r) ** 2))

    @property
    def beyond(self) -> Array:
        """P, probability that m or more are present: of waiting, where there are m servers."""
        return np.asarray(np.exp(self.log_weight[:, -1]) / (1 - self.ratio))

    @property
    def stretch(self) -> Array:
        """P, mean wait by mean service at a station of m servers: beyond/(m - load)."""
        return np.asarray(self.beyond / (self.speed[-1] - self.load))

    @property
    def busy(self) -> Array:
        """P, probability that somebody is present."""
        return np.asarray(-np.expm1(self.log_weight[:, 0]))

    def probabilities(self, most: int) -> Array:
        """P x (most + 1)."""
        m = len(self.speed)
        n = np.arange(most + 1)
        return np.asarray(np.exp(self.log_weight[:, np.minimum(n, m)]) * self.ratio[:, None] ** np.maximum(n - m, 0))


def poisson(load: Array, most: int) -> Array:
    """P x (most + 1), numbers present at a delay."""
    from scipy.special import gammaln  # slow to import

    n = np.arange(most + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(n == 0, 0.0, n * np.log(load)[:, None])
    return np.asarray(np.exp(logs - load[:, None] - gammaln(n + 1)))
