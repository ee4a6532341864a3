"""`Comparison`: what came of a comparison, as data and in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sojourn.former_keyword import former_field
from sojourn.notebook import ShownInNotebook
from sojourn.units import percent, quantity

BETTER, WORSE, EQUIVALENT, CANNOT_TELL = "better", "worse", "equivalent", "cannot tell"
WORDS = {"mean": "mean response time"}  # of metrics, in a sentence
LONGEST_NAME = 24  # of a folder, that heads a column
AS_LARGE = " if the difference is as large as it looks"
UNKNOWN_NEED = "too few runs to estimate the variation between runs"


@former_field(
    judged="part_of_verdict",
    more_runs="further_runs_needed",
    more_if_as_seen="further_runs_needed_if_as_measured",
)
@dataclass(frozen=True)
class MetricComparison:
    """One figure. `a`, `b`: geometric means over the runs, in `unit`; `change`: B over A less 1, with its interval (`low`, `high`), None
    where there is none. `differs`: the interval does not hold 0; `equivalent`: it is within the margin; both only where exchanges of A
    and B say so, too, and of no fewer runs than a claim needs. `part_of_verdict`: the verdict of the comparison is about it.

    `further_runs_needed` of each side in each condition (pairs, where blocks are paired; of the side that has fewer, the other then
    having as many) with which four of five such comparisons tell, without an interval those that a claim needs at least; 0 where this
    one does, None where it is more than 1000; `further_runs_needed_if_as_measured`: the same if the difference is what it seems, where
    that is larger than the margin, else None."""

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
    part_of_verdict: bool
    further_runs_needed: int | None
    further_runs_needed_if_as_measured: int | None = None

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
        told = self.verdict if self.part_of_verdict else f"({self.verdict})"
        return self.metric, quantity(self.a, self.unit), quantity(self.b, self.unit), self.interval_text, told


@former_field(
    design="run_order",
    counts="run_counts",
    compared="other_differences",
    more_of="runs_needed_where",
    margin="equivalence_margin",
)
@dataclass(frozen=True)
class Comparison(ShownInNotebook):
    """B beside A. `verdict` is about the metrics that are `part_of_verdict`: worse where one of them is, better where one is and none is
    worse, equivalent where all are, else cannot tell. `equivalence_margin`: a relative difference that does not matter. `run_order`: how
    the runs were put beside each other. `run_counts`: of A and of B. `other_differences`: what differs between the sides, in words.
    `notes`: what else there is to know. `runs_needed_where`: of what `further_runs_needed` are, in words."""

    _REPORT = "compare.comparison_report:comparison_document"

    names: tuple[str, str]
    verdict: str
    metrics: tuple[MetricComparison, ...]
    equivalence_margin: float
    level: float
    run_order: str
    run_counts: tuple[int, int]
    other_differences: str = ""
    notes: tuple[str, ...] = ()
    runs_needed_where: str = " of each side"

    @property
    def judged(self) -> tuple[MetricComparison, ...]:
        return tuple(one for one in self.metrics if one.part_of_verdict)

    def __getitem__(self, metric: str) -> MetricComparison:
        """By name. Raises KeyError for one that these runs do not have."""
        return next((one for one in self.metrics if one.metric == metric), None) or _missing(metric)

    def to_dict(self) -> dict[str, Any]:
        """For JSON: every field; times in s, rates in 1/s, changes and levels as shares."""
        return {**asdict(self), "answer": self.first_line()}

    def first_line(self) -> str:
        """The answer."""
        about = "; ".join(f"{WORDS.get(one.metric, one.metric)} {one.interval_text}" for one in self.judged)
        within = f", within {percent(self.equivalence_margin, 0)}" if self.verdict == EQUIVALENT else ""
        return f"{self._whose()}: {about}{within}{self._more()}"

    def _whose(self) -> str:
        """The verdict with the names of the sides, where it is about one of them or both."""
        a, b = self.names
        if self.verdict == CANNOT_TELL:
            return self.verdict
        return f"{a} and {b} are {self.verdict}" if self.verdict == EQUIVALENT else f"{b} is {self.verdict}"

    def _more(self) -> str:
        if self.verdict != CANNOT_TELL:
            return ""
        open_ones = [one for one in self.judged if one.verdict == CANNOT_TELL and not (one.equivalent or one.differs)]
        margin = f"; the margin is {percent(self.equivalence_margin, 0)}"
        if not open_ones:
            return f"{margin}; look at the overloaded runs"
        if any(one.low is None for one in open_ones):
            least = max(one.further_runs_needed or 0 for one in open_ones)
            return f"{margin}; {UNKNOWN_NEED}: at least {least} more{self.runs_needed_where} are needed"
        if any(one.further_runs_needed is None for one in open_ones) and not self._as_seen():
            return f"{margin}; more than 1000 runs{self.runs_needed_where} would be needed to decide"
        most = max(one.further_runs_needed or 0 for one in open_ones)
        more, if_so = (seen, AS_LARGE) if (seen := self._as_seen()) else (most, "")
        return f"{margin}; about {more} more runs{self.runs_needed_where} would decide{if_so}"

    def _as_seen(self) -> int:
        """How many more runs decide where the difference is what it seems; 0 where nobody can say."""
        seen = [one.further_runs_needed_if_as_measured for one in self.judged if one.verdict == CANNOT_TELL]
        if any(more is None for more in seen):
            return 0
        return max((more or 0 for more in seen), default=0)

    def lines(self) -> list[str]:
        """The answer and what belongs to it, without the table."""
        beside = [one.metric for one in self.metrics if not one.part_of_verdict]
        about = " and ".join(one.metric for one in self.judged)
        others = f"; in brackets, each at its own level, for information: {', '.join(beside)}" if beside else ""
        many = (
            f", each at {percent(self.judged[0].level)} so that all hold at {percent(self.level, 0)}"
            if len(self.judged) > 1
            else ""
        )
        found = [
            self.first_line(),
            f"{self.run_order}{f'; {self.other_differences}' if self.other_differences else ''}",
        ]
        return [*found, f"the verdict is about {about}{many}{others}", *self.notes]

    def __str__(self) -> str:
        table = ["  ".join(one.cells) for one in self.metrics]
        first, *rest = self.lines()
        return "\n".join([first, *table, *rest])


def names_of(a: Path, b: Path) -> tuple[str, str]:
    """What two folders are called: by their last part where that is short and not the same, else A and B."""
    names = (a.resolve().name, b.resolve().name)
    alike = names[0].casefold() == names[1].casefold() or {name.casefold() for name in names} == {"a", "b"}
    return ("A", "B") if alike or not all(0 < len(name) <= LONGEST_NAME for name in names) else names


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
