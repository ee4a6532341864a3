"""Policies of one line: `fixed`, `schedule`, `square-root`."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, model_validator

from sojourn.control.decision import Seen, Set
from sojourn.plan.staffing import servers_needed

NO_SERVICE_TIME = "no service time (give service_s in [options], or a model)"


class Fixed(BaseModel):
    """Always `workers`."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    workers: int = Field(ge=1)
    period_s: float = Field(default=15.0, gt=0)

    def __call__(self, seen: Seen, state: None) -> tuple[Set, None]:
        """The same decision whatever is seen."""
        return Set(self.workers, f"fixed at {self.workers}"), None


class Schedule(BaseModel):
    """`workers` from `at_s` on, repeated every `repeat_s` (None: once); before the first entry the last one holds where it repeats."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    at: tuple[tuple[float, int], ...] = Field(min_length=1)
    repeat_s: float | None = Field(default=None, gt=0)
    period_s: float = Field(default=2.0, gt=0)

    @model_validator(mode="after")
    def _ascending(self) -> Schedule:
        times = [at for at, _ in self.at]
        if times != sorted(set(times)) or times[0] < 0 or any(n < 1 for _, n in self.at):
            raise ValueError(f"at = {list(self.at)}; give pairs [at_s, workers], ascending from 0, workers >= 1")
        return self

    def __call__(self, seen: Seen, state: None) -> tuple[Set, None]:
        """The entry that holds now."""
        now = seen.window_end_s % self.repeat_s if self.repeat_s else seen.window_end_s
        past = [n for at, n in self.at if at <= now]
        workers = past[-1] if past else self.at[-1][1] if self.repeat_s else None
        why = f"schedule at {now:g} s"
        return Set(workers, why if workers else f"{why} begins at {self.at[0][0]:g} s: no change"), None


class SquareRoot(BaseModel):
    """Square-root staffing of the window's rate (`plan.staffing`), R = rate x service time. `service_s`: None takes the model's;
    where there is neither, nothing is changed."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    beta: float = Field(default=2.0, ge=0)
    service_s: float | None = Field(default=None, gt=0)
    period_s: float = Field(default=15.0, gt=0)

    def __call__(self, seen: Seen, state: None) -> tuple[Set, None]:
        """By the rate of this window alone."""
        lack = seen.lack("rate_per_s") or ("" if self.service_s else NO_SERVICE_TIME)
        if lack:
            return Set(reason=f"{lack}: no change"), None
        offered = (seen.rate_per_s or 0) * (self.service_s or 0)
        workers = servers_needed(offered, self.beta) if offered > 0 else 1
        return Set(workers, f"{offered:.2f} erlangs and {self.beta:g} square roots of them"), None
