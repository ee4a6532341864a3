"""G/M/1: arrivals with independent gaps of any distribution, exponential service.

Source: Kleinrock, Queueing Systems vol. 1 (1975), pp. 248-253; Gross et al., Fundamentals of Queueing Theory, 4th ed.
(2008), Section 5.3.1.

    source   here
    A*       transform of the gaps
    sigma    waits: root of sigma = A*(mu(1 - sigma)) in (0, 1): an arrival finds n with (1 - sigma) sigma^n

Stable: solved for 1 - sigma, with (1 - A*(s))/s in a form without cancellation, so that the root survives rho -> 1; for sigma
itself below 1/2, so that it survives rho -> 0.
Response is exponential with rate mu(1 - sigma). Limits: one server, one class, FCFS for times.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sojourn.model.distribution_registry import Distribution
from sojourn.model.network_arrays import Array, Network
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.single.mg1 import each
from sojourn.solve.single.service_transforms import transform, transform_tail
from sojourn.solve.single.station_arrays import StationArrays, refusal
from sojourn.solve.single.station_solution import OpenQueuePoints, probabilities
from sojourn.solve.solution import Solution

ROUNDS = 200


def spare(gaps: Distribution, service_s: float, load: float) -> float:
    """1 - sigma in (0, 1); NaN for a `load` of 1 or more."""
    from scipy.optimize import brentq

    if not load < 1:
        return math.nan
    low = 1e-3 * (1 - load)

    def balance(free: float) -> float:
        return 1 - transform_tail(gaps, free / service_s) / service_s

    while balance(low) > 0 and low > 1e-300:
        low /= 1e3
    return float(brentq(balance, low, 1.0, xtol=1e-300, rtol=1e-14)) if balance(1.0) > 0 else 1.0


def waiting(gaps: Distribution, service_s: float, free: float) -> float:
    """sigma: 1 - `free`, or where that loses digits the fixed point of sigma = A*(mu (1 - sigma)), from below."""
    if not free > 0.5:
        return 1 - free
    sigma = 0.0
    for _ in range(ROUNDS):
        last, sigma = sigma, transform(gaps, (1 - sigma) / service_s)
        if abs(sigma - last) <= 1e-15 * sigma:
            break
    return sigma


def refuses(n: Network) -> str | None:
    if reason := refusal(
        n, disciplines=("fcfs",), single_server=True, exponential=True, one_class=True, poisson=False, timed=True
    ):
        return reason
    renewal = isinstance(n.arrivals[0], Distribution)
    return None if renewal else "the arrivals are not given by a distribution of the times between them"


def run(networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
    read = StationArrays(networks)
    answer, s = OpenQueuePoints(read, wanted), read.mean_s
    gaps = [n.arrivals[0] for n in networks]
    given = zip(gaps, s, read.load, strict=True)
    free = np.array([spare(g, m, load) for g, m, load in given if isinstance(g, Distribution)])
    each_gap = zip(gaps, s, free, strict=True)
    waits = np.array([waiting(g, m, f) for g, m, f in each_gap if isinstance(g, Distribution)])
    response, load = s / free, answer.null(read.load)
    rows = answer.rows
    # N has P(n) = rho (1 - sigma) sigma^(n-1)
    rows.put("queue_length_variance", load * (1 + waits) / free**2 - (load / free) ** 2)
    rows.put("waiting_probability", each(waits, read))
    rows.put("waiting_time_variance", each(waits * (2 - waits) * response**2, read))
    rows.put("response_time_variance", each(response**2, read))
    for q in wanted.quantiles:
        with np.errstate(divide="ignore"):
            rows.put("waiting_time_quantile", each(response * np.maximum(np.log(waits) - np.log1p(-q), 0), read), q=q)
        rows.put("response_time_quantile", each(-response * np.log1p(-q), read), q=q)
    if wanted.state_probabilities is not None:
        probabilities(rows, _law(load, free, wanted.state_probabilities))
    return answer.solution(each(waits * response, read))


def _law(load: Array, free: Array, most: int) -> Array:
    n = np.arange(1, most + 1)
    busy = (load * free)[:, None] * (1 - free)[:, None] ** (n - 1)
    return np.concatenate([(1 - load)[:, None], busy], axis=1)


METHOD = Method(
    name="gm1",
    title="G/M/1: any gaps between arrivals",
    exact=True,
    sources=("L. Kleinrock: Queueing Systems, vol. 1. Wiley 1975, pp. 248-253",),
    refuses=refuses,
    run=run,
    cost_s=lambda n: 1e-3,
)
