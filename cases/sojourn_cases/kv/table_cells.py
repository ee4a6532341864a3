"""Small things that several analyses say alike."""

from __future__ import annotations

import math
from typing import Any

import polars as pl

from sojourn.design import TestedEstimate
from sojourn.fit import ParameterEstimate

MS = 1e3


def number(value: Any, scale: float = 1.0) -> float | None:
    """A finite float times `scale`, else None (a dash)."""
    return scale * float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def mean(rows: pl.DataFrame, column: str, scale: float = 1.0) -> float | None:
    """Over the known values."""
    return number(rows[column].mean(), scale)


def three(e: ParameterEstimate | TestedEstimate, scale: float = 1.0) -> tuple[float | None, float | None, float | None]:
    """Value and ends of the interval; no ends where there is none (one run)."""
    ends = (number(e.low, scale), number(e.high, scale)) if e.low < e.high else (None, None)
    return (number(e.value, scale), *ends)
