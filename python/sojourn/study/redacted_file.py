"""A study file without what looks like a credential, for the study's folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sojourn.load.credentials import FROM_ENV, SECRET


def without_credentials(table: Mapping[str, Any]) -> dict[str, Any]:
    """The same, with `hidden` for text under a name that tells of a credential, unless it only names a variable."""
    found: dict[str, Any] = {}
    for name, value in table.items():
        if isinstance(value, Mapping):
            found[name] = without_credentials(value)
        elif (
            isinstance(value, str)
            and SECRET.search(name)
            and not name.endswith("_env")
            and not FROM_ENV.fullmatch(value)
        ):
            found[name] = "hidden"
        else:
            found[name] = value
    return found
