"""The time until a Markov chain is absorbed: distribution, quantiles, moments, sums.

Source: M. F. Neuts, Matrix-Geometric Solutions in Stochastic Models (1981), ch. 2; its distribution function: `uniformised`; its
moments and the probability that it ends at all: `solve.markov.absorption`.

    source     here
    alpha, T   start, among (from row to column, without the diagonal), exit and lost: rates out of each phase
    T0         exit
    L          events_per_s, above the rate out of any phase, so that what is left does not alternate

Whether it always ends is a question of which rates are above 0, and is answered from these, not from a number near 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.optimize import brentq

from sojourn.errors import MethodRefused, SourceRefused
from sojourn.model.routes import comes_to
from sojourn.query.sources.uniformised import AbsorptionByEvents, absorbed_by_event
from sojourn.query.values import Array, Estimate, Span
from sojourn.solve.markov.absorption import AbsorptionSolver

MOST_PHASES = 20_000
SURE = 1e-9


@dataclass(eq=False)
class PhaseLaw:
    """`start` (n,), `at_once` (it takes no time) and `never` (it does not end) add up to 1. Each phase comes to an exit: `essential`."""

    start: Array
    among: sparse.csr_array  # 1/s, n x n
    exit: Array  # 1/s
    lost: Array  # 1/s, to where it never ends
    name: str
    at_once: float = 0.0
    never: float = 0.0

    @cached_property
    def out(self) -> Array:
        """1/s, all that leaves a phase."""
        return np.asarray(self.among.sum(axis=1)).ravel() + self.exit + self.lost

    @cached_property
    def events_per_s(self) -> float:
        return 1.25 * float(self.out.max(initial=0.0)) or 1.0

    @cached_property
    def absorbed(self) -> AbsorptionByEvents:
        unit = self.events_per_s
        steps, stay = (self.among / unit).T.tocsr(), 1 - self.out / unit
        end, lost = self.exit / unit, self.lost / unit
        return absorbed_by_event(self.start, steps, stay, end, lost, self.at_once, self._events, self.name)

    def _events(self) -> float:
        return self.events_per_s * float(self.start @ self._elimination.solve(np.ones(len(self.start))))

    def cdf(self, t: float) -> float:
        """P(X <= t), t in s."""
        if t < 0:
            return 0.0
        return self.ends if math.isinf(t) else min(self.absorbed.cdf(self.events_per_s * t), self.ends)

    @cached_property
    def always(self) -> bool:
        """Whether it always ends."""
        return self.never == 0 and not self.lost.any()

    @cached_property
    def ends(self) -> float:
        """The probability that it ends at all."""
        return 1.0 if self.always else self.at_once + float(self.start @ self._elimination.solve(self.exit))

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
        if not self.always:
            raise SourceRefused(
                f"moment of {self.name}: it happens only with a probability below 1",
                "analytic source",
                "ask for a probability",
            )
        x = np.ones(len(self.start))
        for _ in range(order):
            x = self._elimination.solve(x)
        return Estimate.exact(math.factorial(order) * float(self.start @ x))

    def deviation(self) -> Estimate:
        first, second = self.moment(1).value, self.moment(2).value
        return Estimate.exact(math.sqrt(max(second - first**2, 0.0)))

    @cached_property
    def _elimination(self) -> AbsorptionSolver:
        try:
            return AbsorptionSolver(self.among, self.exit + self.lost)
        except MethodRefused as error:
            raise SourceRefused(error.value, "analytic source", error.remedy) from None


def essential(law: PhaseLaw) -> PhaseLaw:
    """The same law without phases that are never come to, or from which it never ends: rates into the latter are lost."""
    ends = comes_to(law.among.T.tocsr(), law.exit > 0)
    keep = ends & comes_to(law.among, law.start > 0)
    if keep.all():
        return law
    lost = law.lost + law.among @ (~ends).astype(float)
    never = law.never + float(law.start[~ends].sum())
    among = law.among[keep][:, keep]
    return PhaseLaw(law.start[keep], among, law.exit[keep], lost[keep], law.name, law.at_once, never)


def phase_law(start: Array, rates: Array, name: str, at_once: float = 0.0) -> PhaseLaw:
    """A small one: `rates` (n, n + 1) from each phase to each, the last column out."""
    return PhaseLaw(
        np.asarray(start, float), sparse.csr_array(rates[:, :-1]), rates[:, -1], 0 * rates[:, -1], name, at_once
    )


def summed(a: PhaseLaw, b: PhaseLaw) -> PhaseLaw:
    """The sum of two that are independent: where the first ends, the second begins."""
    if len(a.start) + len(b.start) > MOST_PHASES or len(a.start) * len(b.start) > MOST_PHASES**1.5:
        raise SourceRefused(f"convolve of {a.name} and {b.name}: too many phases", "analytic source", "simulate")
    across = sparse.coo_array(np.outer(a.exit, b.start))
    among = sparse.block_array([[a.among, across], [None, b.among]], format="csr")
    start = np.concatenate([a.start, a.at_once * b.start])
    exit_ = np.concatenate([a.exit * b.at_once, b.exit])
    lost = np.concatenate([a.lost + a.exit * b.never, b.lost])
    never = a.never + a.at_once * b.never
    return essential(PhaseLaw(start, among, exit_, lost, f"{a.name} + {b.name}", a.at_once * b.at_once, never))
