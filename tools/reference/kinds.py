"""Types and values of keys, in words and in TOML."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from sojourn.model import Distribution
from sojourn.study.kinds.time_values import Seconds

SIMPLE = {int: "whole number", float: "number", str: "text", bool: "true or false", Any: "any value", dict: "table"}


def words(annotation: Any) -> str:
    """A type in words."""
    if annotation == Seconds:
        return "time: `250ms`, `8s`, or a number of seconds"
    if annotation in SIMPLE:
        return SIMPLE[annotation]
    if isinstance(annotation, type) and issubclass(annotation, Distribution):
        return "time"
    origin, inner = get_origin(annotation), [a for a in get_args(annotation) if a not in (NoneType, Ellipsis)]
    if origin is Annotated:
        return words(inner[0])
    if origin is Literal:
        return ", ".join(f"`{value}`" for value in inner)
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(map(words, inner)))
    if origin in (list, tuple):
        return f"list of {' or '.join(dict.fromkeys(map(words, inner)))}"
    if origin is dict:
        return f"table: name = {words(inner[1])}"
    return "table"


def toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    return "[" + ", ".join(map(toml, value)) + "]" if isinstance(value, tuple | list) else str(value)
