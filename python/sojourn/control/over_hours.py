"""What a policy would have done over recorded hours, by the code that decides live; and what its number of workers would have meant.

The load is the recorded one: rate, and busy workers by the utilisation law. The workers in place are those that the policy set before. What
it then sees is reckoned: M/M/m in each window (`solve.single.mmm`), its wait scaled by (1 + scv)/2 for other service times, and a queue
that grows where the workers cannot carry the rate (a fluid: rate less capacity). It decides once a window; live it would every
`period_s`, so that it reacts here as slowly as the windows are long.

Minutes of low confidence are those in which a live controller would not have trusted what it saw or knew: no window was recorded, the
policy's demand is stale or not known to 5 %, or the load is outside of the range for which the policy was validated.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from sojourn.control.decision import Decide, Decision, Seen
from sojourn.control.estimation import FRESH, OUTSIDE
from sojourn.control.guard_rails import GuardedState, GuardRails, guarded
from sojourn.control.recorded_hours import RecordedHours, RecordedWindow
from sojourn.control.simulate import tail_objective
from sojourn.former_keyword import former_field
from sojourn.solve.single.erlang import erlang_c
from sojourn.solve.single.mmm import response_tail

MISSING, NO_DECISION = "no window was recorded", "no decision"
MOST_LATE = 100  # windows of one gap that the policy is shown as late; the rest of the gap is counted


@former_field(busy="busy_workers", doubt="uncertain_reason")
@dataclass(frozen=True)
class PolicyWindow:
    """`workers` in place during the window from `start_s` (Unix time) on, and the `decision` at its end; `busy_workers`: those
    that the load needed to be at work; `missed`: by M/M/m the objective was missed; `uncertain_reason`: why the confidence was low, ""
    where it was not."""

    start_s: float
    length_s: float
    workers: int
    rate_per_s: float | None
    busy_workers: float
    missed: bool
    uncertain_reason: str
    decision: Decision


@former_field(recorded="recorded_workers", doubts="uncertain")
@dataclass(frozen=True)
class PolicyOverHours:
    """`windows` in order of time, those that were not recorded among them; `recorded_workers`: that were in place."""

    windows: tuple[PolicyWindow, ...]
    recorded_workers: int
    objective: str

    def minutes(self, which: str = "") -> float:
        """Of all windows; of `short` (more busy than there are workers), `missed` or `uncertain`."""
        counts: dict[str, Callable[[PolicyWindow], bool]] = {
            "": lambda one: True,
            "short": lambda one: one.busy_workers >= one.workers,
            "missed": lambda one: one.missed,
            "uncertain": lambda one: one.uncertain_reason != "",
        }
        return sum(one.length_s for one in self.windows if counts[which](one)) / 60

    @property
    def uncertain(self) -> dict[str, float]:
        """Why → minutes of low confidence, the most first."""
        found: Counter[str] = Counter()
        for one in self.windows:
            if one.uncertain_reason:
                found[one.uncertain_reason] += one.length_s / 60  # type: ignore[assignment]
        return dict(found.most_common())

    @property
    def worker_hours(self) -> float:
        return sum(one.workers * one.length_s for one in self.windows) / 3600

    @property
    def changes(self) -> list[int]:
        """Workers more or fewer than in the window before."""
        return [
            after.workers - before.workers
            for before, after in pairwise(self.windows)
            if after.workers != before.workers
        ]

    def to_dict(self) -> dict[str, Any]:
        """For JSON: figures, and the decision of each window."""
        changes = self.changes
        return {
            "objective": self.objective, "minutes": self.minutes(), "recorded_workers": self.recorded_workers,
            "least_workers": min(one.workers for one in self.windows), "most_workers": max(one.workers for one in self.windows),
            "worker_hours": self.worker_hours, "recorded_worker_hours": self.recorded_workers * self.minutes() / 60,
            "changes": len(changes),
            "reversals": sum(a * b < 0 for a, b in pairwise(changes)), "too_few_minutes": self.minutes("short"),
            "missed_minutes": self.minutes("missed"), "uncertain_minutes": self.minutes("uncertain"),
            "uncertain": [{"reason": reason, "minutes": minutes} for reason, minutes in self.uncertain.items()],
            "decisions": [
                {"start_unix_s": one.start_s, "busy_workers": one.busy_workers, "missed": one.missed,
                 "uncertain_reason": one.uncertain_reason, **one.decision.to_dict()}
                for one in self.windows
            ],
        }  # fmt: skip


def over_hours(
    decide: Decide,
    hours: RecordedHours,
    rails: GuardRails | None = None,
    *,
    objective: str = "p99 < 300ms",
    scv: float = 1.0,
) -> PolicyOverHours:
    """Each recorded window given to `decide`, behind `rails`, with the workers that it set before; first those of the record.

    `objective`: a quantile of response time below a limit; `scv`: squared coefficient of variation of service times. Raises InputError.
    """
    rails = rails or GuardRails()
    aim = tail_objective(objective)
    workers, state, backlog, found = rails.clamp(hours.workers), GuardedState(), 0.0, []
    for window, length_s in _with_gaps(hours):
        busy = hours.busy(window) if window.rate_per_s >= 0 else 0.0
        if window.rate_per_s < 0:  # nobody recorded it
            seen = Seen(window.start_s + length_s, length_s, workers, workers, metrics_late=True)
            missed = False
        else:
            seen, backlog, waits = _seen(window, busy, workers, backlog, scv)
            missed = waits(aim.limit) > 1 - aim.q
        decision, state = guarded(decide, rails, seen, state)
        doubt = _doubt(decide, seen, decision, state)
        rate = window.rate_per_s if window.rate_per_s >= 0 else None
        found.append(PolicyWindow(window.start_s, length_s, workers, rate, busy, missed, doubt, decision))
        workers = decision.workers
    return PolicyOverHours(tuple(found), hours.workers, aim.text)


def _with_gaps(hours: RecordedHours) -> Iterator[tuple[RecordedWindow, float]]:
    """The windows with their lengths, and between them what was not recorded: rate -1, in parts as long as a window."""
    for before, after in pairwise((None, *hours.windows)):
        assert after is not None
        if before is not None:
            gap_s = after.start_s - before.start_s - before.length_s
            parts = min(math.floor(gap_s / before.length_s + 1e-6), MOST_LATE)
            for k in range(parts):
                at_s = before.start_s + before.length_s + k * gap_s / parts
                yield RecordedWindow(at_s, gap_s / parts, -1.0, {}), gap_s / parts
        yield after, after.length_s


def _seen(window: RecordedWindow, busy: float, workers: int, backlog: float, scv: float) -> tuple[Seen, float, Any]:
    """What that many workers would have shown, the queue at its end, and the share of responses above a time in s."""
    length_s, rate = window.length_s, window.rate_per_s
    service_s = busy / rate if rate > 0 and busy > 0 else 0.0
    most = workers / service_s if service_s else math.inf
    done = min(rate + backlog / length_s, most)
    after = max(backlog + (rate - done) * length_s, 0.0)
    rho = done * service_s / workers
    calm = service_s > 0 and busy < workers and not backlog and not after
    waits = float(erlang_c(np.array([busy]), np.array([float(workers)]))[0]) if calm else 0.0
    line = waits * rho / (1 - rho) * (1 + scv) / 2 if calm else (backlog + after) / 2
    present = line + done * service_s
    seen = Seen(
        window_end_s=window.start_s + length_s, window_s=length_s, workers=workers, ready_workers=workers, rate_per_s=rate,
        throughput_per_s=done,
        utilisation=min(rho, 1.0), in_system=present, waiting=line if calm else after, response_s=present / done if done > 0 else None,
    )  # fmt: skip

    def above(limit_s: float) -> float:
        if not calm:
            return float(backlog > 0 or after > 0)
        drain = (workers - busy) / service_s * 2 / (1 + scv)
        return float(
            response_tail(np.array([limit_s]), np.array([waits]), np.array([drain]), np.array([1 / service_s]))[0]
        )

    return seen, after, above


def _doubt(decide: Decide, seen: Seen, decision: Decision, state: GuardedState) -> str:
    if seen.metrics_late:
        return MISSING
    if decision.wanted_workers is None:
        return NO_DECISION
    demand, validated = getattr(state.inner, "demand", None), getattr(decide, "validated", None)
    if demand is not None and (told := demand.status()) != FRESH:
        return f"the demand is {told}"
    return OUTSIDE if validated is not None and validated.beyond(seen.rate_per_s, seen.utilisation) else ""


def parts(found: PolicyOverHours, most: int) -> list[Mapping[str, Any]]:
    """At most so many stretches of equal numbers of windows: from when, rates, workers, and minutes of each kind."""
    size = math.ceil(len(found.windows) / most)
    rows: list[Mapping[str, Any]] = []
    for k in range(0, len(found.windows), size):
        own = PolicyOverHours(found.windows[k : k + size], found.recorded_workers, found.objective)
        rates = [one.rate_per_s for one in own.windows if one.rate_per_s is not None]
        rows.append(
            {
                "start_s": own.windows[0].start_s, "rates": (min(rates), max(rates)) if rates else None,
                "workers": (min(one.workers for one in own.windows), max(one.workers for one in own.windows)),
                "short": own.minutes("short"), "missed": own.minutes("missed"), "uncertain": own.minutes("uncertain"),
            }
        )  # fmt: skip
    return rows
