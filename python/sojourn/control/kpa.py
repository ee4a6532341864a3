"""The rule of Knative's pod autoscaler (KPA): concurrency over a stable and a panic window.

Source: Knative Serving documentation, Autoscaling: Configuring the KPA, scale rates, panic mode; where it is silent (order of clamps,
start in panic), the behaviour of pkg/autoscaler/scaling.

    documentation                      here
    target x target utilization        target (70 of 100 requests at a time by default)
    stable-window, panic-window-percentage   stable_s, panic_share
    panic-threshold-percentage 200     panic_threshold 2
    max-scale-up-rate, -down-rate      up_rate, down_rate

Limits: never to zero; windows are means of the windows seen, weighted by their length.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field

from sojourn.control.decision import Seen, Set


@dataclass(frozen=True)
class KpaState:
    """`samples`: (at_s, length_s, concurrency); `panic_s`: when panic was last called for, None outside; `reached` in it."""

    samples: tuple[tuple[float, float, float], ...] = ()
    panic_s: float | None = None
    reached: int = 0


class Kpa(BaseModel):
    """`target`: requests at a time in one worker, after target utilisation. Times in s."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    target: float = Field(default=70.0, gt=0)
    period_s: float = Field(default=2.0, gt=0)
    stable_s: float = Field(default=60.0, ge=6, le=3600)
    panic_share: float = Field(default=0.1, ge=0.01, le=1)
    panic_threshold: float = Field(default=2.0, ge=1.1, le=10)
    up_rate: float = Field(default=1000.0, gt=1)
    down_rate: float = Field(default=2.0, gt=1)
    least: int = Field(default=1, ge=1)
    most: int = Field(default=1000, ge=1)

    def __call__(self, seen: Seen, state: KpaState | None) -> tuple[Set, KpaState]:
        """A decision of a window, by the mean number of requests in the system."""
        ready = max(seen.ready_workers, 1)
        if state is None:  # no history: more than one worker may be there for a reason
            state = KpaState(
                (),
                seen.window_end_s if seen.ready_workers > 1 else None,
                seen.ready_workers if seen.ready_workers > 1 else 0,
            )
        if lack := seen.lack("in_system"):
            return Set(reason=f"{lack}: no change"), state
        samples = (
            *(s for s in state.samples if seen.window_end_s - s[0] < self.stable_s),
            (seen.window_end_s, seen.window_s, seen.in_system or 0.0),
        )
        stable, panic = (
            _mean(samples, seen.window_end_s, length) for length in (self.stable_s, self.stable_s * self.panic_share)
        )
        wanted, after = self.scale(
            stable, panic, ready, seen.window_end_s, KpaState(samples, state.panic_s, state.reached)
        )
        mode = "panic" if after.panic_s is not None else "stable"
        why = f"{mode}: concurrency {stable:.1f} over {self.stable_s:g} s, {panic:.1f} over {self.stable_s * self.panic_share:g} s"
        return Set(min(max(wanted, self.least), self.most), f"{why} at {self.target:g} a worker"), after

    def scale(self, stable: float, panic: float, ready: int, at_s: float, state: KpaState) -> tuple[int, KpaState]:
        """Workers for two means of concurrency; and the state with panic entered, extended or left."""
        by_stable, by_panic = (math.ceil(x / self.target - 1e-9) for x in (stable, panic))
        low, high = math.floor(ready / self.down_rate), math.ceil(self.up_rate * ready)
        wanted, in_panic = (min(max(n, low), high) for n in (by_stable, by_panic))
        since, reached = state.panic_s, state.reached
        if by_panic / ready >= self.panic_threshold:
            since = at_s
        elif since is not None and since + self.stable_s < at_s:
            since, reached = None, 0
        if since is not None:
            reached = wanted = max(wanted, in_panic, reached)
        return wanted, KpaState(state.samples, since, reached)


def _mean(samples: tuple[tuple[float, float, float], ...], at_s: float, length_s: float) -> float:
    kept = [(s[1], s[2]) for s in samples if at_s - s[0] < length_s]
    return sum(length * value for length, value in kept) / sum(length for length, _ in kept)
