"""Quantiles of the response time of the two-class model, variant `priority`: by its first two moments, approximately.

Source: moments of M/G/1 and of busy periods, Kleinrock, Queueing Systems vol. 1 (1975), pp. 201 and 215-216; the rest is ours.

    letters here: l = `per_core`, X = interrupt and client work, A = page work, G = X + B A, as in `two_class`

A request that stays: the work W = V + X + A that is before it when it comes is done in a busy period of the interrupts begun by W:
mean E[W]/(1 - rho_h), variance Var[W]/(1 - rho_h)^2 + l E[X^2] E[W]/(1 - rho_h)^3, and E[V^2] = 2 V^2 + l E[G^3]/(3 (1 - rho)).
One that leaves: M/G/1 among the interrupts, then the trailing core, where it waits with probability rho, exponentially. Each sum is
taken as gamma with these moments (exact where pages are exponential and there are no interrupts), their mixture is inverted.
Limits: work is taken as gamma with its mean and scv; stages of a request that leaves as independent. Approximate.
"""

from __future__ import annotations

import numpy as np

from sojourn.solve.single.station_arrays import quantile
from sojourn.solve.two_class_equations import Array, TwoClassLoad, behind_time


def response_quantile(x: TwoClassLoad, q: float) -> Array:
    """s at each point, `q` in (0, 1); NaN where a core is saturated."""
    stay, leave = _stay(x), _leave(x)
    share = np.where(x.trailing > 0, x.p, 1.0)
    fixed = x.handoff_s, x.handoff_s + x.crossing_s
    mean = share * (stay[0] + fixed[0]) + np.where(share < 1, (1 - share) * (leave[0] + fixed[1]), 0.0)
    arrays = np.broadcast_arrays(mean, share, *stay, *leave, *fixed)
    flat = [np.ravel(a).astype(float) for a in arrays]
    good = np.isfinite(flat[0])
    found = np.full(len(good), np.nan)
    if good.any():
        first, *rest = (a[good] for a in flat)
        found[good] = quantile(_tail, q, first, *rest)
    return found.reshape(arrays[0].shape)


def _tail(
    t: Array, share: Array, stay: Array, stay2: Array, leave: Array, leave2: Array, fixed: Array, further: Array
) -> Array:
    """P(response > t); means and variances of both kinds of request, and what each is delayed by."""
    away = np.where(share < 1, _gamma_tail(t - further, leave, leave2), 0.0)
    return np.asarray(share * _gamma_tail(t - fixed, stay, stay2) + (1 - share) * away)


def _gamma_tail(t: Array, mean: Array, variance: Array) -> Array:
    from scipy.special import gammaincc  # slow to import

    with np.errstate(divide="ignore", invalid="ignore"):
        shape = mean**2 / variance
        return np.asarray(np.where(t > 0, gammaincc(shape, np.maximum(t, 0.0) * mean / variance), 1.0))


def _moments(mean: Array, scv: Array) -> tuple[Array, Array]:
    """Second and third moment of a gamma."""
    return mean**2 * (1 + scv), mean**3 * (1 + scv) * (1 + 2 * scv)


def _high(x: TwoClassLoad) -> tuple[Array, Array, Array]:
    """Of X, the client's part of which is constant."""
    s2, s3 = _moments(x.interrupt_s, x.interrupt_scv)
    c = x.client_s
    return x.high_s, s2 + 2 * x.interrupt_s * c + c**2, s3 + 3 * s2 * c + 3 * x.interrupt_s * c**2 + c**3


def _stay(x: TwoClassLoad) -> tuple[Array, Array]:
    """Mean and variance for a request whose page stays."""
    rate, (x1, x2, x3) = x.per_core, _high(x)
    a1, (a2, a3) = x.page_s, _moments(x.page_s, x.page_scv)
    g1, g2 = x1 + x.p * a1, x2 + x.p * (2 * x1 * a1 + a2)
    g3 = x3 + x.p * (3 * x2 * a1 + 3 * x1 * a2 + a3)
    with np.errstate(divide="ignore", invalid="ignore"):
        idle, free = np.where(rate * g1 < 1, 1 - rate * g1, np.nan), np.where(rate * x1 < 1, 1 - rate * x1, np.nan)
        v1 = rate * g2 / (2 * idle)
        work = v1 + x1 + a1
        spread = v1**2 + rate * g3 / (3 * idle) + x2 - x1**2 + a2 - a1**2
        return work / free, spread / free**2 + rate * x2 * work / free**3


def _leave(x: TwoClassLoad) -> tuple[Array, Array]:
    """Mean and variance for a request whose page goes to another core."""
    rate, (x1, x2, x3) = x.per_core, _high(x)
    with np.errstate(divide="ignore", invalid="ignore"):
        free = np.where(rate * x1 < 1, 1 - rate * x1, np.nan)
        first = rate * x2 / (2 * free)
        variance = first**2 + rate * x3 / (3 * free) + x2 - x1**2
        behind = behind_time(x, rate * x1, x2 / np.where(x1 > 0, x1, 1.0) ** 2 - 1)
        behind = np.where(np.isfinite(behind), behind, np.nan)
        wait = behind - x.page_s
        busy = x.rate * (1 - x.p) / np.where(x.trailing > 0, x.trailing, 1.0) * x.page_s
        waits = np.where(wait > 0, 2 * wait**2 / np.where(busy > 0, busy, 1.0) - wait**2, 0.0)
    return first + x1 + behind, variance + np.maximum(waits, 0.0) + x.page_scv * x.page_s**2
