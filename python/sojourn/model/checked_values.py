"""Single values of a model, checked: numbers, names, times. Each mistake is one ModelError: value, place, remedy."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from sojourn.errors import InputError, ModelError
from sojourn.file_errors import meant

RESERVED = ("source", "exit", "think")
CLOSE = 1e-9
SMALLEST, LARGEST = 1e-30, 1e30  # of what is not 0: third moments and products of some such numbers are still finite


def number(
    value: Any, place: str, least: float = 0.0, most: float = math.inf, above: bool = False, what: str = ""
) -> None:
    """A finite number from `least` (or above it) to `most`; a text, a truth value or NaN is none.

    Without a `most` it is 0 or of a size from SMALLEST to LARGEST, so that no formula leaves the range of doubles.
    """
    limit = f"{'above' if above else 'of at least'} {least:g}" + (f" and at most {most:g}" if most < math.inf else "")
    remedy = f"give a finite number {limit}" + (f" {what}" if what else "")
    size = _size(value)
    if math.isnan(size) or math.isinf(size) or size < least or (above and size == least) or size > most:
        raise ModelError(_shown(value), place, remedy)
    if most == math.inf and size != 0 and not SMALLEST <= abs(size) <= LARGEST:
        zero = "" if above else "0 or "
        remedy = f"give {zero}a number from {SMALLEST:g} to {LARGEST:g}" + (f" {what}" if what else "")
        raise ModelError(_shown(value), place, remedy)


def _size(value: Any) -> float:
    """NaN for what is no number."""
    return float(value) if isinstance(value, (int, float, np.number)) and not isinstance(value, bool) else math.nan


def whole(value: Any, place: str, least: int = 0, most: int | None = None) -> None:
    """A whole number from `least` to `most`."""
    size = _size(value)
    if not size.is_integer() or size < least or (most is not None and size > most):
        upto = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise ModelError(_shown(value), place, f"give a whole number {upto}")


def quantile_levels(values: Iterable[Any]) -> None:
    """Shares strictly between 0 and 1."""
    for value in values:
        if not 0 < _size(value) < 1:
            raise InputError(_shown(value), "quantiles", "give shares between 0 and 1, such as 0.99")


def one_of(value: Any, place: str, known: Iterable[str]) -> None:
    """A name that exists; the remedy names the likely one, or all."""
    known = known if isinstance(known, Collection) else list(known)
    if not isinstance(value, str) or value not in known:
        raise ModelError(_shown(value), place, meant(value, list(known)))


def names(items: Collection[Any], part: str, reserved: Collection[str] = ()) -> None:
    """Names that are texts, not empty, not reserved, without a slash, and each given once."""
    seen: set[str] = set()
    for item in items:
        name = item.name
        if not isinstance(name, str) or not name:
            raise ModelError(_shown(name), part, "give it a name that is not empty")
        place = f"{part}.{name}"
        if name in reserved:
            remedy = f"choose another name: in routing, {', '.join(reserved)} stand for the outside"
            raise ModelError(repr(name), place, remedy)
        if "/" in name or name.strip() != name:
            raise ModelError(repr(name), place, "choose a name without / and without spaces at its ends")
        if name in seen:
            raise ModelError(f"two {part} are called {name!r}", place, "give each a different name")
        seen.add(name)


def list_of(value: Any, place: str, what: str) -> None:
    """A list that is not empty."""
    if not isinstance(value, tuple) or not value:
        raise ModelError(_shown(value), place, f"give a list of {what}, at least one")


def sums_to_one(values: Iterable[float], place: str) -> None:
    values = list(values)
    for value in values:
        number(value, place, 0.0, 1.0)
    if abs(math.fsum(values) - 1) > CLOSE:
        raise ModelError(f"the sum is {math.fsum(values):.12g}", place, "give probabilities that sum to 1")


def matrix(value: Any, place: str) -> None:
    """Rows of equal length, as many as there are columns, of finite numbers."""
    square = isinstance(value, tuple) and value and all(isinstance(r, tuple) and len(r) == len(value) for r in value)
    if not square:
        raise ModelError(_shown(value), place, "give a square matrix as a list of rows")
    for row in value:
        for x in row:
            number(x, place, -math.inf)


def _shown(value: Any) -> str:
    text = repr(value)
    if hasattr(value, "arithmetic"):  # a formula
        text = f"{value.text} = {float(value):g}"
    return text if len(text) <= 80 else text[:77] + "…"
