"""What runs say that a fit of any model needs: a row a run, its factors, its means, and what its resources were busy with.

The unit is the run: what differs from run to run is in the spread of the rows, what is uncertain within a run in `error`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn.errors import FitError
from sojourn.fit import observed_time, slow_episodes
from sojourn.fit.meter_errors import bounds
from sojourn.fit.observed_time import ObservedTime
from sojourn.fit.one_service import check_one_service
from sojourn.fit.run_contents import busy_by_resource, cores_told, length_s_of, load_levels, scv_of_responses
from sojourn.model import Model
from sojourn.model.parameters import ParameterFromRuns
from sojourn.runs.core_speed import METRIC
from sojourn.runs.disturbances import DISTURBED
from sojourn.runs.generator_lateness import LatenessError, lateness_error, only_late
from sojourn.runs.pauses import Pauses, run_pauses
from sojourn.runs.run_folder import RunFolder, run_folders, without_manifest
from sojourn.stats.batch_means import standard_error
from sojourn.units import USUAL_LEVEL

Array = NDArray[np.float64]
Factors = dict[str, Any]
MOST_SAID = 5
CPU = ("processes", "cores")  # what tells CPU time, the first that is there


@dataclass(frozen=True)
class FitRun:
    """One run. `means`: (class, metric) → (value, relative standard error within the run), metric `response_time` (s) or
    `throughput` (1/s), class "" for all; `busy`: resource → mean number of servers, cores or disks at work; `scv`: of the
    response times of all, squared coefficient of variation; None where nobody knows. `meter_bounds`: resource → bound of the relative
    error that its meter has in all runs alike. `measured`: (station, class, metric) → value, all means that the run has. `length_s`:
    from its start; 0 where nobody knows. `pauses`: None where nobody looked for them. `beside`: (class, metric) → the
    part of the error of a mean that is not of sampling: a late generator. `observed`: when, of a window of a service
    that nobody loaded. `slowness`: by how many times longer all its times were than at the machine's best (`slow_episodes`).
    `window_s`: how long what was measured is; 0 where nobody knows."""

    name: str
    factors: Factors
    means: Mapping[tuple[str, str], tuple[float, float]]
    busy: Mapping[str, float]
    cores: int = 0  # that the service was placed on; 0 where nobody said
    valid: bool = True
    reasons: tuple[str, ...] = ()
    scv: float | None = None
    meter_bounds: Mapping[str, float] = field(default_factory=dict)
    measured: Mapping[tuple[str, str, str], float] = field(default_factory=dict)
    length_s: float = 0.0
    pauses: Pauses | None = None
    beside: Mapping[tuple[str, str], float] = field(default_factory=dict)
    observed: ObservedTime | None = None
    slowness: float = 1.0
    window_s: float = 0.0

    @property
    def configuration(self) -> str:
        """Runs of one configuration are repetitions."""
        return json.dumps(self.factors, sort_keys=True)

    @property
    def cpu_s(self) -> float:
        """CPU time of a request by the utilisation law, s; 0 where nobody watched it."""
        done = self.means.get(("", "throughput"), (0.0, 0.0))[0]
        return next((self.busy[name] / done for name in CPU if name in self.busy), 0.0) if done > 0 else 0.0

    def busy_at(self, model: Model) -> dict[str, float]:
        """Station, or part of one → servers at work, where all of its resources were watched."""
        given = self.watched(model).items()
        return {s: sum(self.busy[n] for n in names) for s, names in given if all(n in self.busy for n in names)}

    def watched(self, model: Model) -> dict[str, tuple[str, ...]]:
        """Station, or part of one → the resources by which it is watched: `[observed]`, or the one of the same name."""
        same = {s.name: s.name for s in model.stations if s.name in self.busy}
        named = (same | dict(model.observed)).items()
        return {s: (names,) if isinstance(names, str) else tuple(names) for s, names in named}


@dataclass(frozen=True)
class FitRuns:
    """Runs of one service, the valid ones first among equals; `left_out` says which were not used and why, `beside` which were used
    although other work disturbed them."""

    runs: Sequence[FitRun]
    left_out: Sequence[str] = field(default_factory=tuple)
    beside: Sequence[str] = field(default_factory=tuple)

    def notes(self) -> list[str]:
        """What the reader of a fit has to know of its runs."""
        found = _alike(self.left_out)
        found += observed_time.notes([run.observed for run in self.runs])
        found += slow_episodes.notes([(run.name, run.slowness) for run in self.runs])
        if self.beside:
            said = f"{len(self.beside)} of {len(self.runs)} runs were made beside other work, and the predictions assume the same"
            found.append(f"{said}: {self.beside[0]}")
        return found

    @property
    def configurations(self) -> list[str]:
        """Each configuration once, in the order in which they were run."""
        return list(dict.fromkeys(run.configuration for run in self.runs))

    def of(self, model: Model) -> FitRuns:
        """Those that it is a model of. Raises FitError where there is none."""
        own = [run for run in self.runs if model.is_of(run.factors)]
        if len(own) == len(self.runs):
            return self
        said = " and ".join(f"{name} = {value!r}" for name, value in model.where.items())
        if not own:
            raise FitError(f"no run with {said}", "where", "give runs of the service that this model describes")
        return FitRuns(own, (*self.left_out, f"{len(self.runs) - len(own)} runs without {said}"), self.beside)

    @property
    def not_valid(self) -> tuple[str, ...]:
        """Names of those that are not valid and used all the same: late ones, and disturbed ones where few are valid."""
        return tuple(run.name for run in self.runs if run.reasons)

    @property
    def resources(self) -> list[str]:
        return sorted({name for run in self.runs for name in run.busy})


def _alike(left_out: Sequence[str]) -> list[str]:
    """A line for each reason, where more than `MOST_SAID` runs have it."""
    by_reason: dict[str, list[str]] = {}
    for text in left_out:
        by_reason.setdefault(text.partition(": ")[2] or text, []).append(text)
    found = []
    for reason, texts in by_reason.items():
        many = len(texts) > MOST_SAID
        found += [f"left out: {len(texts)} runs: {reason}"] if many else [f"left out: {text}" for text in texts]
    return found


def measured_value(run: FitRun, given: ParameterFromRuns) -> float | None:
    """What the run has of a parameter that was measured; None of a run with other factors than those of `at`."""
    if any(run.factors.get(name) != value for name, value in given.run_factors.items()):
        return None
    whole = run.measured.get(("", "", given.divisor_metric)) if given.divisor_metric else 1.0
    value = run.measured.get((given.metric_station, given.metric_class, given.metric))
    return value / whole if value is not None and whole else None


def observe_runs(folders: Sequence[Path | str | RunFolder], *, slow_seconds: bool = True) -> FitRuns:
    """The runs of folders, or of folders that hold them. Where fewer than half can be used, those that only other work disturbed
    are taken, too: an ordinary machine is never alone, and their answer is that of the service beside such work. `slow_seconds`: whether
    slow seconds of the machine are looked for, which reads the requests of each run.

    Raises:
        RunFolderError: no run folder is there. FitError: none of them can be used; it says why.
    """
    paths = [f for f in folders if isinstance(f, RunFolder)]
    rest = [Path(f) for f in folders if not isinstance(f, RunFolder)]
    opened = paths + [RunFolder.open(p) for p in (run_folders(rest) if rest else [])]
    opened = list({folder.path.resolve(): folder for folder in opened}.values())  # a run that is given twice is one
    check_one_service(opened)
    read = [replace(observe_run(folder), window_s=_window_s(folder)) for folder in opened]
    left = without_manifest(rest)
    scarce = 2 * sum(map(_usable, read)) < len(read)
    taken = [_usable(run) or (scarce and _only_disturbed(run)) for run in read]
    used = [run for run, own in zip(read, taken, strict=True) if own]
    unused = [run for run, own in zip(read, taken, strict=True) if not own]
    left += [
        f"{run.name}: {'; '.join([*run.reasons] if run.means else ['no means were measured', *run.reasons])}"
        for run in unused
    ]
    beside = [f"{run.name}: {'; '.join(run.reasons)}" for run in used if not _usable(run)]
    if not used:
        raise FitError("; ".join(left[:3]) or "no runs", "runs", "give runs that are valid, or measure again")
    if slow_seconds:
        used = _at_speeds(used, [f for f, own in zip(opened, taken, strict=True) if own])
    return FitRuns(used, left, beside)


def _at_speeds(runs: Sequence[FitRun], folders: Sequence[RunFolder]) -> list[FitRun]:
    """With the slowness of each run at a rate, among those that differ from it by their rates alone."""
    own = [i for i, (run, folder) in enumerate(zip(runs, folders, strict=True)) if _at_a_rate(run, folder)]
    groups = [repr({k: v for k, v in runs[i].factors.items() if k != "rate_per_s"}) for i in own]
    found = slow_episodes.slowness_of([folders[i] for i in own], [runs[i].cpu_s for i in own], groups)
    slow = dict(zip(own, found, strict=True))
    return [replace(run, slowness=slow.get(i, 1.0)) for i, run in enumerate(runs)]


def _at_a_rate(run: FitRun, folder: RunFolder) -> bool:
    return "rate_per_s" in run.factors and not folder.manifest.get("simulated") and run.observed is None


def _usable(run: FitRun) -> bool:
    return run.valid and bool(run.means)


def _only_disturbed(run: FitRun) -> bool:
    return bool(run.reasons) and bool(run.means) and all(reason.startswith(DISTURBED) for reason in run.reasons)


def _window_s(folder: RunFolder) -> float:
    start_s, end_s = folder.manifest.get("window_s") or (0.0, 0.0)
    return float(end_s - start_s)


def observe_run(folder: RunFolder) -> FitRun:
    """What one run says, valid or not."""
    manifest = folder.manifest
    frame = folder.frame("metrics")
    means: dict[tuple[str, str], tuple[float, float]] = {}
    busy: dict[str, float] = {}
    beside: dict[tuple[str, str], float] = {}
    measured: dict[tuple[str, str, str], float] = {}
    late_run = only_late(manifest)
    for row in frame.iter_rows(named=True) if frame is not None else ():
        metric, station, value = row["metric"], row["station"], row["value"]
        if value is not None and row.get("q") is None and row.get("n") is None:
            measured[station, row["class"], metric] = value
        if value is None or value <= 0:
            continue
        if station == "" and metric in ("response_time", "throughput"):
            error = (
                standard_error(row["low"], row["high"], row["level"] or USUAL_LEVEL) / value
                if row["low"] is not None
                else 0.0
            )
            late = lateness_error(manifest) if metric == "response_time" else LatenessError(1.0, 0.0)
            means[row["class"], metric] = (value * late.factor, float(np.hypot(error, late.error)))
            beside |= {(row["class"], metric): late.error} if late.error else {}
        elif metric == "utilisation" and station.startswith("core "):
            busy[station] = value
    placed = (manifest.get("placement") or {}).get("server", [])
    speeds = {station: v for (station, _, metric), v in measured.items() if metric == METRIC}
    own = [speeds[f"core {core}"] for core in placed if f"core {core}" in speeds] or list(speeds.values())
    if own:  # of the cores that the service may use, or of all
        measured["", "", METRIC] = float(np.exp(np.mean(np.log(own))))
    going_on = manifest.get("status", "complete") != "complete"
    reasons = manifest.get("reasons") or ([f"its status is {manifest['status']!r}"] if going_on else ())
    verdict = bool(manifest.get("valid")) or late_run, tuple(reasons)
    length_s = length_s_of(manifest)
    observed = ObservedTime.of(manifest)
    if observed:  # a counter has no error of its own but that of its count, of exponential times
        rates = {cls: value for (cls, metric), (value, _) in means.items() if metric == "throughput"}
        counted = {cls: (rate * observed.length_s) ** -0.5 for cls, rate in rates.items()}
        means = {key: (value, error or counted.get(key[0], 0.0)) for key, (value, error) in means.items()}
    named = manifest.get("resources")  # a run of a study's system says what it is made of, and what all its factors are
    if named is not None:
        busy |= busy_by_resource(frame, named)  # beside the cores as they were counted
        cores = 0 if manifest.get("simulated") else len(placed) or (cores_told(named) if observed else 0)
        off = bounds(manifest, named)
        factors = dict(manifest["factors"])
        pauses = None if manifest.get("simulated") else run_pauses(folder)
        return FitRun(
            folder.path.name,
            factors,
            means,
            busy,
            cores,
            *verdict,
            scv_of_responses(folder),
            off,
            measured,
            length_s,
            pauses,
            beside,
            observed,
        )
    done = means.get(("", "throughput"), (0.0, 0.0))[0]
    busy |= {name: demand * done for name, demand in (manifest.get("demands_s") or {}).items()}
    if len(alone := [name for name in busy if name.startswith("process ")]) == 1:
        busy["processes"] = busy[alone[0]]
    if placed and all(f"core {core}" in busy for core in placed):
        busy["cores"] = sum(busy[f"core {core}"] for core in placed)
    for core, station in (manifest.get("servers") or {}).items():
        if f"core {core}" in busy:
            busy[station] = busy.get(station, 0.0) + busy[f"core {core}"]
    factors = {name: value for name, value in manifest.get("factors", {}).items() if name not in ("cores", "nics")}
    factors |= {k: v for k, v in manifest.get("factors", {}).items() if k in ("cores", "nics") and not placed}
    if not {"rate_per_s", "users"} & set(factors):
        factors |= load_levels(manifest)
    return FitRun(
        folder.path.name,
        factors,
        means,
        busy,
        len(placed),
        *verdict,
        scv_of_responses(folder),
        measured=measured,
        length_s=length_s,
        pauses=run_pauses(folder),
        beside=beside,
    )
