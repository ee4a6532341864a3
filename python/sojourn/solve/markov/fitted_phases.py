"""Phases for a law that has none: a phase-type law of the same first moments.

Source: H. C. Tijms, A First Course in Stochastic Models (2003), Appendix B, pp. 441-446 (mixtures of Erlangs for scv below
1, hyperexponentials of two and of three moments for more).

| letters | here          |
|---------|---------------|
| c²      | `scv`         |
| k, p    | `count`, `less`: with probability p one phase of the k is left out |
"""

from __future__ import annotations

import math

import numpy as np

from sojourn.model.distribution_registry import Distribution, Erlang, Exponential, Hyperexponential, PhaseType

MOST = 8  # phases; laws that vary less get Erlang's law of as many


def fitted(law: Distribution) -> Distribution:
    """Of the same mean and scv (1/8 at least), and of the same third moment where scv > 1 and two phases have it."""
    scv = law.scv
    if scv <= 1 / MOST:
        return Erlang(law.first, MOST)
    if abs(scv - 1) < 1e-9:
        return Exponential(law.first)
    return _erlangs(law.first, scv) if scv < 1 else _hyperexponential(law)


def _erlangs(mean: float, scv: float) -> PhaseType:
    count = math.ceil(1 / scv - 1e-9)
    less = (count * scv - math.sqrt(max(count * (1 + scv) - count**2 * scv, 0.0))) / (1 + scv)
    rate = (count - less) / mean
    start = np.zeros(count)
    start[:2] = 1 - less, less
    rates = rate * (np.eye(count, k=1) - np.eye(count))
    return PhaseType(tuple(start.tolist()), tuple(tuple(row) for row in rates.tolist()))


def _hyperexponential(law: Distribution) -> Hyperexponential:
    m1, m2, m3 = law.first, law.second, law.third
    above = m2 - 2 * m1**2
    more = m1 * m3 - 1.5 * m2**2
    if not (np.isfinite(m3) and more > 1e-9 * m2**2):
        p = (1 + math.sqrt((law.scv - 1) / (law.scv + 1))) / 2
        return Hyperexponential((p, 1 - p), (m1 / (2 * p), m1 / (2 - 2 * p)))
    # means are the roots of x² - (sum) x + (product), from m_k = k! (p a^k + (1 - p) b^k)
    total = (m3 / 6 - m1 * m2 / 2) / (m2 / 2 - m1**2)
    product = m1 * total - m2 / 2
    root = math.sqrt(total**2 / 4 - product)
    low, high = product / (total / 2 + root), total / 2 + root
    p = (high - m1) / (high - low)
    assert above > 0, "scv is above 1"
    return Hyperexponential((p, 1 - p), (low, high))
