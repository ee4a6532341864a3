"""Guard rails around every policy: what it may set, whatever it answers.

For each setting in this order: an answer that is none, or a setting that may not be changed, changes nothing; nothing is taken away while
metrics are missing, late or invalid or while a queue drains; the largest step, the shortest time between changes, the budget of
changes; and last the bounds, which no other rail can widen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from sojourn.control.decision import FORMER_NAMES, OTHERS, STEERINGS, Decide, Decision, Seen, Set, State

Setting = Literal["workers", "cap", "cores", "packet_steering"]
Value = int | str


class Bounds(BaseModel):
    """`least` to `most` of a setting, at most `largest_step` at a time."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    least: int = Field(default=1, ge=1)
    most: int = Field(default=1_000_000, ge=1)
    largest_step: int = Field(default=1_000_000, ge=1)

    @model_validator(mode="after")
    def _ordered(self) -> Bounds:
        if self.least > self.most:
            raise ValueError(f"least = {self.least} above most = {self.most}; give least <= most")
        return self

    def clamp(self, value: int) -> int:
        """The nearest within the bounds."""
        return min(max(value, self.least), self.most)


class GuardRails(Bounds):
    """`least` to `most` workers; at most `largest_step` at a time; `shortest_s` between changes; at most `changes` within `budget_s`, both
    of each setting by itself. A queue drains while more than `draining` requests wait for each ready worker.

    `settings`: what may be changed at all. `cap`, `cores`: their bounds.
    """

    most: int = Field(default=40, ge=1)
    largest_step: int = Field(default=1000, ge=1)
    shortest_s: float = Field(default=0.0, ge=0)
    changes: int = Field(default=1000, ge=1)
    budget_s: float = Field(default=3600.0, gt=0)
    draining: float = Field(default=1.0, ge=0)
    settings: tuple[Setting, ...] = ("workers",)
    cap: Bounds = Bounds()
    cores: Bounds = Bounds()

    @field_validator("settings", mode="before")
    @classmethod
    def _by_former_names(cls, given: Any) -> Any:
        if not isinstance(given, list | tuple):
            return given
        return tuple(FORMER_NAMES.get(one, one) if isinstance(one, str) else one for one in given)


@dataclass(frozen=True)
class GuardedState:
    """The policy's own state, and when which setting was changed within the budget's period, s."""

    inner: State = None
    changed_s: tuple[tuple[str, float], ...] = ()


def guarded(decide: Decide, rails: GuardRails, seen: Seen, state: GuardedState) -> tuple[Decision, GuardedState]:
    """One decision of a policy behind the rails; pure, as the policy is. A policy that raises changes nothing, and its state stays.
    A window without a place in time is not shown to it, and no change is forgotten for it."""
    if not seen.placed:
        why = f"{seen.trouble()}: no decision"
        return Decision(seen, None, _clamped_workers(seen, rails), why, others=_now(seen, rails)), state
    try:
        answer, inner = decide(seen, state.inner)
        failed = ""
    except Exception as error:  # whatever a policy of one's own does, the service stays within its rails
        answer, inner, failed = Set(), state.inner, f"the policy failed: {type(error).__name__}: {error}"
    asked, rejected = _asked(answer)
    # a clock that stepped back must not hold the rails until it has caught up: no change lies in the future
    past = ((name, min(at, seen.window_end_s)) for name, at in state.changed_s)
    changed = tuple((name, at) for name, at in past if seen.window_end_s - at < max(rails.budget_s, rails.shortest_s))
    found: dict[str, Value] = {}
    reasons = [f"{name} may not be changed: it is not in settings" for name in asked if name not in rails.settings]
    for name, now in {"workers": seen.workers, **_now(seen, rails)}.items():
        times = [at for which, at in changed if which == name]
        found[name], reason = now, ""
        if name in rails.settings:
            found[name], reason = _within(name, asked.get(name, now), now, seen, rails, times)
        reasons.append(f"{name}: {reason}" if reason and name != "workers" else reason)
        if found[name] != now:
            changed = (*changed, (name, seen.window_end_s))
    reasons += [f"{name} is not known here" for name in asked if name in rails.settings and name not in found]
    told = answer if isinstance(answer, Set) else Set()
    why = "; ".join(filter(None, (failed or rejected or str(told.reason), *reasons)))
    workers, wanted = int(found.pop("workers")), int(asked.pop("workers", seen.workers))
    given = None if failed or rejected else wanted
    decision = Decision(seen, given, workers, why, told.next_best, told.chosen, asked, found)
    return decision, GuardedState(inner, changed)


