"""`Unknown`: a number of a model that is to be found from measurements; where it stands, and models with it replaced.

In a file it is a table with `free = true` in place of the number. Until it is found a model works with its start value,
so that what `sojourn solve` says of an unfitted file says nothing of the service.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, Generic, TypeVar

from sojourn.errors import ModelError
from sojourn.model.checked_values import number
from sojourn.model.distribution_types import Distribution
from sojourn.model.formulas import inside
from sojourn.model.model_data import ModelData

SomeModel = TypeVar("SomeModel", bound=ModelData)
USUAL = 0.01  # s, or whatever the number is in, where no start was given
TABLES = ("parameters", "demands_s", "service_s", "visits", "routing")
NOUNS = ("stations", "classes")
LIMITS = ("regions", "shared_cores")
WHOLE = ("servers", "size", "limit", "population", "capacity", "branches", "cores", "nics")


class Unknown(float):
    """A number between `low` and `high`; as a float it is `start`. `low = 0` lets it be 0: it is then searched linearly
    and not by its logarithm. `given`: whether a start was given."""

    low: float
    high: float
    given: bool

    def __new__(cls, start: float | None = None, low: float | None = None, high: float = math.inf) -> Unknown:
        least = 0.0 if low is None else low
        middle = math.sqrt(least * high) if least > 0 and high < math.inf else min(max(USUAL, 2 * least), high)
        made = super().__new__(cls, middle if start is None else start)
        made.low, made.high, made.given = (-math.inf if low is None else low), high, start is not None
        return made

    def table(self) -> dict[str, Any]:
        """As in a model file."""
        told: dict[str, Any] = {"free": True}
        told |= {"start": float(self)} if self.given else {}
        told |= {"low": self.low} if self.low > -math.inf else {}
        return told | ({"high": self.high} if self.high < math.inf else {})

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (float(self) if self.given else None, self.low if self.low > -math.inf else None, self.high)

    def __repr__(self) -> str:
        return f"Unknown({', '.join(f'{k}={v:g}' for k, v in self.table().items() if k != 'free')})"


def unknown(table: Mapping[str, Any], place: str) -> Unknown:
    """From `{ free = true, start = 0.02, low = 0.001, high = 1 }`. Raises ModelError for what is no such table, and where
    only whole numbers can stand, which a search along slopes cannot find."""
    if (name := place.rpartition(".")[2]) in WHOLE:
        remedy = f'give its value, or vary it between the runs and add [factors] {name} = "{place}"; --model auto tries several servers'
        raise ModelError("a whole number cannot be fitted", place, remedy)
    for key in table:
        if key not in ("free", "start", "low", "high"):
            raise ModelError(f"unknown key {key!r}", f"{place}.{key}", "an unknown has free, start, low, high")
    if table["free"] is not True:
        raise ModelError(repr(table["free"]), f"{place}.free", "write free = true, or the number")
    for key in ("start", "low", "high"):
        if key in table:
            number(table[key], f"{place}.{key}")
    low, high, start = table.get("low"), table.get("high", math.inf), table.get("start")
    if not (low or 0.0) < high:
        raise ModelError(f"low = {low:g}, high = {high:g}", place, "give low < high")
    if start is not None and not (low or 0.0) <= start <= high:
        raise ModelError(f"start = {start:g}", f"{place}.start", f"give a start from {low or 0:g} to {high:g}")
    return Unknown(start, low, high)


def unknowns(model: ModelData) -> dict[str, Unknown]:
    """Path → unknown, in the order of the file: "demands_s.cpu.user", "service_s.cpu.user.scv", "classes.user.think_s"."""
    nouns = [(f"{part}.{item.name}", item) for part in NOUNS for item in getattr(model, part)]
    tables = [(part, getattr(model, part)) for part in TABLES]
    return {p: v for path, held in (tables[0], *nouns, *tables[1:]) for p, v in inside(held, path, Unknown)}


class ModelDraft(Generic[SomeModel]):
    """A model in which numbers are being replaced: it is checked when all of them are said, whatever their order."""

    def __init__(self, model: SomeModel) -> None:
        self.model = model
        self.parts: dict[str, Any] = {part: getattr(model, part) for part in (*NOUNS, *LIMITS, *TABLES)}

    def put(self, path: str, value: Any) -> None:
        """ModelError where nothing stands at `path`."""
        part, item, key = _place(self.parts, path)
        held = self.parts[part]
        if item is None:
            self.parts[part] = _put(held, key, value, path)
        else:
            self.parts[part] = tuple(_put(i, key, value, path) if i is item else i for i in held)

    def checked(self) -> SomeModel:
        """ModelError where the numbers cannot stand together."""
        new = {part: value for part, value in self.parts.items() if value is not getattr(self.model, part)}
        return replace(self.model, **new) if new else self.model


def replaced(model: SomeModel, values: Mapping[str, Any]) -> SomeModel:
    """The model with what stands at each path replaced, all at once. ModelError where nothing does, and for what cannot be there."""
    draft = ModelDraft(model)
    for path, value in values.items():
        draft.put(path, value)
    return draft.checked()


def check_path(model: ModelData, path: str) -> None:
    """Raises ModelError for a path at which nothing stands."""
    parts = ModelDraft(model).parts
    part, item, key = _place(parts, path)
    holder = parts[part] if item is None else item
    while key:
        holder, _, key = _inner(holder, key, path)


def law_at(table: Mapping[str, Any], name: str) -> Distribution | None:
    """The distribution of STATION.CLASS in a table of times, of which a parameter may be varied; None where there is none."""
    station, _, cls = name.rpartition(".")
    found = table.get(station, {}).get(cls)
    return found if isinstance(found, Distribution) else None


def with_parameter(table: Mapping[str, Any], name: str, key: str, value: Any) -> dict[str, Any] | None:
    """The table with one parameter of that distribution replaced; None where there is none of this name."""
    law = law_at(table, name)
    fields_of = {} if law is None else {_plain(f.name): f.name for f in fields(law)}
    if law is None or key not in fields_of:
        return None
    station, _, cls = name.rpartition(".")
    return {**table, station: {**table[station], cls: replace(law, **{fields_of[key]: value})}}


def _place(parts: Mapping[str, Any], path: str) -> tuple[str, Any, str]:
    """The part of the model, the noun in it or None where the part is a table, and the rest of the path."""
    part, _, rest = path.partition(".")
    if part in TABLES:
        return part, None, rest
    if part not in (*NOUNS, *LIMITS):
        raise ModelError(
            path, "path", "use parameters.…, stations.…, classes.…, demands_s.…, service_s.…, visits.… or routing.…"
        )
    items = parts[part]
    item = next((i for i in items if rest.startswith(i.name + ".")), None)
    if item is None:
        raise ModelError(path, "path", f"use {part}.NAME.FIELD with one of {', '.join(i.name for i in items)}")
    return part, item, rest[len(item.name) + 1 :]


def _put(holder: Any, key: str, value: Any, path: str) -> Any:
    """A copy of `holder`, a table or frozen data, with what is at `key` replaced."""
    inner, first, rest = _inner(holder, key, path)
    new = _put(inner, rest, value, path) if rest else value
    return {**holder, first: new} if isinstance(holder, Mapping) else replace(holder, **{first: new})


def _inner(holder: Any, key: str, path: str) -> tuple[Any, str, str]:
    """What `holder` has at the first part of `key`, the name that it has there, and the rest of `key`."""
    known: dict[str, str] = {name: name for name in holder} if isinstance(holder, Mapping) else {}
    if is_dataclass(holder):
        known = {_plain(f.name): f.name for f in fields(holder)}
    first = next((k for k in sorted(known, key=len, reverse=True) if key == k or key.startswith(f"{k}.")), None)
    if first is None:
        raise ModelError(path, "path", f"there is no {key}; use {', '.join(known) or 'no further part'}")
    inner = holder[first] if isinstance(holder, Mapping) else getattr(holder, known[first])
    return inner, known[first], key[len(first) + 1 :]


def _plain(field: str) -> str:
    """A field whose plain name is taken by a property ends in _, in Python only."""
    return field.rstrip("_")
