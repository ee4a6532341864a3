"""What a policy sees and what it answers: plain data, so that a decision can be written down and taken again.

A policy is a function `decide(seen, state) -> (Set, state)`: without a clock, input or output, or randomness; its first state is
None. The same function runs in the simulator, over a recorded log, and beside a live service.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from sojourn.former_keyword import former_field

State = Any
FORMER_NAMES = {"steering": "packet_steering"}  # of settings, in logs and policy files
FORMER_SEEN = {**FORMER_NAMES, "at_s": "window_end_s", "ready": "ready_workers", "late": "metrics_late"}
FORMER_DECISION = {"seen": "observed", "wanted": "wanted_workers", "why": "reason"}
STEERINGS = ("one core", "spread")  # which cores take the soft interrupts, by the capacity that this leaves
OTHERS = ("cap", "cores", "packet_steering")  # what may be set beside workers


@former_field(**FORMER_SEEN)
@dataclass(frozen=True)
class Seen:
    """One window of measurement that ends at `window_end_s`; what was not measured is None.

    `workers`: as set; `ready_workers`: of them, those that serve. `rate_per_s`, `throughput_per_s`: arrivals and answers. `utilisation`:
    mean busy share of a ready worker, `cpu`: the share of it that was on the CPU. `in_system`, `waiting`: mean present, and waiting at
    the end. `response_s`: mean of the answers. `metrics_late`: the figures are older than a window. `window_s` > 0, times in s. `cap`,
    `cores`, `packet_steering`: as set; None where they cannot be read, and so not be changed.
    """

    window_end_s: float
    window_s: float
    workers: int
    ready_workers: int
    rate_per_s: float | None = None
    throughput_per_s: float | None = None
    utilisation: float | None = None
    cpu: float | None = None
    in_system: float | None = None
    waiting: float | None = None
    response_s: float | None = None
    metrics_late: bool = False
    cap: int | None = None
    cores: int | None = None
    packet_steering: str | None = None

    @property
    def placed(self) -> bool:
        """Whether it has a place in time; without one nothing can be decided on it."""
        return _number(self.window_end_s) and _number(self.window_s) and self.window_s > 0

    def trouble(self) -> str:
        """Why these figures are no ground to take servers away; "" where they are one."""
        if not self.placed:
            return f"window_end_s is {self.window_end_s!r}, window_s is {self.window_s!r}"
        for name in FIGURES:
            if (name not in OPTIONAL or getattr(self, name) is not None) and (lack := self.lack(name)):
                return lack
        return next((f"{n} is {getattr(self, n):g}" for n in SHARES if (getattr(self, n) or 0) > MOST_SHARE), "")

    def lack(self, name: str) -> str:
        """Why the figure `name` cannot be decided on: late, missing, no number or below 0; "" where it can."""
        value = getattr(self, name)
        if self.metrics_late:
            return "metrics are late"
        if value is None:
            return f"{name} is missing"
        return "" if _number(value) and value >= 0 else f"{name} is {value!r}"

    def to_dict(self) -> dict[str, Any]:
        """For JSON; `Seen(**it)` gives an equal one back."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


FIGURES = ("rate_per_s", "throughput_per_s", "utilisation", "cpu", "in_system", "waiting", "response_s")
OPTIONAL = ("cpu", "in_system", "response_s")  # not every service tells them, and of no answer there is no mean
SHARES = ("utilisation", "cpu")
MOST_SHARE = 1.1  # a share above is no measurement; a little above 1 is the reader's clock


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


@dataclass(frozen=True)
class Option:
    """A setting that was weighed: what the policy's model says of it. `tail_s`: the objective's quantile of response time, infinite
    where the servers cannot carry the load; None where the policy has no model."""

    workers: int
    tail_s: float | None = None


@former_field(**FORMER_NAMES, why="reason")
@dataclass(frozen=True)
class Set:
    """What a policy wants: `workers` servers (None: as they are), `reason` in one sentence, and the next best with what they would give.

    `cap`: most requests present, further ones are refused; `cores`: how many; `packet_steering`: one of STEERINGS. None leaves them as
    they are.
    """

    workers: int | None = None
    reason: str = ""
    next_best: tuple[Option, ...] = ()
    chosen: Option | None = None
    cap: int | None = None
    cores: int | None = None
    packet_steering: str | None = None

    def others(self) -> dict[str, int | str]:
        """What is asked for beside workers."""
        return {name: value for name in OTHERS if (value := getattr(self, name)) is not None}


Decide = Callable[[Seen, State], tuple[Set, State]]


@former_field(**FORMER_DECISION)
@dataclass(frozen=True)
class Decision:
    """A line of the audit log. `wanted_workers`: by the policy, None where it gave no answer that can be read; `workers`: what was set.
    `asked`, `others`: the same of the settings beside workers."""

    observed: Seen
    wanted_workers: int | None
    workers: int
    reason: str
    next_best: tuple[Option, ...] = ()
    chosen: Option | None = None
    asked: Mapping[str, int | str] = field(default_factory=dict)
    others: Mapping[str, int | str] = field(default_factory=dict)

    def changes(self) -> dict[str, int | str]:
        """What is set to another value than was seen."""
        wanted: dict[str, int | str] = {"workers": self.workers, **self.others}
        return {name: value for name, value in wanted.items() if value != getattr(self.observed, name)}

    def to_dict(self) -> dict[str, Any]:
        """For JSON, where an infinite time is null."""
        return {
            "observed": self.observed.to_dict(),
            "wanted_workers": self.wanted_workers,
            "workers": self.workers,
            **({"asked": dict(self.asked)} if self.asked else {}),
            **({"others": dict(self.others)} if self.others else {}),
            "reason": self.reason,
            "chosen": _plain(self.chosen),
            "next_best": [_plain(one) for one in self.next_best],
        }


def _plain(one: Option | None) -> dict[str, Any] | None:
    if one is None:
        return None
    finite = one.tail_s is not None and math.isfinite(one.tail_s)
    return {"workers": one.workers, "tail_s": one.tail_s if finite else None}
