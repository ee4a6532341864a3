"""Models that a service could be, as far as its runs say: one queue, alone or beside a delay or the cores.

Its servers are 1, 2, 4, as many as there are cores, or as many as a whole-numbered factor of the runs says (workers = 8).
Service is exponential, constant, or of a variance that is found too; where nothing was watched, mean, delay and variance
are not told apart, and uneven service beside a delay has a variance that is given. Each queue is tried free and, where processes, a
control group or a disk were watched, busy as these were: CPU time is the time of service only where workers do not wait.
Where what was watched took another time of a request at another load, that time may fall or grow with the load too (wake-ups, clock
frequency, caches, batches; garbage, locks), where it is exponential or constant; and where it was busy beyond a time for each request,
other work beside the requests is tried. Where a service pauses by a clock, one server that breaks
down as often and as long as was seen is tried.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from sojourn.errors import InputError
from sojourn.fit.cpu_limit import limits_for_sure, may_be_all, work_without_requests
from sojourn.fit.fit_runs import FitRuns
from sojourn.fit.run_contents import cpu_resource
from sojourn.fit.time_at_rest import AT_REST, LEVEL, LONGER, SHARE, WORDS
from sojourn.model import Breakdowns, Closed, Delay, Deterministic, Exponential, Lognormal, Model, Open, Queue
from sojourn.model.distribution_registry import Distribution
from sojourn.model.unknown_parameters import Unknown
from sojourn.runs.pauses import grow_with_load, together

OF_A_CLASS = re.compile(r"rate_.+_per_s|users_.+|think_.+_s")  # loads of one class; here all classes are one
LEVELS = ("rate_per_s", "users", "think_s", "seed", "cores", "nics")
MOST_SERVERS = 1024
CHANGES = 1.05  # of the time of a request from its least to its most, from which on it is taken to depend on the load
BY_LOAD = {
    "its time falls with the load": "work_s * (1 + saved * (1 - u)**2)",
    "its time grows with the load": "work_s * (1 + grown * u)",
}
BY_CHANCE = 0.05  # of one test: how often a time that does not change is taken for one that does; each resource and direction has one
OTHER_WORK, MOST_OTHER = "beside other work", 0.9  # work without requests, of the servers
USUAL_CHANGE, LEAST_CHANGE = 0.3, 0.01  # where a search begins; none at all would be no place to begin
MOST_SAVED = 1.0  # at rest over at saturation, less 1; the most of 17 services was 0.84, and low rates alone may say 50
LEAST_SCV = 0.01  # of pauses: less is constant
LAWS = ("", "a constant time", "any variance of service")
UNEVEN, UNEVEN_SCV = (
    "an uneven time",
    4.0,
)  # a law of service beside a delay: one request in some takes far longer than the others


@dataclass(frozen=True)
class _ServerCount:
    """How many, and by which factor, if by one."""

    count: int
    factor: str = ""

    @property
    def name(self) -> str:
        return (
            f"as many servers as {self.factor}"
            if self.factor
            else f"{self.count} server{'s' if self.count > 1 else ''}"
        )


def whole_factors(runs: FitRuns) -> dict[str, set[int]]:
    """Factors of the service that could be a number of servers → the values that runs had."""
    names = [name for name in runs.runs[0].factors if name not in LEVELS and not OF_A_CLASS.fullmatch(name)]
    found = {name: {run.factors.get(name) for run in runs.runs} for name in names}
    return {name: {int(v) for v in values if v} for name, values in found.items() if all(map(_is_count, values))}


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MOST_SERVERS


def candidates(runs: FitRuns) -> dict[str, Model]:
    """Name → model with unknowns. Raises InputError for runs whose load is not known, or is a rate in some and users in others."""
    first = runs.runs[0]
    kinds = {next((name for name in ("users", "rate_per_s") if name in run.factors), "") for run in runs.runs}
    if "" in kinds:
        raise InputError("neither rate_per_s nor users among the factors", "runs", "give runs with a known load")
    if len(kinds) > 1:
        remedy = "give those with a rate, or those with users; or a model file"
        raise InputError("rate_per_s in some and users in others", "runs", remedy)
    users = "users" in kinds
    counts = sorted({1, 2, 4, *([first.cores] if first.cores else [])})
    servers = [
        *(_ServerCount(int(first.factors[name]), name) for name in whole_factors(runs)),
        *map(_ServerCount, counts),
    ]
    # of a closed queue of general service there are approximations only, whose errors would be taken for its own
    laws = LAWS[:1] if users else LAWS
    found = dict(pair for one in servers for law in laws for pair in _with_servers(runs, one, law))
    return found | ({} if users else _that_pause(runs))


def _that_pause(runs: FitRuns) -> dict[str, Model]:
    """One server that pauses as it was seen to; of pauses that come after so many answers the variance of service has them."""
    seen = [run.pauses for run in runs.runs if run.pauses is not None]
    pauses = together(seen)
    if pauses is None or grow_with_load(seen):
        return {}
    scv = pauses.variance_s2 / pauses.mean_s**2
    down = Lognormal(pauses.mean_s, scv) if scv > LEAST_SCV else Deterministic(pauses.mean_s)
    stops = Breakdowns(Exponential((1 - pauses.share) / pauses.per_s), down)
    one = _ServerCount(1)
    names = ((law, ", ".join(filter(None, (one.name, law, "that pauses")))) for law in LAWS[:2])
    return {name: _model(runs, one, law, breakdowns=stops) for law, name in names}


def _with_servers(runs: FitRuns, servers: _ServerCount, law: str) -> Iterator[tuple[str, Model]]:
    name = ", ".join(filter(None, (servers.name, law)))
    of_cpu = _is_cpu_time(runs)
    if not of_cpu:
        yield name, _model(runs, servers, law)
    if law != LAWS[2] and not of_cpu:
        yield f"{name}, a delay", _model(runs, servers, law, delayed=True)
    elif law == LAWS[2] and not _watched(
        runs
    ):  # mean, variance and delay together are not told by response times alone
        yield f"{servers.name}, {UNEVEN}, a delay", _model(runs, servers, UNEVEN, delayed=True)
    cores = runs.runs[0].cores
    for resource in _watched(runs):
        of_cores = not resource.startswith("disk")
        if not (of_cores and cores and servers.count > cores):  # no more of them are at work than there are
            yield from _tied(runs, servers, law, resource, of_cores)
        if of_cores and not of_cpu:
            yield f"{name}, beside {resource}", _model(runs, servers, law, beside=resource)


def _tied(runs: FitRuns, servers: _ServerCount, law: str, resource: str, of_cores: bool) -> Iterator[tuple[str, Model]]:
    """Servers that are busy as it was."""
    name, rates = ", ".join(filter(None, (servers.name, law))), "users" not in runs.runs[0].factors
    alone = law == LAWS[2] or not (rates and of_cores) or may_be_all(runs, resource, servers.count)
    other = of_cores and law in LAWS[:2] and work_without_requests(runs, resource) > 0
    for delayed in (False, True) if alone else (True,):
        told = f"{name}{', a delay' if delayed else ''}, utilised like {resource}"
        yield told, _model(runs, servers, law, tied=resource, delayed=delayed)
        if of_cores and rates:
            yield f"{told}, {WORDS}", _model(runs, servers, law, tied=resource, delayed=delayed, formula=LONGER)
        if other:
            own = _model(runs, servers, law, tied=resource, delayed=delayed, background=True)
            yield f"{told}, {OTHER_WORK}", own
    for how, formula in BY_LOAD.items() if alone and law in LAWS[:2] else ():
        if _changes(runs, resource, servers.count, "saved" in formula):
            yield f"{name}, utilised like {resource}, {how}", _model(runs, servers, law, tied=resource, formula=formula)


def _changes(runs: FitRuns, resource: str, servers: int, falls: bool) -> bool:
    """Whether a request took more of it at one load than at another, in this direction, and not by chance (Student's test of the slope)."""
    load, time_s = _times_by_load(runs, resource, servers, falls)
    if len(time_s) < 3 or np.ptp(load) < LEAST_CHANGE or time_s.max() <= CHANGES * time_s.min():
        return False
    away = load - load.mean()
    slope = float(away @ time_s / (away @ away))
    left = time_s - time_s.mean() - slope * away
    error = np.sqrt(left @ left / (len(left) - 2) / (away @ away))
    return slope > max(error, 1e-9 * time_s.max()) * stdtrit(len(left) - 2, 1 - BY_CHANCE)


def _by_utilisation(runs: FitRuns, resource: str, servers: int, falls: bool) -> tuple[float | None, float]:
    """Where the search of a time that changes begins: the straight line of busy/throughput over (1 - u)^2, or u, by least squares. Its
    value where that is 0, s, and its rise relative to it."""
    load, time_s = _times_by_load(runs, resource, servers, falls)
    if len(time_s) < 2 or np.ptp(load) < LEAST_CHANGE:
        return None, USUAL_CHANGE
    rise, work_s = np.polyfit(load, time_s, 1)
    return (float(work_s), float(max(rise / work_s, LEAST_CHANGE))) if work_s > 0 else (None, USUAL_CHANGE)


def _times_by_load(
    runs: FitRuns, resource: str, servers: int, falls: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(1 - u)^2 or u of each run, and the time of a request by the utilisation law, s."""
    told = [(run.busy[resource] / run.slowness, run.means["", "throughput"][0]) for run in runs.runs
            if resource in run.busy and ("", "throughput") in run.means]  # fmt: skip
    busy, done = np.array(told, float).reshape(-1, 2).T
    u = np.minimum(busy / servers, 1.0)
    return ((1 - u) ** 2 if falls else u), busy / done


def _is_cpu_time(runs: FitRuns) -> bool:
    """Whether CPU time limits the service, whatever else a request waits for, so that models without it need not be tried."""
    cpu = next((name for name in _watched(runs) if not name.startswith("disk")), "")
    return "users" not in runs.runs[0].factors and limits_for_sure(runs, cpu)


def _watched(runs: FitRuns) -> list[str]:
    """The first resource that tells CPU time, and disks."""
    cpu = cpu_resource(runs.resources)
    return [*([cpu] if cpu else []), *(r for r in runs.resources if r.startswith("disk"))]


def _model(
    runs: FitRuns,
    servers: _ServerCount,
    law: str,
    *,
    delayed: bool = False,
    tied: str | None = None,
    beside: str | None = None,
    formula: str = "",
    breakdowns: Breakdowns | None = None,
    background: bool = False,
) -> Model:
    first = runs.runs[0]
    closed = "users" in first.factors
    customer = Closed("user", 1, float(first.factors.get("think_s", 0.0))) if closed else Open("user", 1.0)
    other = Unknown(0.01 * servers.count, 0.0, MOST_OTHER * servers.count) if background else 0.0
    stations: list[Queue | Delay] = [Queue("service", servers.count, breakdowns=breakdowns, background=other)]
    demands: dict[str, dict[str, float | str | Distribution]] = {"service": {"user": _time(law)}}
    if delayed:
        stations.append(Delay("delay"))
        demands["delay"] = {"user": Unknown(None, 0.0)}
    if beside:
        stations.append(Queue("cpu", max(first.cores, 1)))
        demands["cpu"] = {"user": Unknown()}
    parameters: dict[str, float | str] = {}
    if formula:
        demands["service"] = {"user": _time(law, cast(float, formula))}
        work_s, change = _by_utilisation(runs, tied or "", servers.count, "saved" in formula)
        parameters = {"work_s": Unknown(work_s)}
        if "saved" in formula:
            parameters["saved"] = Unknown(min(change, MOST_SAVED), 0.0, MOST_SAVED)
        elif "grown" in formula:
            parameters["grown"] = Unknown(change, 0.0)
        parameters |= {AT_REST: LEVEL} if formula == LONGER else {}
    observed = {"service": tied} if tied else {"cpu": beside} if beside else {}
    factors: dict[str, str | tuple[str, ...]] = {name: () for name in first.factors if OF_A_CLASS.fullmatch(name)}
    factors |= {servers.factor: "stations.service.servers"} if servers.factor else {}
    return Model(stations, [customer], demands_s=demands, observed=observed, factors=factors, parameters=parameters)


def _time(law: str, mean_s: float | None = None) -> Distribution:
    mean = Unknown() if mean_s is None else mean_s
    kinds: dict[str, Distribution] = {
        LAWS[0]: Exponential(mean), LAWS[1]: Deterministic(mean), UNEVEN: Lognormal(mean, UNEVEN_SCV)
    }  # fmt: skip
    return kinds.get(law) or Lognormal(mean, Unknown(1.0, 0.01, 30.0))


def shares_of(models: Mapping[str, Model]) -> dict[str, float]:
    """Name → what is believed of a model among those that differ by its time at rest; 1 of all that have no such variant."""
    both = {name.removesuffix(f", {WORDS}") for name in models if name.endswith(WORDS)}
    return {name: SHARE if name.removesuffix(f", {WORDS}") in both else 1.0 for name in models}
