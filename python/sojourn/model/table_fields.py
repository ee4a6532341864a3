"""Nouns and distributions as tables of a file and back: which keys each kind has, and what is wrong with a table.

A kind's keys are the fields of its class; an unknown key is met with the key that was meant, a wrong unit with the
right one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from typing import Any

from sojourn.errors import ModelError
from sojourn.file_errors import meant
from sojourn.model.checked_values import one_of
from sojourn.model.components import Breakdowns, Closed, Pool, Queue
from sojourn.model.distribution_registry import KINDS, TIMES, Distribution
from sojourn.model.formulas import AnyFormula
from sojourn.model.parameters import NumberByFactor, ParameterFromRuns
from sojourn.model.unknown_parameters import Unknown, unknown

UNITS = ("_per_ms", "_per_s", "_per_min", "_per_h", "_ns", "_us", "_ms", "_s", "_min", "_h")
SECONDS = {"ns": "1e-9 s", "us": "1e-6 s", "ms": "0.001 s", "min": "60 s", "h": "3600 s"}
FORMER: dict[type, dict[str, str]] = {  # keys by a former name; still read
    ParameterFromRuns: {
        "per": "divisor_metric",
        "each": "one_value_per_run",
        "at": "run_factors",
        "station": "metric_station",
        "class": "metric_class",
        "formula": "model_formula",
    },
    NumberByFactor: {"of": "factor"},
    Pool: {"over": "held_over_stations"},
    Queue: {"schedule": "server_schedule", "period_s": "schedule_period_s"},
    Closed: {"reference": "reference_station"},
}
IN_FILE = {"scv_": "scv", "cls": "class"}  # a field whose plain name is taken by a property


def from_table(kind: type, table: Any, place: str, **given: Any) -> Any:
    """An object of this class from its table; `given` are fields that the file says elsewhere (its name)."""
    if not isinstance(table, Mapping):
        raise ModelError(repr(table), place, "give a table of keys")
    own = {IN_FILE.get(f.name, f.name): f for f in fields(kind) if f.name not in given}
    former = FORMER.get(kind, {})
    table = {former.get(key, key): value for key, value in table.items()}
    for key in table:
        if key not in own and key != "kind":
            raise ModelError(f"unknown key {key!r}", f"{place}.{key}", instead(key, list(own)))
    for key, field in own.items():
        if key not in table and _needed(field):
            raise ModelError(f"no {key}", place, f"give {key}")
    read = {own[key].name: _value(value, f"{place}.{key}") for key, value in table.items() if key != "kind"}
    return kind(**given, **read)


def _needed(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _value(value: Any, place: str) -> Any:
    """Tables inside are distributions, but for breakdowns; lists become tuples where the object is made."""
    if not isinstance(value, Mapping) or place.endswith((".cases", ".run_factors")):
        return value
    if "free" in value:
        return unknown(value, place)
    if place.endswith(".breakdowns"):
        read = from_table(Breakdowns, value, place)
        return Breakdowns(*(time(getattr(read, key), f"{place}.{key}") for key in ("up", "down")))
    return distribution(value, place, KINDS if place.endswith(".arrivals") else TIMES)


def time(value: Any, place: str) -> Any:
    """A mean, an unknown one, or a table that is a distribution."""
    if isinstance(value, Mapping) and "free" in value:
        return unknown(value, place)
    return distribution(value, place, TIMES) if isinstance(value, Mapping) else value


def distribution(table: Mapping[str, Any], place: str, known: Mapping[str, type]) -> Any:
    """`{ kind = "erlang", mean = 0.01, shape = 4 }`"""
    if "kind" not in table:
        raise ModelError(f"no kind, but {', '.join(table)}", place, f"add kind: {', '.join(known)}")
    one_of(table["kind"], f"{place}.kind", known)
    return from_table(known[table["kind"]], table, place)


def instead(key: str, known: list[str]) -> str:
    """What to write instead of an unknown key: the same quantity in its unit, a near name, or all there are."""
    stem, unit = _unit(key)
    same = next((k for k in known if _unit(k)[0] == stem), None)
    if same is None:
        return meant(key, known)
    right = _unit(same)[1].strip("_").replace("per_", "1/") or "1"
    hint = f" (1 {unit.strip('_')} is {SECONDS[unit.strip('_')]})" if unit.strip("_") in SECONDS else ""
    return f"write {same}, in {right}{hint}"


def _unit(key: str) -> tuple[str, str]:
    for unit in UNITS:
        if key.endswith(unit):
            return key.removesuffix(unit), unit
    return key, ""


def as_table(noun: Any) -> dict[str, Any]:
    """The keys of an object in a file: those that are not at their default, and its kind."""
    table = {"kind": noun.kind} if getattr(noun, "kind", "") else {}
    for field in fields(noun):
        value = getattr(noun, field.name)
        if field.name == "name" or value == {} or (not _needed(field) and _same(value, field.default)):
            continue
        table[IN_FILE.get(field.name, field.name)] = plain(value)
    return table


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)


def plain(value: Any) -> Any:
    """Values as a file has them: distributions and breakdowns as tables, numbers of other libraries as numbers."""
    if isinstance(value, Unknown):
        return value.table()
    if isinstance(value, AnyFormula):
        return value.text
    if isinstance(value, NumberByFactor | ParameterFromRuns):
        return as_table(value)
    if isinstance(value, Distribution) or type(value) in KINDS.values():
        return as_table(value)
    if isinstance(value, Breakdowns):
        return {"up": plain(value.up), "down": plain(value.down)}
    if isinstance(value, tuple):
        return [plain(v) for v in value]
    return value.item() if hasattr(value, "item") else value
