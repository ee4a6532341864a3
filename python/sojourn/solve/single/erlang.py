"""Erlang's B and C: P(an arrival is lost) with m servers and no queue, P(an arrival waits) with m servers and a queue.

Source: A. K. Erlang (1917); R. B. Cooper, Introduction to Queueing Theory, 2nd ed. (1981), ch. 3, eqs. 3.3 and 4.8;
Kleinrock, Queueing Systems vol. 1 (1975), pp. 103-106.

    source   here
    a        offered = arrival rate x mean service time, erlangs
    s, m     servers

Stable: 1/B = 1 + m/a + m(m-1)/a^2 + … + m!/a^m has positive terms only, each the last times (m-k)/a. Where the sum
overflows, B is below 1e-300 and answered as 0. C = B/(1 - rho(1 - B)). Limits: relative error about m^(1/2) x 1e-16.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sojourn.model.network_arrays import Array

STRETCH = 100_000  # servers
CELLS = 4_000_000  # of the table of terms that is made at a time


def erlang_b(offered: ArrayLike, servers: ArrayLike) -> Array:
    """P(all servers busy) for `offered` >= 0 erlangs and `servers` >= 0 without a queue; broadcasts."""
    a, m = np.broadcast_arrays(np.asarray(offered, float), np.asarray(servers, float))
    flat_a, flat_m = a.ravel(), m.ravel()
    blocked = np.ones_like(flat_a)
    step = max(1, int(CELLS / (min(flat_m.max(initial=0), STRETCH) + 1)))
    for low in range(0, len(flat_a), step):
        part = slice(low, low + step)
        blocked[part] = _blocked(flat_a[part], flat_m[part])
    return blocked.reshape(a.shape)


def _blocked(a: Array, m: Array) -> Array:
    """The terms in stretches, until all that come are too small, or the sum is beyond all numbers."""
    most, width = int(m.max(initial=0)), max(STRETCH, CELLS // max(len(m), 1))
    inverse, last = np.ones(len(a)), np.ones((len(a), 1))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for first in range(0, most, width):
            left = np.maximum(m[:, None] - np.arange(first, min(first + width, most)), 0.0)
            terms = last * np.cumprod(np.where(left > 0, left / a[:, None], 0.0), axis=1)
            inverse = inverse + np.where(np.isnan(terms), 0.0, terms).sum(axis=1)
            last = terms[:, -1:]
            falls = left[:, -1] < a
            if np.all(np.isinf(inverse) | (falls & (last[:, 0] * left[:, -1] <= 1e-18 * inverse)) | ~(a > 0)):
                break
    return np.where(a > 0, 1 / inverse, np.where(m > 0, 0.0, 1.0))


def erlang_c(offered: ArrayLike, servers: ArrayLike) -> Array:
    """P(an arrival waits) for `offered` >= 0 erlangs and `servers` >= 1; 1 at and above saturation; broadcasts."""
    a, m = np.broadcast_arrays(np.asarray(offered, float), np.asarray(servers, float))
    blocked, rho = erlang_b(a, m), a / m
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(rho < 1, blocked / (1 - rho * (1 - blocked)), 1.0)
