"""Times as tools print them: `1.23ms`, `2m`, `98.70us`; and by how much rounding may have changed them."""

from __future__ import annotations

import re

from sojourn.units import UNITS_S

TIME = re.compile(r"(\d+(?:\.(\d+))?)\s*(ns|us|µs|μs|ms|secs?|s|m|h)\b")


def printed_time_s(text: str) -> tuple[float, float] | None:
    """(time, half a unit of its last digit), both in s; None where the text holds no time."""
    found = TIME.search(text)
    if found is None:
        return None
    unit = UNITS_S[found[3]]
    return float(found[1]) * unit, unit * 0.5 * 10.0 ** -len(found[2] or "")
