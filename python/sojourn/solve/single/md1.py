"""M/D/1, FCFS: the exact law of the wait, also where the alternating series of Erlang has lost all digits.

Source: A. K. Erlang (1909); G. J. Franx, A simple solution for the M/D/c waiting time distribution, Oper. Res. Letters
29(5), 2001, pp. 221-229: with (k-1)D <= x < kD and u = lambda(kD - x),
P(W <= x) = sum over j < k of P(N <= k-j) e^-u u^j/j!, all terms positive. Far out the tail is one exponential: Tijms, A
First Course in Stochastic Models (2003), p. 384: P(W > x) ~ (1 - rho)/(rho t - 1) e^(-lambda(t - 1)x), t > 1, t =
e^(rho(t - 1)).

    source   here
    D        service_s
    rho      load

Stable: p(n) by a cut (`mg1.number_probabilities`), 40 service times of Franx, then the exponential, whose relative error
there is below 1e-13 for rho > 0.2, and whose value is below 1e-16 for less. Limits: one server, one length of service.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sojourn.model.distribution_registry import Deterministic
from sojourn.model.network_arrays import Array, Network
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.single.mg1 import MG1, each, number_probabilities
from sojourn.solve.single.poisson_distribution import poisson
from sojourn.solve.single.station_arrays import StationArrays, quantile, refusal
from sojourn.solve.single.station_solution import OpenQueuePoints, probabilities
from sojourn.solve.solution import Solution

NEAR = 40  # service times for which the sum is used


class MD1WaitingTime:
    """Law of the wait in units of the service time, for a load below 1."""

    def __init__(self, load: float) -> None:
        self.load = load
        p = number_probabilities(load, [(1.0, Deterministic(1.0))], 2 * NEAR)
        grows = _growth(load)
        beyond = p[-1] / grows  # from there on each is the last over 1 + grows
        self.more = np.append(np.cumsum(p[:0:-1])[::-1], 0.0) + beyond  # P(N > n)
        self.decay = load * grows
        self.front = (1 - load) / (grows - (1 - load) * (1 + grows))

    def tail(self, x: Array) -> Array:
        """P(W > x service times)."""
        x = np.atleast_1d(np.asarray(x, float))
        near = x < NEAR
        with np.errstate(under="ignore"):
            far = self.front * np.exp(-self.decay * x)
        return np.where(near, self._near(np.where(near, x, 0.0)), far)

    def _near(self, x: Array) -> Array:
        k = np.floor(x).astype(int) + 1
        j = np.arange(NEAR + 1)
        u = self.load * (k - x)
        index = k[:, None] - j[None, :]
        weight = poisson(j[None, :], u[:, None])
        missing = np.where(index >= 1, self.more[np.clip(index, 0, len(self.more) - 1)], 1.0)
        return (weight * missing).sum(axis=1)


def _growth(load: float) -> float:
    """t - 1 > 0 with log t = load (t - 1): the zero of log1p(y)/y - load, y > 0."""
    from scipy.optimize import brentq

    if load <= 0:
        return float("inf")
    high = 1.0
    while np.log1p(high) / high > load:
        high *= 2
    if load > 0.99:
        return _growth_near_one(1 - load)
    return float(brentq(lambda y: np.log1p(y) / y - load, 1 - load, high, xtol=1e-300, rtol=1e-15))


def _growth_near_one(spare: float) -> float:
    """The same from the series of log1p: spare = y/2 - y^2/3 + y^3/4 - …, by Newton's method."""
    k = np.arange(1, 15)
    factor = np.where(k % 2 == 1, 1.0, -1.0) / (k + 1)
    y = 2 * spare
    for _ in range(6):
        y -= float((factor @ y**k - spare) / (factor * k @ y ** (k - 1)))
    return y


def waiting_quantile(load: float, q: float) -> float:
    """In units of the service time."""
    if load <= 0:
        return 0.0
    return float(quantile(MD1WaitingTime(load).tail, q, np.array([1 / (1 - load)]))[0])


def refuses(n: Network) -> str | None:
    if reason := refusal(n, disciplines=("fcfs",), single_server=True, one_service=True):
        return reason
    fixed = all(isinstance(d, Deterministic) for d in n.service[0])
    return None if fixed else f"the service time at the station `{n.stations[0]}` is not deterministic"


def run(networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
    read = StationArrays(networks)
    answer, s = OpenQueuePoints(read, wanted), read.mean_s
    q = MG1(read.total, s, s**2, s**3)
    spread, rows = each(q.waiting_variance, read), answer.rows
    response = each(q.response_s, read)
    rows.put("queue_length_variance", q.number_variance)
    if read.rate.shape[1] > 1:
        rows.put("queue_length_variance", read.number_variance(response, spread))
    rows.put("waiting_probability", each(q.load, read))
    rows.put("waiting_time_variance", spread)
    rows.put("response_time_variance", spread)
    for level in wanted.quantiles:
        waits = s * np.array([waiting_quantile(x, level) if x < 1 else np.nan for x in read.load])
        rows.put("waiting_time_quantile", each(waits, read), q=level)
        rows.put("response_time_quantile", each(waits + s, read), q=level)
    if wanted.state_probabilities is not None:
        probabilities(rows, np.stack([_law(x, wanted.state_probabilities) for x in read.load]))
    return answer.solution(each(q.waiting_s, read))


def _law(load: float, most: int) -> Array:
    if not load < 1:
        return np.full(most + 1, np.nan)
    return number_probabilities(load, [(1.0, Deterministic(1.0))], most)


METHOD = Method(
    name="md1",
    title="M/D/1 FCFS: exact law of the wait",
    exact=True,
    sources=("G. J. Franx: Oper. Res. Letters 29(5), 2001, pp. 221-229",),
    refuses=refuses,
    run=run,
    cost_s=lambda n: 5e-3,
)
