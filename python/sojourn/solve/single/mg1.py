"""M/G/1, FCFS: Pollaczek and Khinchine; classes may differ in service.

Source: Kleinrock, Queueing Systems vol. 1 (1975), pp. 187-201; Jain (1991), Box 31.3, p. 535; L. Takács, Introduction to
the Theory of Queues (1962), Section 1.2 (moments of the wait); J. Keilson, L. D. Servi, Oper. Res. Letters 7(5), 1988,
pp. 223-227 (number of a class present = its arrivals during a response time); V. Ramaswami, Stochastic Models 4(1),
1988, pp. 183-188 (p(n) by additions).

    source           here
    lambda, rho      rate_per_s, load
    b1, b2, b3       raw moments of service
    E[W^2]           2 E[W]^2 + lambda b3/(3(1 - rho))

Stable: means and variances are sums of positive terms; p(n) by a cut between n - 1 and n. Quantiles: exact where service
is of phase type with at most 24 phases (`mg1_waiting.PhaseWait`), else on a grid of 2^16 cells, error of the order of
(cell/scale)^2, measured below 1e-4, at loads above 0.999 below 5e-4 (`mg1_waiting.GridWait`). Limits: one server, FCFS, Poisson arrivals.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from sojourn.model.distribution_registry import Distribution
from sojourn.model.network_arrays import Array, Network
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.single import service_transforms
from sojourn.solve.single.mg1_waiting import waiting_law
from sojourn.solve.single.poisson_distribution import poisson
from sojourn.solve.single.station_arrays import StationArrays, refusal, sum_over_classes
from sojourn.solve.single.station_solution import OpenQueuePoints, probabilities
from sojourn.solve.solution import Solution

FAR = 4_000  # arrivals during one service; what lies beyond is put at the end


class MG1:
    """Arrays (1-d, broadcast) from moments of service; NaN at and above saturation, infinite where a moment is."""

    def __init__(
        self, rate_per_s: ArrayLike, service_s: ArrayLike, second: ArrayLike, third: ArrayLike = np.nan
    ) -> None:
        given = (np.atleast_1d(np.asarray(x, float)) for x in (rate_per_s, service_s, second, third))
        self.rate_per_s, self.service_s, self.second, self.third = np.broadcast_arrays(*given)
        load = self.rate_per_s * self.service_s
        self.load = np.where(load < 1, load, np.nan)

    @cached_property
    def waiting_s(self) -> Array:
        return self.rate_per_s * self.second / (2 * (1 - self.load))

    @property
    def response_s(self) -> Array:
        return self.waiting_s + self.service_s

    @property
    def waiting_variance(self) -> Array:
        """s^2."""
        return self.waiting_s**2 + self.rate_per_s * self.third / (3 * (1 - self.load))

    @property
    def number(self) -> Array:
        """Mean number present."""
        return self.rate_per_s * self.response_s

    @property
    def number_variance(self) -> Array:
        """Arrivals during a response time: Poisson of a random length."""
        spread = self.waiting_variance + self.second - self.service_s**2
        return self.number + self.rate_per_s**2 * spread


def number_probabilities(rate_per_s: float, mixture: Sequence[tuple[float, Distribution]], most: int) -> Array:
    """P(N = 0 … most); `mixture`: shares and distributions of service, load < 1."""
    far = most + 1
    while True:
        a = np.sum([share * _arrivals(rate_per_s, d, far) for share, d in mixture], axis=0)
        if a[-1] < 1e-20 or far > FAR:
            break
        far *= 2
    more = _tails(a) + (1 - a.sum() if far > FAR else 0.0)
    p = np.zeros(most + 1)
    p[0] = 1 - rate_per_s * sum(share * d.first for share, d in mixture)
    for n in range(1, most + 1):
        up = p[0] * more[n - 1] + p[1:n] @ more[n - 1 : 0 : -1]
        p[n] = up / a[0]
    return p


def _tails(a: Array) -> Array:
    """P(more than j arrivals), j = 0 … len(a) - 1, by sums of positive terms; `a` reaches far beyond what is asked."""
    return np.concatenate([np.cumsum(a[::-1])[::-1][1:], [0.0]])


def _arrivals(rate: float, d: Distribution, most: int) -> Array:
    """P(j arrivals during one service), j = 0 … most."""
    form = service_transforms.phases(d)
    if form is None:
        x, w = service_transforms.nodes(d)
        return w @ poisson(np.arange(most + 1), rate * x[:, None])
    start, rates = form
    step = np.linalg.inv(rate * np.eye(len(start)) - rates)
    found, now = np.empty(most + 1), start @ step
    for j in range(most + 1):
        found[j] = now @ -rates.sum(axis=1)
        now = rate * now @ step
    return found


def refuses(n: Network) -> str | None:
    return refusal(n, disciplines=("fcfs",), single_server=True, timed=True)


def run(networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
    read = StationArrays(networks)
    answer = OpenQueuePoints(read, wanted)
    q = MG1(read.total, read.mean_s, *(sum_over_classes(read.share, moment) for moment in (read.second, read.third)))
    response = q.waiting_s[:, None] + read.service_s
    spread = q.waiting_variance[:, None] + read.second - read.service_s**2
    rows = answer.rows
    rows.put("queue_length_variance", q.number_variance)
    if read.rate.shape[1] > 1:
        rows.put("queue_length_variance", read.number_variance(response, spread))
    rows.put("waiting_probability", each(q.load, read))
    rows.put("waiting_time_variance", each(q.waiting_variance, read))
    rows.put("response_time_variance", spread)
    _quantiles(answer, read, wanted)
    if wanted.state_probabilities is not None:
        table = [
            number_probabilities(float(r), list(zip(share, row, strict=True)), wanted.state_probabilities)
            if stable else np.full(wanted.state_probabilities + 1, np.nan)
            for r, share, row, stable in zip(read.total, read.share, read.services, answer.stable, strict=True)
        ]  # fmt: skip
        probabilities(rows, np.array(table))
    return answer.solution(each(q.waiting_s, read))


def each(values: Array, read: StationArrays) -> Array:
    """P values as P x C, the same for every class."""
    return np.repeat(values[:, None], read.rate.shape[1], axis=1)


def _quantiles(answer: OpenQueuePoints, read: StationArrays, wanted: RequestedOutputs) -> None:
    points, classes = read.rate.shape
    waits = np.full((len(wanted.quantiles), points, classes), np.nan)
    responses = waits.copy()
    for p in np.flatnonzero(answer.stable if wanted.quantiles else []):
        found = waiting_law(float(read.total[p]), list(zip(read.share[p], read.services[p], strict=True)))
        waits[:, p] = found.quantiles(wanted.quantiles)[:, None]
        responses[:, p] = np.stack([found.response_quantiles(wanted.quantiles, d) for d in read.services[p]], axis=1)
    for k, q in enumerate(wanted.quantiles):
        answer.rows.put("waiting_time_quantile", waits[k], q=q)
        answer.rows.put("response_time_quantile", responses[k], q=q)


METHOD = Method(
    name="mg1",
    title="M/G/1 FCFS: Pollaczek-Khinchine",
    exact=True,
    sources=("L. Kleinrock: Queueing Systems, vol. 1. Wiley 1975, pp. 187-201",),
    refuses=refuses,
    run=run,
    cost_s=lambda n: 2e-2,
)
