"""The arrays of closed and mixed networks by chain, and back: what every method of this folder works on.

Classes that switch into each other are one chain, whose demand is the sum over its classes; open load makes a station
slower for closed customers. Sources: Lazowska et al., Quantitative System Performance (1984), 7.4.3 (mixed models, pp.
146-150); S. C. Bruell, G. Balbo: Computational Algorithms for Closed Queueing Networks (1980), ch. 3 (chains), ch. 5
(open load at stations of any speed); E. de Souza e Silva, R. R. Muntz in Bolch et al., Queueing Networks and Markov
Chains, 2nd ed. (2006), 7.3.6 (class switching).

P points, K stations, R closed chains, C classes, s and 1/s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sojourn.errors import ModelError
from sojourn.model.network_arrays import Array, Network
from sojourn.model.network_points import stacked
from sojourn.solve.solution import Solution


@dataclass(frozen=True)
class ChainArrays:
    network: Network  # the first: names, kinds
    plain: bool  # all classes are closed, and none becomes another: chains are classes
    demands_s: Array  # P x K x R
    think_s: Array  # P x R
    population: NDArray[np.int64]  # P x R
    by_class: Array  # P x K x C, demands of classes, s per pass of their chain
    visits: Array  # P x K x C
    passes: Array  # P x C, share of a chain's passes that begin as the class
    member: Array  # C x R, 1 where a class belongs to a closed chain
    open_load: Array  # P x K x C, work that open classes bring, busy servers; 0 for closed classes
    open_rate: Array  # P x C
    servers: Array  # P x K, the full speed in servers; infinite for delays
    delay: NDArray[np.bool_]  # K
    unstable: NDArray[np.bool_]  # P, open load is at or above the full speed of a station


def of(networks: Sequence[Network]) -> ChainArrays:
    """Chains of networks of one shape. Raises ModelError for customers who need no time anywhere."""
    n = networks[0]
    by_class, passes = stacked(networks, "demands_s"), stacked(networks, "passes")
    numbers, think = stacked(networks, "population"), stacked(networks, "think_s")
    rate, delay = stacked(networks, "rate_per_s"), np.array([kind == "delay" for kind in n.kind], bool)
    plain = bool(n.closed.all()) and not n.switches
    member = np.eye(len(n.classes)) if plain else _member(n)
    if plain:
        population, demands, load = numbers.astype(np.int64), by_class, np.zeros_like(by_class)
    else:
        population = np.where(n.closed, numbers, 0) @ member.astype(np.int64)
        demands, think, load = by_class @ member, (think * passes) @ member, _open_load(n, by_class, rate)
    _timed(n, member, demands, think, population)
    servers = _servers(networks, delay)
    unstable = (load.sum(axis=2) >= servers).any(axis=1) if rate.any() else np.zeros(len(networks), bool)
    return ChainArrays(
        n,
        plain,
        demands,
        think,
        population,
        by_class,
        stacked(networks, "visits"),
        passes,
        member,
        load,
        rate,
        servers,
        delay,
        unstable,
    )


def _member(n: Network) -> Array:
    chains = sorted(set(n.chain[n.closed].tolist()))
    return np.array([[float(own == chain) for chain in chains] for own in n.chain])


def _timed(n: Network, member: Array, demands: Array, think: Array, population: NDArray[np.int64]) -> None:
    """A class that has neither a demand nor thinks would turn over infinitely often."""
    bad = (population > 0) & (demands.sum(axis=1) + think <= 0)
    if bad.any():
        chain = int(np.flatnonzero(bad.any(axis=0))[0])
        names = ", ".join(np.array(n.classes)[member[:, chain] > 0])
        raise ModelError(f"class {names} needs no time anywhere", "demands_s", "give it a demand or a think time > 0")


def _servers(networks: Sequence[Network], delay: NDArray[np.bool_]) -> Array:
    """Speed of each station with as many present as can be served at once, in servers."""
    servers = np.where(delay, np.inf, stacked(networks, "servers"))
    for k in networks[0].rates:
        servers[:, k] = [x.rates[k][-1] / x.rates[k][0] for x in networks]
    return servers


def _open_load(n: Network, by_class: Array, rate: Array) -> Array:
    if not rate.any():
        return np.zeros_like(by_class)
    same = (n.chain[:, None] == n.chain[None, :]) & ~n.closed[:, None] & ~n.closed[None, :]
    return np.asarray(by_class * (rate @ same)[:, None, :])


def slowed(c: ChainArrays) -> tuple[Array, Array]:
    """Demands P x K x R at single servers, slowed by open load, 0 at delays; think P x R with the delays in it."""
    inside, outside = c.demands_s, c.think_s
    if c.delay.any():
        inside = np.where(c.delay[:, None], 0.0, c.demands_s)
        outside = c.think_s + np.where(c.delay[:, None], c.demands_s, 0.0).sum(axis=1)
    if not c.plain:
        free = 1 - np.where(c.delay, 0.0, c.open_load.sum(axis=2))
        inside = inside / np.where(free > 0, free, np.nan)[:, :, None]
    return inside, outside


def solution(
    c: ChainArrays, throughput: Array, queue: Array, open_queue: Array | None = None, line: Array | None = None
) -> Solution:
    """Chain results (P x R, P x K x R; delays are filled in here) as a Solution of classes.

    `open_queue` P x K x C; default: stations of one speed. `line` P x K x R, mean numbers waiting, where the method knows
    them as such: then waits are no differences.
    """
    if c.delay.any():
        queue = np.where(c.delay[:, None], throughput[:, None, :] * c.demands_s, queue)
    if c.plain:
        busy = throughput[:, None, :] * c.by_class / c.servers[:, :, None]
        busy[:, c.delay] = np.nan
        return Solution(throughput, queue, busy, waiting_s=_waiting(c, throughput, line))
    each = by_classes(c, queue)
    if c.open_rate.any():
        each = each + (open_queues(c, queue) if open_queue is None else open_queue)
    with np.errstate(invalid="ignore"):  # of unstable points, which get NaN below
        rate = throughput @ c.member.T
    busy = (rate[:, None, :] * c.by_class + c.open_load) / c.servers[:, :, None]
    busy[:, c.delay] = np.nan
    waiting = None if open_queue is not None else _waiting(c, rate, line, queue)
    return _unstable(c, Solution(rate * c.passes + c.open_rate, each, busy, waiting_s=waiting))


def _waiting(c: ChainArrays, rate: Array, line: Array | None, queue: Array | None = None) -> Array | None:
    """P x K x C, s a visit; `rate` P x C passes of closed chains. Open load rho at a single server makes closed customers
    wait X D rho/(1 - rho) longer, and its own wait for Q + rho others."""
    if line is None:
        return None
    found = by_classes(c, line)
    if queue is not None and c.open_rate.any():
        load = np.where(c.unstable[:, None], np.nan, np.where(c.delay, 0.0, c.open_load.sum(axis=2)))[:, :, None]
        found = found + np.where(c.delay[:, None], 0.0, rate[:, None, :] * c.by_class) * load / (1 - load)
        there = np.where(c.delay[:, None], 0.0, queue.sum(axis=2, keepdims=True) + load) / (1 - load)
        found = found + c.open_load * there
        rate = rate + c.open_rate @ c.network.same_chain
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(found / (rate[:, None, :] * c.visits))


def by_classes(c: ChainArrays, table: Array) -> Array:
    """P x K x R of chains as P x K x C: each class's part as of the demand, which product form means."""
    if c.plain:
        return table
    whole = c.demands_s @ c.member.T
    share = np.where(c.member.any(axis=1) & (whole > 0), c.by_class / np.where(whole > 0, whole, 1.0), 0.0)
    return np.asarray((table @ c.member.T) * share)


def open_queues(c: ChainArrays, closed: Array) -> Array:
    """Open customers at stations of one speed and delays: rho (1 + closed)/(1 - rho of all open)."""
    free = 1 - np.where(c.delay, 0.0, c.open_load.sum(axis=2))
    found = 1 + np.where(c.delay, 0.0, closed.sum(axis=2))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(c.open_load * (found / free)[:, :, None])


def _unstable(c: ChainArrays, s: Solution) -> Solution:
    if not c.unstable.any():
        return s
    for table in (s.throughput, s.queue_length, s.utilisation, s.waiting_s):
        if table is not None:
            table[c.unstable] = np.nan
    s.status = ["unstable" if bad else "ok" for bad in c.unstable]
    p = int(np.flatnonzero(c.unstable)[0])
    with np.errstate(divide="ignore"):
        factor = c.servers[p] / c.open_load[p].sum(axis=1)
    k = int(np.argmin(factor))
    s.message = (
        f"station {c.network.stations[k]} is offered {1 / factor[k]:.6g} times its capacity by open classes; "
        f"it is stable below {factor[k]:.6g} times their rates (in all {factor[k] * c.open_rate[p].sum():.6g}/s)"
    )
    return s