def _now(seen: Seen, rails: GuardRails) -> dict[str, Value]:
    """The settings beside workers that may be changed and are known."""
    return {name: now for name in OTHERS if name in rails.settings and (now := getattr(seen, name)) is not None}


def _clamped_workers(seen: Seen, rails: GuardRails) -> int:
    return rails.clamp(seen.workers) if "workers" in rails.settings else seen.workers


def _asked(answer: Any) -> tuple[dict[str, Value], str]:
    """What the policy asks for by name, and why it cannot be taken as it is: of an answer that is wrong in one place nothing is taken."""
    if not isinstance(answer, Set):
        return {}, f"the policy returned a {type(answer).__name__}, not Set(workers=…)"
    found: dict[str, Value] = {}
    for name in ("workers", *OTHERS):
        value = getattr(answer, name)
        if value is None:
            continue
        if name == "packet_steering":
            if value not in STEERINGS:
                return {}, f"the policy returned packet_steering = {value!r:.40}, not one of {', '.join(STEERINGS)}"
        elif isinstance(value, bool) or not isinstance(value, int):
            return {}, f"the policy returned {name} = {value!r:.40}, not a whole number"
        found[name] = value
    return found, ""


def _within(
    name: str, wanted: Value, now: Value, seen: Seen, rails: GuardRails, times: list[float]
) -> tuple[Value, str]:
    """What the rails leave of `wanted`, and which of them held it; `times`: of the setting's changes, s."""
    value, reason = wanted, ""
    bounds = None if isinstance(now, str) or isinstance(wanted, str) else _bounds(name, rails)
    if _rank(name, value) < _rank(name, now) and (stop := _no_reduction(name, seen, rails)):
        value, reason = now, stop
    if bounds and abs(step := int(value) - int(now)) > bounds.largest_step:
        value = int(now) + (bounds.largest_step if step > 0 else -bounds.largest_step)
        reason = f"largest step {bounds.largest_step}"
    if value != now and times and seen.window_end_s - max(times) < rails.shortest_s:
        value, reason = now, f"changed {seen.window_end_s - max(times):g} s ago, shortest time {rails.shortest_s:g} s"
    if value != now and sum(seen.window_end_s - at < rails.budget_s for at in times) >= rails.changes:
        value, reason = now, f"budget of {rails.changes} changes in {rails.budget_s:g} s is used up"
    if bounds and (bounded := bounds.clamp(int(value))) != value:
        value, reason = bounded, f"bounds {bounds.least} to {bounds.most}"
    return value, reason


def _bounds(name: str, rails: GuardRails) -> Bounds:
    return {"workers": rails, "cap": rails.cap, "cores": rails.cores}[name]


def _rank(name: str, value: Value) -> int:
    """By how much of it there is to serve with; a steering that is none of ours may be left for any."""
    if name == "packet_steering":
        return STEERINGS.index(str(value)) if value in STEERINGS else -1
    return int(value)


def _no_reduction(name: str, seen: Seen, rails: GuardRails) -> str:
    if trouble := seen.trouble():
        return f"no reduction: {trouble}"
    if name != "cap" and (seen.waiting or 0) > rails.draining * max(seen.ready_workers, 1):  # a lower cap drains it
        return f"no reduction: {seen.waiting:g} wait; the queue has to drain first"
    return ""
