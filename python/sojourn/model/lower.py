"""From a `Model` to its `Network`: routes from visits or the other way round, visits by the traffic equations.

Source: Lazowska et al., Quantitative System Performance (1984), ch. 4 and 7 (visits, chains); Bolch et al., Queueing
Networks and Markov Chains, 2nd ed. (2006), 7.1.1 (traffic equations with class switching).
"""

from __future__ import annotations

import math

import numpy as np

from sojourn.errors import ModelError
from sojourn.model.distributions import Distribution, Exponential
from sojourn.model.model import Model, as_distribution
from sojourn.model.network import OPEN, Array, Limit, Network
from sojourn.model.nouns import Choice, Closed, LoadDependent, Multicore, Pool, Queue

OUTSIDE = ("source", "think", "exit")


def lower(model: Model) -> Network:
    """The network of a model that was checked."""
    stations = [s for s in model.stations if not isinstance(s, Pool)]
    names = [s.name for s in stations]
    rates = {k: np.array(s.rates_per_s, float) for k, s in enumerate(stations) if isinstance(s, LoadDependent)}
    asked = _asked_visits(model, names)
    service = tuple(
        tuple(_service(model, s, c.name, asked[k, j], rates.get(k)) for j, c in enumerate(model.classes))
        for k, s in enumerate(names)
    )
    route, choices = _route(model, names, asked)
    population = np.array([c.population if isinstance(c, Closed) else OPEN for c in model.classes], dtype=np.int64)
    rate = np.array([0.0 if isinstance(c, Closed) else _rate(c) for c in model.classes])
    chain = _chains(route, len(names), len(model.classes))
    visits, passes = _visits(route, chain, population, rate, len(names), model)
    think = tuple(_think(c) for c in model.classes)
    return Network(
        model=model,
        stations=tuple(names),
        classes=tuple(c.name for c in model.classes),
        kind=tuple(s.kind for s in stations),
        servers=np.array([_servers(s) for s in stations], dtype=np.int64),
        discipline=tuple(getattr(s, "discipline", "fcfs") for s in stations),
        capacity=np.array([math.inf if getattr(s, "capacity", None) is None else s.capacity for s in stations], float),
        on_full=tuple(getattr(s, "on_full", "lose") for s in stations),
        rates=rates,
        visits=visits,
        service_s=np.array([[0.0 if d is None else d.first for d in row] for row in service]).reshape(visits.shape),
        service=service,
        population=population,
        think_s=np.array([0.0 if d is None else d.first for d in think]),
        think=think,
        rate_per_s=rate,
        arrivals=tuple(None if isinstance(c, Closed) else _arrivals(c) for c in model.classes),
        priority=np.array([c.priority for c in model.classes], dtype=np.int64),
        chain=chain,
        passes=passes,
        route=route,
        choices=choices,
        limits=_limits(model, names),
    )


def _servers(station: object) -> int:
    return station.servers if isinstance(station, Queue) else station.cores if isinstance(station, Multicore) else 1


def _think(c: object) -> Distribution | None:
    return as_distribution(c.think_s) if isinstance(c, Closed) and c.think_s != 0 else None


def _rate(c: object) -> float:
    arrivals = c.arrivals  # type: ignore[attr-defined]
    if arrivals is None:
        return float(c.rate_per_s)  # type: ignore[attr-defined]
    return 1 / arrivals.first if isinstance(arrivals, Distribution) else arrivals.rate_per_s


def _arrivals(c: object) -> object:
    rate = c.rate_per_s  # type: ignore[attr-defined]
    return c.arrivals or (Exponential(1 / rate) if rate > 0 else None)  # type: ignore[attr-defined]


def _limits(model: Model, names: list[str]) -> tuple[Limit, ...]:
    pools = [
        Limit(p.name, p.size, tuple(names.index(s) for s in p.over)) for p in model.stations if isinstance(p, Pool)
    ]
    regions = [Limit(r.name, r.limit, tuple(names.index(s) for s in r.stations), r.on_full) for r in model.regions]
    return (*pools, *regions)


