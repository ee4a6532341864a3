"""Loads of several levels on a service, one after another, each with the host's metrics: a run folder a level."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from sojourn.errors import InputError
from sojourn.former_keyword import former_keyword
from sojourn.lab.machine_lock import only_one
from sojourn.load.load_options import LoadOptions
from sojourn.load.protocols import options_of, protocol_of
from sojourn.load.schedule_seed import fresh_seed, run_seed
from sojourn.measure.measured_runs import MeasuredRuns
from sojourn.measure.service_processes import ServiceProcesses, service_processes
from sojourn.measure.surroundings import add_demands, surroundings
from sojourn.runs.disturbances import BESIDE
from sojourn.runs.host_samples import check_interval
from sojourn.runs.run_folder import RunFolder
from sojourn.runs.run_series import contents, kept
from sojourn.runs.watched_resources import WatchedResources

Progress = Callable[[dict[str, Any]], None]
Shown = Callable[[str, int], AbstractContextManager[Progress | None]]
Measured = Callable[[RunFolder], None]


@former_keyword(
    shown="run_progress", measured="on_run", cores="service_runs_on_cores", service_cores="service_runs_on_cores",
    interrupt_cores="interrupts_arrive_on_cores", others="allow_other_levels",
    beside_others="tolerate_other_programs",
)  # fmt: skip
def measure(
    urls: Sequence[str] | str,
    out: Path | str,
    *,
    rates_per_s: Iterable[float] = (),
    users: Iterable[float] = (),
    watched: WatchedResources | None = None,
    service_runs_on_cores: Iterable[int] = (),
    interrupts_arrive_on_cores: Iterable[int] = (),
    factors: Mapping[str, Any] | None = None,
    interval_s: float = 0.1,
    seed: int | None = None,
    run_progress: Shown = lambda _name, _there: nullcontext(),
    on_run: Measured = lambda _folder: None,
    allow_other_levels: bool = False,
    tolerate_other_programs: bool = False,
    failures_allowed: float = 0.0,
    protocol: type[LoadOptions] | None = None,
    **load: Any,
) -> MeasuredRuns:
    """Measures a service on this machine at each of `rates_per_s` (open loop) or with each number of `users` (closed loop).

    Each level becomes a run folder in `out`: requests, host samples, Metrics, verdict, and the demands of what was watched.
    Levels that `out` has from before, measured under the same conditions, are kept. One such measurement runs at a time.

    Args:
        urls: where the requests go, with equal weights: http://, https://, memcached:// or messages://HOST:PORT, or one file:PATH,
            blk:DEVICE or nbd://HOST:PORT.
        watched: processes, control groups and disks of the service, each process with what it started; without any the processes
            that listen at `urls` on loopback.
        service_runs_on_cores: those that the service runs on [those that its processes may use, else all]; the generator keeps off
            them where it can.
        interrupts_arrive_on_cores: of these, the ones that take NIC interrupts [all].
        factors: what else is true of the service, for a fit: `{"workers": 4}`.
        interval_s: between two host samples, 0.01 to 10.
        seed: each level's schedule repeats from it and the level's name [another each time; the manifest's `series_seed`].
        allow_other_levels: `out` may have other levels, under the same conditions. tolerate_other_programs: what other processes use is
        told, and is no
            reason against a run.
        failures_allowed: the share of requests, in [0, 1], that may fail in a valid run, where that is more than 1 %: what an objective
            for `errors` allows.
        run_progress: is told a level's name and how many were there before, and gives what takes the run's progress.
        on_run: is told each level when it is finished.
        load: what else `http_load` takes: `duration_s`, `think_s`, `timeout_s`, `headers` ….

    Raises:
        InputError: a value out of range, an option of another protocol, both or neither of rates and users. RunFolderError: `out`
        has runs under other conditions, or something else. ServiceError: nothing listens there. LabError: another measurement runs.
    """
    check_interval(interval_s, "interval_s")
    if not 0 <= failures_allowed <= 1:
        raise InputError(failures_allowed, "failures_allowed", "give a share in [0, 1]")
    named, steered = list(service_runs_on_cores), list(interrupts_arrive_on_cores)
    own_placement(named, steered)  # what is wrong is told before anybody is looked for
    series = fresh_seed() if seed is None else seed
    loads = {
        name: config_of(urls, protocol, seed=run_seed(series, name), **level, **load)
        for name, level in levels(rates_per_s, users).items()
    }
    service = service_processes(watched, next(iter(loads.values())))
    service = replace(service, may_use=tuple(named or service.cores()))
    service.check_listens()  # before its conditions are compared: a service that is gone runs on no core
    placement = own_placement(service.may_use, steered)
    counts = {"cores": len(placement["server"]), **({"nics": len(placement["interrupts"])} if steered else {})}
    about: dict[str, Any] = {
        "series_seed": series,
        **({BESIDE: True} if tolerate_other_programs else {}),
        **({"failures_allowed": failures_allowed} if failures_allowed else {}),
    }
    what = {
        name: {"name": name, **about, "factors": {**(factors or {}), **level, **counts}}
        for name, level in levels(rates_per_s, users).items()
    }
    with only_one("measure"):
        return _measured(
            Path(out), loads, what, service, placement, interval_s, run_progress, allow_other_levels, on_run
        )


def config_of(urls: Sequence[str] | str, protocol: type[LoadOptions] | None = None, **load: Any) -> dict[str, Any]:
    """The generator's configuration of one load, in real time where the generator has that. InputError as of `measure`."""
    given = [urls] if isinstance(urls, str) else list(urls)
    config = options_of(protocol or protocol_of(given), load).config(given)
    return config if "block" in config else config | {"realtime": True}


def levels(rates_per_s: Iterable[float], users: Iterable[float]) -> dict[str, dict[str, Any]]:
    """The levels by the name of their run.

    Raises:
        InputError: both or neither, or a number of users that is not whole.
    """
    rates, counts = list(rates_per_s), list(users)
    if bool(rates) == bool(counts):
        given = [",".join(f"{value:.15g}" for value in values) for values in (rates, counts)]
        found = f"rates ({given[0]}) and users ({given[1]})" if rates else "no load is given"
        raise InputError(found, "measure", "give either --rate or --users")
    if not all(float(count).is_integer() for count in counts):
        raise InputError(repr(",".join(f"{count:.15g}" for count in counts)), "--users", "give whole numbers")
    if rates:
        return {f"rate-{rate:.15g}": {"rate_per_s": rate} for rate in rates}
    return {f"users-{int(count)}": {"users": int(count)} for count in counts}


def own_placement(cores: Iterable[int], interrupt_cores: Iterable[int]) -> dict[str, Any]:
    """Where somebody's own service runs, as they say: cores of the service, and those of them that take interrupts.

    Raises:
        InputError: a core that this machine has not, or an interrupt core that the service does not run on.
    """
    server = _some_of(sorted(os.sched_getaffinity(0)), cores, "--service-runs-on-cores")
    return {
        "server": server,
        "interrupts": _some_of(server, interrupt_cores, "--interrupts-arrive-on-cores"),
        "client": [],
        "client_shares": False,
    }


def _some_of(available: list[int], wanted: Iterable[int], place: str) -> list[int]:
    chosen = sorted(set(wanted))
    if not set(chosen) <= set(available):
        raise InputError(",".join(map(str, chosen)), place, f"give some of {','.join(map(str, available))}")
    return chosen or available


def _measured(
    out: Path,
    loads: dict[str, dict[str, Any]],
    what: Mapping[str, dict[str, Any]],
    service: ServiceProcesses,
    placement: dict[str, Any],
    interval_s: float,
    shown: Shown,
    others: bool,
    measured: Measured,
) -> MeasuredRuns:
    """Each run, measured now or kept from before, with the demands of what was watched."""
    # slow to import, and others of this package do without it
    from sojourn.measure.execute_run import execute, machine

    conditions = {
        "placement": placement,
        "every_s": interval_s,
        "cgroups": service.watched.cgroups,
        "disks": service.watched.disks,
        "bodies": contents(next(iter(loads.values()))),
    }
    there = kept(out, loads, {"conditions": conditions, "machine": machine()}, others)
    folders = MeasuredRuns()
    for name, load in loads.items():
        if name in there:
            folders.append(there[name])
            continue
        with shown(name, len(there)) as progress:
            around, watched = surroundings(service, placement, conditions, len(load["lanes"]))
            folder = execute(out / name, load, what=what[name], around=around, interval_s=interval_s, progress=progress)
        add_demands(folder, service, watched)
        folders.append(folder)
        measured(folder)
    return folders
