"""Busy shares in time, from what a run's host recorded: of the machine, of cores, of disks, of control groups, of a study's resources."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from sojourn.errors import InputError, RunFolderError
from sojourn.runs.host_samples import BUSY, EVERYTHING, growth
from sojourn.runs.resources import MeasuredResource
from sojourn.runs.run_folder import RunFolder
from sojourn.runs.watched_resources import Key, disk, group, station
from sojourn.stats.circular_shift import Array

MOST_MISSED = 0.05  # of the time: samples that were not taken
MOST_BUSY = 1.02  # in the mean; a sample alone may show more, since counters go in steps
MOST_TOLD = 12
# idle, while a process that last ran on the core waits for a disk (proc_stat(5))
CORE_STATES = {"cpu": BUSY, "iowait": ("iowait",)}
FORMS = (
    "cpu, cpu:0-1 (cores), iowait, disk:NAME, cgroup:NAME, station:NAME of a simulated run, or a resource of the study"
)


def busy_series(folder: RunFolder, names: Sequence[str]) -> tuple[Array, float]:
    """The busy shares of `names` (k of them) in the run's window, shape (k, n), and the interval between two samples, s. Counters go in
    steps of 4 or 10 ms, so that one of 0.1 s may exceed 1. Where a sample was missed, its time has the share of the time around it.

    Raises:
        RunFolderError: the run has no host record, or too many samples were missed. InputError: there is no such resource, or it
        is busier than it can be.
    """
    host = folder.frame("host")
    if host is None or host.is_empty():
        raise RunFolderError("no host record", folder.path, "measure with host metrics, as `sojourn measure` does")
    edges = _edges(host, folder)
    shares = np.stack([_share(host, folder, name, edges) for name in names])
    for name, mean in zip(names, shares.mean(axis=1), strict=True):
        if mean > MOST_BUSY:
            raise InputError(
                f"{name} is busy {mean:.2f} of its capacity", folder.path, "set its true capacity in the study"
            )
    return shares, float(np.median(np.diff(edges)))


def _edges(host: pl.DataFrame, folder: RunFolder) -> Array:
    """When it was sampled in the window; times at which it should have been, where it was not, shape (n + 1,)."""
    start_s, end_s = folder.manifest.get("window_s") or (-np.inf, np.inf)
    times = host.filter(pl.col("t_s").is_between(start_s, end_s))["t_s"].unique().sort().to_numpy()
    if times.size < 3:
        raise RunFolderError(f"{times.size} host samples in its window", folder.path, "give a longer run")
    steps = np.diff(times)
    missed = np.maximum(1, np.round(steps / np.median(steps))).astype(int)
    share = float(steps[missed > 1].sum() / steps.sum())
    if share > MOST_MISSED:
        found = f"samples are missing for {share:.0%} of its window"
        raise RunFolderError(found, folder.path, f"at most {MOST_MISSED:.0%}; give the collector its own core")
    parts = [np.linspace(t, t + step, n, endpoint=False) for t, step, n in zip(times, steps, missed, strict=False)]
    return np.concatenate([*parts, times[-1:]])


def _share(host: pl.DataFrame, folder: RunFolder, name: str, edges: Array) -> Array:
    kind, _, rest = name.partition(":")
    cores = sorted({int(key) for key in _keys(host, "cpu")})
    if kind in CORE_STATES:
        return _of_cores(host, _chosen(name, rest, cores), edges, CORE_STATES[kind])
    if kind == "disk":
        return _grown(host, _known(host, disk(rest), name), edges) * 1e-3 / np.diff(edges)
    if kind == "cgroup":
        used = _grown(host, _known(host, group(rest), name), edges)
        return used / (_capacity(folder, rest, len(cores)) * np.diff(edges))
    if kind == "station":
        return _of_station(host, folder, name, rest, edges)
    resources = folder.manifest.get("resources") or {}
    if name not in resources:
        there = f"; its resources: {', '.join(resources)}" if resources else ""
        raise InputError(f"no {name}", folder.path, f"give {FORMS}{there}")
    return _of_resource(host, MeasuredResource(**resources[name]), name, edges)


def _capacity(folder: RunFolder, cgroup: str, cores: int) -> float:
    """In cores: what the study says of the control group, else the machine."""
    resources = (folder.manifest.get("resources") or {}).values()
    return next((float(one["capacity"]) for one in resources if one.get("cgroup") == cgroup), float(cores))


def _of_resource(host: pl.DataFrame, resource: MeasuredResource, name: str, edges: Array) -> Array:
    if resource.cores:
        return _of_cores(host, list(resource.cores), edges)
    parts = [
        _grown(host, key, edges) * (1e-3 if key[2] == "io_ms" else 1.0)
        for key in resource.counters()
        if key[1] in _keys(host, key[0])
    ]
    if not parts:
        raise InputError(f"nothing of {name} was recorded", "host.parquet", f"give {FORMS}")
    share: Array = np.sum(parts, axis=0) / (resource.capacity * np.diff(edges))
    return share


def _of_station(host: pl.DataFrame, folder: RunFolder, name: str, rest: str, edges: Array) -> Array:
    """Of a simulated run: of all servers of a queue."""
    servers = list((folder.manifest.get("servers") or {}).values()).count(rest) or 1
    return _grown(host, _known(host, station(rest), name), edges) / (servers * np.diff(edges))


def _of_cores(host: pl.DataFrame, cores: Sequence[int], edges: Array, counted: Sequence[str] = BUSY) -> Array:
    """By ticks, the states that are `counted`, of the time in all; spinners run at nice 19 and count as idle, as in `core_shares`."""
    own = host.filter(pl.col("source") == "cpu", pl.col("key").is_in([str(core) for core in cores]))
    states = {item: _sum(own.filter(pl.col("item") == item), edges) for item in EVERYTHING}
    busy = np.sum([states[item] for item in counted], axis=0)
    total = np.sum(list(states.values()), axis=0)
    share: Array = busy / np.where(total > 0, total, 1.0)
    return share


def _sum(rows: pl.DataFrame, edges: Array) -> Array:
    """Growth of all counters in `rows` together."""
    grown = np.zeros(edges.size - 1)
    for times, values in rows.sort("t_s").group_by("key").agg("t_s", "value").select("t_s", "value").iter_rows():
        grown += growth(np.array(times), np.array(values), edges)
    return grown


def _grown(host: pl.DataFrame, key: Key, edges: Array) -> Array:
    source, name, item = key
    grown = _sum(host.filter(pl.col("source") == source, pl.col("key") == name, pl.col("item") == item), edges)
    return np.maximum(grown, 0.0)  # a counter that was reset


def _keys(host: pl.DataFrame, source: str) -> list[str]:
    return sorted(host.filter(pl.col("source") == source)["key"].unique().drop_nulls())


def _known(host: pl.DataFrame, key: Key, name: str) -> Key:
    there = _keys(host, key[0])
    if key[1] not in there:
        kind = name.partition(":")[0]
        told = ", ".join(f"{kind}:{one}" for one in there[:MOST_TOLD]) + (" …" if len(there) > MOST_TOLD else "")
        remedy = f"give one of {told}" if there else f"none was recorded; give {FORMS}"
        raise InputError(f"no {name} in the host record", "host.parquet", remedy)
    return key


def _chosen(name: str, text: str, there: Sequence[int]) -> list[int]:
    """`0-1,3` of the cores that were recorded; all where nothing is said."""
    from sojourn.lab.cpu_topology import core_list

    if not text:
        return list(there)
    wanted = core_list(text, name)
    if missing := [core for core in wanted if core not in there]:
        raise InputError(f"no core {missing[0]}", name, f"give some of {', '.join(map(str, there))}")
    return wanted
