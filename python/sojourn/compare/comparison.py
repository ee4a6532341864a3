"""`Comparison`: what came of a comparison, as data and in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sojourn.units import percent, quantity

BETTER, WORSE, EQUIVALENT, CANNOT_TELL = "better", "worse", "equivalent", "cannot tell"
UNKNOWN_NEED = "too few runs to estimate the variation between runs"


@dataclass(frozen=True)
class MetricComparison:
    """One figure. `a`, `b`: geometric means over the runs, in `unit`; `change`: B over A less 1, with its interval (`low`, `high`), None
    where there is none. `differs`: the interval does not hold 0; `equivalent`: it is within the margin; both only where exchanges of A
    and B say so, too, and of no fewer runs than a claim needs. `judged`: the verdict of the comparison is about it. `more_runs` of each
    side in each condition (pairs, where blocks are paired; of the side that has fewer, the other then having as many) with which four of
    five such comparisons tell, without an interval those that a claim needs at least; 0 where this one does, None where it is more than
    1000; `more_if_as_seen`: the same if the difference is what it seems, where that is larger than the margin, else None."""

    metric: str
    unit: str
    a: float
    b: float
    change: float
    low: float | None
    high: float | None
    level: float
    differs: bool
    equivalent: bool
    verdict: str
    judged: bool
    more_runs: int | None
    more_if_as_seen: int | None = None

    @property
    def interval_text(self) -> str:
        """Such as `+8.2 % (90 %: +4.1 % … +12.5 %)`."""
        if self.low is None or self.high is None:
            return f"{percent(self.change, sign=True)}, no interval"
        ends = f"{percent(self.low, sign=True)} … {percent(self.high, sign=True)}"
        return f"{percent(self.change, sign=True)} ({percent(self.level, 0)}: {ends})"

    @property
    def cells(self) -> tuple[str, str, str, str, str]:
        """Metric, A, B, change, verdict."""
        told = self.verdict if self.judged else f"({self.verdict})"
        return self.metric, quantity(self.a, self.unit), quantity(self.b, self.unit), self.interval_text, told


@dataclass(frozen=True)
class Comparison:
    """B beside A. `verdict` is about the metrics that are `judged`: worse where one of them is, better where one is and none is worse,
    equivalent where all are, else cannot tell. `margin`: a relative difference that does not matter. `design`: how the runs were put beside
    each other. `counts`: runs of A and of B. `compared`: what differs between the sides, in words. `notes`: what else there is to know.
    `more_of`: of what `more_runs` are, in words."""

    names: tuple[str, str]
    verdict: str
    metrics: tuple[MetricComparison, ...]
    margin: float
    level: float
    design: str
    counts: tuple[int, int]
    compared: str = ""
    notes: tuple[str, ...] = ()
    more_of: str = " of each side"

    @property
    def judged(self) -> tuple[MetricComparison, ...]:
        return tuple(one for one in self.metrics if one.judged)

    def __getitem__(self, metric: str) -> MetricComparison:
        """By name. Raises KeyError for one that these runs do not have."""
        return next((one for one in self.metrics if one.metric == metric), None) or _missing(metric)

    def to_dict(self) -> dict[str, Any]:
        """For JSON: every field; times in s, rates in 1/s, changes and levels as shares."""
        return {**asdict(self), "first_line": self.first_line()}

    def first_line(self) -> str:
        """The answer."""
        about = "; ".join(f"{one.metric} {one.interval_text}" for one in self.judged)
        within = f", within {percent(self.margin, 0)}" if self.verdict == EQUIVALENT else ""
        return f"{self.verdict}: {about}{within}{self._more()}"

    def _more(self) -> str:
        if self.verdict != CANNOT_TELL:
            return ""
        open_ones = [one for one in self.judged if one.verdict == CANNOT_TELL and not (one.equivalent or one.differs)]
        margin = f"; the margin is {percent(self.margin, 0)}"
        if not open_ones:
            return f"{margin}; look at the overloaded runs"
        if any(one.low is None for one in open_ones):
            least = max(one.more_runs or 0 for one in open_ones)
            return f"{margin}; {UNKNOWN_NEED}: at least {least} more{self.more_of} are needed"
        if any(one.more_runs is None for one in open_ones):
            return f"{margin}; more than 1000 runs{self.more_of} would be needed to decide{self._as_seen()}"
        most = max(one.more_runs or 0 for one in open_ones)
        return f"{margin}; about {most} more runs{self.more_of} would decide{self._as_seen()}"

    def _as_seen(self) -> str:
        seen = [one.more_if_as_seen for one in self.judged if one.verdict == CANNOT_TELL]
        if any(more is None for more in seen):
            return ""
        return f", about {max(more or 0 for more in seen)} if the difference is as large as it looks"

    def lines(self) -> list[str]:
        """The answer and what belongs to it, without the table."""
        beside = [one.metric for one in self.metrics if not one.judged]
        about = " and ".join(one.metric for one in self.judged)
        others = f"; in addition, each at its own level: {', '.join(beside)}" if beside else ""
        many = (
            f", each at {percent(self.judged[0].level)} so that all hold at {percent(self.level, 0)}"
            if len(self.judged) > 1
            else ""
        )
        found = [self.first_line(), f"{self.design}{f'; {self.compared}' if self.compared else ''}"]
        return [*found, f"the verdict is about {about}{many}{others}", *self.notes]

    def __str__(self) -> str:
        table = ["  ".join(one.cells) for one in self.metrics]
        first, *rest = self.lines()
        return "\n".join([first, *table, *rest])


def overall(judged: Mapping[str, str]) -> str:
    """The verdict of several metrics, by name."""
    found = set(judged.values())
    if WORSE in found:
        return WORSE
    if BETTER in found:
        return BETTER
    return EQUIVALENT if found == {EQUIVALENT} else CANNOT_TELL


def _missing(metric: str) -> MetricComparison:
    raise KeyError(metric)
