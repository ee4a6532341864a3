"""A policy beside a live service: read, decide behind the rails, write down, set, verify; or all of it but the setting.

Fail-safe by one rule: the lease is renewed only by a window whose metrics are sound, on which the policy decided, and which was written
down. Whatever goes wrong - metrics lost or impossible, a policy that fails, a full disk, a service that refuses, kill -9 - the
lease runs out and the service is back in its safe settings; where we can still speak, we put it back at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from sojourn.control.decision import Decision, Seen
from sojourn.control.guard_rails import GuardedState, guarded
from sojourn.control.live_actuator import RefusedError, ServiceSettings
from sojourn.control.live_log import LiveLog
from sojourn.control.live_metrics import MetricsError, MetricsReading, RestartedError, window
from sojourn.control.policy_file import Policy
from sojourn.errors import SojournError, StorageFull


class MetricsSource(Protocol):
    """Where metrics come from."""

    def read(self) -> MetricsReading:
        """Raises MetricsError."""


class Actuator(Protocol):
    """What can be set: `SocketActuator`."""

    def read(self) -> ServiceSettings: ...
    def set(self, workers: int, cap: int | None = None) -> ServiceSettings: ...
    def revert(self) -> ServiceSettings: ...


@dataclass
class LiveCount:
    """What was done. `set`: settings and renewals that were read back; `troubled`: windows without sound metrics or a decision; `refused`:
    by the service."""

    windows: int = 0
    changes: int = 0
    set: int = 0
    troubled: int = 0
    refused: int = 0


def run_live(
    policy: Policy, source: MetricsSource, actuator: Actuator | None, log: LiveLog, stopped: Callable[[], str], *,
    period_s: float, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep,
    phase: Callable[[str], None] = lambda _: None, say: Callable[[str], None] = lambda _: None,
) -> LiveCount:  # fmt: skip
    """Every `period_s` until `stopped` gives a reason; without an actuator a dry run, which decides the same on the same metrics.
    `phase` is told what comes next. However it ends, the safe settings are put back. Raises StorageFull."""
    count = LiveCount()
    why = "an error"
    try:
        why = _loop(policy, source, actuator, log, stopped, count, period_s, clock, sleep, phase, say)
    except KeyboardInterrupt:
        why = "interrupted"
    except StorageFull as error:
        why = str(error)
        raise
    finally:
        _put_back(actuator, log, why, say)
    return count


def _loop(
    policy: Policy, source: MetricsSource, actuator: Actuator | None, log: LiveLog, stopped: Callable[[], str], count: LiveCount,
    period_s: float, clock: Callable[[], float], sleep: Callable[[float], None], phase: Callable[[str], None],
    say: Callable[[str], None],
) -> str:  # fmt: skip
    state = GuardedState()
    before: tuple[MetricsReading, float] | None = None
    workers, next_s = 0, clock() + period_s
    while not (why := stopped()):
        if (left := next_s - clock()) > 0:
            sleep(min(left, 0.2))
            continue
        next_s = max(next_s + period_s, clock())
        phase("metrics")
        trouble, now_s = "", clock()
        try:
            after = source.read()
            workers = int(after.workers)
            if before is None:
                before = after, now_s
                continue
            seen = window(before[0], after, now_s - before[1])
            before = after, now_s
        except MetricsError as error:
            if isinstance(error, RestartedError):
                before = None  # else the last sound reading stays the beginning of the next window
            if not workers:
                say(f"no decision yet: {error}")
                log.event("no metrics", why=str(error))
                continue
            trouble = str(error)
            seen = Seen(now_s, period_s, workers, workers, late=True)
        phase("decide")
        decision, state = guarded(policy.decide, policy.rails, seen, state)
        trouble = trouble or seen.trouble() or ("" if decision.wanted is not None else "no decision")
        phase("log")
        log.decision(decision, trouble)
        _count(count, decision, trouble)
        if decision.workers != seen.workers or trouble:
            say(f"{seen.workers} -> {decision.workers}: {trouble or decision.why}")
        if actuator is not None:
            _act(actuator, log, decision, trouble, count, phase, say)
    return why


def _count(count: LiveCount, decision: Decision, trouble: str) -> None:
    count.windows += 1
    count.changes += decision.workers != decision.seen.workers
    count.troubled += bool(trouble)


def _act(
    actuator: Actuator, log: LiveLog, decision: Decision, trouble: str, count: LiveCount, phase: Callable[[str], None],
    say: Callable[[str], None],
) -> None:  # fmt: skip
    """Sets what was decided and so renews the lease; not on a window that was in trouble."""
    if trouble:
        log.event("not renewed", why=trouble)
        return
    phase("set")
    try:
        found = actuator.set(decision.workers)
    except RefusedError as error:
        count.refused += 1
        say(f"refused: {error}")
        log.event("refused", workers=decision.workers, why=str(error))
        return
    phase("verified")
    count.set += 1
    if decision.workers != decision.seen.workers:
        log.event("set", workers=decision.workers, read_back=found.workers, cap=found.cap)


def _put_back(actuator: Actuator | None, log: LiveLog, why: str, say: Callable[[str], None]) -> None:
    """First the service, then the log: a full disk must not keep it from its safe settings."""
    what = "nothing was set"
    if actuator is not None:
        try:
            found = actuator.revert()
            what = f"safe settings are back: workers {found.workers}, cap {found.cap}"
        except RefusedError as error:
            what = f"not put back, the lease does it: {error}"
    say(f"{why}; {what}")
    try:
        log.event("end", why=why, what=what)
    except SojournError:
        pass  # said above
    finally:
        log.close()
