"""From a `Model` to its `Network`: the arrays that methods and simulator take. Routes and visits: `traffic`.

A demand is the total over all visits: the time of one visit is the demand over the visits, which are those written, or
those that the routing makes.
"""

from __future__ import annotations

import math

import numpy as np

from sojourn.errors import ModelError
from sojourn.model.components import Closed, LoadDependent, Multicore, Open, Pool, Queue
from sojourn.model.distribution_registry import ArrivalProcess, Distribution, Exponential
from sojourn.model.formulas import Formula
from sojourn.model.model_data import ModelData, as_distribution
from sojourn.model.network_arrays import OPEN, Array, Limit, Network, UtilisationDependentTime
from sojourn.model.traffic_equations import chains, routes_of, visits_of


def lower(model: ModelData) -> Network:
    """The network of a model that was checked."""
    stations = [s for s in model.stations if not isinstance(s, Pool)]
    names = [s.name for s in stations]
    rates = {k: np.array(s.rates_per_s, float) for k, s in enumerate(stations) if isinstance(s, LoadDependent)}
    routes, choices = routes_of(model, names, _asked_visits(model, names))
    population = np.array([c.population if isinstance(c, Closed) else OPEN for c in model.classes], dtype=np.int64)
    rate = np.array([0.0 if isinstance(c, Closed) else _rate(c) for c in model.classes])
    chain = chains(routes.rows, len(model.classes))
    visits, passes = visits_of(routes, chain, population, rate)
    service = tuple(
        tuple(_service(model, s, c.name, visits[k, j], rates.get(k)) for j, c in enumerate(model.classes))
        for k, s in enumerate(names)
    )
    think = tuple(_think(c) for c in model.classes)
    dependent_times = _dependent_times(model, names, visits)
    background = np.array([float(getattr(s, "background", 0.0)) for s in stations])
    return Network(
        model=model,
        stations=tuple(names),
        classes=tuple(c.name for c in model.classes),
        kind=tuple(s.kind for s in stations),
        servers=np.array([_servers(s) for s in stations], dtype=np.int64),
        discipline=tuple(getattr(s, "discipline", "fcfs") for s in stations),
        capacity=np.array([_capacity(s) for s in stations], dtype=float),
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
        routes=routes,
        choices=choices,
        limits=_limits(model, names),
        dependent_times=dependent_times,
        at_load=not dependent_times and not background.any(),
        background=background,
        sharing=tuple(model.shared_cores),
        hosts={k: s for k, s in enumerate(stations) if isinstance(s, Multicore)},
    )


def _dependent_times(model: ModelData, names: list[str], visits: Array) -> tuple[UtilisationDependentTime, ...]:
    """ModelError for one at a station that is no queue: nothing else has servers that are busy."""
    found = []
    for k, s in enumerate(names):
        for j, c in enumerate(model.classes):
            for part in ("demands_s", "service_s"):
                given = getattr(model, part).get(s, {}).get(c.name)
                mean = getattr(given, "mean", given)
                if not isinstance(mean, Formula) or not mean.of_load or not visits[k, j]:
                    continue
                if not isinstance(model.station(s), Queue):
                    remedy = "use u at a queue; other kinds of stations have no busy servers"
                    raise ModelError(mean.text, f"{part}.{s}.{c.name}", remedy)
                over = float(visits[k, j]) if part == "demands_s" else 1.0
                found.append(UtilisationDependentTime(k, j, mean.arithmetic, over, model.parameter_values))
    return tuple(found)


def _servers(station: object) -> int:
    return station.servers if isinstance(station, Queue) else station.cores if isinstance(station, Multicore) else 1


def _capacity(station: object) -> float:
    return math.inf if not isinstance(station, Queue) or station.capacity is None else station.capacity


def _think(c: object) -> Distribution | None:
    return as_distribution(c.think_s) if isinstance(c, Closed) and c.think_s != 0 else None


def _rate(c: Open) -> float:
    arrivals = c.arrivals
    if arrivals is None:
        return float(c.rate_per_s)
    return 1 / arrivals.first if isinstance(arrivals, Distribution) else float(arrivals.rate_per_s)


def _arrivals(c: Open) -> ArrivalProcess | None:
    return c.arrivals or (Exponential(1 / c.rate_per_s) if c.rate_per_s > 0 else None)


def _limits(model: ModelData, names: list[str]) -> tuple[Limit, ...]:
    place = {name: k for k, name in enumerate(names)}
    pools = [
        Limit(p.name, p.size, tuple(place[s] for s in p.held_over_stations))
        for p in model.stations
        if isinstance(p, Pool)
    ]
    regions = [Limit(r.name, r.limit, tuple(place[s] for s in r.stations), r.on_full) for r in model.regions]
    return (*pools, *regions)


def _asked_visits(model: ModelData, names: list[str]) -> Array:
    """Visits as written, 1 by default where there is a time (or a load-dependent station), K x C."""
    asked = np.zeros((len(names), len(model.classes)))
    for k, s in enumerate(names):
        for j, c in enumerate(model.classes):
            timed = c.name in model.demands_s.get(s, {}) or c.name in model.service_s.get(s, {})
            given = isinstance(model.station(s), LoadDependent) and s not in model.visits
            asked[k, j] = model.visits.get(s, {}).get(c.name, 1.0 if timed or given else 0.0)
    return asked


def _service(model: ModelData, s: str, c: str, visits: float, rates: Array | None) -> Distribution | None:
    """Service time of one visit; a demand is spread evenly over the visits."""
    if rates is not None:
        return Exponential(1 / float(rates[0]))
    if (given := model.service_s.get(s, {}).get(c)) is not None:
        return as_distribution(given)
    if (demand := model.demands_s.get(s, {}).get(c)) is None:
        return None
    if visits == 0 or abs(visits - 1) < 1e-12:
        return as_distribution(demand)
    if isinstance(demand, Distribution) and not isinstance(demand, Exponential):
        remedy = "give service_s of one visit where it is a distribution"
        raise ModelError(f"a demand of kind {demand.kind} over {visits:.6g} visits", f"demands_s.{s}.{c}", remedy)
    return Exponential(as_distribution(demand).first / visits)
