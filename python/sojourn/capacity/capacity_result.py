"""`Capacity`: what a search for the capacity of a service found, as data and in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from sojourn.capacity.rate_interval import RateInterval
from sojourn.capacity.what_limits import ServiceLimit
from sojourn.fit import FittedModel
from sojourn.former_keyword import former_field
from sojourn.notebook import ShownInNotebook
from sojourn.units import per_second, seconds


@former_field(
    figures="objective_values",
    figure_errors="objective_value_errors",
    met="objective_met",
    lateness="lateness_factors",
    shortness="short_run_factors",
    alone_s="fastest_tenth_mean_s",
)
@dataclass(frozen=True)
class CapacityRun:
    """A run of the search: the rate that was asked for, and what came: mean in s with its relative standard error.

    `objective_values`: the figures of the objective: mean and quantiles in s, share that failed; `objective_value_errors`: relative
    standard errors of the quantiles, where the run tells them. `objective_met`: None where a late generator leaves it open.
    `lateness_factors`: figure → factor that takes the generator's lateness out of it. `requests`: answered in its window.
    `fastest_tenth_mean_s`: the mean of its fastest tenth, which hardly waited; 0 where there are no records of requests.
    `lateness_error`: the part of a late generator in `response_error`. `short_run_factors`: figure → factor that puts right how low
    a run of this length has it on average."""

    name: str
    rate_per_s: float
    achieved_per_s: float
    response_s: float | None
    response_error: float
    objective_values: Mapping[str, float | None]
    objective_met: bool | None
    valid: bool
    reasons: tuple[str, ...] = ()
    objective_value_errors: Mapping[str, float] = field(default_factory=dict)
    lateness_factors: Mapping[str, float] = field(default_factory=dict)
    requests: int = 0
    fastest_tenth_mean_s: float = 0.0
    lateness_error: float = 0.0
    short_run_factors: Mapping[str, float] = field(default_factory=dict)


@former_field(
    at_least_per_s="required_rate_per_s",
    why="no_answer_reason",
    stopped="stop_reason",
    took_s="elapsed_s",
    nobody="single_user_misses",
)
@dataclass(frozen=True)
class Capacity(ShownInNotebook):
    """The largest rate that meets the objective.

    rate_per_s: None where no rate does, or where the runs do not say; `no_answer_reason` then has the reason. saturation_per_s: the
    rate at which the service is full. `limit`: what is full there, and what would be next. required_rate_per_s: what was asked of it.
    `what_if`: settings in words → the rate there, predicted and not measured; `commands`: settings in words → what measures them.
    `stop_reason`: why no further run was made. `single_user_misses`: not even a single user gets what was asked. `folder`: where the
    runs, the report and the model are. `fitted`: the model of these runs. `saturation_at_least_per_s`: the most that came where
    `--max-rate` held the load and no saturation was seen; `saturation_per_s` and `limit` are None then.
    `service_failed`: that the service ended or no longer answered during the search; the answer then is from the runs before.
    """

    _REPORT = "capacity.capacity_report:answer_document"

    objective: str
    rate_per_s: RateInterval | None
    saturation_per_s: RateInterval | None
    level: float
    no_answer_reason: str
    stop_reason: str
    limit: ServiceLimit | None
    model: str
    runs: tuple[CapacityRun, ...]
    requests: int
    elapsed_s: float
    required_rate_per_s: float | None = None
    what_if: Mapping[str, RateInterval] = field(default_factory=dict)
    commands: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    single_user_misses: bool = False
    folder: str = ""
    fitted: FittedModel | None = None
    saturation_at_least_per_s: float | None = None
    service_failed: str = ""

    @property
    def answered(self) -> bool:
        """Whether there is a rate with a lower and an upper end of its interval; 0 is none, since no rate is below it."""
        return self.rate_per_s is not None and self.rate_per_s.high is not None and self.rate_per_s.low > 0

    @property
    def outcome(self) -> Literal["met", "missed", "unknown"]:
        """Whether at least what was asked is met by all of the interval, or by nothing of it; where no rate was asked, whether there is an
        answer with both ends. `missed` where not even a single user gets what was asked."""
        if self.single_user_misses:
            return "missed"
        if self.required_rate_per_s is None:
            return "met" if self.answered else "unknown"
        side = self.rate_per_s.side_of(self.required_rate_per_s) if self.rate_per_s else None
        return "unknown" if side is None else "met" if side else "missed"

    def to_dict(self) -> dict[str, Any]:
        """For JSON: every field, rates in 1/s, times in s."""
        plain = {k: v for k, v in asdict(replace(self, fitted=None)).items() if k != "fitted"}
        return plain | {"answered": self.answered, "outcome": self.outcome}

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """The answer, at most some ten lines."""
        found = [self._first()]
        found += ["cannot tell: the interval has no upper end"] if self._open() else []
        found += [self._asked()] if self.required_rate_per_s is not None else []
        found += [self.limit.text] if self.limit else []
        for settings, one in self.what_if.items():
            line = f": {self.commands[settings]}" if settings in self.commands else ""
            found.append(f"with {settings}: {one.text(self.level)}, not yet measured{line}")
        found += self.notes
        count = (
            f"{len(self.runs)} run{'s' * (len(self.runs) != 1)}, {seconds(self.elapsed_s)}, {self.requests} requests"
        )
        found.append(f"{count}; {self.stop_reason}")
        return found

    def _first(self) -> str:
        if self.rate_per_s is None:
            return self.no_answer_reason
        if not self.rate_per_s.low > 0:
            return f"cannot tell: {self.rate_per_s.text(self.level)} has no lower end above 0"
        if not self.objective:
            return self._not_seen() or f"the service can take {self.rate_per_s.text(self.level)}"
        at = self.saturation_per_s
        full = f"it saturates at {at.text(self.level)}" if at else self._not_seen()
        return f"{self.rate_per_s.text(self.level)} meet {self.objective}{f'; {full}' if full else ''}"

    def _not_seen(self) -> str:
        """That nobody saw where it saturates, where `--max-rate` kept the load below."""
        most = self.saturation_at_least_per_s
        return "" if most is None else f"saturation not seen; at least {per_second(most)}, held by --max-rate"

    def _open(self) -> bool:
        """Whether there is an answer without an upper end, and nobody asked for a rate."""
        return self.required_rate_per_s is None and self.rate_per_s is not None and self.rate_per_s.high is None

    def _asked(self) -> str:
        said = {"met": "met", "missed": "MISSED", "unknown": "cannot tell: this rate lies inside the interval"}
        unknown = said["unknown"] if self.rate_per_s else "cannot tell"
        return f"at least {per_second(self.required_rate_per_s)}: {unknown if self.outcome == 'unknown' else said[self.outcome]}"
