"""Routes and visits: what a model says of where customers go, as one matrix; visits by the traffic equations.

Source: Lazowska et al., Quantitative System Performance (1984), ch. 4 and 7 (visits, chains); Bolch et al., Queueing
Networks and Markov Chains, 2nd ed. (2006), 7.1.1 (traffic equations with class switching).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn.errors import ModelError
from sojourn.model.components import Choice, Closed
from sojourn.model.network_arrays import OPEN, Array

if TYPE_CHECKING:
    from sojourn.model.model import Model

OUTSIDE = ("source", "think", "exit")


def route_of(model: Model, names: list[str], asked: Array) -> tuple[Array, dict[tuple[int, int], Choice]]:
    """The matrix of `Network.route`, and the rows of it that depend on the state."""
    k, c = len(names), len(model.classes)
    node = {name: i for i, name in enumerate(names)} | dict.fromkeys(OUTSIDE, k)
    cls = {x.name: j for j, x in enumerate(model.classes)}
    route = np.zeros(((k + 1) * c, (k + 1) * c))
    choices: dict[tuple[int, int], Choice] = {}
    for j, x in enumerate(model.classes):
        rows = model.routing.get(x.name)
        if not rows:
            _series(route, asked[:, j], j, c)
            continue
        for start, row in rows.items():
            targets = dict.fromkeys(row.to, 1 / len(row.to)) if isinstance(row, Choice) else row
            if isinstance(row, Choice):
                choices[node[start], j] = row
            for end, p in targets.items():
                place, _, other = end.partition("/")
                route[node[start] * c + j, node[place] * c + (cls[other] if other else j)] += p
            left = 1.0 - sum(targets.values())
            if not isinstance(x, Closed) and left > 1e-12:
                route[node[start] * c + j, k * c + j] += left
    for j, x in enumerate(model.classes):
        if model.routing.get(x.name) and not route[k * c + j].any():
            first = next((name for name in model.routing[x.name] if name in names), names[0])
            _begin(route, node[getattr(x, "reference", "") or first], j, isinstance(x, Closed), c)
    if model.routing:
        _closed_off(model, names, route)
    return route, choices


def _series(route: Array, visits: Array, j: int, c: int) -> None:
    """Stations in order: skipped with probability 1 - v where v < 1, repeated with probability 1 - 1/v where v > 1."""
    k = len(visits)
    for start in [*np.flatnonzero(visits), k]:
        again = 1 - 1 / visits[start] if start < k and visits[start] > 1 else 0.0
        route[start * c + j, start * c + j] += again
        left = 1.0 - again
        for end in range(0 if start == k else start + 1, k):
            enter = min(visits[end], 1.0)
            route[start * c + j, end * c + j] += left * enter
            left *= 1 - enter
        if left > 0 and (start < k or visits.any()):
            route[start * c + j, k * c + j] += left


def _begin(route: Array, first: int, j: int, closed: bool, c: int) -> None:
    """Where a pass begins that no row begins: at the first station. A closed chain that never goes outside does so at
    each visit of class j to its first station: those moves go by way of outside."""
    k = len(route) // c - 1
    if closed and not route[:, k * c + j].any():
        numbers = chains(route, c)
        if route[:, [k * c + i for i in range(c) if numbers[i] == numbers[j]]].any():
            return  # only other classes of the chain are ever outside
        route[:, k * c + j] += route[:, first * c + j]
        route[:, first * c + j] = 0.0
    route[k * c + j, first * c + j] = 1.0


def chains(route: Array, c: int) -> np.ndarray:
    """The number of each class's chain: classes that lead into each other share one."""
    linked = np.zeros((c, c), bool)
    for a in range(c):
        for b in range(c):
            linked[a, b] = a == b or route[a::c, b::c].any() or route[b::c, a::c].any()
    chain = np.arange(c)
    for _ in range(c):
        for a in range(c):
            chain[a] = chain[linked[a]].min()
    return np.unique(chain, return_inverse=True)[1].astype(np.int64)


def _closed_off(model: Model, names: list[str], route: Array) -> None:
    """Rows of states that nobody enters become 0; open customers leave from where no row says more; no traps."""
    k, c = len(names), len(model.classes)
    linked = route > 0
    outside = list(range(k * c, (k + 1) * c))
    entered = _spread(linked, outside)
    route[[i for i in range(k * c) if i not in entered]] = 0.0
    for state in entered - set(outside):
        cls, station = model.classes[state % c], names[state // c]
        if route[state].any():
            continue
        if isinstance(cls, Closed):
            remedy = f"add routing.{cls.name}.{station}, with probabilities that sum to 1"
            raise ModelError(f"class {cls.name} comes to {station}, and no row leads on", f"routing.{cls.name}", remedy)
        route[state, k * c + state % c] = 1.0
    leaves = _spread(route.T > 0, outside)
    for state in sorted(entered - leaves):
        cls, station = model.classes[state % c], names[state // c]
        end = "think, or its first station" if isinstance(cls, Closed) else "exit"
        place = f"routing.{cls.name}.{station}"
        raise ModelError(f"class {cls.name} can never leave station {station}", place, f"give it a path to {end}")


def _spread(linked: Any, start: list[int]) -> set[int]:
    """All states that can be reached from `start`."""
    found, edge = set(start), list(start)
    while edge:
        new = set(np.flatnonzero(linked[edge].any(axis=0)).tolist()) - found
        found |= new
        edge = list(new)
    return found


def visits_of(route: Array, chain: np.ndarray, population: np.ndarray, rate: Array) -> tuple[Array, Array]:
    """Visits K x C per pass of the chain, and each class's share of the passes."""
    c = len(chain)
    k = len(route) // c - 1
    inside, out = np.arange(k * c), np.arange(k * c, (k + 1) * c)
    through = np.linalg.solve(np.eye(k * c) - route[np.ix_(inside, inside)].T, route[np.ix_(out, inside)].T).T
    back = through @ route[np.ix_(inside, out)] + route[np.ix_(out, out)]
    passes = np.ones(c)
    for number in set(chain.tolist()):
        own = np.flatnonzero(chain == number)
        if len(own) == 1:
            continue
        offered = rate[own].sum()
        if population[own[0]] == OPEN:
            passes[own] = rate[own] / offered if offered > 0 else 1 / len(own)
        else:
            passes[own] = _stationary(back[np.ix_(own, own)])
    visits = np.einsum("s,skc->kc", passes, through.reshape(c, k, c))
    return _round(np.maximum(visits, 0.0)), passes


def _round(visits: Array) -> Array:
    """Whole numbers of visits as such: 1 visit, not 0.9999999999999999."""
    near = np.rint(visits)
    return np.where(np.abs(visits - near) < 1e-13 * np.maximum(near, 1), near, visits)


def _stationary(p: Array) -> Array:
    n = len(p)
    full = np.vstack([p.T - np.eye(n), np.ones(n)])
    return np.maximum(np.linalg.lstsq(full, np.r_[np.zeros(n), 1.0], rcond=None)[0], 0.0)
