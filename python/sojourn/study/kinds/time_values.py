"""A time in a study file: a number of seconds, or a text with its unit."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from pydantic import BeforeValidator

from sojourn.units import duration_s


def _seconds(given: Any) -> Any:
    return duration_s(given) if isinstance(given, str) else given


Seconds: TypeAlias = Annotated[float, BeforeValidator(_seconds)]
