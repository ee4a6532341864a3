"""Expected maximum of M loads: how much more than the mean the busiest of M servers, disks or shards has to carry.

Source: David, Nagaraja, Order Statistics, 3rd ed. (2003), eq. 3.1.10': E[max] = integral over x > 0 of 1 - F^M, less the
integral over x < 0 of F^M. The bound sigma sqrt(2 ln M) that is often quoted is too high by 62 % at M = 4.

    source   here
    n, M     loads
    N        items, dealt to the M loads; each has a mean and a deviation (sigma)

Fixed assignment: each load has N/M items, so mean N m/M and deviation sigma sqrt(N/M). Random assignment (each item to
any load with the same probability) adds the spread of the counts: max = N m/M + e_M sqrt(N (sigma^2 + m^2)/M), where e_M is
the expected maximum of M standard normals; the loads' covariance -N m^2/M^2 cancels the same term of their variance.
Stable: 1 - F^M = -expm1(M log1p(-tail)). Limits: sums are taken as normal, good for N/M above about 10.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sojourn.errors import InputError

Array = NDArray[np.float64]
ASSIGNMENTS = ("fixed", "random")


def normal_maximum(loads: ArrayLike) -> Array:
    """e_M: expected maximum of `loads` >= 1 independent standard normal variables; an array as `loads`."""
    from scipy.integrate import quad_vec  # slow to import
    from scipy.special import ndtr

    m = _whole(loads)

    def over(x: float) -> Array:
        return -np.expm1(m * np.log1p(-ndtr(-x))) - ndtr(-x) ** m

    found, _ = quad_vec(over, 0.0, 40.0, epsabs=1e-14, epsrel=1e-13, points=(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0))
    return np.asarray(np.where(m == 1, 0.0, found))


def expected_maximum(cdf: Callable[[float], float], loads: int, low: float, high: float) -> float:
    """E[max] of `loads` independent variables with distribution function `cdf` (a scipy law's `.cdf` fits).

    low, high: where cdf is 0 and 1 to rounding; between them the integral is adaptive.
    """
    from scipy.integrate import quad_vec  # slow to import

    m = int(_whole(loads))
    if not low < high:
        raise InputError((low, high), "low, high", "give low < high")
    # E[max] = high - integral of F^m from low to high
    found, _ = quad_vec(
        lambda x: np.float64(cdf(x)) ** m, low, high, epsabs=1e-13 * (high - low), epsrel=1e-12, limit=2000
    )
    return float(high - found)


def busiest_load(
    items: ArrayLike, loads: ArrayLike, *, mean: ArrayLike = 1.0, deviation: ArrayLike = 0.0, assignment: str = "fixed"
) -> Array:
    """Expected work of the busiest of `loads`, in the unit of `mean`; broadcasts.

    items >= 0 of the given mean and deviation; `assignment`: fixed (N/M each) or random (hashing).
    """
    if assignment not in ASSIGNMENTS:
        raise InputError(repr(assignment), "assignment", f"use one of {', '.join(ASSIGNMENTS)}")
    n, m = np.asarray(items, float), _whole(loads)
    mean, sigma = np.asarray(mean, float), np.asarray(deviation, float)
    spread = sigma**2 + (mean**2 if assignment == "random" else 0.0)
    return np.asarray(n * mean / m + normal_maximum(m) * np.sqrt(n * spread / m))


def imbalance(
    items: ArrayLike, loads: ArrayLike, *, mean: ArrayLike = 1.0, deviation: ArrayLike = 0.0, assignment: str = "fixed"
) -> Array:
    """How much more than the mean load the busiest has, relative: 0.13 is 13 %."""
    busiest = busiest_load(items, loads, mean=mean, deviation=deviation, assignment=assignment)
    even = np.asarray(items, float) * np.asarray(mean, float) / np.asarray(loads, float)
    return np.asarray(busiest / even - 1)


def _whole(loads: ArrayLike) -> Array:
    m = np.asarray(loads, float)
    if not (np.all(m >= 1) and np.all(m == np.floor(m))):
        raise InputError(m.tolist(), "loads", "give whole numbers >= 1")
    return m
