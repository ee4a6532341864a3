"""How the errors of one run's numbers go together: its response time, throughput and busy resources saw the same work.

A run whose requests happened to need more work than the mean has a longer response time and busier resources; and what it answered,
with so many users, is by Little's law what its response and think times leave. To first order in what happened, relative to the mean:

    R    sum_k g_k s_k + h z + q    s_k    mean work of a request at station k, variance c_k²/n; g_k = d log R/d log S_k
    X    -c R - (1 - c) z           z      mean think time, variance c_z²/n; h = d log R/d log Z; nothing where open
    B_k  X + s_k                    c      R/(R + Z)
                                    q      the rest of the variance of R, which no other number of the run shares

n are the requests of the run, c_k² and c_z² squared coefficients of variation. Of one open class X is known: R and B are put back to the
rate (`realised_rate`). How large the errors of R and X are a run states; that of B and what they share is from here. Parts of a multicore
station share interrupts, and which pages came to the leading cores (`_cores`). Taken as independent: its response times, throughputs where
there are several classes, what two classes wait for together, measured parameters.

Means of times of service explain a part of what a run is off by: S. S. Lavenberg, T. L. Moeller, P. D. Welch: Statistical Results on
Control Variables with Application to Queueing Network Simulation. Oper. Res. 30(1), 1982, pp. 182-202. Little's law between the errors:
P. W. Glynn, W. Whitt: Indirect Estimation via L = λW. Oper. Res. 37(1), 1989, pp. 82-103.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sojourn.fit.fit_problem import FitProblem
from sojourn.fit.model_evaluation import slower_clocks
from sojourn.model.network_arrays import Network
from sojourn.model.network_points import NetworkPoints, as_points

Array = NDArray[np.float64]
STEP = 1e-3  # of the times of a station, relative
LEAST = 1e-12
OF_CORES = 4  # causes of a multicore station
TIME, RATE, BUSY = "response_time", "throughput", "busy"


def covariance(data: FitProblem, x: Array) -> Array:
    """n x n, relative, of the errors within runs where the unknowns are `x`, as they are searched; 0 between runs, but for windows of one
    service (`window_errors`)."""
    causes, busy = _causes(data, data.scale.outward(x)[None]), np.array([s.key[2] == BUSY for s in data.seen])
    length = np.linalg.norm(causes, axis=1)
    shared = causes / np.maximum(length, LEAST)[:, None]
    within_run = shared @ shared.T
    np.fill_diagonal(within_run, 1.0)
    size = np.where(busy & (data.within == 0), np.where(length > 0, length, counted(data)), data.within)
    far = np.where(np.eye(len(data.runs.runs)) > 0, 0.0, np.inf) if data.far is None else data.far
    between = np.power(data.neighbours, far)  # 1 of a run and itself
    return np.asarray(size[:, None] * between[data.run[:, None], data.run[None]] * within_run * size[None])


def counted(data: FitProblem) -> Array:
    """n, 1/sqrt(requests in the run of each); what the run states of its throughput where it does not say how long it was."""
    each = [
        (run.means.get(("", RATE), (0.0, 0.0)), run.observed.length_s if run.observed else run.length_s)
        for run in (data.runs.runs[s.run] for s in data.seen)
    ]
    return np.array(
        [max(rate * length_s, 1.0) ** -0.5 if rate * length_s > 0 else error for (rate, error), length_s in each]
    )


def _causes(data: FitProblem, values: Array) -> Array:
    """n x causes: standard deviations of what each number has of the work of each station, of think times, and of q."""
    points = as_points(data.evaluator.networks_at(values))
    first, plain = points.bases[0], data.evaluator.solved(points).values
    closed = len(first.classes) == 1 and bool(first.closed[0])
    stations = [k for k, kind in enumerate(first.kind) if kind != "multicore"]
    hosts = list(first.hosts)
    classes = list(dict.fromkeys(s.key[1] for s in data.seen if s.key[2] == TIME))  # "" is all of them
    times, each = np.array([s.key[2] == TIME for s in data.seen]), counted(data)

    def slopes(more: NetworkPoints) -> Array:
        """n, d log R by what is longer by `STEP` in `more`; 0 of other numbers."""
        other, rows = data.evaluator.solved(more).values, zip(data.seen, data.at, times, strict=True)
        found = np.log([other[s.key][c] / plain[s.key][c] if own else 1.0 for s, c, own in rows]) / STEP
        return np.nan_to_num(found)

    think, cores = len(stations), len(stations) + 1 + len(classes)
    found = np.zeros((len(data.seen), cores + OF_CORES * len(hosts)))
    known = data.far is not None  # how many came of each class is the load of a window
    work = (
        np.array([np.sqrt(_work_scv(n, known)) for n in points])[data.at] * each[:, None]
    )  # n x stations of the model
    for number, k in enumerate(stations):
        found[:, number] = _growth(points, k, slopes, times) * work[:, k]
    if closed:
        thinking = np.array([0.0 if n.think[0] is None else np.sqrt(n.think[0].scv) for n in points])[data.at] * each
        found[:, think] = slopes(points.altered(think_s=points.column("think_s") * (1 + STEP))) * thinking
    rest = np.sqrt(np.maximum(data.within**2 - (found**2).sum(axis=1), 0.0))
    for number, cls in enumerate(classes, think + 1):
        found[:, number] = [r if s.key == ("", cls, TIME) else 0.0 for s, r in zip(data.seen, rest, strict=True)]
    if closed:
        users = np.array([float(n.population[0]) for n in points])
        inside = (plain["", "", TIME] * plain["", "", RATE] / users)[data.at]  # c
        row = {s.run: i for i, s in enumerate(data.seen) if s.key == ("", "", TIME)}
        for i, s in enumerate(data.seen):
            if s.key[2] in (RATE, BUSY) and s.run in row:
                found[i] = -inside[i] * found[row[s.run]]
                found[i, think] -= (1 - inside[i]) * thinking[i]
    for number, k in enumerate(stations):
        own = np.array([s.key == (first.stations[k], "", BUSY) for s in data.seen])
        found[own, number] += np.maximum(work[own, k], LEAST)  # constant times too are known
    for number, k in enumerate(hosts):
        at = slice(cores + OF_CORES * number, cores + OF_CORES * (number + 1))
        for part, errors in _cores(points, k).items():
            own = np.array([s.key == (f"{first.stations[k]}.{part}", "", BUSY) for s in data.seen])
            found[own, at] = (errors[data.at] * each[:, None])[own]
    return found


def _cores(points: NetworkPoints, k: int) -> dict[str, Array]:
    """Of a multicore station, part → P x `OF_CORES`: relative standard deviations, for one request, of the work that the part has: by
    interrupts, by where pages go, by pages on the leading cores and by those elsewhere.

    Each page goes to the leading cores by itself, with the station's p; a rule that depends on the load is taken as "uniform".
    Pages are exponential, and interrupts at least as uneven."""
    part = {name: points.part("hosts", k, name) for name in ("cores", "nics", "interrupt_s", "interrupt_scv", "p")}
    page_s, uniform = points.column("service_s")[:, k, 0], part["nics"] / part["cores"]
    stay = np.array([u if isinstance(p, str) else p for p, u in zip(part["p"], uniform, strict=True)], float)
    stay = np.where(part["nics"] < part["cores"], stay, 1.0)
    interrupts = np.sqrt(np.maximum(part["interrupt_scv"], 1.0)) * part["interrupt_s"]
    where, none = page_s * np.sqrt(stay * (1 - stay)), np.zeros(len(points))
    works = {
        "leading": ([interrupts, where, page_s * np.sqrt(stay), none], part["interrupt_s"] + stay * page_s),
        "trailing": ([none, -where, none, page_s * np.sqrt(1 - stay)], (1 - stay) * page_s),
        "interrupts": ([interrupts, none, none, none], part["interrupt_s"]),
    }
    return {name: np.stack(each, axis=1) / np.maximum(mean, LEAST)[:, None] for name, (each, mean) in works.items()}


def _work_scv(network: Network, known: bool = False) -> Array:
    """K, squared coefficient of variation of what a request of any class needs of a station: E[D²]/E[D]² - 1. Of several open classes
    nobody puts the count back to the rate, and as many Poisson requests have E[D²]/E[D]². `known`: the count of each class is, so that
    what is left is how their own times vary."""
    if len(network.classes) == 1:
        return network.scv[:, 0]
    users = np.maximum(network.population, 0) / np.maximum(network.think_s + network.demands_s.sum(axis=0), LEAST)
    share = network.rate_per_s + users  # of closed classes at most
    mean, square = (network.demands_s**n @ share for n in (1, 2))
    square = (0.0 if known else square) + (network.scv * network.demands_s**2) @ share
    found = np.where(mean > 0, square * share.sum() / np.maximum(mean, LEAST**2) ** 2, 1.0)
    return np.asarray(found if known or not network.closed.any() else np.maximum(found - 1, 0.0))


def _growth(points: NetworkPoints, k: int, slopes: Callable[[NetworkPoints], Array], times: NDArray[np.bool_]) -> Array:
    """n, d log R by the times of station `k`: as many more visits are as much more work; a method of one station knows no visits, and
    there slower clocks do it."""
    if len(points.bases[0].stations) == 1:
        return np.where(times, slopes(as_points(slower_clocks(points, np.full(len(points), 1 + STEP)))) + 1.0, 0.0)
    visits = np.array(points.column("visits"), float)
    visits[:, k] *= 1 + STEP
    return slopes(points.altered(visits=visits))
