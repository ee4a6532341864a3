"""`--vary PATH=VALUES`: which number of a model goes through which values."""

from __future__ import annotations

from typing import Any

from sojourn.errors import InputError
from sojourn.units import MOST_LEVELS, number, number_or_word

HOW = "write PATH=1..200, 0.1..0.9:0.1 (steps), 1e-3..1e3*10 (factors), or a,b,c"


def factors(options: list[str]) -> dict[str, list[Any]]:
    """Path → values, of all `--vary` options.

    Raises InputError: no `=`, a path twice, a range that does not lead from first to last, too many values.
    """
    found: dict[str, list[Any]] = {}
    for text in options:
        path, equals, values = (part.strip() for part in text.partition("="))
        if not equals or not path or not values:
            raise InputError(repr(text), "--vary", HOW)
        if path in found:
            raise InputError(f"{path} twice", "--vary", "give each path once, with all its values")
        found[path] = [value for part in values.split(",") for value in _values(part.strip(), text)]
    count = 1
    for column in found.values():
        count *= len(column)
    if count > MOST_LEVELS:
        raise InputError(f"{count} points", "--vary", f"ask for at most {MOST_LEVELS}")
    return found


def _values(part: str, text: str) -> list[Any]:
    if ".." not in part:
        return [number_or_word(part)]
    ends, by, step = part, "", "1"
    for sign in (":", "*"):
        if sign in part:
            ends, by, step = (p.strip() for p in part.partition(sign))
            break
    first_text, _, last_text = ends.partition("..")
    first, last, size = (number(t.strip(), f"--vary {text}") for t in (first_text, last_text, step))
    grid = _powers(first, last, size) if by == "*" else _steps(first, last, size)
    if not grid:
        raise InputError(repr(part), "--vary", f"{HOW}; give the lower end first; at most {MOST_LEVELS}")
    whole = all(t.strip().lstrip("+-").isdigit() for t in (first_text, last_text, step))
    return [int(value) for value in grid] if whole else grid


def _steps(first: float, last: float, step: float) -> list[float]:
    count = (last - first) / step + 1e-9 if step > 0 else -1.0
    # one product a value: a running sum would carry its rounding along; 12 digits: 0.3, not 0.30000000000000004
    return [float(f"{first + k * step:.12g}") for k in range(int(count) + 1)] if 0 <= count < MOST_LEVELS else []


def _powers(first: float, last: float, factor: float) -> list[float]:
    if not (first > 0 and factor > 1 and last >= first):
        return []
    grid, k = [first], 1
    while (value := first * factor**k) <= last * (1 + 1e-9) and k < MOST_LEVELS:
        grid.append(float(f"{value:.12g}"))
        k += 1
    return grid if k < MOST_LEVELS else []
