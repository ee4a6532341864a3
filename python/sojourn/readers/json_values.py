"""Values in JSON of somebody else: there and a number, or None."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any


def at(data: Any, *keys: str) -> Any:
    """What is at `keys`, each inside the one before; None where there is nothing."""
    for key in keys:
        if not isinstance(data, Mapping):
            return None
        data = data.get(key)
    return data


def number(data: Any, *keys: str) -> float | None:
    """The same where it is a finite number, also one that is written as text."""
    value = at(data, *keys)
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if isfinite(value) else None
    except OverflowError:
        return None


def scaled(value: float | None, by: float) -> float | None:
    """value x by; None stays."""
    return None if value is None else value * by


def count(value: float | None) -> int | None:
    """A number of requests; None for none, or a negative one."""
    return None if value is None or value < 0 else round(value)


def mapping(data: Any) -> Mapping[str, Any]:
    """Itself where it is an object, else an empty one."""
    return data if isinstance(data, Mapping) else {}


def items(data: Any) -> list[Any]:
    """Itself where it is a list, else an empty one."""
    return data if isinstance(data, list) else []


def quantile(text: str) -> float | None:
    """`99.5` as 0.995; None for what is no percentage between 0 and 100."""
    try:
        q = float(text)
    except ValueError:
        return None
    return round(q / 100, 9) if 0 < q < 100 else None
