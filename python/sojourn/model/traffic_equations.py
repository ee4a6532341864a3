"""Routes and visits: what a model says of where customers go, as one matrix; visits by the traffic equations.

Source: Lazowska et al., Quantitative System Performance (1984), ch. 4 and 7 (visits, chains); Bolch et al., Queueing
Networks and Markov Chains, 2nd ed. (2006), 7.1.1 (traffic equations with class switching).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sojourn.errors import ModelError
from sojourn.model.components import Choice, Closed
from sojourn.model.model_data import ModelData
from sojourn.model.network_arrays import OPEN, Array
from sojourn.model.routes import Routes, Rows, as_matrix, comes_to, series_rows

DENSE = 1000  # states of a chain of classes: above it the equations are solved without their zeros
OUTSIDE = ("source", "think", "exit")


def routes_of(model: ModelData, names: list[str], asked: Array) -> tuple[Routes, dict[tuple[int, int], Choice]]:
    """The routes of a model, `asked` K x C visits where no routing is given, and the rows that depend on the state."""
    k, c = len(names), len(model.classes)
    node = {name: i for i, name in enumerate(names)} | dict.fromkeys(OUTSIDE, k)
    rows, choices = _written(model, node, k)
    becomes = {end % c for start, moves in rows.items() for end in moves if end % c != start % c}
    series = {}
    for j, x in enumerate(model.classes):
        if model.routing.get(x.name):
            continue
        if j in becomes:
            rows |= {
                start: dict(zip(to.tolist(), p.tolist(), strict=True))
                for start, to, p in series_rows(asked[:, j], j, c)
            }
        else:
            series[j] = asked[:, j]
    for j, x in enumerate(model.classes):
        if model.routing.get(x.name) and not any(rows.get(k * c + j, {}).values()):
            first = next((name for name in model.routing[x.name] if name in node and name not in OUTSIDE), names[0])
            _begin(rows, node[getattr(x, "reference_station", "") or first], j, isinstance(x, Closed), k, c)
    if model.routing:
        _closed_off(model, names, rows)
    return Routes(k, c, as_matrix(rows, (k + 1) * c) if rows else None, series), choices


def _written(model: ModelData, node: dict[str, int], k: int) -> tuple[Rows, dict[tuple[int, int], Choice]]:
    """The rows of the model's routing."""
    c, cls = len(model.classes), {x.name: j for j, x in enumerate(model.classes)}
    rows: Rows = {}
    choices: dict[tuple[int, int], Choice] = {}
    for j, x in enumerate(model.classes):
        for start, row in (model.routing.get(x.name) or {}).items():
            targets = dict.fromkeys(row.to, 1 / len(row.to)) if isinstance(row, Choice) else row
            if isinstance(row, Choice):
                choices[node[start], j] = row
            moves = rows.setdefault(node[start] * c + j, {})
            for end, p in targets.items():
                place, _, other = end.partition("/")
                to = node[place] * c + (cls[other] if other else j)
                moves[to] = moves.get(to, 0.0) + p
            left = 1.0 - sum(targets.values())
            if not isinstance(x, Closed) and left > 1e-12:
                moves[k * c + j] = moves.get(k * c + j, 0.0) + left
    return rows, choices


def _begin(rows: Rows, first: int, j: int, closed: bool, k: int, c: int) -> None:
    """Where a pass begins that no row begins: at the first station. A closed chain that never goes outside does so at
    each visit of class j to its first station: those moves go by way of outside."""
    out, start = k * c + j, first * c + j
    if closed and not any(moves.get(out) for moves in rows.values()):
        numbers = chains(as_matrix(rows, (k + 1) * c), c)
        others = {k * c + i for i in range(c) if numbers[i] == numbers[j]}
        if any(p and end in others for moves in rows.values() for end, p in moves.items()):
            return  # only other classes of the chain are ever outside
        for moves in rows.values():
            if p := moves.pop(start, 0.0):
                moves[out] = moves.get(out, 0.0) + p
    rows[out] = {start: 1.0}


