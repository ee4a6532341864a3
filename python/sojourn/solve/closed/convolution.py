"""Exact convolution: stations of any speed (several servers, load-dependent), any number of closed and open classes.

Sources: J. P. Buzen: Computational Algorithms for Closed Queueing Networks with Exponential Servers. Commun. ACM 16(9),
1973, pp. 527-531; M. Reiser, H. Kobayashi: Queuing Networks with Multiple Closed Chains. IBM J. Res. Dev. 19(3), 1975,
pp. 283-294; S. C. Bruell, G. Balbo: Computational Algorithms for Closed Queueing Networks (1980), ch. 3-5.

    paper        here                              unit
    G(N)         sums over a lattice, scaled       1
    mu_k(n)      `Network.speed`: relative speed with n present; with open classes E(n-1)/E(n) below
    rho_0        work that open classes bring      busy servers
    p_k(n)       queue_length_probability          1

Stability. Demands are scaled by rates of arrival at which the open network would hold N customers in the mean, and each
station's terms by their sum: a closed network is that open one, given that its numbers are N, and every term of G is an
ordinary probability. Nothing that matters over- or underflows, and there are no subtractions and no divisions of
polynomials (a station's own distribution comes from the sum over all others): 2e-16 from multiprecision at 25 servers
and N = 1000, where load-dependent mean value analysis in doubles is wrong from N = 20 on. A station of m servers costs
m passes over the lattice, not N: from m present on its terms are geometric, and their sum is a recurrence.

Open classes at a station of any speed (Bruell, Balbo, ch. 5): n closed customers weigh E(n) = sum_i C(n+i, i) rho_0^i /
(s(1) … s(n+i)). From the full speed s on this is geometric with s - rho_0, and its tail t(n) = sum_(l>=m) C(l, n)
a^(l-m), a = rho_0/s, follows from t(n) = (C(m, n) + a t(n-1))/(1 - a): positive terms only.

Limits: the lattice of populations is kept a few times; what needs gigabytes or minutes is refused before it starts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn import _native
from sojourn.errors import SolverError
from sojourn.model.network_arrays import Array, Network
from sojourn.model.network_points import NetworkPoints, as_points
from sojourn.solve.closed import chain_arrays, number_distribution
from sojourn.solve.closed.closed_refusals import customers, exactly, states
from sojourn.solve.closed.open_load_weights import log_weights
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.solution import Solution

MOST_BYTES = 4e9
MOST_S_ONE = 1.0  # one chain: approximations answer at once
MOST_S = 600.0


def refuses(network: Network) -> str | None:
    reason = exactly(network)
    if reason:
        return reason
    if memory_bytes(network) > MOST_BYTES:
        return f"{states(network):.3g} vectors of populations need {memory_bytes(network) / 1e9:.3g} GB"
    if cost_s(network) > (MOST_S if len(customers(network)) > 1 else MOST_S_ONE):
        return f"{states(network):.3g} vectors of populations take about {cost_s(network):.3g} s"
    return None


def run(networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
    c = chain_arrays.of(networks)
    points, stations, classes = len(networks), len(c.delay), c.population.shape[1]
    most, delays, message = number_distribution.asked(networks, wanted)
    each = as_points(networks)
    inside = ~c.delay | (delays & (c.open_load.sum(axis=(0, 2)) == 0))
    x, busy = np.zeros((points, classes)), np.zeros((points, stations, classes))
    queue, line, second, spread = busy.copy(), busy.copy(), np.zeros((points, stations)), np.zeros((points, stations))
    exactly_n = np.zeros((points, stations, most))
    exactly_n[:, :, :1] = 1.0
    for group in _groups(each, c):
        used = np.flatnonzero(c.population[group].any(axis=0))
        if c.unstable[group[0]]:
            continue
        at = np.flatnonzero(inside)
        speeds = [
            _speeds(_of_speeds(each, int(group[0])), c, int(group[0]), int(k), c.population[group].sum(axis=1).max())
            for k in at
        ]
        if not len(used):
            spread[np.ix_(group, at)] = [1 / s[0] for s in speeds]
            continue
        found = _solve(c, group, used, at, speeds, most)
        x[np.ix_(group, used)] = found[0]
        queue[np.ix_(group, at, used)], busy[np.ix_(group, at, used)] = found[1], found[2]
        second[np.ix_(group, at)], spread[np.ix_(group, at)] = found[3], found[4]
        exactly_n[np.ix_(group, at)], line[np.ix_(group, at, used)] = found[5], found[6]
    s = chain_arrays.solution(c, x, queue, _open_queue(c, spread) if c.open_rate.any() else None, line)
    _busy(networks, c, s, busy)
    if wanted.further or wanted.state_probabilities is not None:
        s.more += number_distribution.rows(c, inside, queue, second, exactly_n, (wanted.state_probabilities or 0) + 1)
    s.message = "\n".join(filter(None, (s.message, message)))
    return s


def numbers_told(networks: Sequence[Network], wanted: RequestedOutputs, means: Solution) -> Solution:
    """Adds rows of p(n) and of the variance of the numbers to the answer of a method that knows means only, where p(n) is
    asked for; what would be too dear is a sentence of the message."""
    if wanted.state_probabilities is None:
        return means
    _, _, message = number_distribution.asked(networks, wanted)
    if reason := next(filter(None, map(refuses, networks)), None):
        message = f"p(n) is not available, because it comes from the convolution: {reason}"
    elif not message or "delays" in message:
        try:
            means.more += run(networks, wanted).more
        except SolverError as error:
            message = f"p(n) is not available: {error.value}"
    means.message = "\n".join(filter(None, (means.message, message)))
    return means


def _of_speeds(points: NetworkPoints, p: int) -> Network:
    """A network whose speeds are those of point p: its base, which is made already, where no number of the point changes them."""
    return points[p] if points.parts or "servers" in points.columns else points.bases[points.which[p]]


def _groups(points: NetworkPoints, c: chain_arrays.ChainArrays) -> list[NDArray[np.intp]]:
    """Points that differ in their populations only."""
    if len(points) == 1:
        return [np.zeros(1, np.intp)]
    rates = [tuple(r.tobytes() for r in base.rates.values()) for base in points.bases]
    numbers = [c.demands_s, c.think_s, points.column("servers"), c.open_load]
    keys: dict[Any, list[int]] = {}
    for p, base in enumerate(points.which):
        keys.setdefault((*(array[p].tobytes() for array in numbers), rates[base]), []).append(p)
    found = []
    for own in keys.values():
        together, apart = np.prod(c.population[own].max(axis=0) + 1.0), np.prod(c.population[own] + 1.0, axis=1).sum()
        found += [np.array(own)] if together <= 2 * apart else [np.array([p]) for p in own]
    return found


def _speeds(n: Network, c: chain_arrays.ChainArrays, p: int, k: int, most: int) -> Array:
    """Relative speed with 1, 2, … closed customers present, up to where it stays the same."""
    full = most if n.kind[k] == "delay" else len(n.rates[k]) if k in n.rates else int(n.servers[k])
    load = float(c.open_load[p, k].sum())
    if load == 0:
        return n.speed(k, max(min(full, most), 1))
    e = log_weights(n.speed(k, full), load)
    return np.exp(e[:-1] - e[1:])[: most + 1]  # one more than can be there: what an open arrival would find


def _solve(
    c: chain_arrays.ChainArrays,
    group: NDArray[np.intp],
    used: NDArray[np.intp],
    at: NDArray[np.intp],
    speeds: list[Array],
    most: int,
) -> tuple[Array, ...]:
    p = group[0]
    elsewhere = np.ones(len(c.delay), bool)  # np.setdiff1d would import numpy.ma
    elsewhere[at] = False
    think = c.think_s[p] + c.demands_s[p, elsewhere].sum(axis=0)
    demands = c.demands_s[p][np.ix_(at, used)]
    lists = [s.tolist() for s in speeds]
    found = _native.closed_convolution(demands, lists, think[used], c.population[np.ix_(group, used)], most)
    if not np.isfinite(found[0]).all():
        raise SolverError(
            f"the sums at populations {c.population[p].tolist()} are out of range",
            "method convolution",
            "use method linearizer, and report this model to us",
        )
    return found


def _open_queue(c: chain_arrays.ChainArrays, spread: Array) -> Array:
    """Open customers: each class in proportion to its work; E[(n + 1)/speed(n + 1)] over the closed ones found."""
    factor = np.where(c.delay, 1.0, spread)
    return np.asarray(c.open_load * factor[:, :, None])


def _busy(networks: Sequence[Network], c: chain_arrays.ChainArrays, s: Solution, busy: Array) -> None:
    """A load-dependent station's utilisation is the share of time that somebody is there, split by those present.

    With open classes too, the split is known where the station has one speed: by throughput. Else only the sum is told.
    """
    shares = chain_arrays.by_classes(c, busy)
    for k in c.network.rates:
        own = shares[:, k]
        for p, n in enumerate(networks):
            load = c.open_load[p, k]
            if load.any() and not c.unstable[p]:
                here = busy[p, k].sum()
                own[p] = (s.throughput[p] @ n.same_chain) * n.demands_s[k]
                if len(set(n.rates[k].tolist())) > 1:
                    first = log_weights(n.speed(k, len(n.rates[k])), float(load.sum()))[0]
                    own[p], whole = np.nan, here - (1 - here) * np.expm1(-first)
                    row = {"point": p, "station": n.stations[k], "class": "", "metric": "utilisation", "value": whole}
                    s.more.append(row)
        s.utilisation[:, k] = np.where(c.unstable[:, None], np.nan, own)


def memory_bytes(network: Network) -> float:
    depth = 8 + math.log2(len(network.stations) + 1)
    return 8 * depth * states(network)


def cost_s(network: Network) -> float:
    """Recurrences over the lattice wait for each sum in turn; passes for a number of servers only for memory."""
    numbers, size = customers(network), states(network)
    depth = math.log2(len(network.stations) + 1)
    scans, passes = 1.0, 2.0
    for k, kind in enumerate(network.kind):
        if kind != "delay":
            full = len(network.rates[k]) if k in network.rates else int(network.servers[k])
            scans += 3 if full == 1 else 5 + depth
            passes += 0 if full == 1 else min(full, sum(numbers)) * (2 + depth)
    return 1e-4 + size * max(len(numbers), 1) * (8e-9 * scans + (6e-10 if size < 1e5 else 2e-9) * passes)


METHOD = Method(
    name="convolution",
    title="exact convolution: several servers, load-dependent stations, any number of classes",
    exact=True,
    sources=(
        "J. P. Buzen: Computational Algorithms for Closed Queueing Networks with Exponential Servers. "
        "Commun. ACM 16(9), 1973, pp. 527-531",
        "M. Reiser, H. Kobayashi: Queuing Networks with Multiple Closed Chains. IBM J. Res. Dev. 19(3), 1975, pp. 283-294",
        "S. C. Bruell, G. Balbo: Computational Algorithms for Closed Queueing Networks (1980), ch. 3-5",
    ),
    refuses=refuses,
    run=run,
    cost_s=cost_s,
    memory_bytes=memory_bytes,
)
