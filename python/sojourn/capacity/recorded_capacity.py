"""`capacity_of_runs`: the largest rate that meets an objective, from runs or observed windows that are there; nothing is loaded.

The fit, the limit of the objective and the answer are those of a search (`search_state`, `objective_limit`, `capacity_answer`). What is
missing is the next run: so it is said what these records cannot tell, and which load test would.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sojourn.capacity.capacity_answer import FAR, answer_of, times_of
from sojourn.capacity.capacity_result import Capacity, CapacityRun
from sojourn.capacity.capacity_run import capacity_run
from sojourn.capacity.light_load import light_load
from sojourn.capacity.pooled_windows import LEVELS, pooled
from sojourn.capacity.rate_interval import RateInterval
from sojourn.capacity.search import STEP
from sojourn.capacity.search_limits import LightLoad, SearchLimits, check_objectives
from sojourn.capacity.search_state import SearchState, state_of
from sojourn.capacity.short_run_error import as_modelled
from sojourn.diagnosis.load_levels import loads_of_classes, setting_of
from sojourn.errors import InputError, ServiceError
from sojourn.fit import FitRuns, observe_runs
from sojourn.fit.run_contents import load_levels
from sojourn.former_keyword import former_keyword
from sojourn.query.objectives import Objective, read_objectives
from sojourn.runs.run_folder import RunFolder, run_folders
from sojourn.stats.rate_spread import rate_spread
from sojourn.units import USUAL_LEVEL, per_second

CONSTANT = 0.05  # relative standard deviation of the rates, up to which runs tell nothing of how response times grow
MORE = 1.2  # errors that grow by as much by the model are fitted again
SURE = 2.0  # standard errors
NO_LOAD = "nothing was loaded"


@former_keyword(at_least_per_s="required_rate_per_s")
def capacity_of_runs(
    folders: Sequence[Path | str],
    objective: str | Sequence[str] = (),
    *,
    what_if: Sequence[Mapping[str, float]] = (),
    level: float = USUAL_LEVEL,
    required_rate_per_s: float | None = None,
    out: Path | str | None = None,
) -> Capacity:
    """The largest rate in 1/s at which the service of these runs meets `objective`.

    Args:
        folders: run folders, or folders of them: runs of `measure`, windows of `observe`, what an earlier `capacity` left. Nothing is
        written to them. Of runs with users those without think time say where the service is full; others are left out.
        objective, what_if: as of `capacity`. level: of the intervals, in (0, 1). required_rate_per_s: the rate that is asked of the
        service. out: folder that gets `fitted.toml`.

    Raises:
        InputError: an objective without an upper limit, runs of several settings of the service, or none with a rate. RunFolderError: no
        run folder is there.
    """
    began = time.monotonic()
    limits = SearchLimits(level=level, required_rate_per_s=required_rate_per_s)
    objectives = read_objectives([objective] if isinstance(objective, str) else list(objective))
    check_objectives(objectives)
    opened = [RunFolder.open(path) for path in run_folders([Path(one) for one in folders])]
    place = ", ".join(map(str, folders))
    rated = [(folder, rate) for folder in opened if (rate := _rate_of(folder)) is not None]
    if not rated:
        said = f"{len(opened)} runs with users" if opened else "no run"
        raise InputError(said, place, "give runs with a rate: users that wait for their answers have no rate to offer")
    kept = [folder for folder, _ in rated]
    _check_settings(kept, place)
    runs = [capacity_run(folder, rate, objectives, keep=False) for folder, rate in rated]
    light = _light(opened, runs, objectives, level)
    state = SearchState(why=f"no rate meets {objective}: a single user misses {light.missed}") if light.missed else None
    told, said = _constant(kept, runs), _of(kept)
    requests = sum(run.requests for run in runs)
    seen = _of_all_classes(observe_runs(kept, slow_seconds=False), kept)
    if all("observed" in folder.manifest for folder in kept) and not told:
        seen, runs = pooled(seen, runs)
        kept = _busiest(kept)
    if state is None:
        state = SearchState(why=told) if told else _state(seen, runs, objectives, level, light)
    found = answer_of(state, kept, runs, objectives, light, limits, what_if, said, time.monotonic() - began)
    found = believed(found, runs, _url(kept))
    if found.fitted is not None and out is not None:
        Path(out).mkdir(parents=True, exist_ok=True)
        found.fitted.write(Path(out) / "fitted.toml")
    return replace(found, requests=requests, elapsed_s=time.monotonic() - began, folder=str(out or ""))


def _rate_of(folder: RunFolder) -> float | None:
    """That was asked for, or that came in a window; None of users."""
    factors = folder.manifest.get("factors") or {}
    if folder.manifest.get("status", "complete") != "complete":
        return None
    rate = factors.get("rate_per_s", None if "users" in factors else load_levels(folder.manifest).get("rate_per_s"))
    return float(rate) if rate else None


def _check_settings(folders: Sequence[RunFolder], place: str) -> None:
    settings = list(dict.fromkeys(setting_of(folder) for folder in folders))
    if len(settings) > 1:
        raise InputError(
            f"runs of {len(settings)} settings: {'; '.join(settings[:3])}", place,
            "give the runs of the present one; --what-if predicts another",
        )  # fmt: skip


def _of_all_classes(seen: FitRuns, folders: Sequence[RunFolder]) -> FitRuns:
    """With the rate of all requests as their load: the mix is that of the record."""
    own = {name for folder in folders for name in loads_of_classes(folder)}
    runs = [replace(run, factors={k: v for k, v in run.factors.items() if k not in own}) for run in seen.runs]
    return replace(seen, runs=runs)


def _light(
    folders: Sequence[RunFolder], runs: Sequence[CapacityRun], objectives: Sequence[Objective], level: float
) -> LightLoad:
    """What users say who wait for their answers and do not think, where a single one is among the runs."""
    users: dict[int, RunFolder] = {}
    for folder in folders:
        load = {**load_levels(folder.manifest), **(folder.manifest.get("factors") or {})}
        if "users" in load and not load.get("think_s") and "observed" not in folder.manifest:
            users[int(load["users"])] = folder

    def run(count: int) -> RunFolder:
        if count not in users:
            raise ServiceError(f"no run with {count} users", "--from-runs", "none is needed")
        return users[count]

    try:
        return light_load(run, objectives, level=level, keep=False)
    except ServiceError:
        return LightLoad(max(run.achieved_per_s for run in runs), 0.0)


def _constant(folders: Sequence[RunFolder], runs: Sequence[CapacityRun]) -> str:
    """Why these rates tell nothing of others; "" where they do."""
    rates = np.array([run.rate_per_s for run in runs])
    low, high = per_second(float(rates.min())), per_second(float(rates.max()))
    windows = [one.manifest["observed"]["length_s"] for one in folders if "observed" in one.manifest]
    if rate_spread(rates, float(np.median(windows)) if windows else np.inf) > CONSTANT:
        return ""
    return f"the rate hardly changed ({low} to {high}), so these runs do not tell how response times grow with it"


def _state(
    folders: FitRuns,
    runs: Sequence[CapacityRun],
    objectives: Sequence[Objective],
    level: float,
    light: LightLoad,
) -> SearchState:
    """As a search has it after its last run: with errors of the runs that are no smaller than those by the model before."""
    times = times_of(objectives)
    first = state_of(folders, runs, times, level, SearchState(), light.few_full_per_s)
    known = as_modelled(runs, first.fitted)
    if not any(new.response_error > MORE * old.response_error for new, old in zip(known, runs, strict=True)):
        return first
    return state_of(folders, runs, times, level, SearchState(first.fitted), light.few_full_per_s)


def believed(found: Capacity, runs: Sequence[CapacityRun], url: str) -> Capacity:
    """Where all runs are far below the answer, a limit that did not show yet may come before: then the lower end is what was seen, and
    there is no upper one. What is open, and the load test that would tell it, is in the notes."""
    notes, rate = list(found.notes), found.rate_per_s
    highest = max(run.achieved_per_s or run.rate_per_s for run in runs)
    asked = f" --objective {shlex.quote(found.objective)}" if found.objective else ""
    more = f"sojourn capacity {url}{asked}"
    if rate is not None and highest < FAR * rate.value:
        seen = max((run.achieved_per_s for run in runs if run.valid and _meets(run, found)), default=0.0)
        rate = RateInterval(rate.value, min(rate.low, seen), None)
        notes.append(
            f"a limit that shows only above {per_second(highest)} is not in these runs, so that the interval has no upper end; a load "
            f"test would show it: {more} --max-rate {per_second(STEP * highest).removesuffix(' /s')}"
        )
    elif rate is not None and rate.high is not None and (above := _surely_met(runs, found)) > rate.high:
        rate = RateInterval(above, rate.low, None)
        notes.append(
            f"at {per_second(above)} the objective was met, above all that the model says: it is off, and the interval has no upper end; a "
            f"load test would show it: {more}"
        )
    elif rate is None or rate.high is None:
        notes.append(f"a load test would show it: {more}")
    quantiles = [one for one in _objectives(found) if one.figure[0] == "p"]
    unmeasured = [one.figure for one in quantiles if not any(run.objective_values.get(one.figure) for run in runs)]
    if unmeasured and rate is not None:
        notes.append(f"no run has a {unmeasured[0]}: this one is the model's, with the error that its form usually has")
    return replace(found, rate_per_s=rate, notes=tuple(notes))


def _surely_met(runs: Sequence[CapacityRun], found: Capacity) -> float:
    """The highest rate at which each figure was measured, and below its limit by more than its error; 0 where there is none."""
    margin = {run.name: {"mean": run.response_error, **run.objective_value_errors} for run in runs}
    return max(
        (
            run.achieved_per_s
            for run in runs
            if run.valid
            and all(
                (value := run.response_s if one.figure == "mean" else run.objective_values.get(one.figure)) is not None
                and one.met(value * (1 + SURE * margin[run.name].get(one.figure, 0.0)))
                for one in _objectives(found)
            )
        ),
        default=0.0,
    )


def _meets(run: CapacityRun, found: Capacity) -> bool:
    """Whether what the run has meets the objective; a figure that it lacks does not say no."""
    known = {"mean": run.response_s, **{k: v for k, v in run.objective_values.items() if v is not None}}
    return all(one.met(known[one.figure]) for one in _objectives(found) if known.get(one.figure) is not None)


def _objectives(found: Capacity) -> list[Objective]:
    return read_objectives([found.objective]) if found.objective else []


def _url(folders: Sequence[RunFolder]) -> str:
    """What was loaded; "URL" of windows."""
    for folder in folders:
        for lane in folder.manifest.get("load", {}).get("lanes", []):
            for target in lane.get("targets", []):
                if target.get("url"):
                    return shlex.quote(str(target["url"]))
    return "URL"


def _of(folders: Sequence[RunFolder]) -> str:
    windows: list[dict[str, Any]] = [one.manifest["observed"] for one in folders if "observed" in one.manifest]
    kind = f"{len(windows)} windows of {windows[0]['length_s']:g} s" if windows else "recorded before"
    return f"{kind}; {NO_LOAD}"


def _busiest(folders: Sequence[RunFolder]) -> list[RunFolder]:
    """Those of the highest rates, by which it is told what limits the service: reading each of a week takes long."""
    return sorted(folders, key=lambda one: float(_rate_of(one) or 0.0))[-LEVELS:]
