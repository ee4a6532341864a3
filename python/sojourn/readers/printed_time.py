"""Times as tools print them: `1.23ms`, `2m`, `98.70us`; and by how much rounding may have changed them."""

from __future__ import annotations

import re

UNITS_S = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "μs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "sec": 1.0,
    "secs": 1.0,
    "m": 60.0,
    "h": 3600.0,
}
TIME = re.compile(r"(\d+(?:\.(\d+))?)\s*(ns|us|µs|μs|ms|secs?|s|m|h)\b")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


def printed_time_s(text: str) -> tuple[float, float] | None:
    """(time, half a unit of its last digit), both in s; None where the text holds no time."""
    found = TIME.search(text)
    if found is None:
        return None
    unit = UNITS_S[found[3]]
    return float(found[1]) * unit, unit * 0.5 * 10.0 ** -len(found[2] or "")


def first_number(text: str) -> float | None:
    """The first number in a text."""
    found = NUMBER.search(text)
    return float(found[0]) if found else None
