"""Times that are too long or too short by about 1000: ms read as s, or s in a column that says ms."""

from __future__ import annotations

THOUSAND = 1000.0
FIRST = "check the unit of the times first: about 1000 times too"
LEAST, MOST = 0.1, 1.5  # of 1000: what such a factor is still told by, where a service is not all of the time at work


def unit_hint(times_too_long: float) -> str:
    """Words for a remedy, "" where the factor is another. `times_too_long`: what follows from the times, over what is said beside them."""
    if LEAST * THOUSAND <= times_too_long <= MOST * THOUSAND:
        return f"{FIRST} long, they may be in ms where they were read as s (or in µs, as ms); "
    if LEAST * THOUSAND <= 1 / max(times_too_long, 1e-12) <= MOST * THOUSAND:
        return f"{FIRST} short, they may be in s where they were read as ms (or in ms, as µs); "
    return ""
