"""The rule of the Kubernetes HorizontalPodAutoscaler (autoscaling/v2), without Kubernetes.

Source: Kubernetes documentation, Horizontal Pod Autoscaling: Algorithm details; Configurable scaling behavior (v1.33); where it is silent
(pods that are not ready, rounding, the first recommendation), the behaviour of pkg/controller/podautoscaler.

    documentation                   here
    desiredMetricValue              target (a share, or any number that the metric is per pod)
    --horizontal-pod-autoscaler-sync-period, -tolerance   period_s, tolerance
    stabilizationWindowSeconds      stabilisation_s
    policies, selectPolicy          policies, select

Limits: one metric a policy (`several` joins more); readiness is told by the caller (`Pod.ready`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from sojourn.control.decision import Seen, Set


@dataclass(frozen=True)
class Pod:
    """`value` of its metric, None where it is missing; `ready`: whether it serves."""

    value: float | None
    ready: bool = True


class StepLimit(BaseModel):
    """At most `value` pods, or percent of the pods, within `period_s`."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    kind: Literal["pods", "percent"]
    value: int = Field(gt=0)
    period_s: float = Field(gt=0, le=1800)


class Behaviour(BaseModel):
    """One direction: `stabilisation_s`, `policies`, and which of them counts: `max`, `min`, or `disabled` for no change at all;
    `tolerance`: None takes that of the whole."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    stabilisation_s: float = Field(default=0.0, ge=0, le=3600)
    policies: tuple[StepLimit, ...] = ()
    select: Literal["max", "min", "disabled"] = "max"
    tolerance: float | None = Field(default=None, ge=0)


UP = Behaviour(
    policies=(StepLimit(kind="percent", value=100, period_s=15), StepLimit(kind="pods", value=4, period_s=15))
)
DOWN = Behaviour(stabilisation_s=300, policies=(StepLimit(kind="percent", value=100, period_s=15),))


def proposed(
    pods: Sequence[Pod], target: float, current: int, tolerance: float | tuple[float, float] = 0.1
) -> int | None:
    """Pods that the metric asks for; None where no ready pod has one. `target` > 0, in the metric's unit; `tolerance`: of both
    directions, or (down, up)."""
    values = [pod.value for pod in pods if pod.ready and pod.value is not None]
    missing = sum(pod.value is None for pod in pods)
    unready = sum(not pod.ready and pod.value is not None for pod in pods)
    if not values:
        return None
    ratio = sum(values) / len(values) / target
    counts_unready = unready > 0 and ratio > 1
    if not missing and not counts_unready:
        return current if _near(ratio, tolerance) else _ceil(ratio * len(values))
    total = sum(values) + (missing * target if ratio < 1 else 0.0)
    counted = len(values) + missing + (unready if counts_unready else 0)
    second = total / counted / target
    if _near(second, tolerance) or (ratio < 1) != (second < 1):
        return current
    wanted = _ceil(second * counted)
    wrong_way = wanted > current if second < 1 else wanted < current
    return current if wrong_way else wanted


def several(found: Sequence[int | None], current: int) -> int | None:
    """Of several metrics the largest; where one of them failed, no fewer than now. None where all failed."""
    known = [one for one in found if one is not None]
    if not known:
        return None
    return max(known) if len(known) == len(found) else max(*known, current)


def average_value(total: float, target: float, current: int, tolerance: float = 0.1) -> int:
    """Pods for an external metric with an average value a pod, as KEDA asks for: by the total, not by the mean of pods."""
    return current if _near(total / (target * current), tolerance) else _ceil(total / target)


def _near(ratio: float, tolerance: float | tuple[float, float]) -> bool:
    down, up = tolerance if isinstance(tolerance, tuple) else (tolerance, tolerance)
    return -down - 1e-12 <= ratio - 1 <= up + 1e-12


def _ceil(x: float) -> int:
    return math.ceil(x - 1e-9)  # 0.3 / 0.1 * 3 is 9.000000000000002


@dataclass(frozen=True)
class HpaState:
    """`asked`: (at_s, pods) that the metric asked for; `moved`: (at_s, change) that was made."""

    asked: tuple[tuple[float, int], ...] = ()
    moved: tuple[tuple[float, int], ...] = ()
    workers: int | None = None


class Hpa(BaseModel):
    """`target` of `metric`: busy share of a worker, or its share on the CPU. Times in s; `least` to `most` workers. What a table for `up`
    or `down` does not say is as in the documentation's default behaviour."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    target: float = Field(default=0.8, gt=0)
    metric: Literal["utilisation", "cpu"] = "utilisation"
    period_s: float = Field(default=15.0, gt=0)
    tolerance: float = Field(default=0.1, ge=0)
    up: Behaviour = UP
    down: Behaviour = DOWN
    least: int = Field(default=1, ge=1)
    most: int = Field(default=1000, ge=1)

    @field_validator("up", "down", mode="before")
    @classmethod
    def _with_defaults(cls, given: Any, info: ValidationInfo) -> Any:
        default = (UP if info.field_name == "up" else DOWN).model_dump()
        return {**default, **given} if isinstance(given, Mapping) else given

    def __call__(self, seen: Seen, state: HpaState | None) -> tuple[Set, HpaState]:
        """A decision of a window, in which all ready workers are busy alike."""
        value, lack = getattr(seen, self.metric), seen.lack(self.metric)
        pods = [Pod(None if lack else value)] * seen.ready_workers + [Pod(0.0, ready=False)] * (
            seen.workers - seen.ready_workers
        )
        asked = proposed(pods, self.target, seen.workers, self._tolerance) if pods else None
        if asked is None:
            return Set(reason=f"{lack or 'no worker is ready'}: no change"), state or _begun(
                seen.workers, seen.window_end_s
            )
        wanted, after = self.behave(asked, seen.workers, seen.window_end_s, state)
        why = f"{self.metric} {value:.2f} against {self.target:g} asks for {asked}"
        return Set(wanted, why if wanted == asked else f"{why}, stabilisation and policies allow {wanted}"), after

    @property
    def _tolerance(self) -> tuple[float, float]:
        down, up = (self.tolerance if x.tolerance is None else x.tolerance for x in (self.down, self.up))
        return down, up

    def behave(self, asked: int, current: int, at_s: float, state: HpaState | None) -> tuple[int, HpaState]:
        """What stabilisation, policies and bounds leave of what the metric asks for; and the state with this decision."""
        state = _noticed(state or _begun(current, at_s), current, at_s)
        kept = tuple(
            one for one in state.asked if at_s - one[0] <= max(self.up.stabilisation_s, self.down.stabilisation_s)
        )
        wanted = self._stable(asked, current, at_s, kept)
        if wanted > current:
            wanted = min(wanted, max(current, _limit(self.up, current, at_s, state.moved, 1)))
        elif wanted < current:
            wanted = max(wanted, min(current, _limit(self.down, current, at_s, state.moved, -1)))
        wanted = min(max(wanted, self.least), self.most)
        moved = tuple(one for one in state.moved if at_s - one[0] < _longest(self))
        if wanted != current:
            moved = (*moved, (at_s, wanted - current))
        return wanted, HpaState((*kept, (at_s, asked)), moved, wanted)

    def _stable(self, asked: int, current: int, at_s: float, kept: Sequence[tuple[float, int]]) -> int:
        """Up to the least that was asked for within the window of that direction, down to the most within its own."""
        up = min([asked, *(n for at, n in kept if at_s - at < self.up.stabilisation_s)])
        down = max([asked, *(n for at, n in kept if at_s - at < self.down.stabilisation_s)])
        return min(max(current, up), down)


