"""Guard rails around every policy: what it may set, whatever it answers.

In this order: an answer that is no number of workers changes nothing; nothing is taken away while metrics are missing, late or invalid
or while a queue drains; the largest step, the shortest time between changes, the budget of changes; and last the bounds, which
no other rail can widen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from sojourn.control.decision import Decide, Decision, Seen, Set, State


class GuardRails(BaseModel):
    """`least` to `most` workers; at most `largest_step` at a time; `shortest_s` between changes; at most `changes` within `budget_s`.

    A queue drains while more than `draining` requests wait for each ready worker.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    least: int = Field(default=1, ge=1)
    most: int = Field(default=40, ge=1)
    largest_step: int = Field(default=1000, ge=1)
    shortest_s: float = Field(default=0.0, ge=0)
    changes: int = Field(default=1000, ge=1)
    budget_s: float = Field(default=3600.0, gt=0)
    draining: float = Field(default=1.0, ge=0)

    @model_validator(mode="after")
    def _bounds(self) -> GuardRails:
        if self.least > self.most:
            raise ValueError(f"least = {self.least} above most = {self.most}; give least <= most")
        return self

    def clamp(self, workers: int) -> int:
        """The nearest number of workers within the bounds."""
        return min(max(workers, self.least), self.most)


@dataclass(frozen=True)
class GuardedState:
    """The policy's own state, and when workers were changed within the budget's period, s."""

    inner: State = None
    changed_s: tuple[float, ...] = ()


def guarded(decide: Decide, rails: GuardRails, seen: Seen, state: GuardedState) -> tuple[Decision, GuardedState]:
    """One decision of a policy behind the rails; pure, as the policy is. A policy that raises changes nothing, and its state stays.
    A window without a place in time is not shown to it, and no change is forgotten for it."""
    if not seen.placed:
        why = f"{seen.trouble()}: no decision"
        return Decision(seen, None, rails.clamp(seen.workers), why), state
    try:
        answer, inner = decide(seen, state.inner)
        failed = ""
    except Exception as error:  # whatever a policy of one's own does, the service stays within its rails
        answer, inner, failed = Set(), state.inner, f"the policy failed: {type(error).__name__}: {error}"
    wanted, rejected = _workers(answer, seen.workers)
    # a clock that stepped back must not hold the rails until it has caught up: no change lies in the future
    past = (min(at, seen.at_s) for at in state.changed_s)
    changed = tuple(at for at in past if seen.at_s - at < max(rails.budget_s, rails.shortest_s))
    workers, reason = _within(wanted, seen, rails, changed)
    if workers != seen.workers:
        changed = (*changed, seen.at_s)
    told = answer if isinstance(answer, Set) else Set()
    why = "; ".join(filter(None, (failed or rejected or str(told.why), reason)))
    given = None if failed or rejected else wanted
    return Decision(seen, given, workers, why, told.next_best, told.chosen), GuardedState(inner, changed)


def _workers(answer: Any, now: int) -> tuple[int, str]:
    """What the policy wants, and why it cannot be taken as it is."""
    if not isinstance(answer, Set):
        return now, f"the policy gave a {type(answer).__name__}, not Set(workers=…)"
    if answer.workers is None:
        return now, ""
    if isinstance(answer.workers, bool) or not isinstance(answer.workers, int):
        return now, f"the policy gave workers = {answer.workers!r:.40}, not a whole number"
    return answer.workers, ""


def _within(wanted: int, seen: Seen, rails: GuardRails, changed: tuple[float, ...]) -> tuple[int, str]:
    now = seen.workers
    workers, reason = wanted, ""
    if workers < now and (stop := _no_reduction(seen, rails)):
        workers, reason = now, stop
    if abs(workers - now) > rails.largest_step:
        workers = now + (rails.largest_step if workers > now else -rails.largest_step)
        reason = f"largest step {rails.largest_step}"
    if workers != now and changed and seen.at_s - max(changed) < rails.shortest_s:
        workers, reason = now, f"changed {seen.at_s - max(changed):g} s ago, shortest time {rails.shortest_s:g} s"
    if workers != now and sum(seen.at_s - at < rails.budget_s for at in changed) >= rails.changes:
        workers, reason = now, f"budget of {rails.changes} changes in {rails.budget_s:g} s is used up"
    if (bounded := rails.clamp(workers)) != workers:
        workers, reason = bounded, f"bounds {rails.least} to {rails.most}"
    return workers, reason


def _no_reduction(seen: Seen, rails: GuardRails) -> str:
    if trouble := seen.trouble():
        return f"no reduction: {trouble}"
    if (seen.waiting or 0) > rails.draining * max(seen.ready, 1):
        return f"no reduction: {seen.waiting:g} wait, the queue drains first"
    return ""
