"""What formulas need of a service or inter-arrival distribution besides its moments.

Phases (start, rates) of those that are phase-type; P(X > x); E[(X - x)+]; (1 - E[exp(-s X)])/s; nodes and weights of a
quadrature over X; quantiles. x and s are arrays, in s and 1/s.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

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
from sojourn.model.network_arrays import Array
from sojourn.solve.single.station_arrays import quantile

Phases = tuple[Array, Array]
MOST_PHASES = 1000  # a table of all pairs of 1e6 phases takes 8 TB
TERMS = 20  # of a series at 1: the rest is below 1e-18


def phases(d: Distribution) -> Phases | None:
    """Start probabilities and the generator among phases (1/s); None where `d` is not of phase type, or has very many phases."""
    if isinstance(d, Exponential):
        return np.ones(1), np.array([[-1 / d.mean]])
    if isinstance(d, Erlang) and d.shape <= MOST_PHASES:
        rate = d.shape / d.mean
        return np.eye(d.shape)[0], rate * (np.eye(d.shape, k=1) - np.eye(d.shape))
    if isinstance(d, Hyperexponential):
        return np.array(d.probabilities, float), np.diag(-1 / np.array(d.means, float))
    if isinstance(d, PhaseType):
        return np.array(d.start, float), np.array(d.rates, float)
    return None


def spread(forms: Sequence[Phases]) -> float:
    """How many times faster the fastest phase is than the slowest: as many digits are lost by powers of `flow`."""
    rates = np.concatenate([np.abs(np.diag(t)) for _, t in forms])
    return float(rates.max() / rates.min())


def tail(d: Distribution, x: Array) -> Array:
    """P(X > x)."""
    from scipy.special import gammaincc, ndtr  # slow to import

    x = np.maximum(np.asarray(x, float), 0.0)
    if isinstance(d, Deterministic):
        return (x < d.mean).astype(float)
    if isinstance(d, Uniform):
        return np.clip((d.high - x) / (d.high - d.low), 0, 1)
    if isinstance(d, Empirical):
        values = np.sort(d.values)
        return 1 - np.searchsorted(values, x, side="right") / len(values)
    if isinstance(d, Lognormal):
        middle, spread = _normal(d)
        with np.errstate(divide="ignore"):
            return ndtr((middle - np.log(x)) / spread)
    if isinstance(d, Weibull):
        with np.errstate(over="ignore"):
            return np.exp(-((x / _scale(d)) ** d.shape))
    if isinstance(d, Pareto):
        low = _low(d)
        return (low / np.maximum(x, low)) ** d.shape
    if isinstance(d, Erlang):
        return gammaincc(d.shape, d.shape * x / d.mean)
    if isinstance(d, Exponential | Hyperexponential):
        return np.asarray(sum(p * np.exp(-x / mean) for p, mean in _branches(d)))
    return _phase(d, x, mean=False)


def excess(d: Distribution, x: Array) -> Array:
    """E[(X - x)+], s."""
    from scipy.special import gamma, gammaincc, ndtr  # slow to import

    x = np.asarray(x, float)
    if isinstance(d, Deterministic):
        return np.maximum(d.mean - x, 0)
    if isinstance(d, Uniform):
        over = np.clip(d.high - np.maximum(x, d.low), 0, None)
        return over**2 / (2 * (d.high - d.low)) + np.maximum(d.low - x, 0)
    if isinstance(d, Empirical):
        values = np.sort(d.values)
        above = np.concatenate([np.cumsum(values[::-1])[::-1], [0.0]])
        k = np.searchsorted(values, x, side="right")
        return (above[k] - (len(values) - k) * x) / len(values)
    if isinstance(d, Lognormal):
        middle, spread = _normal(d)
        with np.errstate(divide="ignore"):
            z = (middle - np.log(np.maximum(x, 0))) / spread
        return d.mean * ndtr(z + spread) - x * ndtr(z)
    if isinstance(d, Weibull):
        with np.errstate(over="ignore"):
            u = (x / _scale(d)) ** d.shape
        return _scale(d) / d.shape * gamma(1 / d.shape) * gammaincc(1 / d.shape, u)
    if isinstance(d, Pareto):
        low, high = _low(d), np.maximum(x, _low(d))
        return high * (low / high) ** d.shape / (d.shape - 1) + np.maximum(low - x, 0)
    if isinstance(d, Erlang):
        u = d.shape * x / d.mean
        return d.mean * gammaincc(d.shape + 1, u) - x * gammaincc(d.shape, u)
    if isinstance(d, Exponential | Hyperexponential):
        return np.asarray(sum(p * mean * np.exp(-x / mean) for p, mean in _branches(d)))
    return _phase(d, x, mean=True)


def transform_tail(d: Distribution, s: float) -> float:
    """(1 - E[exp(-s X)])/s for real s >= 0, s; the mean at s = 0; no cancellation at small s."""
    from scipy.special import exprel  # slow to import

    if isinstance(d, Erlang):
        return -math.expm1(-d.shape * math.log1p(s * d.mean / d.shape)) / s if s > 0 else d.mean
    form = phases(d)
    if form:
        start, rates = form
        return float(start @ np.linalg.solve(s * np.eye(len(start)) - rates, np.ones(len(start))))
    if isinstance(d, Uniform) and (wide := s * (d.high - d.low)) > 1:  # few nodes would not see where exp(-s x) lives
        missing = -math.expm1(-s * d.low) + math.exp(-s * d.low) * (1 - float(exprel(-wide)))
        return missing / s
    x, w = nodes(d)
    return float((w * x * exprel(-s * x)).sum())


def transform(d: Distribution, s: float) -> float:
    """E[exp(-s X)] for real s >= 0, by positive terms: small ones keep their digits."""
    from scipy.special import exprel  # slow to import

    if isinstance(d, Erlang):
        return math.exp(-d.shape * math.log1p(s * d.mean / d.shape))
    form = phases(d)
    if form:
        start, rates = form
        return float(start @ np.linalg.solve(s * np.eye(len(start)) - rates, -rates.sum(axis=1)))
    if isinstance(d, Uniform):
        return math.exp(-s * d.low) * float(exprel(-s * (d.high - d.low)))
    x, w = nodes(d)
    return float(w @ np.exp(-s * x))


def nodes(d: Distribution) -> tuple[Array, Array]:
    """Values x > 0 and weights w with sum w f(x) = E[f(X)], for those that are not of phase type."""
    if isinstance(d, Deterministic):
        return np.array([d.mean]), np.ones(1)
    if isinstance(d, Empirical):
        values, count = np.unique(d.values, return_counts=True)
        return values, count / len(d.values)
    if isinstance(d, Uniform):
        u, w = _panels(0.0, 1.0, 8)
        return d.low + (d.high - d.low) * u, w
    if isinstance(d, Lognormal):
        middle, spread = _normal(d)
        z, w = _panels(-9.0, 9.0 + spread, 80)
        return np.exp(middle + spread * z), w * np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    if isinstance(d, Erlang):  # of many phases, in standard deviations from the mean
        z, w = _panels(-min(9.0, 0.99 * math.sqrt(d.shape)), 12.0, 20)
        u = z / math.sqrt(d.shape)
        w = w * np.exp((d.shape - 1) * np.log1p(u) - d.shape * u)
        return d.mean * (1 + u), w / w.sum()
    y, w = _panels(-40.0, 5.0, 160)  # y = log of a standard exponential
    e = np.exp(y)
    w = w * np.exp(y - e)
    if isinstance(d, Weibull):
        return _scale(d) * e ** (1 / d.shape), w
    if isinstance(d, Pareto):
        return _low(d) * np.exp(e / d.shape), w
    raise TypeError(d)


def quantile_s(d: Distribution, q: float) -> float:
    """x with P(X > x) = 1 - q, s; q in (0, 1)."""
    from scipy.special import ndtri  # slow to import

    if isinstance(d, Deterministic):
        return d.mean
    if isinstance(d, Empirical):
        return float(np.quantile(d.values, q, method="inverted_cdf"))
    if isinstance(d, Lognormal):
        middle, spread = _normal(d)
        return math.exp(middle + spread * float(ndtri(q)))
    if isinstance(d, Exponential):
        return -d.mean * math.log1p(-q)
    return float(quantile(lambda x: tail(d, x), q, np.array([d.first]))[0])


def _branches(d: Exponential | Hyperexponential) -> list[tuple[float, float]]:
    """Probability and mean of each."""
    return list(zip(d.probabilities, d.means, strict=True)) if isinstance(d, Hyperexponential) else [(1.0, d.mean)]


def _phase(d: Distribution, x: Array, mean: bool) -> Array:
    """P(X > x), or E[(X - x)+], of a phase-type `d`: steps to equal marks, then what is left, as a series."""
    form = phases(d)
    assert form is not None
    start, rates = form
    value = np.linalg.solve(-rates, np.ones(len(start))) if mean else np.ones(len(start))
    flat = np.atleast_1d(x).ravel()
    far = float(flat.max(initial=0.0))
    mark = max(far, 1e-300) / max(256, math.ceil(far * np.abs(rates).max() / 4))
    laws, step = [start], flow(rates, np.array([mark]))[0]
    while len(laws) * mark <= far and laws[-1].sum() > 1e-280:
        laws.append(laws[-1] @ step)
    whole = np.minimum(flat / mark, len(laws) - 1).astype(int)
    left, term = np.minimum(flat - whole * mark, mark), value
    found, table = np.zeros(len(flat)), np.stack(laws)
    for k in range(60):
        part = (table @ term)[whole] * left**k / math.factorial(k)
        found += part
        if np.abs(part).max(initial=0.0) < 1e-17 * abs(value).max():
            break
        term = rates @ term
    return found.reshape(np.shape(x))


def flow(rates: Array, x: Array) -> Array:
    """exp(rates x) for generators (off the diagonal >= 0) and x >= 0: points x k x k, by additions only.

    exp(-y + yP) with y = x max|rates| is a Poisson mixture of powers of P >= 0 for y/2^s <= 1, then squared s times.
    """
    k = len(rates)
    most = max(float(np.abs(np.diag(rates)).max()), 1e-300)
    y = np.atleast_1d(x) * most
    halvings = max(0, math.ceil(math.log2(max(float(y.max(initial=0.0)), 1.0))))
    y = (y / 2.0**halvings)[:, None]
    step, powers = np.eye(k) + rates / most, [np.eye(k)]
    for n in range(1, TERMS):
        powers.append(powers[-1] @ step / n)
    found = (np.exp(-y) * y ** np.arange(TERMS)) @ np.stack(powers).reshape(TERMS, k * k)
    found = found.reshape(-1, k, k)
    for _ in range(halvings):
        found = found @ found
    return found


def _panels(low: float, high: float, count: int) -> tuple[Array, Array]:
    """Gauss-Legendre with 12 nodes on each of `count` equal panels."""
    from scipy.special import roots_legendre  # slow to import

    z, w = roots_legendre(12)
    edge = np.linspace(low, high, count + 1)
    half = (edge[1:] - edge[:-1])[:, None] / 2
    return (edge[:-1, None] + half * (1 + z)).ravel(), (half * w).ravel()


def _normal(d: Lognormal) -> tuple[float, float]:
    """Mean and standard deviation of log X."""
    variance = math.log1p(d.scv)
    return math.log(d.mean) - variance / 2, math.sqrt(variance)


def _scale(d: Weibull) -> float:
    return d.mean / math.gamma(1 + 1 / d.shape)


def _low(d: Pareto) -> float:
    return d.mean * (d.shape - 1) / d.shape
