"""Points of a sweep that are alike: whether a method applies is asked of a few of them.

A refusal depends on the structure of a network, on which numbers are 0 or equal between classes, on kinds of
distributions, and on how large it is. Points that agree in all but size make a group; its first and last point, and those
with the least and greatest population, rate and service times stand for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from sojourn.model.network_arrays import Network
from sojourn.model.network_points import NetworkPoints

NAMES = tuple(f.name for f in fields(Network) if f.name != "model")
FEW = 6
EXACT = ("servers", "capacity", "priority", "chain")  # arrays whose numbers a refusal may depend on
SIZES = ("population", "rate_per_s", "service_s", "think_s")


def representatives(networks: Sequence[Network]) -> list[Network]:
    """The points of which a refusal is asked; all, where there are few."""
    if len(networks) <= FEW:
        return list(networks)
    if isinstance(networks, NetworkPoints):
        return _of_points(networks)
    first = networks[0]
    varied = [name for name in NAMES if any(getattr(n, name) is not getattr(first, name) for n in networks)]
    kinds = [(name, KINDS.get(name, _exactly)) for name in varied]
    groups: dict[Any, list[Network]] = {}
    for network in networks:
        groups.setdefault(tuple([kind(getattr(network, name)) for name, kind in kinds]), []).append(network)
    return [n for group in groups.values() for n in _ends(group, [name for name in SIZES if name in varied])]


def _of_points(points: NetworkPoints) -> list[Network]:
    """The same of arrays."""
    keys = [points.which, *(column for name in points.columns for column in _columns(points, name))]
    kinds, group = [key for key in keys if (key != key[0]).any()], np.zeros(len(points), np.intp)
    if kinds:
        group = np.unique(np.column_stack(kinds), axis=0, return_inverse=True)[1].ravel()
    order = np.argsort(group, kind="stable")
    sizes = [points.columns[name].reshape(len(points), -1).sum(axis=1) for name in SIZES if name in points.columns]
    found: dict[int, None] = {}
    for own in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
        ends = [own[0], own[-1], *(own[end(size[own])] for size in sizes for end in (np.argmin, np.argmax))]
        found |= dict.fromkeys(int(p) for p in ends)
    return [points[p] for p in found]


def _columns(points: NetworkPoints, name: str) -> Iterator[np.ndarray]:
    """What of an array is to be equal, P each; of a multicore station the number of its cores is not."""
    values = points.columns[name]
    if name in EXACT:
        keep = [k for k in range(values.shape[1]) if name != "servers" or k not in points.bases[0].hosts]
        yield from values[:, keep].T
        return
    table = values.reshape(len(points), -1, values.shape[-1])
    yield from (table > 0).reshape(len(points), -1).T
    if name in ("service_s", "visits"):
        for c in range(1, values.shape[-1]):
            yield from (table[:, :, c:] == table[:, :, :-c]).reshape(len(points), -1).T


def _ends(group: list[Network], sizes: list[str]) -> list[Network]:
    found = {id(n): n for n in (group[0], group[-1])}
    for name in sizes:
        size = [float(getattr(n, name).sum()) for n in group]
        for n in (group[int(np.argmin(size))], group[int(np.argmax(size))]):
            found[id(n)] = n
    return list(found.values())


def _positive(values: np.ndarray) -> bytes:
    return (values > 0).tobytes()


def _pattern(table: np.ndarray) -> bytes:
    """Which entries are 0, and which classes are alike at a station."""
    if table.shape[1] == 1:
        return _positive(table)
    return _positive(table) + (table[:, :, None] == table[:, None, :]).tobytes()


def _types(values: Any) -> Any:
    return tuple(_types(v) for v in values) if isinstance(values, tuple) else type(values)


def _exactly(value: Any) -> Any:
    """Equal only where it is equal in full; a table that cannot be compared is its own kind."""
    if isinstance(value, np.ndarray):
        return value.tobytes()
    return value if isinstance(value, tuple) else id(value)


KINDS: dict[str, Callable[[Any], Any]] = {
    "population": _positive, "rate_per_s": _positive, "think_s": _positive, "service_s": _pattern, "visits": _pattern,
    "service": _types, "think": _types, "arrivals": _types, "passes": _positive,
    "hosts": lambda hosts: tuple((k, one.variant) for k, one in hosts.items()),
    "dependent_times": lambda times: tuple((t.station, t.cls, t.formula.text) for t in times),
}  # fmt: skip
