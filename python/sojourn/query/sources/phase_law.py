"""The time until a Markov chain is absorbed: distribution, quantiles, moments, sums.

Source: M. F. Neuts, Matrix-Geometric Solutions in Stochastic Models (1981), ch. 2; uniformisation: A. Jensen, Skand. Aktuarietidskr.
36 (1953), pp. 87-91; P(X <= t) = sum over k of the Poisson probability of k events in t times the probability of being absorbed by then.

    source     here
    alpha, T   start, among (from row to column, without the diagonal), out: rates out of each phase
    T0         exit
    L          events_per_s, at least the rate out of any phase

Stable: probabilities times probabilities, nothing is subtracted; Poisson weights in logarithms (scipy), so that L t may be large.
Limits: `STEPS` events; a chain that is nearly never absorbed is refused for its quantiles, its moments are linear equations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.optimize import brentq
from scipy.sparse.linalg import spsolve
from scipy.stats import poisson

from sojourn.errors import SourceRefused
from sojourn.query.values import Array, Estimate, Span

STEPS = 300_000
LEFT = 1e-17  # probability that is still on its way, when it is given up
MOST_PHASES = 20_000
SURE = 1e-9


@dataclass(eq=False)
class PhaseLaw:
    """`start` (n,) may add up to less than 1: the rest takes no time (`at_once`), or never ends."""

    start: Array
    among: sparse.csr_array  # 1/s, n x n
    exit: Array  # 1/s
    out: Array  # 1/s, all that leaves, `exit` included
    name: str
    at_once: float = 0.0

    @cached_property
    def events_per_s(self) -> float:
        return float(self.out.max(initial=0.0)) or 1.0

    @cached_property
    def absorbed(self) -> Array:
        """Probability of being absorbed by event 0, 1, 2 …, until next to nothing is on its way."""
        steps = (self.among / self.events_per_s).T.tocsr()
        stay, end = 1 - self.out / self.events_per_s, self.exit / self.events_per_s
        law, found = self.start, [self.at_once]
        while law.sum() > LEFT:
            if len(found) > STEPS:
                said = f"{self.name}: it takes more than {STEPS} events of the chain"
                raise SourceRefused(said, "analytic source", "ask for its mean, or simulate")
            found.append(found[-1] + float(law @ end))
            law = law * stay + steps @ law
        return np.array(found)

    def cdf(self, t: float) -> float:
        """P(X <= t), t in s."""
        if t < 0:
            return 0.0
        if math.isinf(t):
            return self.ends
        mean = self.events_per_s * t
        spread = 12 * math.sqrt(mean) + 60
        k = np.arange(max(0, math.floor(mean - spread)), math.ceil(mean + spread) + 1)
        by = self.absorbed[np.minimum(k, len(self.absorbed) - 1)]
        weights = poisson.pmf(k, mean)  # of large means good to 1e-9 only, but alike: divided by their sum
        return float(weights @ by / weights.sum())

    @cached_property
    def ends(self) -> float:
        """The probability that it ends at all."""
        return self.at_once + float(self.start @ self._solved(self.exit))

    def probability(self, span: Span) -> Estimate:
        """The ends of the range have no probability of their own, but 0 may."""
        low = self.cdf(span.low.value) if span.low.value > 0 or not span.closed[0] else 0.0
        return Estimate.exact(max(self.cdf(span.high.value) - low, 0.0))

    def quantile(self, q: float) -> Estimate:
        if q <= self.at_once:
            return Estimate.exact(0.0)
        if q >= self.ends - SURE:
            raise SourceRefused(
                f"quantile {q:g} of {self.name}", "analytic source", f"it ends with probability {self.ends:.3g}"
            )
        high = 1 / self.events_per_s
        while self.cdf(high) < q:
            high *= 2
        return Estimate.exact(float(brentq(lambda t: self.cdf(t) - q, 0.0, high, xtol=1e-16, rtol=1e-13)))

    def moment(self, order: int) -> Estimate:
        if self.ends < 1 - SURE:
            raise SourceRefused(
                f"moment of {self.name}: it does not always happen", "analytic source", "ask for a probability"
            )
        x = np.ones(len(self.start))
        for _ in range(order):
            x = self._solved(x)
        return Estimate.exact(math.factorial(order) * float(self.start @ x))

    def deviation(self) -> Estimate:
        first, second = self.moment(1).value, self.moment(2).value
        return Estimate.exact(math.sqrt(max(second - first**2, 0.0)))

    def _solved(self, x: Array) -> Array:
        """(-T)^-1 x"""
        if not len(self.start):
            return x
        return np.atleast_1d(spsolve((sparse.diags_array(self.out) - self.among).tocsc(), x))


def phase_law(start: Array, rates: Array, name: str, at_once: float = 0.0) -> PhaseLaw:
    """A small one: `rates` (n, n + 1) from each phase to each, the last column out."""
    among = sparse.csr_array(rates[:, :-1])
    return PhaseLaw(np.asarray(start, float), among, rates[:, -1], rates.sum(axis=1), name, at_once)


def summed(a: PhaseLaw, b: PhaseLaw) -> PhaseLaw:
    """The sum of two that are independent: where the first ends, the second begins."""
    if len(a.start) + len(b.start) > MOST_PHASES or len(a.start) * len(b.start) > MOST_PHASES**1.5:
        raise SourceRefused(f"convolve of {a.name} and {b.name}: too many phases", "analytic source", "simulate")
    across = sparse.coo_array(np.outer(a.exit, b.start))
    among = sparse.block_array([[a.among, across], [None, b.among]], format="csr")
    start = np.concatenate([a.start, a.at_once * b.start])
    exit_ = np.concatenate([a.exit * b.at_once, b.exit])
    return PhaseLaw(start, among, exit_, np.concatenate([a.out, b.out]), f"{a.name} + {b.name}", a.at_once * b.at_once)
