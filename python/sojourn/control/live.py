"""A policy beside a live service: read, decide behind the rails, write down, set, verify; or all of it but the setting.

Fail-safe by one rule: the lease is renewed only by a window whose metrics are sound, on which the policy decided, and which was written
down. Whatever goes wrong - metrics lost or impossible, a policy that fails, a full disk, a service that refuses, kill -9 - the
lease runs out and the service is back in its safe settings; where we can still speak, we put it back at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Protocol

from sojourn.control.decision import Decision, Seen
from sojourn.control.guard_rails import GuardedState, guarded
from sojourn.control.live_log import LiveLog
from sojourn.control.live_metrics import RestartedError
from sojourn.control.policy_file import Policy
from sojourn.errors import SojournError, StorageFull
from sojourn.live_service.control_socket import DiffersError, RefusedError, Values
from sojourn.live_service.metric_series import MetricsError


class Reading(Protocol):
    """What was read once: `MetricsReading` of the web shop, `ServiceReading` of a service of one's own."""

    @property
    def workers(self) -> float: ...
    @property
    def cap(self) -> float | None: ...
    def since(self, before: Any, elapsed_s: float | None = None) -> Seen:
        """The window from `before` to this. MetricsError where it is none."""


class MetricsSource(Protocol):
    """Where metrics come from: `LiveMetrics`, `ServiceMetrics`."""

    def read(self) -> Reading:
        """Raises MetricsError."""


class Actuator(Protocol):
    """What can be set: `SocketActuator`, `LeasedActuator`, `Actuators`. Both answer what was read back, and raise RefusedError."""

    def set(self, wanted: Values) -> Values: ...
    def revert(self) -> Values: ...


class Actuators:
    """Some settings by one actuator, some by another: all of them are made, or none stays."""

    def __init__(self, parts: Sequence[tuple[Actuator, tuple[str, ...]]]) -> None:
        self.parts = parts

    def set(self, wanted: Values) -> Values:
        """Raises RefusedError."""
        found: dict[str, int | str] = {}
        for k, (part, names) in enumerate(self.parts):
            try:
                found |= part.set({name: value for name, value in wanted.items() if name in names})
            except RefusedError:
                for before, _ in self.parts[:k]:
                    with suppress(RefusedError):
                        before.revert()
                raise
        return found

    def revert(self) -> Values:
        """Each of them, whatever the others do. RefusedError."""
        found: dict[str, int | str] = {}
        failed = []
        for part, _ in self.parts:
            try:
                found |= part.revert()
            except RefusedError as error:
                failed.append(str(error))
        if failed:
            raise RefusedError("; ".join(failed))
        return found


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
    period_s: float, placed: Callable[[], Mapping[str, Any]] = dict,
    clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep,
    phase: Callable[[str], None] = lambda _: None, say: Callable[[str], None] = lambda _: None,
) -> LiveCount:  # fmt: skip
    """Every `period_s` until `stopped` gives a reason; without an actuator a dry run, which decides the same on the same metrics.
    `placed`: cores and steering as they are, RefusedError where they cannot be read. `phase` is told what comes next. However it
    ends, the safe settings are put back. Raises StorageFull."""
    count = LiveCount()
    why = "an error"
    try:
        why = _loop(policy, source, actuator, log, stopped, count, period_s, placed, clock, sleep, phase, say)
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
    period_s: float, placed: Callable[[], Mapping[str, Any]], clock: Callable[[], float], sleep: Callable[[float], None],
    phase: Callable[[str], None], say: Callable[[str], None],
) -> str:  # fmt: skip
    state = GuardedState()
    before: tuple[Reading, float] | None = None
    workers, next_s = 0, clock() + period_s
    others: dict[str, Any] = {}
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
            others = {"cap": None if after.cap is None else int(after.cap), **placed()}
            if before is None:
                before = after, now_s
                continue
            seen = replace(after.since(before[0], now_s - before[1]), **others)
            before = after, now_s
        except (MetricsError, RefusedError) as error:
            if isinstance(error, RestartedError):
                before = None  # else the last sound reading stays the beginning of the next window
            if not workers:
                say(f"no decision yet: {error}")
                log.event("no metrics", why=str(error))
                continue
            trouble = str(error)
            seen = Seen(now_s, period_s, workers, workers, metrics_late=True, **others)
        phase("decide")
        decision, state = guarded(policy.decide, policy.rails, seen, state)
        trouble = trouble or seen.trouble() or ("" if decision.wanted_workers is not None else "no decision")
        phase("log")
        log.decision(decision, trouble)
        _count(count, decision, trouble)
        if trouble or decision.changes():
            told = ", ".join(f"{name} {getattr(seen, name)} -> {to}" for name, to in decision.changes().items())
            say(f"{told or 'no change'}: {trouble or decision.reason}")
        if actuator is not None:
            _act(actuator, log, decision, policy.rails.settings, trouble, count, phase, say)
    return why


def _count(count: LiveCount, decision: Decision, trouble: str) -> None:
    count.windows += 1
    count.changes += len(decision.changes())
    count.troubled += bool(trouble)


def _act(
    actuator: Actuator, log: LiveLog, decision: Decision, settings: Sequence[str], trouble: str, count: LiveCount,
    phase: Callable[[str], None], say: Callable[[str], None],
) -> None:  # fmt: skip
    """Sets what was decided and so renews the lease; not on a window that was in trouble. Where something else is read back than was set,
    the service goes to its safe settings."""
    if trouble:
        log.event("not renewed", why=trouble)
        return
    phase("set")
    decided: dict[str, int | str] = {"workers": decision.workers, **decision.others}
    wanted = {name: value for name, value in decided.items() if name in settings}
    try:
        found = actuator.set(wanted)
    except DiffersError as error:
        count.refused += 1
        what = _safe_again(actuator)
        say(f"differs: {error}; {what}")
        log.event("differs", asked=wanted, why=str(error), what=what)
        return
    except RefusedError as error:
        count.refused += 1
        say(f"refused: {error}")
        log.event("refused", asked=wanted, why=str(error))
        return
    phase("verified")
    count.set += 1
    if changed := decision.changes():
        log.event("set", asked=changed, read_back={name: found[name] for name in changed})


def _safe_again(actuator: Actuator) -> str:
    try:
        found = actuator.revert()
    except RefusedError as error:
        return f"not restored by the controller; the lease will restore it: {error}"
    return f"safe settings are back: {', '.join(f'{name} {value}' for name, value in found.items())}"


def _put_back(actuator: Actuator | None, log: LiveLog, why: str, say: Callable[[str], None]) -> None:
    """First the service, then the log: a full disk must not keep it from its safe settings."""
    what = "nothing was set" if actuator is None else _safe_again(actuator)
    say(f"{why}; {what}")
    try:
        log.event("end", why=why, what=what)
    except SojournError:
        pass  # said above
    finally:
        log.close()