def _asked_visits(model: Model, names: list[str]) -> Array:
    """Visits as written, 1 by default where there is a time (or a load-dependent station), K x C."""
    asked = np.zeros((len(names), len(model.classes)))
    for k, s in enumerate(names):
        for j, c in enumerate(model.classes):
            timed = c.name in model.demands_s.get(s, {}) or c.name in model.service_s.get(s, {})
            given = isinstance(model.station(s), LoadDependent) and not any(s in t for t in (model.visits,))
            asked[k, j] = model.visits.get(s, {}).get(c.name, 1.0 if timed or given else 0.0)
    return asked


def _service(model: Model, s: str, c: str, visits: float, rates: Array | None) -> Distribution | None:
    """Service time of one visit; a demand is spread evenly over the visits."""
    if rates is not None:
        return Exponential(1 / float(rates[0]))
    if (given := model.service_s.get(s, {}).get(c)) is not None:
        return as_distribution(given)
    if (demand := model.demands_s.get(s, {}).get(c)) is None:
        return None
    return as_distribution(demand) if visits in (0.0, 1.0) else _scaled(as_distribution(demand), visits)


def _scaled(demand: Distribution, visits: float) -> Distribution:
    if not isinstance(demand, Exponential):
        raise ModelError(
            repr(demand), "demands_s with visits", "give service_s of one visit where it is a distribution"
        )
    return Exponential(demand.mean / visits)


def _route(model: Model, names: list[str], asked: Array) -> tuple[Array, dict[tuple[int, int], Choice]]:
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
        first = next((name for name in rows if name in names), names[0])
        if not isinstance(x, Closed) and not route[k * c + j].any() and x.name in model.routing:
            route[k * c + j, node[first] * c + j] = 1.0
        if isinstance(x, Closed) and not route[k * c + j].any():
            _cut(route, node[x.reference or first], j, k, c)
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


def _cut(route: Array, reference: int, j: int, k: int, c: int) -> None:
    """A pass of a closed class without `think` ends at each visit to its reference: those moves go by way of outside."""
    route[:, k * c + j] += route[:, reference * c + j]
    route[:, reference * c + j] = 0.0
    route[k * c + j, reference * c + j] = 1.0


def _chains(route: Array, k: int, c: int) -> np.ndarray:
    linked = np.zeros((c, c), bool)
    for a in range(c):
        for b in range(c):
            linked[a, b] = a == b or route[a::c, b::c].any() or route[b::c, a::c].any()
    chain = np.arange(c)
    for _ in range(c):
        for a in range(c):
            chain[a] = chain[linked[a]].min()
    return np.unique(chain, return_inverse=True)[1].astype(np.int64)


def _visits(
    route: Array, chain: np.ndarray, population: np.ndarray, rate: Array, k: int, model: Model
) -> tuple[Array, Array]:
    """Visits K x C per pass of the chain, and each class's share of the passes."""
    c = len(chain)
    inside, out = np.arange(k * c), np.arange(k * c, (k + 1) * c)
    try:
        through = np.linalg.solve(np.eye(k * c) - route[np.ix_(inside, inside)].T, route[np.ix_(out, inside)].T).T
    except np.linalg.LinAlgError:
        raise ModelError("customers can never leave", "routing", "give each station a path to exit or think") from None
    back = through @ route[np.ix_(inside, out)] + route[np.ix_(out, out)]
    passes = np.ones(c)
    for number in set(chain.tolist()):
        own = np.flatnonzero(chain == number)
        if len(own) == 1:
            continue
        if population[own[0]] == OPEN:
            passes[own] = rate[own] / rate[own].sum()
        else:
            passes[own] = _stationary(back[np.ix_(own, own)])
    visits = np.zeros((k, c))
    for start in range(c):
        visits += passes[start] * through[start].reshape(k, c)
    return np.maximum(visits, 0.0), passes


def _stationary(p: Array) -> Array:
    n = len(p)
    full = np.vstack([p.T - np.eye(n), np.ones(n)])
    return np.maximum(np.linalg.lstsq(full, np.r_[np.zeros(n), 1.0], rcond=None)[0], 0.0)
