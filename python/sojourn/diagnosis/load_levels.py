"""Run folders of a series as levels of load, and what limits the service at each setting of it (`sojourn.diagnosis`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sojourn.diagnosis import Diagnosis, LoadLevel, Rate, WatchedResource, diagnose_levels
from sojourn.former_keyword import former_keyword
from sojourn.runs.generator_lateness import LATE_REASON
from sojourn.runs.manifest import Manifest
from sojourn.runs.pauses import Pauses, run_pauses
from sojourn.runs.run_folder import RunFolder, run_folders
from sojourn.stats.batch_means import standard_error
from sojourn.units import USUAL_LEVEL

LOAD = ("rate_per_s", "users", "think_s")
ASKED = (*LOAD, "cores", "nics", "replication")  # which say nothing of the service's own setting
MEANS = ("offered_per_s", "throughput_per_s", "response_s", "sent_s", "client_busy", "client_shares")
ERRORS = ("throughput_error", "response_error")


@former_keyword(full_per_s="saturation_rate_of")
def diagnose(
    runs: Sequence[Path | str | RunFolder], saturation_rate_of: Callable[[Mapping[str, Any]], Rate | None] | None = None
) -> dict[str, Diagnosis]:
    """Setting of the service ("" where it has one only, `workers = 4`) → what limits it there.

    `saturation_rate_of`: factors of a run → the rate at which a fitted model is full, with its interval; None where it has none.
    Runs that were disturbed, failed or were cut off are left out; overloaded ones are not, they tell most. Empty where no
    run says anything. Raises RunFolderError where no run folder is there.
    """
    given = [r for r in runs if isinstance(r, RunFolder)]
    rest = [Path(r) for r in runs if not isinstance(r, RunFolder)]
    folders = given + [RunFolder.open(p) for p in (run_folders(rest) if rest else [])]
    series: dict[str, dict[str, list[LoadLevel]]] = {}
    fitted: dict[str, Rate | None] = {}
    for folder in folders:
        if folder.manifest.get("observed") and not folder.manifest.get(
            "valid", True
        ):  # of a service that is another now
            continue
        if (level := read_level(folder)) is not None:
            load = str([folder.manifest.get("factors", {}).get(name) for name in LOAD] + [level.users])
            if saturation_rate_of is not None and setting_of(folder) not in series:
                fitted[setting_of(folder)] = saturation_rate_of(folder.manifest.get("factors", {}))
            series.setdefault(setting_of(folder), {}).setdefault(load, []).append(level)
    return {
        setting: diagnose_levels([_mean(own) for own in loads.values()], fitted.get(setting))
        for setting, loads in series.items()
    }


def setting_of(folder: RunFolder) -> str:
    """What is true of the service beside its load: `workers = 4`."""
    factors = folder.manifest.get("factors", {})
    watched = folder.manifest.get("resources") is not None  # of a study's system all factors are its own but the load
    load = (*(LOAD if watched else ASKED), *loads_of_classes(folder))
    own = {k: v for k, v in factors.items() if k not in load}
    return ", ".join(f"{name} = {value}" for name, value in own.items())


def loads_of_classes(folder: RunFolder) -> list[str]:
    """Factors that are the load of one class of an observed window."""
    names = folder.manifest.get("classes") or ()
    return [part for name in names for part in (f"rate_{name}_per_s", f"users_{name}", f"think_{name}_s")]


def load_of(folder: RunFolder) -> float:
    """Users or requests per second that were asked for; those that came where nobody says."""
    factors = folder.manifest.get("factors", {})
    asked = factors.get("users", factors.get("rate_per_s"))
    return float(asked if asked is not None else (folder.manifest.get("generator") or {}).get("offered_per_s") or 0.0)


def read_level(folder: RunFolder) -> LoadLevel | None:
    """One run; None where it says nothing of the service."""
    manifest, frame = folder.manifest, folder.frame("metrics")
    if frame is None or not _tells(manifest):
        return None
    values = {
        (r["station"], r["metric"]): r for r in frame.filter(pl.col("class") == "", pl.col("q").is_null()).to_dicts()
    }
    done, response = (values.get(("", name)) for name in ("throughput", "response_time"))
    if done is None or response is None or not done["value"] or not response["value"]:
        return None
    lanes = manifest.get("load", {}).get("lanes", [])
    threads = [t["cpu_s"] / t["wall_s"] for t in (manifest.get("generator") or {}).get("lanes", ()) if t.get("wall_s")]
    placed = manifest.get("placement") or {}
    apart = bool(placed.get("client")) and not set(placed["client"]) & set(placed.get("server", ()))
    own = _resources(manifest, values, done["value"])
    counted = apart or any(r.name.startswith("cores ") for r in own)  # whose share has the client's in it
    return LoadLevel(
        offered_per_s=values.get(("", "arrival_rate"), done)["value"],
        throughput_per_s=done["value"],
        response_s=response["value"],
        users=_users(manifest, lanes),
        throughput_error=_error(done),
        response_error=_error(response),
        sent_s=values.get(("service", "response_time"), response)["value"],
        connections=sum(int(lane.get("connections_max") or lane.get("connections") or 0) for lane in lanes),
        # a thread is charged with the interrupts that hit it, where they come to the cores that it shares
        client_busy=0.0 if placed.get("client_shares") else max(threads, default=0.0),
        client_shares=0.0 if counted else sum(threads) / max(len(placed.get("server", ())), 1),
        late=any(reason.startswith(LATE_REASON) for reason in manifest.get("reasons", ())),
        resources=tuple(own),
        pauses=run_pauses(folder),
    )


def _users(manifest: Manifest, lanes: Sequence[Mapping[str, Any]]) -> int:
    factors = manifest.get("factors", {})
    told = sum(lane["closed"]["users"] for lane in lanes if lane.get("closed"))
    return int(told or ("rate_per_s" not in factors and factors.get("users", 0)))


def _tells(manifest: Manifest) -> bool:
    bad = ("disturbed", "the run was cut off", "no request")
    return manifest.get("status") == "complete" and not any(r.startswith(bad) for r in manifest.get("reasons", ()))


def _error(row: Mapping[str, Any]) -> float | None:
    """Relative; of intervals as run folders state them: Student's, of batches (`run_metrics`)."""
    if row["low"] is None or row["high"] is None:
        return None
    return standard_error(row["low"], row["high"], row["level"] or USUAL_LEVEL) / float(row["value"])


