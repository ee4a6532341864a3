"""`--set name=value,name=value`, read once for all verbs."""

from __future__ import annotations

from typing import Any

from sojourn.errors import InputError
from sojourn.units import number_or_word

TRUTHS = {"true": True, "false": False}  # as runs print them and as TOML writes them


def settings(text: str, place: str) -> dict[str, Any]:
    """Names and values; what looks like a whole number is one, what looks like a number is one, `true` and `False` are truth values.

    Raises:
        InputError: a part without `=`, or a name twice.
    """
    found: dict[str, Any] = {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        name, equals, value = (x.strip() for x in part.partition("="))
        if not equals or not name or not value:
            raise InputError(repr(part), place, "write name=value, several joined by commas")
        if name in found:
            raise InputError(f"{name} twice", place, "give each name once")
        found[name] = TRUTHS.get(value.lower(), number_or_word(value))
    return found
