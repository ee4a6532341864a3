"""`capacity`: a service at a URL, from nothing known to a rate with its interval."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sojourn.capacity.capacity_result import Capacity
from sojourn.capacity.search import search
from sojourn.capacity.search_limits import LightLoad, SearchLimits
from sojourn.errors import InputError, NoSuchRow, RunFolderError, ServiceError
from sojourn.lab.listening_process import listening_processes
from sojourn.measure import measure
from sojourn.measure.measure import Shown
from sojourn.query.objectives import Objective, judge, read_objectives
from sojourn.runs.assess_run import REQUESTS_FAILED
from sojourn.runs.run_folder import RunFolder
from sojourn.runs.watched_resources import WatchedResources
from sojourn.units import per_second, seconds

LIGHT_S = 2.0  # of each number of users, before the first rate
LIGHT_USERS = (1, 2, 4, 8, 16, 32, 64)
RISEN = 1.2  # response times over those of a single user: somebody waited
FIT_S = 5.0  # that a fit takes beside a run
LONGEST_S, SHORTEST_S = 60.0, 4.0


def capacity(
    url: str | Sequence[str],
    objective: str | Sequence[str] = (),
    *,
    out: Path | str | None = None,
    watched: WatchedResources | None = None,
    factors: Mapping[str, Any] | None = None,
    what_if: Sequence[Mapping[str, float]] = (),
    limits: SearchLimits | None = None,
    cores: Iterable[int] = (),
    seed: int = 1,
    told: Callable[[str], None] = lambda _line: None,
    shown: Shown | None = None,
    **load: Any,
) -> Capacity:
    """The largest rate in 1/s at which the service at `url` meets `objective`, by a few runs that a model chooses.

    Args:
        url: where the requests go; several with equal weights.
        objective: upper limits of mean, pQ and errors, such as `p99 < 50ms and errors < 0.1%`; none: where it saturates.
        out: folder for the run folders [runs/capacity-TIME]; one with the same runs goes on. It gets `fitted.toml`, too.
        watched: processes, control groups and disks of the service; None: of a service on loopback the processes that listen there.
        factors: what is true of the service: `{"workers": 2}`. what_if: factors that are other than that: predicted, not run.
        limits: how many runs, how long in all, how far (`SearchLimits`).
        cores: those that the service runs on [all]. seed: of the first run's schedule.
        told: is given a line after each run. shown: as of `measure`. load: what else `http_load` takes.

    Raises:
        InputError, QueryError: a value that cannot be, an objective without an upper limit. ServiceError, LoadError: nothing answers there,
        or not even a single user gets good answers. LabError: another measurement runs. RunFolderError: `out` holds something else.
    """
    limits = limits or SearchLimits()
    urls = [url] if isinstance(url, str) else list(url)
    objectives = read_objectives([objective] if isinstance(objective, str) else list(objective))
    where = Path(out) if out is not None else Path("runs") / f"capacity-{time.strftime('%Y%m%d-%H%M%S')}"
    _check(factors or {}, what_if)
    watched = watched or WatchedResources(pids=() if load.get("unix_socket") else _listening(urls))
    cores = list(cores)
    common: dict[str, Any] = {
        "watched": watched,
        "cores": cores,
        "factors": factors,
        **({"shown": shown} if shown else {}),
        **load,
    }
    began = time.monotonic()
    light = _light(
        lambda users: measure(
            urls, where / "light", users=[users], duration_s=LIGHT_S, seed=seed, others=True, **common
        )[0],
        objectives,
    )
    told(f"one user: {seconds(light.response_s)}; few users: up to {per_second(light.borne_per_s)}")
    run_s = _run_s(limits, time.monotonic() - began)

    def run(rate_per_s: float) -> RunFolder:
        number = sum(1 for _ in (where / "runs").glob("*/manifest.json"))
        return measure(
            urls,
            where / "runs",
            rates_per_s=[rate_per_s],
            duration_s=run_s,
            seed=seed + 1 + number,
            others=True,
            **common,
        )[0]

    def clock() -> float:
        return time.monotonic() - began

    found = search(run, light, objectives, limits, run_s=run_s + FIT_S, settings=what_if, clock=clock, told=told)
    if found.fitted is not None:
        found.fitted.write(where / "fitted.toml")
    return found


def _check(factors: Mapping[str, Any], what_if: Sequence[Mapping[str, float]]) -> None:
    """Raises InputError for a setting that is asked for and whose value now nobody said."""
    for one in what_if:
        for name in one:
            if "." not in name and name not in factors:
                raise InputError(f"{name} = {one[name]:g}", "--what-if", f"say what it is now: --factor {name}=…")


def _listening(urls: Sequence[str]) -> tuple[int, ...]:
    found: set[int] = set()
    for url in urls:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        found |= set(listening_processes(parts.hostname or "", port))
    return tuple(sorted(found))


def _run_s(limits: SearchLimits, spent_s: float) -> float:
    """How long each run is: the time that is left, over the runs."""
    each = (limits.within_s - spent_s) / limits.runs - FIT_S
    return float(round(min(max(each, SHORTEST_S), LONGEST_S), 1))


def _light(run: Callable[[int], RunFolder], objectives: Sequence[Objective]) -> LightLoad:
    """One user, then more, until somebody waited. ServiceError where nothing good was answered."""
    alone = run(LIGHT_USERS[0])
    borne, response = _means(alone)
    judged = judge(alone, objectives, whole=False)
    missed = ", ".join(f"{one['objective']}: {one['shown']}" for one in judged if not one["met"])
    for users in LIGHT_USERS[1:] if not missed else ():
        rate, own = _means(run(users))
        borne = max(borne, rate)
        if own > RISEN * response:
            break
    return LightLoad(borne, response, missed)


def _means(folder: RunFolder) -> tuple[float, float]:
    reasons = [reason for reason in folder.manifest["reasons"] if REQUESTS_FAILED in reason]
    try:
        rows = folder.metrics()
        found = rows.value("throughput"), rows.value("response_time")
    except (NoSuchRow, RunFolderError):
        found = math.nan, math.nan
    if reasons or not min(found) > 0:
        why = reasons[0] if reasons else "no request was answered"
        raise ServiceError(f"{folder.path.name}: {why}", folder.path, "see that the URL answers, and what it answers")
    return found
