"""A model as a TOML file and back: the file says everything that the object says, in the same nouns and order.

Values come from the standard library's parser, line numbers for errors from `sojourn._native.toml_lines`.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from sojourn.errors import ModelError
from sojourn.model.fields import as_table, from_table, instead, plain, time
from sojourn.model.model import Model
from sojourn.model.nouns import (
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
)
from sojourn.model.values import one_of

STATIONS: dict[str, type] = {kind.kind: kind for kind in (Queue, Delay, LoadDependent, ForkJoin, Multicore, Pool)}
CLASSES: dict[str, type] = {kind.kind: kind for kind in (Closed, Open)}
PARTS = ("name", "stations", "classes", "demands_s", "service_s", "visits", "routing", "regions", "factors", "observed")
BESIDE = ("fit",)  # what a fitted model has beside the model
BARE = re.compile(r"[A-Za-z0-9_-]+")
WIDTH = 110


def read(path: Path | str) -> Model:
    """The model of a file. Raises ModelError naming file, line, key, value and remedy."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ModelError(f"not UTF-8 ({error.reason})", path, "save it as UTF-8") from None
    except OSError as error:
        raise ModelError(error.strerror, path, "give a model file; docs/reference/model-file.md has its keys") from None
    return parse(text, str(path))


def parse(text: str, place: str = "model") -> Model:
    """The model that a text is; `place` stands for its file in errors."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        where = f"{place}:{line[1]}" if line else f"{place}:{1 + text.count(chr(10))}"
        raise ModelError(
            f"not TOML: {error}", where, "correct the line; each table and key may be there once"
        ) from None
    try:
        return _model(data)
    except ModelError as error:
        raise ModelError(error.value, f"{_at(place, text, str(error.place))}{error.place}", error.remedy) from None


def _at(place: str, text: str, path: str) -> str:
    """`shop.toml:12: ` of the key, or of the nearest table around it that is in the file."""
    from sojourn._native import toml_lines

    lines = toml_lines(text)
    while path:
        if path in lines:
            return f"{place}:{lines[path]}: "
        path = path.rpartition(".")[0]
    return f"{place}: "


def _model(data: Mapping[str, Any]) -> Model:
    for key in data:
        if key not in (*PARTS, *BESIDE):
            raise ModelError(f"unknown key {key!r}", key, instead(key, list(PARTS)))
    if not isinstance(data.get("name", ""), str):
        raise ModelError(repr(data["name"]), "name", "give a text")
    tables = {part: _tables(data, part) for part in PARTS[1:-2]}
    return Model(
        stations=[_noun(STATIONS, "queue", t, f"stations.{n}", n) for n, t in tables["stations"].items()],
        classes=[_noun(CLASSES, "", t, f"classes.{n}", n) for n, t in tables["classes"].items()],
        demands_s=_times(tables["demands_s"], "demands_s"),
        service_s=_times(tables["service_s"], "service_s"),
        visits=_times(tables["visits"], "visits"),
        routing={cls: {a: _row(r, f"routing.{cls}.{a}") for a, r in t.items()} for cls, t in tables["routing"].items()},
        regions=[from_table(Region, t, f"regions.{n}", name=n) for n, t in tables["regions"].items()],
        name=data.get("name", ""),
        factors=data.get("factors", {}),
        observed=data.get("observed", {}),
    )


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


def to_toml(model: Model) -> str:
    """The file of a model; `parse` gives the same model back."""
    head = [f"name = {_text(model.name)}", ""] if model.name else []
    return "\n".join([*head, *_lines(model)]).rstrip("\n") + "\n"


def write(model: Model, path: Path | str) -> None:
    Path(path).write_text(to_toml(model), encoding="utf-8")


def _lines(model: Model) -> Iterator[str]:
    for part, nouns in (("stations", model.stations), ("classes", model.classes), ("regions", model.regions)):
        for noun in nouns:
            table = as_table(noun)
            if table.get("kind") in ("queue", "region"):
                del table["kind"]
            yield from table_lines([part, noun.name], table)
    for part in ("demands_s", "service_s", "visits"):
        for station, row in getattr(model, part).items():
            yield from table_lines([part, station], {c: plain(v) for c, v in row.items()})
    for cls, rows in model.routing.items():
        if not rows:
            yield from table_lines(["routing", cls], {})
        for start, row in rows.items():
            table = as_table(row) if isinstance(row, Choice) else {end: plain(p) for end, p in row.items()}
            yield from table_lines(["routing", cls, start], table)
    for part in ("factors", "observed"):
        if getattr(model, part):
            yield from table_lines([part], {key: plain(value) for key, value in getattr(model, part).items()})


def table_lines(path: Iterable[str], table: Mapping[str, Any]) -> Iterator[str]:
    """A table with its head, and an empty line."""
    yield f"[{'.'.join(map(_key, path))}]"
    for key, value in table.items():
        yield f"{_key(key)} = {_shown(value)}"
    yield ""


def _key(name: str) -> str:
    return name if BARE.fullmatch(name) else _text(name)


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k)} = {_shown(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        inner = [_shown(v) for v in value]
        flat = ", ".join(inner)
        return f"[{flat}]" if len(flat) < WIDTH else "[\n" + "".join(f"    {x},\n" for x in inner) + "]"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if math.isfinite(value) else str(value)


def _text(value: str) -> str:
    # TOML's basic strings are JSON's, but DEL must be escaped as well
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
