"""Formulas in place of numbers: arithmetic of `[parameters]`, of factors of the runs, and of how busy a station is.

    [parameters]
    request_s = { free = true }
    key_s = { free = true, low = 0 }
    keys = 1                                    # a factor of the runs; this where a run does not say
    stores = { factor = "workload", value = "get", cases = { set = 1, mixed = 0.5 }, otherwise = 0 }
    [demands_s.cpu]
    user = "request_s + key_s * keys"           # a sum of parts
    [demands_s.disk]
    user = "request_s * (1 + 0.5 * (1 - u)**2)" # u: the utilisation of this station

A formula is a float (or a whole number) with its text: everything that reads a model reads the value that it has now. `u` is 0 in
that value, the station at rest; `sojourn.solve.load_dependent_times` finds the u that it has at a load. In `rates_per_s` of a
load-dependent station `n` is the number present.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from sojourn.arithmetic import Arithmetic
from sojourn.model.distribution_types import Distribution
from sojourn.model.parameters import BUSY, MOST, PRESENT, formula_value, read_formula

FEWEST_RATES = 100  # of a load-dependent station; as many as there are closed customers, where these are more
TIMED = ("demands_s", "service_s")
TABLES = (*TIMED, "visits", "routing")
NOUNS = ("stations", "classes", "regions", "shared_cores")


class FormulaBase:
    """What all formulas have."""

    arithmetic: Arithmetic

    @property
    def text(self) -> str:
        """As in the file."""
        return self.arithmetic.text

    @property
    def of_load(self) -> bool:
        """Whether it depends on how busy its station is."""
        return BUSY in self.arithmetic.names

    def __repr__(self) -> str:
        return repr(self.text)


class Formula(FormulaBase, float):
    """A number that a text says."""

    def __new__(cls, value: float, arithmetic: Arithmetic) -> Formula:
        made = super().__new__(cls, value)
        made.arithmetic = arithmetic
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:
        return float(self), self.arithmetic


class WholeFormula(FormulaBase, int):
    """A whole number that a text says, rounded."""

    def __new__(cls, value: float, arithmetic: Arithmetic) -> WholeFormula:
        made = super().__new__(cls, round(value))
        made.arithmetic = arithmetic
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:
        return int(self), self.arithmetic


class RatesFormula(FormulaBase, tuple[float, ...]):
    """Rates with 1, 2, … present that a text of `n` says; the last holds for more."""

    def __new__(cls, values: Any, arithmetic: Arithmetic) -> RatesFormula:
        made = super().__new__(cls, values)
        made.arithmetic = arithmetic
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self), self.arithmetic


AnyFormula = (Formula, WholeFormula, RatesFormula)


def resolved(parts: Mapping[str, Any], values: Mapping[str, float]) -> dict[str, Any]:
    """The parts of a model that have texts in place of numbers, with formulas there; those without are not among them."""
    found: dict[str, Any] = {}
    for part in ("classes", "stations", "regions", "shared_cores", *TABLES):
        old = parts[part]
        if part == "stations":
            values = {**values, MOST: _most_present(found.get("classes", parts["classes"]))}
        new = tuple(_noun(i, values, f"{part}.{i.name}") for i in old) if part in NOUNS else _table(part, old, values)
        if new is not old:
            found[part] = new
    return found


def has_texts(parts: Mapping[str, Any]) -> bool:
    """Whether a model without parameters may have a formula: a text among its times, visits and routes, or in a station or class."""
    times = (
        value for part in TABLES for row in parts[part].values() if isinstance(row, Mapping) for value in row.values()
    )
    if any(isinstance(value, str | Distribution | Mapping) for value in times):
        return True
    items: list[Any] = [item for part in NOUNS for item in parts[part]]
    return any(isinstance(getattr(item, name, None), str) for item in items for name, _ in _fields(item))


def _fields(item: Any) -> list[tuple[str, str]]:
    kind: Any = type(item)
    return _numbers_of(kind) if is_dataclass(item) else []


def _most_present(classes: Any) -> float:
    """As many as can be at a station; of open classes as many as matter."""
    closed = sum(c.population for c in classes if isinstance(getattr(c, "population", None), int))
    return float(max(FEWEST_RATES, closed))


def _noun(item: Any, values: Mapping[str, float], place: str) -> Any:
    return _data(item, values, place) if is_dataclass(item) else item


def _data(item: Any, values: Mapping[str, float], place: str) -> Any:
    changed = {}
    kinds: Any = type(item)
    for name, kind in _numbers_of(kinds):
        old = getattr(item, name)
        own = f"{place}.{name.rstrip('_')}"
        timed = name == "mean" and place.startswith(TIMED)
        new = _value(old, values, own, kind, (BUSY,) if timed else (PRESENT,) if kind == "rates" else ())
        if new is not old:
            changed[name] = new
    return replace(item, **changed) if changed else item


def _value(old: Any, values: Mapping[str, float], place: str, kind: str, load: tuple[str, ...] = ()) -> Any:
    if isinstance(old, AnyFormula):
        old = old.text
    if isinstance(old, str):
        arithmetic = read_formula(old, values, load, place)
        if kind == "rates":
            present = np.arange(1, values[MOST] + 1)
            rates = np.broadcast_to(arithmetic.value({**values, PRESENT: present}), present.shape)
            return RatesFormula(map(float, rates), arithmetic)
        number = formula_value(arithmetic, {**values, BUSY: 0.0}, place)
        return WholeFormula(number, arithmetic) if kind == "whole" else Formula(number, arithmetic)
    if isinstance(old, Distribution):
        return _data(old, values, place)
    if type(old) is tuple and any(isinstance(v, str | Formula) for v in old) and kind in ("rates", "number"):
        return tuple(_value(v, values, place, "number") for v in old)
    return old


def _table(part: str, table: Any, values: Mapping[str, float]) -> Any:
    def inside(held: Any, place: str) -> Any:
        if isinstance(held, Mapping):
            new = {key: inside(value, f"{place}.{key}") for key, value in held.items()}
            return new if any(new[key] is not held[key] for key in held) else held
        if isinstance(held, str | Formula | WholeFormula | Distribution):
            return _value(held, values, place, "number", (BUSY,) if part in TIMED else ())
        return held

    return inside(table, part)


@cache
def _numbers_of(kind: type) -> list[tuple[str, str]]:
    """Fields that are numbers, with what they are: number, whole, rates."""
    found = []
    for field in fields(kind):
        names = set(str(field.type).replace("|", " ").replace("[", " ").replace("]", " ").replace(",", " ").split())
        if field.name == "rates_per_s":
            found.append((field.name, "rates"))
        elif (
            "str" not in names
            and field.name not in ("server_schedule",)
            and names & {"float", "int", "Distribution", "ArrivalProcess"}
        ):
            found.append((field.name, "whole" if "int" in names and "float" not in names else "number"))
    return found


def formulas_of(parts: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Path → formula, of all in the parts of a model."""
    for part in NOUNS:
        for item in parts[part]:
            yield from inside(item, f"{part}.{item.name}", AnyFormula)
    for part in TABLES:
        yield from inside(parts[part], part, AnyFormula)


def inside(value: Any, path: str, kinds: type | tuple[type, ...]) -> Iterator[tuple[str, Any]]:
    """Path → what is of one of `kinds`, of all in a table or in frozen data; a field whose plain name is taken ends in _."""
    if isinstance(value, kinds):
        yield path, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from inside(inner, f"{path}.{key}", kinds)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from inside(getattr(value, field.name), f"{path}.{field.name.rstrip('_')}", kinds)
