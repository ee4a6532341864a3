"""`capacity`: a service at a URL, from nothing known to a rate with its interval."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from sojourn.capacity.capacity_report import write_report
from sojourn.capacity.capacity_result import Capacity
from sojourn.capacity.light_load import LIGHT_S, light_load
from sojourn.capacity.search import SHORTEST_S, search
from sojourn.capacity.search_limits import SearchLimits, check_objectives
from sojourn.errors import InputError, SojournError
from sojourn.former_keyword import former_keyword
from sojourn.measure import measure
from sojourn.measure.measure import Shown, levels
from sojourn.query.objectives import failures_allowed, read_objectives
from sojourn.runs.run_folder import RunFolder
from sojourn.runs.watched_resources import WatchedResources
from sojourn.units import per_second, seconds

LONGEST_S = 60.0  # of a run


@former_keyword(
    told="on_text_line",
    on_line="on_text_line",
    limits="search_limits",
    shown="run_progress",
    report="html_report",
    cores="service_runs_on_cores",
    service_cores="service_runs_on_cores",
)
def capacity(
    url: str | Sequence[str],
    objective: str | Sequence[str] = (),
    *,
    out: Path | str | None = None,
    watched: WatchedResources | None = None,
    factors: Mapping[str, Any] | None = None,
    what_if: Sequence[Mapping[str, float]] = (),
    search_limits: SearchLimits | None = None,
    service_runs_on_cores: Iterable[int] = (),
    seed: int | None = None,
    on_text_line: Callable[[str], None] = lambda _line: None,
    run_progress: Shown | None = None,
    html_report: bool = True,
    **load: Any,
) -> Capacity:
    """The largest rate in 1/s at which the service at `url` meets `objective`, by a few runs that a model chooses.

    Args:
        url: where the requests go; several with equal weights.
        objective: upper limits of mean, pQ and errors, such as `p99 < 50ms and errors < 0.1%`; none: where it saturates.
        out: folder for the run folders [runs/capacity-TIME]; one with the same runs goes on. It gets `fitted.toml` and `report.html`, too.
        watched: processes, control groups and disks of the service; None: of a service on loopback the processes that listen there.
        factors: what is true of the service: `{"workers": 2}`. what_if: factors that are other than that: predicted, not run.
        search_limits: how many runs, how long in all, how far (`SearchLimits`).
        service_runs_on_cores: those that the service runs on [as of `measure`]. seed: all schedules repeat from it [another each time].
        on_text_line: is given a line after each run. run_progress: as of `measure`. html_report: whether `report.html` is written.
        load: what else `http_load` takes.

    Raises:
        InputError, QueryError: a value that cannot be, an objective without an upper limit. ServiceError, LoadError: nothing answers there,
        or not even a single user gets good answers. LabError: another measurement runs. RunFolderError: `out` holds something else.
    """
    limits = search_limits or SearchLimits()
    urls = [url] if isinstance(url, str) else list(url)
    objectives = read_objectives([objective] if isinstance(objective, str) else list(objective))
    check_objectives(objectives)
    where = Path(out) if out is not None else Path("runs") / f"capacity-{time.strftime('%Y%m%d-%H%M%S')}"
    _check(factors or {}, what_if)
    common: dict[str, Any] = {
        "watched": watched,
        "service_runs_on_cores": list(service_runs_on_cores),
        "factors": factors,
        "allow_other_levels": True,
        "tolerate_other_programs": True,
        "failures_allowed": failures_allowed(objectives),
        "seed": seed,
        **({"run_progress": run_progress} if run_progress else {}),
        **load,
    }
    began = time.monotonic()

    def users(count: int) -> RunFolder:
        # a user thinks so long that all of them together stay below --max-rate
        rest: dict[str, Any] = {"think_s": count / limits.max_rate_per_s} if limits.max_rate_per_s else {}
        return measure(urls, where / "light", users=[count], duration_s=LIGHT_S, **common, **rest)[0]

    def run(rate_per_s: float, length_s: float) -> RunFolder:
        length_s = _length_there_s(where / "runs", rate_per_s) or round(length_s, 1)
        return measure(urls, where / "runs", rates_per_s=[rate_per_s], duration_s=length_s, **common)[0]

    light = light_load(users, objectives, limits.saturate, limits.level, True, limits.max_rate_per_s)
    full = f", and at most {per_second(light.full_per_s.value)}" if light.full_per_s else ""
    if light.held_per_s is not None:
        full = f", held by --max-rate {per_second(limits.max_rate_per_s)}"
    on_text_line(f"one user: {seconds(light.response_s)}; a few users: {per_second(light.borne_per_s)}{full}")
    found = search(
        run, light, objectives, limits, run_s=_run_s(limits), settings=what_if, clock=lambda: time.monotonic() - began, told=on_text_line
    )  # fmt: skip
    commands = {_named(one): _command(urls, objective, {**(factors or {}), **one}) for one in what_if}
    found = replace(found, elapsed_s=time.monotonic() - began, commands=commands, folder=str(where))
    if found.fitted is not None:
        found.fitted.write(where / "fitted.toml")
    if html_report:
        write_report(found, ", ".join(urls), where)
    return found


def _named(settings: Mapping[str, float]) -> str:
    return ", ".join(f"{k} = {v:g}" for k, v in settings.items())


def _command(urls: Sequence[str], objective: str | Sequence[str], factors: Mapping[str, Any]) -> str:
    """What measures a setting, when the service has it; other options are the same as now."""
    texts = [objective] if isinstance(objective, str) else list(objective)
    parts = ["sojourn", "capacity", *urls, *(part for text in filter(None, texts) for part in ("--objective", text))]
    named = ",".join(f"{k}={v:g}" if isinstance(v, float) else f"{k}={v}" for k, v in factors.items())
    return shlex.join([*parts, "--factor", named])


def _check(factors: Mapping[str, Any], what_if: Sequence[Mapping[str, float]]) -> None:
    """Raises InputError for a setting that is asked for and whose value now nobody said."""
    for one in what_if:
        for name in one:
            if not isinstance(one[name], int | float):
                raise InputError(f"{name} = {one[name]!r}", "--what-if", "give a number")
            if "." not in name and name not in factors:
                raise InputError(f"{name} = {one[name]:g}", "--what-if", f"give its present value: --factor {name}=…")


def _run_s(limits: SearchLimits) -> float:
    """How long a run may be: so that three such runs leave room for the short ones, the fits and the closed loop."""
    return float(round(min(max(limits.within_s / 9, SHORTEST_S), LONGEST_S), 1))


def _length_there_s(where: Path, rate_per_s: float) -> float | None:
    """Of a run at that rate from before, which goes on counting: another search may have had more time left for it, or less."""
    (name,) = levels([rate_per_s], ())
    with suppress(SojournError):
        return float(RunFolder.open(where / name).manifest["load"]["duration_s"])
    return None
