"""M/G/m-PS (egalitarian processor sharing) and M/G/1-LCFS-PR: only means of service matter for the number present.

Source: Kelly, Reversibility and Stochastic Networks (1979), Section 3.3 (insensitivity); Kleinrock, Queueing Systems
vol. 2 (1976), Section 4.4 (T = S/(1 - rho)); E. G. Coffman, R. R. Muntz, H. Trotter, J. ACM 17(1), 1970, pp. 123-130
(variance under M/M/1-PS); Kleinrock vol. 1, Section 5.8 (busy periods: LCFS-PR).

    source        here
    rho, rho_c    load of the server, of class c
    T, Var T      response_s, response_variance

The number present is that of M/M/m; the classes of those present are independent draws by rho_c/rho. Under LCFS-PR a
response is a busy period: mean b/(1 - rho), variance var/(1 - rho)^2 + lambda b2 b/(1 - rho)^3. Stable: as `mmm`.
Limits: Poisson arrivals; variance of the response under PS for one exponential class at one server only; no quantiles.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sojourn.model.distribution_registry import Exponential
from sojourn.model.network_arrays import Array, Network
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.single.mmm import MMm, thinned
from sojourn.solve.single.station_arrays import StationArrays, refusal
from sojourn.solve.single.station_solution import OpenQueuePoints, probabilities
from sojourn.solve.solution import Solution


def ps_response_variance(rate_per_s: Array, service_s: Array) -> Array:
    """M/M/1-PS, s^2; NaN at and above saturation."""
    load = np.asarray(rate_per_s, float) * service_s
    load = np.where(load < 1, load, np.nan)
    return (service_s / (1 - load)) ** 2 * (2 + load) / (2 - load)


def busy_period_variance(work2: Array, load: Array, service_s: Array, second: Array) -> Array:
    """Response under LCFS-PR, s^2; `work2`: lambda x second moment over all classes. Arrays broadcast."""
    return (second - service_s**2) / (1 - load) ** 2 + work2 * service_s / (1 - load) ** 3


def _run(networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
    read = StationArrays(networks)
    answer, q = OpenQueuePoints(read, wanted), MMm(read.total, read.mean_s, read.servers)
    with np.errstate(invalid="ignore", divide="ignore"):
        longer = q.waiting_s / read.mean_s
    thinned(answer.rows, read, q.number, q.number_variance)
    _variance(answer, read, q)
    if wanted.state_probabilities is not None:
        probabilities(answer.rows, q.probabilities(wanted.state_probabilities))
    return answer.solution(read.service_s * longer[:, None])


def _variance(answer: OpenQueuePoints, read: StationArrays, q: MMm) -> None:
    if read.networks[0].discipline[0] == "lcfs_pr":
        work2 = (read.rate * read.second).sum(axis=1)[:, None]
        spread = busy_period_variance(work2, q.load[:, None], read.service_s, read.second)
        answer.rows.put("response_time_variance", spread)
    elif read.rate.shape[1] == 1 and read.servers.max() == 1 and isinstance(read.services[0][0], Exponential):
        answer.rows.put("response_time_variance", ps_response_variance(read.rate, read.service_s))


PS = Method(
    name="mg-ps",
    title="M/G/m processor sharing, any number of classes",
    exact=True,
    sources=("F. P. Kelly: Reversibility and Stochastic Networks. Wiley 1979, Section 3.3",),
    refuses=lambda n: refusal(n, disciplines=("ps",), timed=True),
    run=_run,
    cost_s=lambda n: 0.8e-4,
)
LCFS_PR = Method(
    name="mg1-lcfs-pr",
    title="M/G/1 last come, first served, preemptive-resume",
    exact=True,
    sources=("F. P. Kelly: Reversibility and Stochastic Networks. Wiley 1979, Section 3.3",),
    refuses=lambda n: refusal(n, disciplines=("lcfs_pr",), single_server=True, timed=True),
    run=_run,
    cost_s=lambda n: 0.8e-4,
)