def _begun(current: int, at_s: float) -> HpaState:
    """A controller that begins takes what is there for its first recommendation."""
    return HpaState(asked=((at_s, current),))


def _noticed(state: HpaState, current: int, at_s: float) -> HpaState:
    """What a guard rail, or somebody else, did not leave as it was set is not what was moved."""
    if state.workers in (None, current) or not state.moved or state.moved[-1][0] != state.asked[-1][0]:
        return state
    at, change = state.moved[-1]
    real = change + current - (state.workers or 0)
    return HpaState(state.asked, (*state.moved[:-1], (at, real)) if real else state.moved[:-1], current)


def _limit(rule: Behaviour, current: int, at_s: float, moved: Sequence[tuple[float, int]], sign: int) -> int:
    """The furthest that the policies of one direction allow, from where the number stood when each one's period began."""
    if rule.select == "disabled":
        return current
    if not rule.policies:
        return 10**9 * sign
    found = []
    for one in rule.policies:
        start = current - sum(change for at, change in moved if at_s - at < one.period_s)
        if one.kind == "pods":
            found.append(start + sign * one.value)
        else:
            exact = start * (100 + sign * one.value) / 100
            found.append(math.ceil(exact - 1e-9) if sign > 0 else math.trunc(exact + 1e-9))
    furthest = (rule.select == "max") == (sign > 0)
    return max(found) if furthest else min(found)


def _longest(hpa: Hpa) -> float:
    return max([one.period_s for rule in (hpa.up, hpa.down) for one in rule.policies], default=0.0)
