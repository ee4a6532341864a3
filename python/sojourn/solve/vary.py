"""One number of a model, varied: the networks of a sweep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from sojourn.errors import ModelError
from sojourn.model import Model, Network

TABLES = ("demands_s", "service_s", "visits")


def varied(model: Model, path: str, values: Sequence[Any]) -> list[Network]:
    """The network at each value of `path`: classes.NAME.FIELD, stations.NAME.FIELD, demands_s.STATION.CLASS, …"""
    return [changed(model, path, value).network for value in values]


def changed(model: Model, path: str, value: Any) -> Model:
    """The model with the number at `path` replaced."""
    part, _, rest = path.partition(".")
    name, _, key = rest.rpartition(".")
    if part in ("classes", "stations"):
        items = getattr(model, part)
        found = next((i for i in items if i.name == name), None)
        if found is None or key not in {f.name for f in fields(found)}:
            raise ModelError(path, "vary", f"use {part}.NAME.FIELD with one of {[i.name for i in items]}")
        return replace(model, **{part: tuple(replace(i, **{key: value}) if i is found else i for i in items)})
    if part in TABLES and name in getattr(model, part):
        table = getattr(model, part)
        return replace(model, **{part: {**table, name: {**table[name], key: value}}})
    raise ModelError(path, "vary", "use classes.NAME.FIELD, stations.NAME.FIELD or demands_s.STATION.CLASS")
