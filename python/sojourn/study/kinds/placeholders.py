"""`{name}` in a text stands for the value of that factor; `{{name}}` for the text `{name}` itself. Other braces stay."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from sojourn.errors import InputError

PLACEHOLDER = re.compile(r"\{\{([A-Za-z_][A-Za-z0-9_]*)\}\}|\{([A-Za-z_][A-Za-z0-9_]*)\}")


def used(texts: Iterable[str]) -> set[str]:
    """The names in them."""
    return {match[2] for text in texts for match in PLACEHOLDER.finditer(text) if match[2]}


def filled(text: str, values: Mapping[str, Any], place: str) -> str:
    """The text with values in place of names.

    Raises:
        InputError: a name that has no value.
    """

    def put(match: re.Match[str]) -> str:
        if match[1]:
            return f"{{{match[1]}}}"
        if match[2] not in values:
            known = ", ".join(values) or "none"
            remedy = f"use one of the factors ({known}), or {{{{{match[2]}}}}} for the text itself"
            raise InputError(f"placeholder {{{match[2]}}} has no factor", place, remedy)
        value = values[match[2]]
        return str(value).lower() if isinstance(value, bool) else str(value)

    return PLACEHOLDER.sub(put, text)


def check_both_ways(texts: Mapping[str, str], factors: Iterable[str], place: str) -> None:
    """Each placeholder of `texts` (place → text) has a factor, and each factor a placeholder.

    Raises:
        InputError: one has not.
    """
    values = dict.fromkeys(factors, "")
    for where, text in texts.items():
        filled(text, values, where)
    for name in values.keys() - used(texts.values()):
        remedy = f"write {{{name}}} into the command, the environment, the cores or the URL, or leave the factor out"
        raise InputError(f"factor {name} has no placeholder", place, remedy)
