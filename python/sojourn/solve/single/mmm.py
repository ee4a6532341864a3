"""M/M/m, and M/M/1 as the case of one server: everything that has a closed form.

Source: Kleinrock, Queueing Systems vol. 1 (1975), pp. 94-105; Jain, The Art of Computer Systems Performance Analysis
(1991), Boxes 31.1 and 31.2, pp. 522-533; Gross et al., Fundamentals of Queueing Theory, 4th ed. (2008), pp. 66-75.

    source          here
    lambda, mu, m   rate_per_s, 1/service_s, servers
    rho             load = lambda/(m mu)
    varrho, C       waits, P(an arrival waits)
    E[n], E[nq]     number, in_line
    E[r], E[w]      response_s, waiting_s

Stable: C as in `erlang`; p(n) in logarithms (`levels`); the response tail is written so that
its two rates may be equal. Limits: rate < m mu; variances and quantiles of times need FCFS.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from sojourn.model.network_arrays import Array, Network
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.population_distribution import PopulationDistribution
from sojourn.solve.single.erlang import erlang_c
from sojourn.solve.single.station_arrays import StationArrays, quantile, refusal
from sojourn.solve.single.station_solution import ExtraRows, OpenQueuePoints, probabilities
from sojourn.solve.solution import Solution

KLEINROCK = "L. Kleinrock: Queueing Systems, vol. 1. Wiley 1975, pp. 94-105"
JAIN = "R. Jain: The Art of Computer Systems Performance Analysis. Wiley 1991, Boxes 31.1-31.2, pp. 522-533"


class MMm:
    """Arrays (1-d, broadcast) of all measures; NaN at and above saturation."""

    def __init__(self, rate_per_s: ArrayLike, service_s: ArrayLike, servers: ArrayLike = 1) -> None:
        given = np.broadcast_arrays(*(np.atleast_1d(np.asarray(x, float)) for x in (rate_per_s, service_s, servers)))
        self.rate_per_s, self.service_s, self.servers = given
        self.offered = self.rate_per_s * self.service_s
        load = self.offered / self.servers
        self.load = np.where(load < 1, load, np.nan)

    @cached_property
    def waits(self) -> Array:
        """P(an arrival waits)."""
        return np.where(np.isnan(self.load), np.nan, erlang_c(self.offered, self.servers))

    @property
    def in_line(self) -> Array:
        """Mean number waiting."""
        return self.waits * self.load / (1 - self.load)

    @property
    def number(self) -> Array:
        """Mean number present."""
        return self.offered + self.in_line

    @property
    def in_line_variance(self) -> Array:
        part = self.waits * self.load
        return part * (1 + self.load - part) / (1 - self.load) ** 2

    @property
    def number_variance(self) -> Array:
        part = self.waits * self.load
        return self.offered + part * ((1 + self.load - part) / (1 - self.load) ** 2 + self.servers)

    @property
    def drain_per_s(self) -> Array:
        """Rate of the exponential wait of those who wait: m mu (1 - rho); infinite where a service takes no time."""
        free = self.servers * (1 - self.load)
        return np.divide(free, self.service_s, out=np.full_like(free, np.inf), where=self.service_s > 0)

    @property
    def waiting_s(self) -> Array:
        return self.waits / self.drain_per_s

    @property
    def response_s(self) -> Array:
        return self.waiting_s + self.service_s

    @property
    def waiting_variance(self) -> Array:
        """s^2."""
        return self.waits * (2 - self.waits) / self.drain_per_s**2

    @property
    def response_variance(self) -> Array:
        """s^2."""
        return self.waiting_variance + self.service_s**2

    def waiting_quantile(self, q: float) -> Array:
        """s; 0 where at least the share `q` does not wait."""
        return waiting_quantile(self.waits, self.drain_per_s, q)

    def response_quantile(self, q: float) -> Array:
        """s."""
        return response_quantile(self.waits, self.drain_per_s, self.service_s, q)

    def probabilities(self, most: int) -> Array:
        """P(N = 0 … most), points x (most + 1)."""
        found = np.full((len(self.load), most + 1), np.nan)
        for m in np.unique(self.servers[~np.isnan(self.load)]):
            own = np.flatnonzero((self.servers == m) & ~np.isnan(self.load))
            found[own] = PopulationDistribution.of(self.offered[own], np.arange(1.0, m + 1)).probabilities(most)
        return found


def waiting_quantile(waits: Array, drain_per_s: Array, q: float) -> Array:
    """s, under FCFS: P(wait > t) = waits·exp(-drain t)."""
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(waits) - np.log1p(-q), 0.0) / drain_per_s


def response_quantile(waits: Array, drain_per_s: Array, service_s: Array, q: float) -> Array:
    """s, under FCFS; `waits` P(an arrival waits), `drain_per_s` m mu (1 - rho); 0 where a service takes no time."""
    timed = np.where(service_s > 0, service_s, np.nan)
    found = quantile(response_tail, q, timed + waits / drain_per_s, waits, drain_per_s, 1 / timed)
    return np.where(service_s == 0, 0.0, found)


def response_tail(t: Array, waits: Array, drain: Array, mu: Array) -> Array:
    """P(response > t): service, after an exponential wait of rate `drain` with probability `waits`."""
    from scipy.special import exprel  # slow to import

    slow, gap = np.minimum(drain, mu), np.abs(drain - mu)
    both = np.exp(-drain * t) + drain * t * np.exp(-slow * t) * exprel(-gap * t)
    return (1 - waits) * np.exp(-mu * t) + waits * both


def refuses(n: Network) -> str | None:
    return refusal(n, exponential=True, one_service=True)


def run(networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
    read = StationArrays(networks)
    answer, q = OpenQueuePoints(read, wanted), MMm(read.total, read.mean_s, read.servers)
    thinned(answer.rows, read, q.number, q.number_variance)
    if read.fcfs:
        times(answer.rows, q, wanted)
    if wanted.state_probabilities is not None:
        probabilities(answer.rows, q.probabilities(wanted.state_probabilities))
    return answer.solution(np.repeat(q.waiting_s[:, None], read.rate.shape[1], axis=1))


def thinned(rows: ExtraRows, read: StationArrays, number: Array, variance: Array) -> None:
    """Variance of all present, and of each class where each customer's class is drawn anew."""
    rows.put("queue_length_variance", variance)
    if read.rate.shape[1] > 1:
        work, mean_s = read.share * read.service_s, np.repeat(read.mean_s[:, None], read.rate.shape[1], axis=1)
        share = np.divide(work, mean_s, out=np.zeros_like(work), where=mean_s > 0)
        rows.put("queue_length_variance", share**2 * variance[:, None] + share * (1 - share) * number[:, None])


def times(rows: ExtraRows, q: MMm, wanted: RequestedOutputs) -> None:
    """Rows of waiting and response under FCFS, the same for every class."""

    def each(values: Array) -> Array:
        return np.repeat(values[:, None], len(rows.classes), axis=1)

    rows.put("waiting_probability", each(q.waits))
    rows.put("waiting_time_variance", each(q.waiting_variance))
    rows.put("response_time_variance", each(q.response_variance))
    for level in wanted.quantiles:
        rows.put("waiting_time_quantile", each(q.waiting_quantile(level)), q=level)
        rows.put("response_time_quantile", each(q.response_quantile(level)), q=level)


METHOD = Method(
    name="mmm",
    title="M/M/m: closed forms",
    exact=True,
    sources=(KLEINROCK, JAIN),
    refuses=refuses,
    run=run,
    cost_s=lambda n: 1e-4 + 1e-6 * float(n.servers[0]) ** 0.5,
)
MM1 = Method(
    name="mm1",
    title="M/M/1: closed forms",
    exact=True,
    sources=(KLEINROCK, JAIN),
    refuses=lambda n: refusal(n, exponential=True, one_service=True, single_server=True),
    run=run,
    cost_s=lambda n: 0.9e-4,
)
