"""What nodes evaluate to: numbers with intervals, three-valued answers, distributions, ranges and sets of states."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Whole = NDArray[np.int64]
CLOSE = 1e-12  # relative: exact numbers that differ by less are equal


@dataclass(frozen=True)
class Estimate:
    """A number in SI units, and the interval in which the source knows it to lie (infinite where it does not know).

    `spent_s`: how much time of the source it rests on; 0 where more time would not narrow it. `needs`: times as much of it, about,
    until both bounds are finite; 0 where they are, or where that is not known.
    """

    value: float
    low: float
    high: float
    spent_s: float = 0.0
    needs: float = 0.0

    @staticmethod
    def exact(value: float) -> Estimate:
        """A number without uncertainty."""
        return Estimate(float(value), float(value), float(value))

    @staticmethod
    def known(value: float, low: float | None, high: float | None, spent_s: float = 0.0) -> Estimate:
        """Bounds that are None or NaN are not known."""
        down = -math.inf if low is None or math.isnan(low) else float(low)
        up = math.inf if high is None or math.isnan(high) else float(high)
        return Estimate(float(value), down, up, spent_s)

    @property
    def is_exact(self) -> bool:
        return self.low == self.high

    def point(self) -> Estimate:
        """The same without its interval."""
        return Estimate.exact(self.value)


@dataclass(frozen=True)
class Truth:
    """True, False, or None: cannot tell. `why`: what was compared; `more`: how many times as much data would decide, about
    (None: no data would, or there is nothing to decide)."""

    value: bool | None
    why: str = ""
    more: float | None = None


@dataclass(frozen=True)
class Span:
    """A range of numbers, its ends closed or open."""

    low: Estimate
    high: Estimate
    closed: tuple[bool, bool]

    def holds(self, x: Array) -> Flags:
        """Of each number, whether it lies within; the ends as points."""
        above = x >= self.low.value if self.closed[0] else x > self.low.value
        below = x <= self.high.value if self.closed[1] else x < self.high.value
        return np.asarray(above & below)


@dataclass(frozen=True)
class StateSet:
    """Of each state of a source, whether it belongs to the set, and whether that is undecided."""

    inside: Flags
    undecided: Flags
    names: Callable[[Flags], str]

    def __str__(self) -> str:
        told = self.names(self.inside & ~self.undecided)
        return told + (f", undecided {self.names(self.undecided)}" if self.undecided.any() else "")


@dataclass(frozen=True)
class Events:
    """Kinds of events: `names`, of a class ("": all)."""

    event: str
    cls: str

    def within(self, other: Events) -> bool:
        """Whether each of these requests is one of the others: `arrivals` are all."""
        return other.event in (self.event, "arrivals") and other.cls in ("", self.cls)

    def __str__(self) -> str:
        return self.event + (f" of {self.cls}" if self.cls else "")


class Law(Protocol):
    """A random time (s) or number, as a source knows it."""

    def probability(self, span: Span) -> Estimate:
        """P(X in the range)."""

    def quantile(self, q: float) -> Estimate:
        """The smallest x with P(X <= x) >= q."""

    def moment(self, order: int) -> Estimate:
        """E[X^order]."""

    def deviation(self) -> Estimate:
        """The standard deviation."""


Value = Estimate | Truth | Span | StateSet | Events | Law


def compare(relation: str, a: Estimate, b: Estimate) -> Truth:
    """Yes or no where it holds, or does not, for all numbers of both intervals; else cannot tell."""
    if relation in (">", ">="):
        return compare({">": "<", ">=": "<="}[relation], b, a)
    low, high = a.low - b.high, a.high - b.low
    if math.isnan(low) or math.isnan(high) or (math.isnan(a.value + b.value) and not math.isinf(a.value)):
        return Truth(None, "a number is missing")
    if a.is_exact and b.is_exact and math.isclose(a.value, b.value, rel_tol=CLOSE):
        low = high = 0.0
    if relation in ("==", "!="):
        equal = False if low > 0 or high < 0 else True if low == high == 0 else None
        found = equal if relation == "==" or equal is None else not equal
        return Truth(found, more=_more(a, b) if found is None else None)
    closed = relation == "<="
    sure, never = (high <= 0, low > 0) if closed else (high < 0, low >= 0)
    decided = True if sure else False if never else None
    return Truth(decided, more=_more(a, b) if decided is None else None)


def _more(a: Estimate, b: Estimate) -> float | None:
    """Times as much data for intervals that end before they reach each other: half-widths shrink with the root of it."""
    gap = abs(a.value - b.value)
    near = [x.high - x.value if x.value < y.value else x.value - x.low for x, y in ((a, b), (b, a))]
    if not gap or not math.isfinite(gap) or not (a.spent_s or b.spent_s):
        return None
    if not math.isfinite(sum(near)):
        return max(a.needs, b.needs) or None
    return max(1.0, (sum(near) / gap) ** 2)


def both(a: Truth, b: Truth) -> Truth:
    """Kleene's and: no where one is no, yes where both are."""
    if a.value is False or b.value is False:
        return Truth(False, "; ".join(x.why for x in (a, b) if x.value is False and x.why))
    if a.value is None or b.value is None:
        return _open(a, b)
    return Truth(True, "; ".join(filter(None, (a.why, b.why))))


def either(a: Truth, b: Truth) -> Truth:
    """Kleene's or: yes where one is yes, no where both are no."""
    if a.value or b.value:
        return Truth(True, "; ".join(x.why for x in (a, b) if x.value and x.why))
    if a.value is None or b.value is None:
        return _open(a, b)
    return Truth(False, "; ".join(filter(None, (a.why, b.why))))


def negated(a: Truth) -> Truth:
    """Kleene's not: cannot tell stays."""
    return Truth(None if a.value is None else not a.value, a.why, a.more)


def _open(a: Truth, b: Truth) -> Truth:
    unknown = [x for x in (a, b) if x.value is None]
    mores = [x.more for x in unknown]
    more = None if None in mores else max(m for m in mores if m is not None)
    return Truth(None, "; ".join(x.why for x in unknown if x.why), more)


def arithmetic(operation: str, a: Estimate, b: Estimate) -> Estimate:
    """The result, and the smallest interval that holds it for all numbers of both: at least as sure as both together."""
    operate = OPERATIONS[operation]
    with np.errstate(all="ignore"):
        value = float(operate(np.float64(a.value), np.float64(b.value)))
        if a.is_exact and b.is_exact:
            return Estimate.exact(value)
        ends = np.array([operate(np.float64(x), np.float64(y)) for x in (a.low, a.high) for y in (b.low, b.high)])
    spent = max(a.spent_s, b.spent_s)
    open_ = (operation == "/" and b.low <= 0 <= b.high) or (operation == "^" and not (b.is_exact and a.low >= 0))
    if open_ or np.isnan(ends).any():
        return Estimate(value, -math.inf, math.inf, spent)
    return Estimate(value, float(ends.min()), float(ends.max()), spent)


OPERATIONS: dict[str, Callable[[np.float64, np.float64], np.float64]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: x / y,
    "^": lambda x, y: np.float64(x**y),
}
RELATIONS: dict[str, Callable[[Array, Array], Flags]] = {
    "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal, "!=": np.not_equal,
}  # fmt: skip
