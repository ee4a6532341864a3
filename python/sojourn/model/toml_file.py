"""A model as a TOML file and back: the file says everything that the object says, in the same nouns and order.

Values come from the standard library's parser, line numbers for errors from `sojourn.file_errors.line_of`; tomli-w writes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import tomli_w

from sojourn.errors import ModelError
from sojourn.file_errors import line_of
from sojourn.files.reading import parse_toml, read_text
from sojourn.files.writing import write_output
from sojourn.model.checked_values import one_of
from sojourn.model.components import (
    Choice,
    Closed,
    Delay,
    ForkJoin,
    LoadDependent,
    Multicore,
    Open,
    Pool,
    Queue,
    Region,
    SharedCores,
)
from sojourn.model.model_data import ModelData
from sojourn.model.parameters import NumberByFactor, ParameterFromRuns
from sojourn.model.table_fields import as_table, from_table, instead, plain, time
from sojourn.model.unknown_parameters import unknown

SomeModel = TypeVar("SomeModel", bound=ModelData)
STATIONS: dict[str, type] = {kind.kind: kind for kind in (Queue, Delay, LoadDependent, ForkJoin, Multicore, Pool)}
CLASSES: dict[str, type] = {kind.kind: kind for kind in (Closed, Open)}
PARTS = (
    "name",
    "parameters",
    "stations",
    "classes",
    "demands_s",
    "service_s",
    "visits",
    "routing",
    "regions",
    "shared_cores",
    "factors",
    "observed",
    "where",
)
BESIDE = ("fit",)  # what a fitted model has beside the model
NOUNS = ("stations", "classes", "regions", "shared_cores")


def read(path: Path | str, make: Callable[..., SomeModel]) -> SomeModel:
    """What `make` makes of the parts of a model file. Raises ModelError naming file, line, key, value and remedy."""
    remedy = "give a model file; docs/reference/model-file.md has its keys"
    return parse(read_text(path, remedy, error=ModelError, pipes=True), make, str(path))


def parse(text: str, make: Callable[..., SomeModel], place: str = "model") -> SomeModel:
    """What `make` makes of the parts of a text; `place` stands for its file in errors."""
    data = parse_toml(text, place, error=ModelError)
    try:
        return make(**_parts(data))
    except ModelError as error:
        raise ModelError(error.value, f"{_at(place, text, str(error.place))}{error.place}", error.remedy) from None


def _at(place: str, text: str, path: str) -> str:
    """`shop.toml:12: ` of the key, or of the nearest table around it that is in the file."""
    line = line_of(text, [path])
    return f"{place}: " if line is None else f"{place}:{line}: "


def _parts(data: Mapping[str, Any]) -> dict[str, Any]:
    for key in data:
        if key not in (*PARTS, *BESIDE):
            raise ModelError(f"unknown key {key!r}", key, instead(key, list(PARTS)))
    if not isinstance(data.get("name", ""), str):
        raise ModelError(repr(data["name"]), "name", "give a text")
    tables = {part: _tables(data, part) for part in PARTS[2:-3]}
    parameters = data.get("parameters", {})
    return {
        "stations": [_noun(STATIONS, "queue", t, f"stations.{n}", n) for n, t in tables["stations"].items()],
        "classes": [_noun(CLASSES, "", t, f"classes.{n}", n) for n, t in tables["classes"].items()],
        "demands_s": _times(tables["demands_s"], "demands_s"),
        "service_s": _times(tables["service_s"], "service_s"),
        "visits": _times(tables["visits"], "visits"),
        "routing": {
            cls: {a: _row(r, f"routing.{cls}.{a}") for a, r in t.items()} for cls, t in tables["routing"].items()
        },
        "regions": [from_table(Region, t, f"regions.{n}", name=n) for n, t in tables["regions"].items()],
        "shared_cores": [
            from_table(SharedCores, t, f"shared_cores.{n}", name=n) for n, t in tables["shared_cores"].items()
        ],
        "name": data.get("name", ""),
        "parameters": {n: _parameter(v, f"parameters.{n}") for n, v in parameters.items()}
        if isinstance(parameters, Mapping)
        else parameters,
        "factors": data.get("factors", {}),
        "observed": data.get("observed", {}),
        "where": data.get("where", {}),
    }


def _parameter(value: Any, place: str) -> Any:
    """A number, an unknown one, a formula, `{ of, value, cases }`, or `{ metric, station }`."""
    if not isinstance(value, Mapping):
        return value
    if "free" in value:
        return unknown(value, place)
    kinds = [
        kind
        for key, kind in (("metric", ParameterFromRuns), ("factor", NumberByFactor), ("of", NumberByFactor))
        if key in value
    ]
    if not kinds:
        remedy = "give { free = true }, { of, value, cases } or { metric, station }, or a number or text without braces"
        raise ModelError(f"a table of {', '.join(value) or 'nothing'}", place, remedy)
    return from_table(kinds[0], value, place)


def _tables(data: Mapping[str, Any], part: str) -> Mapping[str, Any]:
    """A part whose every entry is a table."""
    table = data.get(part, {})
    if not isinstance(table, Mapping):
        raise ModelError(repr(table), part, f"give tables, as in [{part}.NAME]")
    for name, inner in table.items():
        if not isinstance(inner, Mapping):
            raise ModelError(repr(inner), f"{part}.{name}", f"give a table, as in [{part}.{name}]")
    return table


def _noun(known: Mapping[str, type], usual: str, table: Mapping[str, Any], place: str, name: str) -> Any:
    kind = table.get("kind", usual)
    if kind == "":
        raise ModelError("no kind", place, f"add kind: {' or '.join(known)}")
    one_of(kind, f"{place}.kind", known)
    return from_table(known[kind], table, place, name=name)


def _times(table: Mapping[str, Any], part: str) -> dict[str, dict[str, Any]]:
    return {s: {c: time(v, f"{part}.{s}.{c}") for c, v in row.items()} for s, row in table.items()}


def _row(row: Any, place: str) -> Any:
    """Probabilities, or a Choice: the table has `policy` and a list `to`."""
    choice = isinstance(row, Mapping) and (isinstance(row.get("to"), list) or isinstance(row.get("policy"), str))
    if choice or not isinstance(row, Mapping):
        return from_table(Choice, row, place) if choice else row
    return {end: time(p, f"{place}.{end}") for end, p in row.items()}


def to_toml(model: ModelData) -> str:
    """The file of a model; `parse` gives the same model back."""
    return tomli_w.dumps(as_tables(model))


def write(model: ModelData, path: Path | str) -> None:
    write_output(path, to_toml(model))


def as_tables(model: ModelData) -> dict[str, Any]:
    """What the file has, as tables in tables."""
    found: dict[str, Any] = {"name": model.name} if model.name else {}
    found["parameters"] = {name: plain(value) for name, value in model.parameters.items()}
    for part in NOUNS:
        found[part] = {noun.name: _usual(as_table(noun)) for noun in getattr(model, part)}
    for part in ("demands_s", "service_s", "visits"):
        found[part] = {s: {c: plain(v) for c, v in row.items()} for s, row in getattr(model, part).items()}
    found["routing"] = {cls: {start: _ends(row) for start, row in rows.items()} for cls, rows in model.routing.items()}
    found |= {
        part: {key: plain(v) for key, v in getattr(model, part).items()} for part in ("factors", "observed", "where")
    }
    return {part: value for part, value in found.items() if value}


def _usual(table: dict[str, Any]) -> dict[str, Any]:
    """Without the kind that is meant where none is given."""
    return {
        k: v
        for k, v in table.items()
        if (k, v) not in (("kind", "queue"), ("kind", "region"), ("kind", "shared_cores"))
    }


def _ends(row: Any) -> dict[str, Any]:
    return as_table(row) if isinstance(row, Choice) else {end: plain(p) for end, p in row.items()}
