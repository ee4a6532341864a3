"""Time of a whole pass through an open network in which nobody is overtaken: variance and quantiles, exactly.

Sources: E. Reich, Ann. Math. Statist. 28, 1957, pp. 768-773 (times at M/M/1 queues in a row are independent); P. J. Burke,
Ann. Math. Statist. 39, 1968, pp. 1144-1152 (M/M/m: the time of a customer does not depend on the departures before its
own) and Oper. Res. 17(4), 1969, pp. 754-755 (M/M/m in the middle of a row: dependent); J. Walrand, P. Varaiya, Adv. Appl.
Prob. 12(4), 1980, pp. 1000-1018 (networks: the overtaking condition).

    source                  here
    S_1 + … + S_k           `passage.Passage`, the sum along each path, paths mixed by their probabilities
    overtake-free path      `refuses`: one path at most from any station to any other, and no station where customers
                            change their order between two queues

What is allowed: one class, Poisson arrivals from outside to any stations; exponential queues first come, first served;
more than one server, and exponential or Erlang delays, only with no queue before them or none behind them; fixed delays
anywhere, which shift. Each station alone is M/M/m, as in `product`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sojourn.model.distribution_registry import Deterministic, Erlang, Exponential
from sojourn.model.network_arrays import Array, Network
from sojourn.model.network_points import as_points
from sojourn.solve.method import RequestedOutputs
from sojourn.solve.open.open_rates import TrafficSolution
from sojourn.solve.open.passage_time import NetworkPassage, StationTime, nodes
from sojourn.solve.single.erlang import erlang_c
from sojourn.solve.single.station_arrays import quantile
from sojourn.solve.solution import Solution

MOST_WORK, WORK_PER_S = 2e10, 2e10  # additions and multiplications
MOST_STATIONS = 600  # with a phase each, that is all the work that is allowed
MOST_KEPT = 5e5  # numbers of one level of all points that are done together
SQUARINGS = 40


def tell(traffic: TrafficSolution, solution: Solution, points: np.ndarray, wanted: RequestedOutputs) -> None:
    """Adds the rows of the whole pass at these points (stable ones), or the reason why there are none to the message."""
    if not wanted.quantiles or not len(points):
        return
    reasons: list[str] = []
    if reason := _large(traffic.networks[0]):
        points, reasons = points[:0], [reason]
    for own in _alike(traffic.networks, points):
        reason = refuses(traffic.networks[own[0]]) or _dear(traffic.networks[own[0]], len(own), wanted.budget_s)
        if reason:
            reasons.append(reason)
            continue
        size = max(1, int(MOST_KEPT / phases(traffic.networks[own[0]]) ** 2))
        for first in range(0, len(own), size):
            _rows(traffic, solution, own[first : first + size], wanted)
    if reasons:
        told = f"quantiles of the whole response time are not available: {'; '.join(dict.fromkeys(reasons))}"
        solution.message = "\n".join(filter(None, (solution.message, told)))


def _alike(networks: Sequence[Network], points: np.ndarray) -> list[list[int]]:
    """Points that can be done together: the same moves, laws, and stations of several servers or that take time."""
    if not len(points):
        return []  # of a network that is too large nobody asks for its moves
    every = as_points(networks)
    number: dict[object, int] = {}
    kinds = [number.setdefault(_signature(base), len(number)) for base in every.bases]
    several, timed = every.column("servers")[points] > 1, every.column("service_s")[points].reshape(len(points), -1) > 0
    groups: dict[object, list[int]] = {}
    for p, base, m, s in zip(points.tolist(), every.which[points].tolist(), several, timed, strict=True):
        groups.setdefault((kinds[base], m.tobytes(), s.tobytes()), []).append(p)
    return list(groups.values())


def _signature(n: Network) -> object:
    """What bases of points must share: their numbers apart."""
    kinds = tuple((type(d), getattr(d, "shape", 0)) for row in n.service for d in row)
    moves = n.routes.matrix
    return moves.indptr.tobytes(), moves.indices.tobytes(), kinds


def _large(n: Network) -> str | None:
    count = len(n.stations)
    return f"there are {count} stations, and at most {MOST_STATIONS} are taken" if count > MOST_STATIONS else None


def refuses(n: Network) -> str | None:
    """Why the law of the whole pass is not known here, in words; None where it is."""
    if len(n.classes) > 1:
        return f"there are {len(n.classes)} classes"
    if reason := _large(n):
        return reason
    for k in np.flatnonzero(n.visits[:, 0]):
        name, law = n.stations[k], n.service[k][0]
        if n.kind[k] == "queue" and n.discipline[k] != "fcfs":
            return f"station {name} is {n.discipline[k]}, not fcfs"
        if n.kind[k] not in ("queue", "delay"):
            return f"station {name} is {n.kind[k].replace('_', '-')}"
        if n.kind[k] == "delay" and not isinstance(law, Exponential | Erlang | Deterministic):
            return f"the delay {name} is neither exponential, Erlang nor fixed"
    return _overtaken(n)


def _overtaken(n: Network) -> str | None:
    count = len(n.stations)
    paths, order = _paths(n)
    if len(order) < count:
        again = next(k for k in range(count) if k not in order)
        return f"customers can come back to station {n.stations[again]}"
    if (paths > 1).any():
        i, j = np.argwhere(paths > 1)[0]
        return f"there are two ways from station {n.stations[i]} to station {n.stations[j]}, so that customers can overtake"
    queue = np.array([kind == "queue" for kind in n.kind]) & (n.service_s[:, 0] > 0) & (n.visits[:, 0] > 0)
    behind = (paths > 0) & ~np.eye(count, dtype=bool)
    for k in np.flatnonzero(n.visits[:, 0]):
        swaps = (
            n.servers[k] > 1 if queue[k] else n.kind[k] == "delay" and not isinstance(n.service[k][0], Deterministic)
        )
        if swaps and (behind[:, k] & queue).any() and (behind[k] & queue).any():
            return f"customers can overtake at station {n.stations[k]}, which has queues before and behind it"
    return None


def _paths(n: Network) -> tuple[Array, list[int]]:
    """How many ways lead from each station to each other one, and the stations in an order of the routes, last first;
    those on a cycle, and those that lead to one, are not in the order."""
    count = len(n.stations)
    after = [np.flatnonzero(n.route[k, :count] > 0).tolist() for k in range(count)]
    paths, order, left = np.eye(count), [], list(range(count))
    done: set[int] = set()
    while ready := [k for k in left if done.issuperset(after[k])]:
        for k in ready:
            paths[k] += paths[after[k]].sum(axis=0)
        order += ready
        done.update(ready)
        left = [k for k in left if k not in ready]
    return np.minimum(paths, 2.0), order


def phases(n: Network) -> int:
    """How many phases the time of a pass has."""
    laws = [row[0] for row in n.service]
    own = [d.shape if isinstance(d, Erlang) else min(int(m), 2) for d, m in zip(laws, n.servers, strict=True)]
    fixed = [isinstance(d, Deterministic) for d in laws]
    return max(sum(own[k] for k, _ in nodes(n.route[:, :-1] > 0, fixed) if not fixed[k]), 1)


def _dear(n: Network, points: int, budget_s: float) -> str | None:
    work = points * SQUARINGS * 2.0 * (count := phases(n)) ** 3
    text = f"{points} points with {count} phases each would take about {work / WORK_PER_S:.2g} s; ask for fewer points"
    return text if work > min(MOST_WORK, WORK_PER_S * budget_s) else None


def _rows(traffic: TrafficSolution, solution: Solution, points: Sequence[int], wanted: RequestedOutputs) -> None:
    every, n = as_points(traffic.networks), traffic.networks[points[0]]
    load, servers = traffic.load[points].sum(axis=2), every.column("servers")[points].astype(float)
    service_s = every.column("service_s")[points, :, 0]
    stops = [_stop(n, load[:, k], service_s[:, k], servers[:, k], k) for k in range(load.shape[1])]
    used, place = np.unique(every.which[points], return_inverse=True)
    passage = NetworkPassage(stops, np.stack([every.bases[base].route for base in used])[place])
    mean, variance = passage.moments
    _put(solution, n, points, "response_time_variance", variance)
    index, start = np.arange(len(points)), np.maximum(mean, np.finfo(float).tiny)
    for q in wanted.quantiles:
        _put(solution, n, points, "response_time_quantile", quantile(passage.tail, q, start, index), q=q)


def _put(solution: Solution, n: Network, points: Sequence[int], metric: str, values: Array, **key: float) -> None:
    for name in (n.classes[0], ""):
        row = {"station": "", "class": name, "metric": metric, **key}
        solution.more += [{"point": p, "value": float(v), **row} for p, v in zip(points, values, strict=True)]


def _stop(n: Network, load: Array, mean: Array, servers: Array, k: int) -> StationTime:
    """The time at station k at P points: `enter` of its stages, one after the other with these rates."""
    one = np.ones((len(load), 1))
    law, zero = n.service[k][0], np.zeros((len(load), 0))
    if n.visits[k, 0] == 0 or law is None or mean[0] == 0:
        return StationTime(zero, zero, np.zeros(len(load)))
    if n.kind[k] == "delay":
        if isinstance(law, Deterministic):
            return StationTime(zero, zero, mean)
        shape = law.shape if isinstance(law, Erlang) else 1
        rate = np.repeat((shape / mean)[:, None], shape, axis=1)
        return StationTime(np.eye(shape)[:1] * one, rate, np.zeros(len(load)))
    free = ((servers - load) / mean)[:, None]
    if servers[0] == 1:
        return StationTime(one, free, np.zeros(len(load)))
    waits = erlang_c(load, servers)[:, None]
    return StationTime(np.hstack([waits, 1 - waits]), np.hstack([free, 1 / mean[:, None]]), np.zeros(len(load)))
