"""`sojourn control live policy.toml service.toml [--act]`: a policy beside a live service; a URL is that of sojourn's web shop."""

from __future__ import annotations

import os
import secrets
import select
import socket
import statistics
import sys
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn.cli.console import console
from sojourn.errors import Busy, InputError, ServiceError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sojourn.control.live import Actuators
    from sojourn.control.live_metrics import LiveMetrics
    from sojourn.control.load_trace import Load
    from sojourn.control.policy_file import Policy
    from sojourn.control.service_metrics import ServiceMetrics
    from sojourn.lab.service_placement import ServicePlacement
    from sojourn.live_service.command_settings import CommandSettings
    from sojourn.live_service.control_socket import Values
    from sojourn.model import Model

LEAST_PERIODS = 1.5  # of a lease: one late window must not end it
READS = 3  # of the settings in a turn: what is seen, before a command, after it


@dataclass(frozen=True)
class LiveOptions:
    """As given on the command line."""

    target: str
    act: bool
    force: bool
    lease: str
    stop_file: Path | None
    stop_after: str
    out: Path | None
    pid: int | None = None


def beside(policy: Policy, model: Model | None, loads: Sequence[Load], options: LiveOptions) -> None:
    """Runs it until it is stopped. InputError, ServiceError, Busy."""
    from sojourn.control.live import run_live
    from sojourn.control.live_log import LiveLog
    from sojourn.control.simulate import LOG, PERIOD_S
    from sojourn.live_service.leased_actuator import read
    from sojourn.units import duration_s

    say = _say
    _left(options.act)  # before anything is read: what is found is taken for safe
    period_s = float(getattr(policy.decide, "period_s", PERIOD_S))
    after_s = duration_s(options.stop_after, "--stop-after") if options.stop_after else float("inf")
    target = _target(options.target)
    if options.act:
        _check_settings(policy, target)
    lease_s = _lease_s(options, period_s, target)
    if options.act and not options.force:
        say(passed(policy, model, loads))
    source, actuator = target.source, None
    source.check()  # the service is there
    folder = options.out or Path("runs") / time.strftime("control-%Y%m%d-%H%M%S", time.gmtime())
    placement = _placement(policy, target, options)
    if options.act:
        actuator, safe = _actuator(policy, target, placement, lease_s, folder / LOG)
        say(
            f"acts on {target.name}, lease {lease_s:.3g} s; safe: {', '.join(f'{name} {at}' for name, at in safe.items())}"
        )
    log = LiveLog(folder)
    log.event(
        "start", policy=policy.name, objective=policy.objective, target=target.name, act=options.act,
        lease_s=lease_s if options.act else None, period_s=period_s, settings=list(policy.rails.settings),
    )  # fmt: skip
    say(f"{'acting' if options.act else 'dry run'}, every {period_s:g} s; the log is {log.path}")
    stopped = _stopped(options.stop_file, time.monotonic() + after_s)
    placed: Callable[[], Values] = partial(read, placement) if placement else dict
    count = run_live(policy, source, actuator, log, stopped, period_s=period_s, placed=placed, say=say)
    say(
        f"{count.windows} windows, {count.changes} changes, {count.troubled} without a decision, {count.refused} refused"
    )


def _left(act: bool) -> None:
    """What a controller left that was killed with its keeper: put back before acting, else told."""
    from sojourn.live_service.restore_plan import left, put_back_left

    if act:
        done, failed = put_back_left()
        for what in done:
            _say(f"restored the settings that a killed controller left: {what}")
        for what in failed:
            _say(f"a killed controller left settings that cannot be restored: {what}")
    else:
        for plan in left():
            _say(f"a killed controller left {plan}; `sojourn lab restore` restores them")


@dataclass(frozen=True)
class ControlledService:
    """The service. `settings`: of one of one's own; None for the web shop, which has a control socket."""

    name: str
    source: LiveMetrics | ServiceMetrics
    settings: CommandSettings | None


def _target(given: str) -> ControlledService:
    """Of the web shop's URL, or the file of a service of one's own. InputError, ServiceError."""
    from sojourn.control.live_metrics import LiveMetrics
    from sojourn.control.service_metrics import ServiceMetrics
    from sojourn.live_service.command_settings import CommandSettings
    from sojourn.live_service.service_file import ServiceFile

    if "://" in given:
        return ControlledService(given, LiveMetrics(given), None)
    settings = CommandSettings(ServiceFile(given))
    return ControlledService(given, ServiceMetrics(settings.file, settings.by_command), settings)


def _lease_s(options: LiveOptions, period_s: float, target: ControlledService) -> float:
    """As given, or three turns of the loop: a period, and what the commands of one's own service take. InputError: too short."""
    from sojourn.units import duration_s

    turn_s = period_s
    if options.act and target.settings is not None:
        begin = time.monotonic()
        target.settings.read()
        turn_s += READS * (time.monotonic() - begin)
    lease_s = duration_s(options.lease, "--lease") if options.lease else 3 * turn_s
    if lease_s < LEAST_PERIODS * turn_s:
        raise InputError(
            f"{lease_s:g} s", "--lease", f"give at least {LEAST_PERIODS * turn_s:.3g} s: a turn takes {turn_s:.3g} s"
        )
    return lease_s


