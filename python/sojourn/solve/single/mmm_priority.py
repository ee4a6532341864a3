"""M/M/m with priorities, all classes with one mean service time, without preemption or with it.

Source: A. Cobham, Oper. Res. 2(1), 1954, pp. 70-76; Hillier, Lieberman, Introduction to Operations Research, 10th ed.
(2015), Section 17.8; Gross et al., Fundamentals of Queueing Theory, 4th ed. (2008), Section 3.4.2.

    source   here
    s        servers
    sigma_k  work of level k and of those above, a server

Without preemption W_k = (C/(m mu))/((1 - sigma_(k-1))(1 - sigma_k)). With preemption the levels up to k are an M/M/m of
their own, so that the number of level k is a difference of two; where that loses digits (level k rare), about as many as
the ratio of the two has. Limits: Poisson arrivals, exponential service of one mean; means only.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sojourn.model.network_arrays import Array, Network
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.single.mg1_priority import Levels, served_rates
from sojourn.solve.single.mmm import MMm
from sojourn.solve.single.station_arrays import StationArrays, refusal
from sojourn.solve.single.station_solution import OpenQueuePoints
from sojourn.solve.solution import Solution


def waiting_s(rate: Array, service_s: Array, servers: Array, level: Levels, preemptive: bool) -> Array:
    """Mean of response - service, P x C; `service_s` and `servers`: P. NaN for levels that are not stable."""
    found = np.full(rate.shape, np.nan)
    whole = MMm(rate.sum(axis=1), service_s, servers)
    found_waiting = np.where(np.isnan(whole.load), 1.0, whole.waits)  # all servers busy: somebody always waits
    before, line = np.zeros(len(rate)), np.zeros(len(rate))
    for k in np.unique(level):
        own = level == k
        here = before + rate[:, own].sum(axis=1)
        upto = MMm(here, service_s, servers)
        if preemptive:
            with np.errstate(divide="ignore", invalid="ignore"):
                wait = np.where(here > before, (upto.in_line - line) / (here - before), upto.waiting_s)
            line = upto.in_line
        else:
            above = before * service_s / servers
            wait = found_waiting * service_s / servers / ((1 - above) * (1 - upto.load))
        found[:, own] = wait[:, None]
        before = here
    return found


def refuses(n: Network) -> str | None:
    return refusal(n, disciplines=("priority", "priority_preemptive"), exponential=True, one_service=True)


def run(networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
    read = StationArrays(networks)
    answer, level = OpenQueuePoints(read, wanted), networks[0].priority
    preemptive = networks[0].discipline[0] == "priority_preemptive"
    answer.served = served_rates(read.rate, read.service_s / read.servers[:, None], level)
    wait = waiting_s(read.rate, read.mean_s, read.servers, level, preemptive)
    return answer.solution(wait)


METHOD = Method(
    name="mmm-priority",
    title="M/M/m with priorities, classes of one service rate",
    exact=True,
    sources=("A. Cobham: Oper. Res. 2(1), 1954, pp. 70-76",),
    refuses=refuses,
    run=run,
    cost_s=lambda n: 3e-4,
)
