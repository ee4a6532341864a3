"""`Capacity`: what a search for the capacity of a service found, as data and in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from sojourn.fit import FittedModel
from sojourn.units import per_second, percent, seconds


@dataclass(frozen=True)
class Estimate:
    """A rate in 1/s with its interval; `high` None where nothing says how high it can be."""

    value: float
    low: float
    high: float | None

    @property
    def half_width(self) -> float:
        """Half of the interval, over the value; infinite without an upper end."""
        return float("inf") if self.high is None else (self.high - self.low) / 2 / self.value

    def text(self, level: float) -> str:
        """Such as `720 /s (90 %: 690 … 750)`."""
        return f"{per_second(self.value)} ({percent(level, 0)}: {per_second(self.low)} … {_end(self.high)})"


def _end(rate: float | None) -> str:
    return "not known" if rate is None else per_second(rate)


@dataclass(frozen=True)
class CapacityRun:
    """A run of the search: the rate that was asked for, and what came: mean in s with its relative standard error, and the figures of the
    objective: mean and quantiles in s, share that failed."""

    name: str
    rate_per_s: float
    achieved_per_s: float
    response_s: float | None
    response_error: float
    figures: Mapping[str, float | None]
    met: bool
    valid: bool
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class Capacity:
    """The largest rate that meets the objective.

    rate_per_s: None where no rate does, or where the runs do not say; `why` then has the reason. saturation_per_s: the rate at which
    the service is full. `limited_by`: what is busiest, with its share at that rate, as (name, share); `next_limit`: what would be full
    next, and at which rate. `what_if`: settings in words → the rate there, predicted and not measured. `stopped`: why no further run
    was made. `nobody`: not even a single user gets what was asked.
    `fitted`: the model of these runs.
    """

    objective: str
    rate_per_s: Estimate | None
    saturation_per_s: Estimate | None
    level: float
    why: str
    stopped: str
    limited_by: tuple[str, float] | None
    next_limit: tuple[str, float] | None
    diagnosis: tuple[str, ...]
    model: str
    runs: tuple[CapacityRun, ...]
    requests: int
    took_s: float
    what_if: Mapping[str, Estimate] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    nobody: bool = False
    fitted: FittedModel | None = None

    @property
    def answered(self) -> bool:
        """Whether there is a rate with both ends of its interval."""
        return self.rate_per_s is not None and self.rate_per_s.high is not None

    def to_dict(self) -> dict[str, Any]:
        """For JSON: every field, rates in 1/s, times in s."""
        plain = replace(self, fitted=None)
        return {k: v for k, v in asdict(plain).items() if k != "fitted"} | {"answered": self.answered}

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """The answer, at most some ten lines."""
        found = [self._first()]
        if self.limited_by:
            name, share = self.limited_by
            found.append(f"what limits it: {name}, {percent(share, 0)} busy at that rate{self._next()}")
        found += [f"{settings}: {one.text(self.level)}, not measured" for settings, one in self.what_if.items()]
        found += self.diagnosis
        found += self.notes
        count = f"{len(self.runs)} run{'s' * (len(self.runs) != 1)}, {seconds(self.took_s)}, {self.requests} requests"
        found.append(f"{count}; {self.stopped}")
        return found

    def _first(self) -> str:
        if self.rate_per_s is None:
            return self.why
        at = self.saturation_per_s
        full = f"; it saturates at {at.text(self.level)}" if at else ""
        return f"{self.rate_per_s.text(self.level)} meet {self.objective}{full}"

    def _next(self) -> str:
        return f"; next: {self.next_limit[0]}, full at {per_second(self.next_limit[1])}" if self.next_limit else ""
