"""`NetworkPoints`: many networks that differ in numbers, as arrays. It is a sequence of networks that are made when they are asked for.

A fit, a prediction and a plan ask for some hundred thousand of these, one for each draw, configuration and load. Methods that work on
arrays take `column`, a field of all points at once; others index the sequence, as they would a list.

P points; K stations, C classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from sojourn.model.distribution_registry import Distribution, Exponential
from sojourn.model.distribution_types import GivenByMean
from sojourn.model.network_arrays import Network

Points = NDArray[np.intp]
Values = NDArray[Any]
Part = tuple[str, int, str]  # field, station or number of a time, name
ARRAYS = tuple(f.name for f in fields(Network) if str(f.type).startswith(("Array", "NDArray")))
WHOLE = ("cores", "nics", "capacity")  # numbers of a multicore station
HOSTS, DEPENDENT = "hosts", "dependent_times"
LAWS = {
    "service_s": "service",
    "think_s": "think",
    "rate_per_s": "arrivals",
}  # array → the laws of which it has the means


@dataclass(frozen=True)
class NumberPlace:
    """Where a number of a model stands in its arrays: `at` in the array `field`, the number being spread over `over` visits; or the
    number `name` of the multicore station, or of the time that depends on the load, at `at`."""

    field: str
    at: tuple[int, ...]
    name: str = ""
    over: float = 1.0


class NetworkPoints(Sequence[Network]):
    """P networks: the `bases` that `which` says, P indices, with numbers of their own. `columns`: name of an array → P x its shape;
    `parts`: of multicore stations and of times that depend on the load → P each."""

    def __init__(
        self, bases: Sequence[Network], which: Points | None = None, columns: Mapping[str, Values] | None = None,
        parts: Mapping[Part, Values] | None = None,
    ) -> None:  # fmt: skip
        self.bases, self.plain = tuple(bases), which is None  # one point a base
        self.which = np.arange(len(bases)) if which is None else which
        self.columns, self.parts = dict(columns or {}), dict(parts or {})
        self.made: dict[int, Network] = {}
        # of the bases, which points of the same bases share: arrays, and the bases with other fields
        self.stacks: dict[str, Values] = {}
        self.others: dict[tuple[tuple[str, Any], ...], NetworkPoints] = {}

    def __len__(self) -> int:
        return len(self.which)

    @overload
    def __getitem__(self, at: int) -> Network: ...
    @overload
    def __getitem__(self, at: slice) -> NetworkPoints: ...
    def __getitem__(self, at: int | slice) -> Network | NetworkPoints:
        if isinstance(at, slice):
            return self.take(np.arange(len(self))[at])
        point = range(len(self))[at]
        if point not in self.made:
            self.made[point] = self._network(point)
        return self.made[point]

    def __iter__(self) -> Iterator[Network]:
        if not self.columns and not self.parts:
            return (self.bases[base] for base in self.which.tolist())
        return (self[point] for point in range(len(self)))

    def __reduce__(self) -> tuple[Any, ...]:
        return NetworkPoints, (self.bases, self._given, self.columns, self.parts)

    def column(self, name: str) -> Values:
        """P x …, a field of all points; one of `ARRAYS`, or computed of them. Not to be written to."""
        if name == "demands_s":
            return np.asarray(self.column("visits") * self.column("service_s"))
        if name in self.columns:
            return self.columns[name]
        if name not in self.stacks:
            each = [getattr(base, name) for base in self.bases]
            self.stacks[name] = each[0][None] if all(one is each[0] for one in each) else np.stack(each)
        found = self.stacks[name]
        if len(found) == 1:
            return np.broadcast_to(found, (len(self), *found.shape[1:]))
        return found if self.plain else found[self.which]

    def part(self, field: str, at: int, name: str) -> Values:
        """P, a number of a multicore station, or a parameter of a time that depends on the load."""
        if (field, at, name) in self.parts:
            return self.parts[field, at, name]

        def number(base: Network) -> Any:
            held = getattr(base, field)[at]
            return held.given[name] if field == DEPENDENT else getattr(held, name)

        return self.by_base(number)

    def by_base(self, told: Callable[[Network], Any], name: str = "") -> Values:
        """P x what is told, which no number of a point changes; an array of objects where it is a text. With a `name` it is asked once
        for all points of the same bases."""
        if (key := f"told {name}") not in self.stacks or not name:
            each = [told(base) for base in self.bases]
            self.stacks[key] = np.array(each, object if any(isinstance(one, str) for one in each) else None)
        return np.asarray(self.stacks[key][self.which])

    def laws(self, station: int) -> list[tuple[Any, ...]]:
        """P times the laws of service at a station, one a class."""
        own = [self.bases[base].service[station] for base in self.which.tolist()]
        if "service_s" not in self.columns:
            return own
        means = self.columns["service_s"][:, station].tolist()
        return [tuple(map(with_mean, laws, mean)) for laws, mean in zip(own, means, strict=True)]

    def shared(self, name: str) -> bool:
        """Whether all points have an equal `name`; False where it is a number of each point."""
        first = getattr(self.bases[0], name)
        return name not in self.columns and all(_equal(getattr(base, name), first) for base in self.bases)

    def takes(self, place: NumberPlace) -> bool:
        """Whether a number may be put there: where laws stand beside means they are exponential, and stay it."""
        if place.field == HOSTS:
            return not any(isinstance(getattr(base.hosts[place.at[0]], place.name), str) for base in self.bases)
        return all(_plain(base, place.field, place.at) for base in self.bases)

    def put(self, place: NumberPlace, values: Values) -> NetworkPoints:
        """With one number of each point, P; they are not checked."""
        if place.field in (HOSTS, DEPENDENT):
            made = self._with(parts={(place.field, place.at[0], place.name): values})
            if (place.field, place.name) != (HOSTS, "cores"):
                return made
            return made.put(NumberPlace("servers", place.at), values)
        column = np.array(self.column(place.field), order="C")
        column.reshape(len(self), -1)[:, _flat(place.at, column.shape[1:])] = (
            values / place.over if place.over != 1 else values
        )
        return self._with({place.field: column})

    def altered(self, **columns: Values) -> NetworkPoints:
        """With these arrays of all points, P x …; laws keep their kind and have the new means."""
        return self._with(columns)

    def on(self, **fields: Any) -> NetworkPoints:
        """With these fields of all points, the numbers as they are."""
        kept = {name: column for name, column in self.columns.items() if name not in fields}
        parts = {part: values for part, values in self.parts.items() if part[0] not in fields}
        key = tuple(sorted(fields.items())) if all(isinstance(value, bool) for value in fields.values()) else ()
        if key not in self.others or not key:
            self.others[key] = NetworkPoints([base.altered(**fields) for base in self.bases])
        return self.others[key]._of_bases(self._given, kept, parts)

    def take(self, points: Points) -> NetworkPoints:
        """Some of them."""
        columns = {name: column[points] for name, column in self.columns.items()}
        return self._of_bases(self.which[points], columns, {part: v[points] for part, v in self.parts.items()})

    def _with(
        self, columns: Mapping[str, Values] | None = None, parts: Mapping[Part, Values] | None = None
    ) -> NetworkPoints:
        return self._of_bases(self._given, {**self.columns, **(columns or {})}, {**self.parts, **(parts or {})})

    def _of_bases(
        self, which: Points | None, columns: Mapping[str, Values], parts: Mapping[Part, Values]
    ) -> NetworkPoints:
        made = NetworkPoints(self.bases, which, columns, parts)
        made.stacks, made.others = self.stacks, self.others
        return made

    @property
    def _given(self) -> Points | None:
        return None if self.plain else self.which

    def _network(self, point: int) -> Network:
        base = self.bases[self.which[point]]
        changed: dict[str, Any] = {name: column[point] for name, column in self.columns.items()}
        if "service_s" in changed:
            means = changed["service_s"].tolist()
            changed["service"] = tuple(
                tuple(map(with_mean, laws, own)) for laws, own in zip(base.service, means, strict=True)
            )
        if "think_s" in changed:
            changed["think"] = tuple(map(_between, base.think, changed["think_s"].tolist()))
        if "rate_per_s" in changed:
            gaps = [1 / rate if rate > 0 else 0.0 for rate in changed["rate_per_s"].tolist()]
            changed["arrivals"] = tuple(map(_between, base.arrivals, gaps))
        for (field, at, name), values in self.parts.items():
            held = changed.get(field, getattr(base, field))
            number = int(values[point]) if name in WHOLE else float(values[point])
            if field == HOSTS:
                changed[field] = {**held, at: replace(held[at], **{name: number})}
            else:
                own = replace(held[at], given={**held[at].given, name: number})
                changed[field] = (*held[:at], own, *held[at + 1 :])
        return base.altered(**changed) if changed else base


def _equal(one: Any, other: Any) -> bool:
    """Of arrays, and of arrays by station."""
    if one is other or not isinstance(one, Mapping):
        return one is other or np.array_equal(one, other)
    return one.keys() == other.keys() and all(np.array_equal(one[k], other[k]) for k in one)


def _flat(at: tuple[int, ...], shape: tuple[int, ...]) -> int:
    return int(np.ravel_multi_index(at, shape))


def _plain(network: Network, field: str, at: tuple[int, ...]) -> bool:
    """Whether no law but an exponential stands beside a mean."""
    if field not in LAWS:
        return True
    found = getattr(network, LAWS[field])
    for i in at:
        found = found[i]
    return isinstance(found, Exponential) or (found is None and field != "service_s")


def with_mean(law: Any, mean: float) -> Any:
    """The law with another mean, s; what is no distribution as it is."""
    if isinstance(law, GivenByMean):
        return law if law.mean == mean else replace(law, mean=mean)
    return law if not isinstance(law, Distribution) or law.first == mean else law.scaled(mean / law.first)


def _between(law: Any, mean: float) -> Any:
    """Of thinking or arrivals: none without time."""
    return with_mean(Exponential(mean) if law is None else law, mean) if mean > 0 else None


def stacked(networks: Sequence[Network], name: str) -> Values:
    """A field of many networks with the point as first axis; not copied where all share it, as in most sweeps."""
    return as_points(networks).column(name)


def shared(networks: Sequence[Network], name: str) -> bool:
    """Whether all have an equal `name`."""
    return as_points(networks).shared(name)


def outline(networks: Sequence[Network]) -> Network:
    """One of them for what no number of a point changes: names, kinds, chains, limits."""
    return networks.bases[int(networks.which[0])] if isinstance(networks, NetworkPoints) else networks[0]


def some(networks: Sequence[Network], points: Sequence[int] | Points) -> Sequence[Network]:
    """Those at `points`."""
    if isinstance(networks, NetworkPoints):
        return networks.take(np.asarray(points, np.intp))
    return [networks[int(p)] for p in points]


def as_points(networks: Sequence[Network]) -> NetworkPoints:
    """Any networks of one shape."""
    return networks if isinstance(networks, NetworkPoints) else NetworkPoints(networks)
