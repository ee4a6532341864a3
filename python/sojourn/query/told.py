"""Values as a person reads them."""

from __future__ import annotations

import math

from sojourn.query.values import Estimate, Events, Span, StateSet, Truth, Value
from sojourn.units import quantile_name, quantity

YES, NO, UNKNOWN = "yes", "no", "cannot tell"
NEVER = 1e6  # times as much data: nobody will measure so long


def shown(x: Estimate, dimension: float = 0.0) -> str:
    """A number with its unit and interval; `dimension`: power of the second."""
    unit = {1.0: "s", -1.0: "1/s"}.get(dimension, "1")
    after = f" s^{dimension:g}" if dimension not in (0, 1, -1) and not math.isnan(dimension) else ""

    def one(value: float) -> str:
        return (f"{'-' if value < 0 else ''}∞" if math.isinf(value) else quantity(value, unit)) + after

    if math.isinf(x.value):
        return f"beyond all observations (above {one(x.low)})"
    if math.isinf(x.low) and math.isinf(x.high):
        return f"{one(x.value)} (interval unknown)"
    more = f"; about {times(x.needs)} times as much data would give a bound" if x.needs else ""
    return one(x.value) if x.is_exact else f"{one(x.value)} ({one(x.low)} … {one(x.high)}{more})"


def times(more: float) -> str:
    """To two digits, never as a power of ten."""
    return f"{float(f'{more:.2g}'):.0f}" if more >= 10 else f"{more:.2g}"


def verdict(found: Truth) -> str:
    """The answer in words."""
    return UNKNOWN if found.value is None else YES if found.value else NO


def reason(found: Truth) -> str:
    """What was compared, and what would decide."""
    if found.value is not None or found.more is None:
        return found.why
    if found.more > NEVER:
        return f"{found.why}; the value is too near to the limit for any run to decide"
    return f"{found.why}; a run about {times(max(found.more, 1.1))} times as long would decide"


def described(found: Value, dimension: float) -> str:
    """A value in a line; of a distribution its quantiles."""
    if isinstance(found, Truth):
        return verdict(found)
    if isinstance(found, Estimate):
        return shown(found, dimension)
    if isinstance(found, StateSet | Events):
        return str(found)
    if isinstance(found, Span):
        return f"from {shown(found.low, dimension)} to {shown(found.high, dimension)}"
    if not hasattr(found, "quantile"):
        return ""
    return ", ".join(f"{quantile_name(q)} {shown(found.quantile(q), dimension)}" for q in (0.5, 0.9, 0.99))
