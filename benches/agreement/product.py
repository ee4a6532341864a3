"""Networks of product form by plain sums over all states of each station: slow, short, and shares no code with the solvers.

Source: F. Baskett et al., J. ACM 22(2), 1975, pp. 248-260. With n closed customers (n_r of class r) and i open ones at a
station of speeds s(1), s(2), … the weight is (n + i)!/(i! prod n_r!) prod D_r^n_r rho^i / (s(1) … s(n + i)), rho the open
work; at a delay prod D_r^n_r / n_r!. Sums of positive terms in 64-bit mantissas; demands are scaled by the largest of a class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

import sojourn as sj
from agreement.rows import Key, Row, Rows
from agreement.tolerance import load
from sojourn.model.distribution_types import Exponential
from sojourn.model.network_arrays import Network

Table = NDArray[np.longdouble]
Floats = NDArray[np.float64]
MOST_ONE, MOST_STATES, MOST_LOAD = 1000, 2500, 0.97


@dataclass(frozen=True)
class Weights:
    """Of one station, by the closed customers there; mean number of open ones given these; share in which nobody is."""

    table: Table
    open_number: Floats
    empty: float


def rows(model: sj.Model) -> Rows:
    """Empty where the network is none of these, or has more states than are summed in half a second."""
    n = model.network
    closed = np.flatnonzero(n.closed & (n.population > 0))
    size = np.prod(n.population[closed] + 1.0)
    if size > (MOST_ONE + 1 if len(closed) < 2 else MOST_STATES) or (load(model) or 0.0) > MOST_LOAD or not fits(n):
        return {}
    with np.errstate(all="ignore"):
        found = _solved(n, closed)
    return {key: Row(float(value), "ok", None, None) for key, value in found.items() if np.isfinite(value)}


def fits(n: Network) -> bool:
    """Product form, by its own reading: one server at lcfs_pr, unless all services there are one exponential."""
    if n.limits or n.choices or n.switches or np.isfinite(n.capacity).any():
        return False
    if any(a is not None and not isinstance(a, Exponential) for a in n.arrivals):
        return False
    return all(_station_fits(n, k) and not _stays(n, k) for k in range(len(n.stations)))


def _stays(n: Network, k: int) -> bool:
    """A closed class that needs time nowhere else returns at once to the top of the stack that it left, for ever."""
    elsewhere = n.demands_s.sum(axis=0) - n.demands_s[k] + n.think_s
    return n.discipline[k] == "lcfs_pr" and bool((n.closed & (n.population > 0) & (elsewhere <= 0)).any())


def _station_fits(n: Network, k: int) -> bool:
    kind, order, own = n.kind[k], n.discipline[k], np.flatnonzero(n.visits[k])
    if kind == "delay" or (kind == "queue" and order == "ps") or (order == "lcfs_pr" and n.servers[k] == 1):
        return True
    one = all(isinstance(n.service[k][c], Exponential) for c in own) and len(set(n.service_s[k, own].tolist())) <= 1
    return kind in ("queue", "load_dependent") and order in ("fcfs", "siro", "lcfs_pr", "ps") and one


def _solved(n: Network, closed: NDArray[np.intp]) -> dict[Key, float]:
    shape = tuple(int(x) + 1 for x in n.population[closed]) or (1,)
    grid: Floats = np.indices(shape).astype(float) if len(closed) else np.zeros((0, 1))
    demands = n.demands_s[:, closed]
    scale = np.maximum(demands.max(axis=0, initial=0.0), n.think_s[closed])
    open_load = n.demands_s * np.where(n.closed, 0.0, n.rate_per_s)
    stations = [_weights(n, k, grid, demands[k] / scale, open_load[k].sum()) for k in range(len(n.stations))]
    think = _at_once(grid, n.think_s[closed] / scale)
    found: dict[Key, float] = {}
    before = [think]
    for station in stations:
        before.append(_joined(before[-1], station.table))
    whole, after = before[-1], np.zeros_like(think)
    after[(0,) * after.ndim] = 1.0
    passes = n.rate_per_s.copy()
    for r, c in enumerate(closed):
        passes[c] = whole[tuple(s - 1 - (i == r) for i, s in enumerate(shape))] / whole.flat[-1] / scale[r]
    for c, name in enumerate(n.classes):
        found[Key("", name, "throughput")] = passes[c]
    for k in range(len(stations) - 1, -1, -1):
        rest = _joined(before[k], after)
        law = stations[k].table * np.flip(rest) / whole.flat[-1]
        number, name = _numbers(n, law, grid, closed, open_load[k], stations[k].open_number), n.stations[k]
        found |= {Key(name, n.classes[c], "queue_length"): number[c] for c in np.flatnonzero(n.visits[k])}
        found[Key(name, "", "queue_length")] = float(number.sum())
        if n.kind[k] == "load_dependent":
            found[Key(name, "", "utilisation")] = float(1 - law.flat[0] * stations[k].empty)
        elif n.kind[k] == "queue":
            found[Key(name, "", "utilisation")] = float((passes * n.demands_s[k]).sum() / n.servers[k])
        after = _joined(after, stations[k].table)
    return found


def _numbers(
    n: Network, law: Table, grid: Floats, closed: NDArray[np.intp], open_load: Floats, beside: Floats
) -> Floats:
    """Mean number of each class at a station, from the law of the closed customers there."""
    found = np.zeros(len(n.classes))
    for r, c in enumerate(closed):
        found[c] = (law * grid[r]).sum()
    if open_load.sum() > 0:
        found += open_load / open_load.sum() * float((law * beside).sum())
    return found


def _at_once(grid: Floats, demands: Floats) -> Table:
    """Weights where nobody waits for anybody."""
    logs = np.zeros(grid.shape[1:])
    for n, x in zip(grid, demands, strict=True):
        logs = logs + np.where(n > 0, n * np.log(x), 0.0) - gammaln(n + 1)
    return np.exp(logs.astype(np.longdouble))


def _weights(n: Network, k: int, grid: Floats, demands: Floats, rho: float) -> Weights:
    if n.kind[k] == "delay":
        return Weights(_at_once(grid, demands), np.full(grid.shape[1:], rho), np.exp(-rho))
    there = grid.sum(axis=0) if len(grid) else np.zeros(1)
    most = int(there.max())
    full = n.speed(k, max(len(n.rates.get(k, ())), int(n.servers[k])))
    beyond = 0 if rho == 0 else len(full) + _far(rho / full[-1], most + 1)
    slowed = np.r_[0.0, np.cumsum(np.log(n.speed(k, most + beyond)))] if most + beyond else np.zeros(1)
    i, m = np.arange(beyond + 1)[None, :], np.arange(most + 1)[:, None]
    logs = gammaln(m + i + 1) - gammaln(i + 1) - slowed[m + i] + (i * np.log(rho) if rho else 0.0)
    terms = np.exp(logs.astype(np.longdouble))
    whole = terms.sum(axis=1)
    table = _at_once(grid, demands) * whole[there.astype(int)]
    return Weights(table, np.asarray((terms * i).sum(axis=1) / whole, float)[there.astype(int)], float(1 / whole[0]))


def _far(ratio: float, n: int) -> int:
    """Beyond which terms like C(n + i, i) ratio^i no longer count: mean, spread, and the geometric end."""
    spread = np.sqrt(n * ratio) / (1 - ratio)
    return int(n * ratio / (1 - ratio) + 14 * spread + 80 / -np.log(ratio)) + 60


def _joined(a: Table, b: Table) -> Table:
    """Convolution on the lattice."""
    if a.ndim == 1:
        return np.convolve(a, b)[: len(a)]
    found = np.zeros_like(a)
    for at in np.argwhere(a):
        here = tuple(at)
        rest = tuple(slice(0, size - x) for size, x in zip(a.shape, here, strict=True))
        found[tuple(slice(x, None) for x in here)] += a[here] * b[rest]
    return found
