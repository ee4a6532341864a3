"""`ParameterEstimate`: a value that was found, with its interval."""

from __future__ import annotations

from typing import NamedTuple

from sojourn.errors import InputError


def check_level(level: float) -> None:
    """Raises InputError for the level of an interval that does not lie in (0, 1)."""
    if not 0 < level < 1:
        raise InputError(level, "level", "give a number between 0 and 1, like 0.95")


class ParameterEstimate(NamedTuple):
    """Value and interval at the level of what it belongs to; SI units."""

    value: float
    low: float
    high: float