def chains(route: Any, c: int) -> np.ndarray:
    """The number of each class's chain: classes that lead into each other by these moves (None: there are none) share one."""
    if route is None:
        return np.arange(c, dtype=np.int64)
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components

    entry = route.tocoo()
    linked = sparse.csr_matrix((np.ones(len(entry.row)), (entry.row % c, entry.col % c)), shape=(c, c))
    number = connected_components(linked, directed=False)[1]
    first = np.unique(number, return_index=True)[1]  # numbered by their first class
    return np.argsort(np.argsort(first))[number].astype(np.int64)


def _closed_off(model: ModelData, names: list[str], rows: Rows) -> None:
    """Rows of states that nobody enters become 0; open customers leave from where no row says more; no traps."""
    k, c = len(names), len(model.classes)
    outside = np.arange((k + 1) * c) >= k * c
    entered = comes_to(as_matrix(rows, (k + 1) * c), outside)
    for state in [state for state in rows if not entered[state]]:
        del rows[state]
    for state in np.flatnonzero(entered & ~outside).tolist():
        cls, station = model.classes[state % c], names[state // c]
        if any(rows.get(state, {}).values()):
            continue
        if isinstance(cls, Closed):
            remedy = f"add routing.{cls.name}.{station}, with probabilities that sum to 1"
            raise ModelError(
                f"class {cls.name} comes to {station}, but no row leads further", f"routing.{cls.name}", remedy
            )
        rows[state] = {k * c + state % c: 1.0}
    leaves = comes_to(as_matrix(rows, (k + 1) * c).T.tocsr(), outside)
    for state in np.flatnonzero(entered & ~leaves).tolist():
        cls, station = model.classes[state % c], names[state // c]
        end = "think, or its first station" if isinstance(cls, Closed) else "exit"
        place = f"routing.{cls.name}.{station}"
        raise ModelError(f"class {cls.name} can never leave station {station}", place, f"give it a path to {end}")


def visits_of(routes: Routes, chain: np.ndarray, population: np.ndarray, rate: Array) -> tuple[Array, Array]:
    """Visits K x C per pass of the chain, and each class's share of the passes."""
    visits, passes = np.zeros((routes.stations, routes.classes)), np.ones(routes.classes)
    for j, asked in routes.series.items():
        visits[:, j] = asked
    routed = [j for j in range(routes.classes) if j not in routes.series]
    for number in sorted({int(chain[j]) for j in routed}):
        own = np.flatnonzero(chain == number)
        through, back = _of_chain(routes, own)
        if len(own) > 1:
            offered = rate[own].sum()
            if population[own[0]] == OPEN:
                passes[own] = rate[own] / offered if offered > 0 else 1 / len(own)
            else:
                passes[own] = _stationary(back)
        visits[:, own] = (passes[own] @ through).reshape(routes.stations, len(own))
    return _round(np.maximum(visits, 0.0)), passes


def _of_chain(routes: Routes, own: np.ndarray) -> tuple[Array, Array]:
    """Of each class of a chain, visits to its states (n x K n) in a pass that begins as it, and as which the next begins (n x n)."""
    k, c = routes.stations, routes.classes
    inside, out = (np.arange(k)[:, None] * c + own).ravel(), k * c + own
    table = routes.explicit
    within, begin = table[inside][:, inside], table[out][:, inside].toarray()
    if len(inside) <= DENSE:
        through = np.linalg.solve(np.eye(len(inside)) - within.toarray().T, begin.T).T
    else:
        from scipy import sparse
        from scipy.sparse.linalg import splu

        factors = splu((sparse.eye_array(len(inside)) - within.T).tocsc())
        through = factors.solve(np.ascontiguousarray(begin.T)).T
    return through, through @ table[inside][:, out] + table[out][:, out].toarray()


def _round(visits: Array) -> Array:
    """Whole numbers of visits as such: 1 visit, not 0.9999999999999999."""
    near = np.rint(visits)
    return np.where(np.abs(visits - near) < 1e-13 * np.maximum(near, 1), near, visits)


def _stationary(p: Array) -> Array:
    n = len(p)
    full = np.vstack([p.T - np.eye(n), np.ones(n)])
    return np.maximum(np.linalg.lstsq(full, np.r_[np.zeros(n), 1.0], rcond=None)[0], 0.0)