def _check_settings(policy: Policy, target: ControlledService) -> None:
    """Before anything is set: InputError where the policy may change what the file has no command for."""
    if target.settings is None:
        return
    for name in policy.rails.settings:
        if name not in (*target.settings.names, "cores", "packet_steering"):
            raise InputError(name, target.name, f"give [{name}] set, or leave it out of [rails] settings of the policy")


def _placement(policy: Policy, target: ControlledService, options: LiveOptions) -> ServicePlacement | None:
    """Where the policy may change cores or steering: those of the process that the service's control socket is of, or `--service-pid`."""
    from sojourn.control.live_metrics import LiveMetrics
    from sojourn.lab.service_placement import ServicePlacement
    from sojourn.live_service.control_socket import RefusedError, SocketActuator

    if not {"cores", "packet_steering"} & set(policy.rails.settings):
        return None
    pid = options.pid
    if pid is None:
        if not isinstance(target.source, LiveMetrics):
            raise InputError("not given", "--service-pid", "give the number of the service's process")
        try:
            pid = SocketActuator(target.source.socket(), "looks", 1.0).pid()
        except (InputError, RefusedError) as error:
            raise InputError(str(error), "--service-pid", "give the number of the service's process") from None
    return ServicePlacement(pid)


def _actuator(
    policy: Policy, target: ControlledService, placement: ServicePlacement | None, lease_s: float, log: Path
) -> tuple[Actuators, dict[str, Any]]:
    """For the settings that may be changed, and the safe ones. Busy: another controller has them; ServiceError: they cannot be read."""
    from sojourn.control.live import Actuators
    from sojourn.control.live_metrics import LiveMetrics
    from sojourn.live_service.control_socket import RefusedError, SocketActuator
    from sojourn.live_service.leased_actuator import LeasedActuator
    from sojourn.live_service.leased_settings import LeasedSettings

    holder = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
    parts: list[tuple[Any, tuple[str, ...]]] = []
    safe: dict[str, Any] = {}
    leased: list[LeasedSettings] = [each for each in (target.settings, placement) if each is not None]
    try:
        if isinstance(target.source, LiveMetrics) and {"workers", "cap"} & set(policy.rails.settings):
            pool = SocketActuator(target.source.socket(), holder, lease_s)
            found = pool.read()
            safe |= {"workers": found.safe_workers, "cap": found.safe_cap}
            _free(found.holder, target.name)
            parts.append((pool, ("workers", "cap")))
        for each in leased:
            if not set(each.names) & set(policy.rails.settings):
                continue
            by_keeper = LeasedActuator(each, holder, lease_s, log)
            safe |= target.settings.safe if target.settings is each else by_keeper.read()
            _free(by_keeper.held_by(), target.name)
            parts.append((by_keeper, each.names))
            _say(by_keeper.begin())
    except RefusedError as error:
        remedy = (
            "start the service with --control-socket PATH, as the same user" if target.settings is None else "fix it"
        )
        raise ServiceError(str(error), "--act", remedy) from None
    return Actuators(parts), safe


def _free(holder: str | None, url: str) -> None:
    if holder is not None:
        raise Busy(
            f"held by {holder}", url, "only one controller per target: stop the other, or wait until its lease ends"
        )


def passed(policy: Policy, model: Model | None, loads: Sequence[Load], seed: int = 1) -> str:
    """That the policy keeps its objective on the model, over all loads; InputError where it does not, or there is no model."""
    from sojourn.control.simulate import simulate, tail_objective

    if model is None:
        raise InputError(
            "no model", "--act", "give --model MODEL, on which the policy has to pass first, or --skip-simulated-check"
        )
    allowed = 1 - tail_objective(policy.objective).q
    runs = [
        simulate(policy.decide, model, one, seed, objective=policy.objective, rails=policy.rails).figures
        for one in loads
    ]
    requests = sum(one.requests for one in runs)
    late = sum(one.late_requests * one.requests for one in runs) / max(requests, 1)
    names = ", ".join(one.name for one in loads)
    found = f"{100 * late:.2f} % of {requests} requests late on the model ({names}), {100 * allowed:g} % allowed"
    if late > allowed:
        raise InputError(
            found,
            "--act",
            "fix the policy, or use another --simulated-check-load or --simulated-check-rate, or --skip-simulated-check",
        )
    hours = statistics.fmean(one.core_hours for one in runs)
    return f"passed: {found}; {hours:.3g} core-hours a run"


def _stopped(file: Path | None, until_s: float) -> Callable[[], str]:
    """The kill switches but the signals, which interrupt."""

    def why() -> str:
        if file is not None and file.exists():
            return f"{file} is there"
        if time.monotonic() >= until_s:
            return "its time is over"
        try:
            if sys.stdin.isatty() and select.select([sys.stdin], [], [], 0)[0] and sys.stdin.readline().startswith("q"):
                return "q was typed"
        except (OSError, ValueError):  # no terminal any more
            return ""
        return ""

    return why


def _say(text: Any) -> None:
    console().print(str(text), markup=False, soft_wrap=True)
