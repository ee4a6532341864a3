"""M/G/1 with priorities, without preemption (head of the line) and with (preemptive-resume).

Source: A. Cobham, Oper. Res. 2(1), 1954, pp. 70-76; Kleinrock, Queueing Systems vol. 2 (1976), pp. 119-126; Conway,
Maxwell, Miller, Theory of Scheduling (1967), Section 8-6 (second moments: a delay that higher classes prolong).

    source     here
    p, sigma   a level of priority, the work of this level and of those above: `upto`
    W0         what is left of a service in progress

The wait of level k is the work V that it finds ahead of it, prolonged by the busy periods of the higher levels that come
meanwhile: E = E[V]/(1 - s), Var = Var[V]/(1 - s)^2 + E[V] l b2/(1 - s)^3 with rate l, load s and second moment b2 of the
higher ones. Preemptive: V has no lower service in it, and the own service is prolonged too. Sums of positive terms.
Levels that are stable are answered where lower ones are not. Limits: one server, Poisson arrivals; classes of one level
are served in the order of arrival (so that the number of a class present is its arrivals during a response: Keilson and
Servi, Oper. Res. Letters 7(5), 1988); no quantiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sojourn.model.network_arrays import Array, Network
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.single.station_arrays import StationArrays, refusal, sum_over_classes
from sojourn.solve.single.station_solution import OpenQueuePoints
from sojourn.solve.solution import Solution

Levels = NDArray[np.int64]


@dataclass(frozen=True)
class PriorityMoments:
    """P x C each: mean and variance of the wait (preemptive: of response - service) and of the response; s, s^2."""

    waiting_s: Array
    waiting_variance: Array
    response_s: Array
    response_variance: Array


def priorities(
    rate: Array, service_s: Array, second: Array, third: Array, level: Levels, preemptive: bool
) -> PriorityMoments:
    """`level`: C, 0 is served first. NaN for classes of levels that are not stable."""
    with np.errstate(invalid="ignore"):  # what has no moment becomes NaN, and a row that says so
        return _priorities(rate, service_s, second, third, level, preemptive)


def _priorities(
    rate: Array, service_s: Array, second: Array, third: Array, level: Levels, preemptive: bool
) -> PriorityMoments:
    found = [np.full(rate.shape, np.nan) for _ in range(4)]
    served = served_rates(rate, service_s, level)
    for k in np.unique(level):
        own, above, below = level == k, level < k, level > k
        high = (rate[:, above] * service_s[:, above]).sum(axis=1)
        high2 = sum_over_classes(rate[:, above], second[:, above])
        upto = high + (rate[:, own] * service_s[:, own]).sum(axis=1)
        free, left = np.where(high < 1, 1 - high, np.nan), np.where(upto < 1, 1 - upto, np.nan)
        ahead = rate * (level <= k) if preemptive else rate * (level <= k) + served * below
        work = sum_over_classes(ahead, second) / 2 / left
        # E[V^2] of a queue whose server, when no level up to k is there, may be busy with a lower one
        among = sum_over_classes(rate * (level <= k), second) / 2 / left
        work2 = sum_over_classes(ahead, third) / 3 / left + 2 * work * among
        longer = high2 / free**3
        waiting = work / free
        variance = (work2 - work**2) / free**2 + work * longer
        for c in np.flatnonzero(own):
            b, spread = service_s[:, c], second[:, c] - service_s[:, c] ** 2
            if preemptive:
                response, total = (work + b) / free, (work2 - work**2 + spread) / free**2 + (work + b) * longer
                values = ((work + b * high) / free, total + spread - 2 * spread / free, response, total)
            else:
                values = (waiting, variance, waiting + b, variance + spread)
            for table, value in zip(found, values, strict=True):
                table[:, c] = value
    return PriorityMoments(*found)


def served_rates(rate: Array, service_s: Array, level: Levels) -> Array:
    """What is served of each class: the first levels all, the one that overloads the server in part, the rest none."""
    done = np.zeros_like(rate)
    free = np.ones(len(rate))
    for k in np.unique(level):
        own = level == k
        asked = (rate[:, own] * service_s[:, own]).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            part = np.where(asked > free, free / asked, 1.0)
        done[:, own] = rate[:, own] * part[:, None]
        free = np.maximum(free - asked, 0.0)
    return done


def refuses(n: Network) -> str | None:
    return refusal(n, disciplines=("priority", "priority_preemptive"), single_server=True)


def run(networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
    read = StationArrays(networks)
    answer, level = OpenQueuePoints(read, wanted), networks[0].priority
    preemptive = networks[0].discipline[0] == "priority_preemptive"
    answer.served = served_rates(read.rate, read.service_s, level)
    q = priorities(read.rate, read.service_s, read.second, read.third, level, preemptive)
    answer.rows.put("queue_length_variance", read.number_variance(q.response_s, q.response_variance))
    answer.rows.put("waiting_time_variance", q.waiting_variance)
    answer.rows.put("response_time_variance", q.response_variance)
    return answer.solution(q.waiting_s)


METHOD = Method(
    name="mg1-priority",
    title="M/G/1 with priorities, preemptive-resume or not",
    exact=True,
    sources=("L. Kleinrock: Queueing Systems, vol. 2. Wiley 1976, pp. 119-126",),
    refuses=refuses,
    run=run,
    cost_s=lambda n: 2e-4,
)
