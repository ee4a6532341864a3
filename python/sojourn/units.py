"""The only place that turns numbers into text and text into numbers. Everything inside is SI.

Formatting: `seconds`, `per_second`, `percent`, `quantity`, `interval`.
Parsing: `duration_s` ("250ms"), `byte_count` ("20M"), `levels` ("50..350:50", "50,100"), `number`, `share` ("10%"), `number_or_word`.
"""

from __future__ import annotations

import math
import re

from sojourn.errors import InputError

__all__ = ["USUAL_LEVEL", "byte_count", "duration_s", "interval", "per_second", "percent", "quantity", "seconds"]

MISSING = "–"
USUAL_LEVEL = 0.9  # of an interval, where nobody asks for another
UNITS_S = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "μs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "sec": 1.0,
    "secs": 1.0,
    "seconds": 1.0,
    "m": 60.0,
    "min": 60.0,
    "h": 3600.0,
    "d": 86400.0,
}
_DURATION = re.compile(r"\s*([0-9.eE+-]+?)\s*(ns|us|µs|μs|ms|s|min|m|h|d)\s*")
_POWERS = ["", "K", "M", "G", "T"]
_BYTES = re.compile(r"\s*([0-9.eE+-]+?)\s*([kKMGT])(i?)B?\s*")
MOST_LEVELS = 10_000


def seconds(value: float | None, digits: int = 3) -> str:
    """A time in seconds with the unit that suits it: `0.00304` → `3.04 ms`."""
    if _missing(value):
        return MISSING
    assert value is not None
    size = abs(value)
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        # 0.99996 s is "1.00 s", not "1000 ms"
        if size >= scale * (1 - 0.5 * 10.0**-digits):
            return f"{_significant(value / scale, digits)} {unit}"
    return "0 s" if value == 0 else f"{_significant(value / 1e-9, digits)} ns"


def per_second(value: float | None, digits: int = 3) -> str:
    """A rate in 1/s: `583.2` → `583 /s`."""
    return MISSING if _missing(value) else f"{_significant(value, digits)} /s"


def percent(value: float | None, decimals: int = 1, sign: bool = False) -> str:
    """A share in [0, 1] (or a relative error) as percent: `0.783` → `78.3 %`."""
    if _missing(value):
        return MISSING
    assert value is not None
    if math.isinf(value):
        return "∞"
    return f"{100 * value:{'+' if sign else ''}.{decimals}f} %"


def quantity(value: float | None, unit: str, digits: int = 3) -> str:
    """A value in one of the units of `Metrics`: `s`, `1/s`, `1`; `share` is 1 as percent."""
    if unit == "s":
        return seconds(value, digits)
    if unit == "1/s":
        return per_second(value, digits)
    if unit == "1":
        return MISSING if _missing(value) else _significant(value, digits)
    if unit == "share":
        return percent(value)
    raise InputError(repr(unit), "unit", "use one of 's', '1/s', '1', 'share'")


def interval(value: float | None, low: float | None, high: float | None, unit: str, digits: int = 3) -> str:
    """`3.04 ms (2.98 ms … 3.11 ms)`; without the brackets where there is no interval."""
    text = quantity(value, unit, digits)
    if _missing(low) and _missing(high):
        return text
    return f"{text} ({quantity(low, unit, digits)} … {quantity(high, unit, digits)})"


def prediction(value: float | None, low: float | None, high: float | None, unit: str) -> str:
    """A predicted value as `interval`; without a value it saturates there, or with `low` alone more likely than not."""
    if value is None:
        return "saturated" if low is None else f"above {quantity(low, unit)}, or saturated"
    return interval(value, low, high, unit)


def quantile_name(q: float) -> str:
    """`p99` of 0.99, `p99.9` of 0.999."""
    return f"p{100 * q:.10g}"


def duration_s(text: str | float, place: str = "duration") -> float:
    """Seconds in `8s`, `250ms`, `2m`, `1h`, or a bare number of seconds. Finite and > 0.

    Raises InputError naming `place` for anything else.
    """
    match = _DURATION.fullmatch(text) if isinstance(text, str) else None
    try:
        value = float(match[1]) * UNITS_S[match[2]] if match else float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise InputError(repr(text), place, "give a time above 0 like 8s, 250ms or 2m")
    return value


def byte_count(text: str | float, place: str) -> float:
    """Bytes, or bytes per second, in `20M`, `1.5G`, `512Ki`, or a bare number: powers of 1000, with an `i` of 1024. Finite and > 0.

    Raises InputError naming `place` for anything else.
    """
    match = _BYTES.fullmatch(text) if isinstance(text, str) else None
    try:
        value = (
            float(match[1]) * (1024 if match[3] else 1000) ** _POWERS.index(match[2].upper()) if match else float(text)
        )
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise InputError(repr(text), place, "give a number of bytes above 0 like 20M, 1.5G or 512Ki")
    return value


def number(text: str | float, place: str) -> float:
    """A finite number; InputError naming `place` otherwise."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(repr(text), place, "give a finite number")
    return value


def share(text: str, place: str) -> float:
    """`10%` or `0.1`; InputError naming `place` otherwise."""
    return number(text[:-1], place) / 100 if text.endswith("%") else number(text, place)


def number_or_word(text: str) -> int | float | str:
    """What looks like a whole number is one, what looks like a number is one, the rest stays as it is."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


DASHED = re.compile(r"\s*(\d+(?:\.\d+)?)\s*-\s*(\d+(?:\.\d+)?)\s*")  # 10-50, as others write a range


def levels(text: str | float, place: str = "rate_per_s") -> list[float]:
    """The levels of a factor: `50,100`, `50..350:50` (both ends), `50..100:50,200`, or one number; as given, in order.

    Raises InputError naming `place` for an empty list, a step that does not lead from first to last, or more than
    10 000 levels.
    """
    if not isinstance(text, str):
        return [number(text, place)]
    found: list[float] = []
    for part in text.split(","):
        if dashed := DASHED.fullmatch(part):
            first, last = dashed[1], dashed[2]
            step = f"{abs(float(last) - float(first)) / 4 or 1:g}"
            remedy = f"write a range as {first}..{last}:{step} (first..last:step), or its levels as {first},{last}"
            raise InputError(repr(text), place, remedy)
        found += _range(part, text, place) if ".." in part else [number(part.strip(), place)]
    return found


def _range(part: str, text: str, place: str) -> list[float]:
    ends, _, step_text = part.partition(":")
    first_text, _, last_text = ends.partition("..")
    if not step_text.strip():
        raise InputError(repr(text), place, "write first..last:step, e.g. 50..350:50")
    first, last, step = (number(t.strip(), place) for t in (first_text, last_text, step_text))
    count = math.floor((last - first) / step + 1e-9) + 1 if step > 0 else 0
    if not 1 <= count <= MOST_LEVELS:
        raise InputError(repr(text), place, f"write first..last:step, step > 0, at most {MOST_LEVELS} levels")
    return [first + k * step for k in range(count)]


def _missing(value: float | None) -> bool:
    return value is None or math.isnan(value)


def _significant(value: float | None, digits: int) -> str:
    assert value is not None
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    # the place of the last digit after rounding: 0.99996 is 1.00
    decimals = max(0, digits - 1 - int(f"{value:.{digits - 1}e}".partition("e")[2]))
    text = f"{value:.{decimals}f}"
    return f"{value:.{digits - 1}e}" if abs(value) >= 1e9 or (abs(value) < 1e-6) else text
