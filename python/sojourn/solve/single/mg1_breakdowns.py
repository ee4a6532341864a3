"""M/G/1, FCFS, with a server that breaks down now and then, busy or idle, and resumes what it was at: pauses of a service.

Source: B. Avi-Itzhak, P. Naor: Some Queuing Problems with the Service Station Subject to Breakdown. Operations Research 11(3), 1963, pp.
303-320, model A (breakdowns at any time, none during a repair).

    source, here           meaning
    nu                     breakdowns a second of working time, exponential: 1/mean of `up`
    d1, d2                 raw moments of a repair, `down`
    A = 1/(1 + nu d1)      share of the time in which the server works

By the clock that stands still during repairs this is M/G/1 with two streams of arrivals: single ones at lambda, and at nu those of a whole
repair at once, whose work has second moment lambda d1 E[S^2] + lambda^2 d2 E[S]^2. The work found, W, follows by Pollaczek and Khinchine;
who comes during a repair (chance 1 - A, d2/(2 d1) of it passed and as much still to come) finds that of its beginning and the work that
has come since:

    E[R] = (W + E[S])/A + (1 - A) d2/(2 d1) (1 + lambda E[S]/A),   full at A/E[S]

Stable: a sum of positive terms. Limits: one server, Poisson arrivals, exponential `up`; means alone, no quantiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from sojourn.model.components import Breakdowns
from sojourn.model.distribution_registry import Exponential
from sojourn.model.network_arrays import Array, Network
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.single.mg1 import each
from sojourn.solve.single.station_arrays import StationArrays, refusal, sum_over_classes
from sojourn.solve.single.station_solution import OpenQueuePoints
from sojourn.solve.solution import Solution


class _Breaking(StationArrays):
    """`servers` is the share of the time in which the one server works."""

    @cached_property
    def often(self) -> Array:
        """P, breakdowns a second of working time."""
        return np.array([1 / breakdowns_of(n).up.first for n in self.networks])

    @cached_property
    def down(self) -> Array:
        """2 x P, raw moments of a repair, s and s^2."""
        return np.array([[breakdowns_of(n).down.first, breakdowns_of(n).down.second] for n in self.networks]).T

    @cached_property
    def servers(self) -> Array:
        return np.asarray(1 / (1 + self.often * self.down[0]))


def breakdowns_of(network: Network) -> Breakdowns:
    """Of its one station, which has them."""
    found = getattr(network.model.station(network.stations[0]), "breakdowns", None)
    assert isinstance(found, Breakdowns)
    return found


def waiting_s(rate: Array, service_s: Array, second: Array, often: Array, down: Array) -> Array:
    """Mean response less mean service, P values each; `often`, 1/s: breakdowns of working time; `down`: 2 x P, raw moments of a repair.
    NaN from where it is full."""
    works = 1 / (1 + often * down[0])
    load = rate * service_s / works
    with np.errstate(divide="ignore", invalid="ignore"):
        left = np.where(load < 1, 1 - load, np.nan)
        found = (rate * second / works + often * rate**2 * down[1] * service_s**2) / 2 / left
        repair = (1 - works) * down[1] / (2 * down[0]) * (1 + load)
    return np.asarray(found / works + service_s * often * down[0] + repair)


def refuses(n: Network) -> str | None:
    reason = refusal(n, disciplines=("fcfs",), single_server=True, timed=True, breaks=True)
    if reason is None and not isinstance(breakdowns_of(n).up, Exponential):
        return f"the time between two breakdowns of the station `{n.stations[0]}` is not exponential"
    return reason


def run(networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
    read = _Breaking(networks)
    answer = OpenQueuePoints(read, wanted)
    second = sum_over_classes(read.share, read.second)
    waits = waiting_s(read.total, read.mean_s, second, read.often, read.down)
    solution = answer.solution(each(waits, read))
    return replace(solution, utilisation=solution.utilisation * read.servers[:, None, None])


METHOD = Method(
    name="mg1-breakdowns",
    title="M/G/1 FCFS whose server breaks down: Avi-Itzhak and Naor",
    exact=True,
    sources=("B. Avi-Itzhak, P. Naor: Operations Research 11(3), 1963, pp. 303-320",),
    refuses=refuses,
    run=run,
    reads=("time",),
)