def _resources(manifest: Manifest, values: Mapping[tuple[str, str], Any], done: float) -> list[WatchedResource]:
    """What was watched of the service; its cores, with all that ran on them, where nothing else was."""
    cores = (manifest.get("placement") or {}).get("server", [])
    known = {
        k: row["value"] for (k, metric), row in values.items() if metric == "utilisation" and row["value"] is not None
    }
    busy = {c: known[f"core {c}"] for c in cores if f"core {c}" in known}
    found: list[WatchedResource] = []
    if (named := manifest.get("resources")) is not None:
        for name, one in named.items():
            found += _of_cpu(name, one, known[name], float(one["capacity"])) if name in known else []
        return found
    demands = manifest.get("demands_s") or {}
    for name, demand in demands.items():
        if name.startswith("disk "):
            found.append(WatchedResource(name, "disk", demand * done))
        elif not (name.startswith("process ") and "processes" in demands):
            found += _of_cpu(name, {}, demand * done / max(len(cores), 1), float(max(len(cores), 1)))
    for station in dict.fromkeys((manifest.get("servers") or {}).values()):
        own = [busy[int(c)] for c, s in manifest["servers"].items() if s == station and int(c) in busy]
        found += [WatchedResource(station, "station", float(np.mean(own)))] if own else []
    if busy and not found:
        found.append(WatchedResource(_span(list(busy)), "cores", float(np.mean(list(busy.values())))))
    return found


def _of_cpu(name: str, said: Mapping[str, Any], busy: float, capacity: float) -> list[WatchedResource]:
    """CPU time as a share of all cores, and of one: a thread, or a lock around the work, can use no more."""
    for kind in ("disk", "station"):
        if said.get(kind):
            return [WatchedResource(name, kind, busy)]
    if said.get("cores"):
        return [WatchedResource(_span(said["cores"]), "cores", busy)]
    label = f"CPU of {name}" if name.startswith("process") or name.startswith("cgroup") else name
    of_all, one = WatchedResource(label, "cores", busy), busy * capacity
    return (
        [of_all, WatchedResource(f"one thread of {name}", "thread", one)] if capacity > 1 and one <= 1.05 else [of_all]
    )


def _span(cores: Sequence[int]) -> str:
    consecutive = len(cores) > 1 and list(cores) == list(range(cores[0], cores[-1] + 1))
    return f"cores {cores[0]}-{cores[-1]}" if consecutive else f"cores {', '.join(map(str, cores))}"


def _mean(own: Sequence[LoadLevel]) -> LoadLevel:
    """Repetitions of a level as one, whose means are theirs."""
    means: dict[str, Any] = {name: float(np.mean([getattr(one, name) for one in own])) for name in MEANS}
    for name in ERRORS:
        errors = [getattr(one, name) for one in own]
        means[name] = None if None in errors else float(np.mean(errors) / np.sqrt(len(own)))
    shares = {r.name: [x.busy for one in own for x in one.resources if x.name == r.name] for r in own[0].resources}
    resources = tuple(replace(r, busy=float(np.mean(shares[r.name]))) for r in own[0].resources)
    seen = [one.pauses for one in own if one.pauses is not None]
    whole = Pauses(
        tuple(x for one in seen for x in one.lengths_s),
        sum(one.window_s for one in seen),
        sum(one.answers for one in seen),
    )
    return replace(
        own[0], **means, pauses=whole if seen else None, late=any(one.late for one in own), resources=resources
    )
