"""Numbers of a model, varied: the networks of a sweep.

Where only an entry of the arrays changes (population, think time, rate, service time or demand, servers) the network is
copied with that entry; else the changed model is lowered again. Each value is checked as it would be in a model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Any, cast

import numpy as np

from sojourn.errors import ModelError
from sojourn.model import Choice, Distribution, Exponential, Model, Multicore, Network, Open, Queue
from sojourn.model.check_model import check_station, check_time
from sojourn.model.checked_values import number, whole
from sojourn.model.formulas import RatesFormula
from sojourn.model.network_points import HOSTS, LAWS, NetworkPoints, NumberPlace
from sojourn.model.parameters import NumberByFactor
from sojourn.model.unknown_parameters import law_at, with_parameter

NOUNS = ("classes", "stations", "regions", "shared_cores")
TABLES = ("demands_s", "service_s", "visits")
PARAMETERS = "parameters"
NO_PARAMETERS = "the model has no [parameters]"
USE = "use classes.NAME.FIELD, stations.NAME.FIELD, regions.NAME.FIELD or demands_s.STATION.CLASS"
Edit = Callable[[Network, Any], Network]


@dataclass(frozen=True)
class NumberEdit:
    """Puts a checked number into the arrays of a network; `place`: where it stands there."""

    one: Edit
    place: NumberPlace

    def __call__(self, network: Network, value: Any) -> Network:
        return self.one(network, value)

    def every(self, points: NetworkPoints, values: np.ndarray) -> NetworkPoints:
        """A number for each point, P; raises what one of them raises."""
        each = np.asarray(values, float)
        plain = self.place.field in LAWS and bool(np.isfinite(each).all() and each.min() >= 0)  # a mean, or a rate
        for at in () if plain else {int(np.argmin(each)), int(np.argmax(each)), int(np.argmin(np.isfinite(each)))}:
            self.one(points[at], values[at].item())
        return points.put(self.place, values)


class ParameterVariation:
    """All combinations of the values of some paths of a model, the last path running fastest; any stretch of their networks."""

    def __init__(self, model: Model, factors: Mapping[str, Sequence[Any]]) -> None:
        self.model, self.factors = model, factors
        self.edits = self._edits()

    def _edits(self) -> list[Edit] | None:
        # what the copies inherit is computed once
        _ = self.model.network.demands_s, self.model.network.same_chain, self.model.network.remarkable
        edits = [edit(self.model, path) for path in self.factors]
        return None if any(change is None for change in edits) else cast(list[Edit], edits)

    def __getstate__(self) -> tuple[Model, Mapping[str, Sequence[Any]]]:
        return self.model, self.factors

    def __setstate__(self, state: tuple[Model, Mapping[str, Sequence[Any]]]) -> None:
        self.model, self.factors = state
        self.edits = self._edits()

    def __len__(self) -> int:
        return math.prod(len(values) for values in self.factors.values())

    def columns(self, points: range | None = None) -> dict[str, list[Any]]:
        """The values a point, by path."""
        every = list(product(*self.factors.values()))
        some = every if points is None else [every[i] for i in points]
        return {path: [point[i] for point in some] for i, path in enumerate(self.factors)}

    def networks(self, points: range | None = None) -> list[Network]:
        """Of some points, or of all; neighbours share what was changed for both."""
        made, last = [], None
        held = [self.model.network, *([self.model.network] * len(self.factors))]
        lists = list(self.factors.values())
        for at in _positions(range(len(self)) if points is None else points, [len(values) for values in lists]):
            if self.edits is None:
                values = {path: lists[i][k] for (i, k), path in zip(enumerate(at), self.factors, strict=True)}
                made.append(_lowered(self.model, values))
                continue
            same = (
                0
                if last is None
                else next((i for i, (a, b) in enumerate(zip(at, last, strict=True)) if a != b), len(at))
            )
            for i in range(same, len(at)):
                held[i + 1] = self.edits[i](held[i], lists[i][at[i]])
            made.append(held[-1])
            last = at
        return made


def _positions(points: range, sizes: Sequence[int]) -> Iterator[list[int]]:
    """Which value of each path a point has."""
    for point in points:
        at, rest = [0] * len(sizes), point
        for i in range(len(sizes) - 1, -1, -1):
            rest, at[i] = divmod(rest, sizes[i])
        yield at


def varied(model: Model, factors: Mapping[str, Sequence[Any]]) -> tuple[list[Network], dict[str, list[Any]]]:
    """The network at each combination of values, the last path running fastest, and the values a point by path."""
    it = ParameterVariation(model, factors)
    return it.networks(), it.columns()


def _lowered(model: Model, values: Mapping[str, Any]) -> Network:
    return changed(model, values).network


def changed(model: Model, values: Mapping[str, Any]) -> Model:
    """The model with the number at each path replaced, checked when all are there: of servers and capacity either may come first."""
    parts: dict[str, Any] = {part: getattr(model, part) for part in (PARAMETERS, *NOUNS, *TABLES, "routing")}
    for path, value in values.items():
        path = _full(model, path)
        part = path.partition(".")[0]
        if part not in parts:
            raise ModelError(path, "vary", USE)
        parts[part] = _changed(parts[part], path, value)
    return replace(model, **parts)


def _changed(held: Any, path: str, value: Any) -> Any:
    """One part of a model with the number at `path` replaced."""
    part, name, key = _split(path)
    if part == PARAMETERS:
        if name and key == "value" and isinstance(held.get(name), NumberByFactor):
            return {**held, name: replace(held[name], value=value)}
        if key not in held or name:
            raise ModelError(
                path, "vary", f"use one of {', '.join(f'parameters.{n}' for n in held)}" if held else NO_PARAMETERS
            )
        return {**held, key: value}
    if part in NOUNS:
        found = next((i for i in held if i.name == name), None)
        if found is None:
            raise ModelError(repr(name), f"vary {path}", f"use one of {', '.join(i.name for i in held)}")
        keys = [f.name for f in fields(found) if f.name != "name"]
        if key not in keys:
            raise ModelError(repr(key), f"vary {path}", f"use one of {', '.join(keys)}")
        return tuple(replace(i, **{key: value}) if i is found else i for i in held)
    if part in TABLES:
        table = held
        own = with_parameter(table, name, key, value)
        if own is None and key not in table.get(name, {}):
            there = [f"{part}.{s}.{c}" for s, row in table.items() for c in row]
            raise ModelError(path, "vary", f"use one of {', '.join(there)}" if there else f"the model has no {part}")
        return own or {**table, name: {**table[name], key: value}}
    return _rerouted(held, path, name, key, value)


def _rerouted(routing: Mapping[str, Any], path: str, name: str, key: str, value: Any) -> Mapping[str, Any]:
    """routing.CLASS.FROM.TO"""
    cls, _, start = name.partition(".")
    row = routing.get(cls, {}).get(start)
    if row is None or isinstance(row, Choice) or key not in row:
        raise ModelError(path, "vary", "use routing.CLASS.FROM.TO of a route that the model has")
    return {**routing, cls: {**routing[cls], start: {**row, key: value}}}


def _full(model: Model, path: str) -> str:
    """A name of `[parameters]` stands for its path."""
    if path in model.parameters:
        return f"{PARAMETERS}.{path}"
    cases = [n for n, value in model.parameters.items() if isinstance(value, NumberByFactor) and value.factor == path]
    return f"{PARAMETERS}.{cases[0]}.value" if len(cases) == 1 else path


def _split(path: str) -> tuple[str, str, str]:
    part, _, rest = path.partition(".")
    name, _, key = rest.rpartition(".")
    return part, name, key


def edit(model: Model, path: str) -> NumberEdit | None:
    """How one value goes into the arrays; None where the model must be lowered again."""
    path = _full(model, path)
    part, name, key = _split(path)
    changed(model, {path: _now(model, path)})  # refuses what is not there
    if part == "classes":
        return _class_edit(model, path, name, key)
    if part == "stations" and key in ("servers", "background") and isinstance(model.station(name), Queue):
        # a network without background work is taken to be as it is at its load, and to stay it
        return _queue_edit(model, path, name, key) if key == "servers" or _now(model, path) else None
    if part == "stations" and isinstance(model.station(name), Multicore) and key != "variant":
        return _host_edit(model, name, key)
    if part in ("service_s", "demands_s") and name in model.network.stations:
        return _time_edit(model, path, name, key)
    return None


def _now(model: Model, path: str) -> Any:
    part, name, key = _split(path)
    if part == PARAMETERS:
        return getattr(model.parameters.get(name), "value", None) if name else model.parameters.get(key)
    if part in NOUNS:
        found = next((i for i in getattr(model, part) if i.name == name), None)
        return getattr(found, key, None)
    if part in TABLES:
        return getattr(law_at(getattr(model, part), name), key, None) or getattr(model, part).get(name, {}).get(key)
    cls, _, start = name.partition(".")
    row = model.routing.get(cls, {}).get(start)
    return row.get(key) if isinstance(row, Mapping) else None


def _class_edit(model: Model, path: str, name: str, key: str) -> NumberEdit | None:
    cls = model.customer_class(name)
    j = model.classes.index(cls)
    network = model.network

    def put(array: np.ndarray, value: float) -> np.ndarray:
        made = array.copy()
        made[j] = value
        return made

    def population(n: Network, value: Any) -> Network:
        whole(value, path)
        return n.altered(population=put(n.population, value))

    def think(n: Network, value: Any) -> Network:
        check_time(value, path)
        time = value if isinstance(value, Distribution) else Exponential(float(value))
        own = None if time.first == 0 else time
        return n.altered(think_s=put(n.think_s, time.first), think=(*n.think[:j], own, *n.think[j + 1 :]))

    def rate(n: Network, value: Any) -> Network:
        number(value, path, what="(1/s)")
        own = Exponential(1 / value) if value > 0 else None
        arrivals = (*n.arrivals[:j], own, *n.arrivals[j + 1 :])
        return n.altered(rate_per_s=put(n.rate_per_s, value), arrivals=arrivals)

    alone = network.same_chain[j].sum() == 1
    if key == "population" and any(isinstance(getattr(s, "rates_per_s", ()), RatesFormula) for s in model.stations):
        return None  # there are as many rates as customers
    simple = isinstance(cls, Open) and cls.arrivals is None and alone
    found = {"population": population, "think_s": think, **({"rate_per_s": rate} if simple else {})}.get(key)
    return None if found is None else NumberEdit(found, NumberPlace(key, (j,)))


def _queue_edit(model: Model, path: str, name: str, key: str) -> NumberEdit:
    """`servers` or `background`."""
    station = cast(Queue, model.station(name))
    k = model.network.stations.index(name)

    def queue(n: Network, value: Any) -> Network:
        check_station(replace(station, **{key: value}))
        made = getattr(n, key).copy()
        made[k] = value
        return n.altered(**{key: made})

    return NumberEdit(queue, NumberPlace(key, (k,)))


def _host_edit(model: Model, name: str, key: str) -> NumberEdit:
    """A number of a multicore station, whose arrays are the station itself."""
    k = model.network.stations.index(name)

    def host(n: Network, value: Any) -> Network:
        station = replace(n.hosts[k], **{key: value})
        check_station(station)
        made = n.servers
        if key == "cores":
            made = made.copy()
            made[k] = value
        return n.altered(hosts={**n.hosts, k: station}, servers=made)

    return NumberEdit(host, NumberPlace(HOSTS, (k,), key))


def _time_edit(model: Model, path: str, name: str, key: str) -> NumberEdit | None:
    """Service time, or demand over visits, of one class at one station that it visits."""
    network = model.network
    k, j = network.stations.index(name), network.classes.index(key)
    over = network.visits[k, j] if path.startswith("demands_s") else 1.0
    if over == 0 or network.service[k][j] is None or network.kind[k] == "load_dependent":
        return None

    def time(n: Network, value: Any) -> Network:
        check_time(value, path)
        if isinstance(value, Distribution) and over != 1:
            raise ModelError(repr(value), path, "give service_s of one visit where it is a distribution")
        own = value if isinstance(value, Distribution) else Exponential(float(value) / over)
        service_s = n.service_s.copy()
        service_s[k, j] = own.first
        row = (*n.service[k][:j], own, *n.service[k][j + 1 :])
        return n.altered(service_s=service_s, service=(*n.service[:k], row, *n.service[k + 1 :]))

    return NumberEdit(time, NumberPlace("service_s", (k, j), over=float(over)))
