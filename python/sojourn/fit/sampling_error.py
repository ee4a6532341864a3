"""How uncertain the mean response time of so many requests is, by a model: more than of as many independent ones, as queues remember.

    (sqrt(2 (1 + c²)) g + c q)/sqrt(n)    relative standard error of the mean of n requests, Poisson arrivals
    g   d ln R/d ln rate, R the mean      c²  squared coefficient of variation of the work at the busiest station
    q   share of R that is no pure delay

For M/M/1 it is exact, (1 + rho)/(1 - rho) (D. J. Daley, The Serial Correlation Coefficients of Waiting Times in a Stationary Single
Server Queue, J. Austral. Math. Soc. 8 (1968), 683-699); near saturation it is that of M/G/1, where the variance is in proportion to 1 + c²
(W. Whitt: Planning Queueing Simulations. Management Science 35(11), 1989, pp. 1341-1366); where nobody waits that of independent times.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sojourn.model import Multicore
from sojourn.model.network_arrays import Network

Array = NDArray[np.float64]


def of_one_request(steepness: Array, scv: Array | float, waits: Array) -> Array:
    """Relative standard error, to be divided by sqrt(n): n values. `steepness` g, `scv` c², `waits` q; 0 where the model is full."""
    c2, g = np.asarray(scv, float), np.maximum(steepness, 0.0)
    with np.errstate(invalid="ignore"):
        found = np.sqrt(2 * (1 + c2)) * g + np.sqrt(c2) * np.maximum(waits, 0.0)
    return np.where(np.isfinite(found), found, 0.0)


def work_scv(network: Network) -> float:
    """c² at the station with the largest demand."""
    delay = np.array([kind == "delay" for kind in network.kind])
    k = int(np.argmax(np.where(delay, -1.0, network.demands_s.sum(axis=1))))
    host = network.hosts.get(k)
    return float(network.scv[k].max()) if host is None else _of_cores(host, network.service_s[k, 0], network.scv[k, 0])


def delay_s(network: Network) -> float:
    """Pure delays of a request."""
    return float(sum(d for kind, d in zip(network.kind, network.demands_s.sum(axis=1), strict=True) if kind == "delay"))


def _of_cores(host: Multicore, page_s: float, page_scv: float) -> float:
    """Of the busier cores: those that lead have an interrupt of each request and a part of the pages, the others pages alone."""
    stay = host.nics / host.cores if isinstance(host.p, str) else float(host.p)
    if host.nics >= host.cores:
        stay = 1.0
    mean = host.interrupt_s + stay * page_s
    away = host.cores - host.nics
    if away > 0 and (1 - stay) * page_s / away > mean / host.nics:
        return page_scv
    uneven = host.interrupt_scv if host.variant == "priority" else 1.0  # the others have exponential interrupts
    square = host.interrupt_s**2 * (1 + uneven) + 2 * stay * host.interrupt_s * page_s
    square += stay * page_s**2 * (1 + page_scv)
    return max(square / mean**2 - 1, 0.0) if mean > 0 else page_scv
