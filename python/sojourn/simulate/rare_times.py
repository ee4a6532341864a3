"""Moments of times that rare ones make: which exist, and how much of one lies where a run of a given length hardly comes.

    p        order of the moment, above 0
    count    times drawn in a run; `SEEN` of them are expected beyond the (1 - SEEN/count) quantile
    share    E[X^p; X beyond it] / E[X^p]

With u = SEEN/count: Pareto u^((shape - p)/shape); lognormal Phi(Phi^-1(u) + p sigma); Weibull Q(1 + p/shape, -ln u), Q the
regularised upper incomplete gamma function: E[X^p; X > x] with x where P(X > x) = u, integrated by hand. Phase type: the sum of
p!/(p - i)! x^(p - i) a exp(Tx) (-T)^-i 1 over i = 0 … p, by parts. Exponential, Erlang, uniform and constant times have no such
part to speak of in a run that is worth thousands of independent observations, and answer 0.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from sojourn.model.distribution_registry import (
    Deterministic,
    Distribution,
    Empirical,
    Erlang,
    Exponential,
    Hyperexponential,
    Lognormal,
    Pareto,
    PhaseType,
    Uniform,
    Weibull,
)

SEEN = 1.0  # fewer are expected: the longest times of a run lie about there
LIGHT = (Deterministic, Erlang, Exponential, Uniform)


def exists(d: Distribution, p: float) -> bool:
    """Whether E[X^p] is finite."""
    return not isinstance(d, Pareto) or d.shape > p


def rare_share(d: Distribution, p: float, count: float) -> float:
    """The share of E[X^p] that lies beyond what `count` times show; 1 where E[X^p] is infinite or nothing was drawn."""
    from scipy.special import gammaincc, ndtr, ndtri

    u = SEEN / max(count, SEEN)
    if isinstance(d, LIGHT):
        return 0.0
    if u >= 1 or not exists(d, p):
        return 1.0
    if isinstance(d, Pareto):
        return float(u ** ((d.shape - p) / d.shape))
    if isinstance(d, Lognormal):
        return float(ndtr(ndtri(u) + p * math.sqrt(math.log1p(d.scv))))
    if isinstance(d, Weibull):
        return float(gammaincc(1 + p / d.shape, -math.log(u)))
    if isinstance(d, Empirical):
        return _of_values(d, p, u)
    return _of_phases(d, math.ceil(p), u)


def _of_values(d: Empirical, p: float, u: float) -> float:
    powers = np.sort(np.asarray(d.values, float)) ** p
    return float(powers[len(powers) - int(u * len(powers)) :].sum() / powers.sum())


@lru_cache(maxsize=4096)
def _of_phases(d: Distribution, p: int, u: float) -> float:
    from sojourn.solve.single.service_transforms import phases

    assert isinstance(d, Hyperexponential | PhaseType)
    form = phases(d)
    assert form is not None
    start, rates = form
    inverse = np.linalg.inv(-rates)
    values = [np.ones(len(start))]
    for _ in range(p):
        values.append(inverse @ values[-1])
    x = _quantile(start, rates, u, d.first)
    left = start @ _exponential(rates, x)
    terms = [math.factorial(p) / math.factorial(p - i) * x ** (p - i) * (left @ values[i]) for i in range(p + 1)]
    return float(sum(terms) / (math.factorial(p) * (start @ values[p])))


def _quantile(start: np.ndarray, rates: np.ndarray, u: float, mean: float) -> float:
    """x with P(X > x) = u, by halving."""
    low, high = 0.0, mean
    while float((start @ _exponential(rates, high)).sum()) > u:
        low, high = high, 2 * high
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if float((start @ _exponential(rates, middle)).sum()) > u else (low, middle)
    return high


def _exponential(rates: np.ndarray, x: float) -> np.ndarray:
    from sojourn.solve.single.service_transforms import flow

    found: np.ndarray = flow(rates, np.array([x]))[0]
    return found
