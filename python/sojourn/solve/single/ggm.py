"""G/G/m by named approximations: Allen-Cunneen, Whitt 1993; and Kingman's bounds. M/G/m is the case of Poisson arrivals.

Source: A. O. Allen, Probability, Statistics, and Queueing Theory, 2nd ed. (1990), Section 5.3 (Allen-Cunneen); W. Whitt,
Approximations for the GI/G/m queue, Production and Operations Management 2(2), 1993, pp. 114-161, eqs. 2.14-2.25; J. F.
C. Kingman, Inequalities in the theory of queues, J. Roy. Statist. Soc. B 32, 1970, pp. 102-110 and Kleinrock, Queueing
Systems vol. 2 (1976), pp. 34-48.

    source         here
    ca2, cs2       arrival_scv, service_scv: squared coefficients of variation of gaps and of services
    EW(M/M/m)      `MMm.waiting_s`

Exact where both are 1 (M/M/m); Allen-Cunneen also for M/G/1, where Whitt's is 15 % off at rho = 0.5 and cs2 = 2.3 (measured).
Elsewhere the error is larger at low load and for scv far from 1: waits are off by 10 to 20 % (median), by 100 % at the worst
(`benches/approximations`); for one server and class there is `gig1`. Stable: products of bounded factors.
Classes: service of all arrivals together; scv of gaps averaged by rate (QNA's asymptotic rule). Bounds: waiting time of
any G/G/m with independent gaps; the lower one is 0 for m > 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from sojourn.model.distribution_registry import Distribution
from sojourn.model.network_arrays import Array, Network
from sojourn.model.network_points import as_points
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.single.mmm import MMm
from sojourn.solve.single.station_arrays import StationArrays, refusal, sum_over_classes
from sojourn.solve.single.station_solution import OpenQueuePoints
from sojourn.solve.solution import Solution


def allen_cunneen(q: MMm, arrival_scv: ArrayLike, service_scv: ArrayLike) -> Array:
    """Mean wait, s."""
    return (np.asarray(arrival_scv, float) + np.asarray(service_scv, float)) / 2 * q.waiting_s


def whitt(q: MMm, arrival_scv: ArrayLike, service_scv: ArrayLike) -> Array:
    """Mean wait, s."""
    ca, cs = np.asarray(arrival_scv, float), np.asarray(service_scv, float)
    rho, m = q.load, q.servers
    with np.errstate(divide="ignore", invalid="ignore"):
        gamma = np.minimum(0.24, (1 - rho) * (m - 1) * (np.sqrt(4 + 5 * m) - 2) / (16 * m * rho))
        first = 1 + gamma
        third = (1 - 4 * gamma) * np.exp(-2 * (1 - rho) / (3 * rho))
        mean = (ca + cs) / 2
        psi = np.where(mean >= 1, 1.0, np.minimum(1, (first + third) / 2) ** (2 * (1 - np.minimum(mean, 1))))
        bursty = (4 * (ca - cs) * first + cs * psi) / (4 * ca - 3 * cs)
        regular = ((cs - ca) * third + (cs + 3 * ca) * psi) / (2 * (ca + cs))
    factor = np.where(ca + cs == 0, 0.0, np.where(ca >= cs, bursty, regular))
    return np.where(q.rate_per_s == 0, 0.0, factor * mean * q.waiting_s)


def kingman(q: MMm, arrival_scv: ArrayLike, service_scv: ArrayLike) -> tuple[Array, Array]:
    """Lower and upper bound of the mean wait, s; variances are scv x mean^2."""
    rate, s, m = q.rate_per_s, q.service_s, q.servers
    with np.errstate(divide="ignore", invalid="ignore"):
        gap, spread = np.asarray(arrival_scv) / rate**2, np.asarray(service_scv) * s**2
        high = rate * (gap + spread / m + (m - 1) / m**2 * s**2) / (2 * (1 - q.load))
        low = (rate**2 * spread + q.load * (q.load - 2)) / (2 * rate * (1 - q.load))
    low = np.where(m == 1, np.maximum(low, 0.0), 0.0 * q.load)
    return low, high


def scvs(read: StationArrays) -> tuple[Array, Array]:
    """Squared coefficients of variation of the gaps and of the services at each point."""
    gaps = as_points(read.networks).by_base(lambda n: [_scv(a) for a in n.arrivals], "gap scv")  # which a rate keeps
    second = sum_over_classes(read.share, read.second)
    return (read.share * gaps).sum(axis=1), np.maximum(second / read.mean_s**2 - 1, 0.0)


def _scv(arrivals: object) -> float:
    return arrivals.scv if isinstance(arrivals, Distribution) else 1.0


def refuses(n: Network) -> str | None:
    if reason := refusal(n, disciplines=("fcfs",), poisson=False, timed=True):
        return reason
    second = [d.scv for d in n.service[0] if d is not None] + [_scv(a) for a in n.arrivals]
    if not np.isfinite(second).all():
        return f"a service time at the station `{n.stations[0]}`, or a time between arrivals, has no finite variance"
    renewal = all(a is None or isinstance(a, Distribution) for a in n.arrivals)
    return None if renewal else "the arrivals are not given by a distribution of the times between them"


def _with(
    wait: Callable[[MMm, ArrayLike, ArrayLike], Array],
) -> Callable[[Sequence[Network], RequestedOutputs], Solution]:
    def run(networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
        read = StationArrays(networks)
        q = MMm(read.total, read.mean_s, read.servers)
        return OpenQueuePoints(read, wanted, exact=False).solution(
            np.repeat(wait(q, *scvs(read))[:, None], read.rate.shape[1], axis=1)
        )

    return run


def run_bounds(networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
    """No value, but low and high of wait, response and number."""
    read = StationArrays(networks)
    answer = OpenQueuePoints(read, wanted)
    low, high = kingman(MMm(read.total, read.mean_s, read.servers), *scvs(read))
    stable = answer.stable.copy()
    found = answer.solution(np.full_like(read.service_s, np.nan))
    found.waiting_s = np.full_like(found.queue_length, np.nan)
    found.status = ["bounds" if s else "unstable" for s in stable]
    for side, wait in ((found.low, low), (found.high, high)):
        response = wait[:, None] + read.service_s
        side |= {  # type: ignore[operator]
            "waiting_s": np.repeat(wait[:, None, None], read.rate.shape[1], axis=2),
            "residence_s": response[:, None, :],
            "queue_length": (read.rate * response)[:, None, :],
        }
    return found


ALLEN_CUNNEEN = Method(
    name="allen-cunneen",
    title="G/G/m by Allen and Cunneen's approximation",
    exact=False,
    sources=("A. O. Allen: Probability, Statistics, and Queueing Theory, 2nd ed. Academic Press 1990, Section 5.3",),
    refuses=refuses,
    run=_with(allen_cunneen),
    cost_s=lambda n: 1e-4,
    rank=20,
    known_errors=(0.05, 0.38),
)
WHITT = Method(
    name="whitt",
    title="G/G/m by Whitt's approximation of 1993",
    exact=False,
    sources=("W. Whitt: Production and Operations Management 2(2), 1993, pp. 114-161",),
    refuses=refuses,
    run=_with(whitt),
    cost_s=lambda n: 1e-4,
    rank=10,
    known_errors=(0.034, 0.38),
)
KINGMAN = Method(
    name="kingman",
    title="G/G/m: Kingman's bounds of the mean wait",
    exact=False,
    sources=("J. F. C. Kingman: J. Roy. Statist. Soc. B 32, 1970, pp. 102-110",),
    refuses=refuses,
    run=run_bounds,
    cost_s=lambda n: 1e-4,
    on_request_only=True,
)
