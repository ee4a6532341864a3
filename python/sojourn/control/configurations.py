"""The policy `configurations`: of a few configurations whose capacity is known, the first that carries the upper bound of the rate.

Feed-forward, as `model` is, for settings that come in steps: interrupts on one core or spread, one core or two. What each carries is
predicted beforehand (`sojourn predict`), or measured. What was needed in the last `hold_s` is kept, so that a rate at the edge
of one of them does not make it change to and fro.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from sojourn.control.decision import FORMER_NAMES, OTHERS, Seen, Set
from sojourn.control.rate_bound import RateWindows, lately, upper_rate


class Choice(BaseModel):
    """Settings, and the rate at which they just meet the objective, 1/s."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    carries_per_s: float = Field(gt=0)
    workers: int | None = Field(default=None, ge=1)
    cap: int | None = Field(default=None, ge=1)
    cores: int | None = Field(default=None, ge=1)
    packet_steering: Literal["one core", "spread"] | None = None

    @model_validator(mode="before")
    @classmethod
    def _by_former_names(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        return {FORMER_NAMES.get(name, name): value for name, value in given.items()}

    def named(self) -> str:
        """Its settings in words."""
        found = ((name, getattr(self, name)) for name in ("workers", *OTHERS))
        return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in found if value is not None)


@dataclass(frozen=True)
class ConfigurationsState:
    """`rates`: (at_s, length_s, rate) lately; `needed`: (at_s, place among the choices)."""

    rates: RateWindows = ()
    needed: tuple[tuple[float, int], ...] = ()


class Configurations(BaseModel):
    """`choices` in the order of what they carry. `spread`: standard deviations from the rate of the last `span_s` to its upper bound; a
    last window that lies 3 of its own above counts by itself. Times in s."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    choices: tuple[Choice, ...] = Field(min_length=1)
    period_s: float = Field(default=2.0, gt=0)
    spread: float = Field(default=3.0, ge=0)
    span_s: float = Field(default=10.0, gt=0)
    hold_s: float = Field(default=60.0, ge=0)

    @model_validator(mode="after")
    def _ascending(self) -> Configurations:
        carried = [one.carries_per_s for one in self.choices]
        if carried != sorted(set(carried)) or not all(one.named() for one in self.choices):
            raise ValueError(f"choices carry {carried}; give each a setting, and ascending carries_per_s")
        return self

    def __call__(self, seen: Seen, state: ConfigurationsState | None) -> tuple[Set, ConfigurationsState]:
        """A decision of a window."""
        state = state or ConfigurationsState()
        if trouble := seen.trouble():
            return Set(reason=f"{trouble}: no change"), state
        rates = lately(state.rates, seen, self.span_s)
        upper = upper_rate(rates, self.spread, falls=False)
        able = [k for k, one in enumerate(self.choices) if one.carries_per_s >= upper]
        now = able[0] if able else len(self.choices) - 1
        needed = tuple(one for one in state.needed if seen.window_end_s - one[0] < self.hold_s - 1e-9)
        wanted = max([now, *(k for _, k in needed)])
        choice = self.choices[wanted]
        why = f"{choice.named()} carries {choice.carries_per_s:.0f}/s of at most {upper:.0f}/s"
        if not able:
            why = f"{choice.named()} carries most, {choice.carries_per_s:.0f}/s, not the {upper:.0f}/s there may be"
        elif wanted > now:
            why = f"{self.choices[now].named()} would be enough now; {choice.named()} was needed in the last {self.hold_s:g} s"
        after = ConfigurationsState(rates, (*needed, (seen.window_end_s, now)))
        return Set(
            choice.workers, why, cap=choice.cap, cores=choice.cores, packet_steering=choice.packet_steering
        ), after
