"""What a system is made of, as far as it can be measured: by resource, how busy it was in a run and what an operation takes.

Utilisation is busy time over capacity and elapsed time, and the service demand D = U c / X = busy time a second over the
throughput (the utilisation law; Lazowska et al., Quantitative System Performance (1984), chapter 3). Both are of the window.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from sojourn.runs.run_folder import RunFolder
from sojourn.runs.run_metrics import metrics_row
from sojourn.runs.watched_resources import Key, busy_per_s, completed_per_s, disk, group, process, station
from sojourn.table import COLUMNS, Metrics


@dataclass(frozen=True)
class MeasuredResource:
    """A part of the service whose busy time a run records. Give one of: processes, a control group or several (paths below
    /sys/fs/cgroup), a disk, a station of a simulated model, or cores (all work that they do). `capacity`: seconds of busy time that
    are possible in one second, i.e. the number of cores, disks or servers."""

    capacity: float
    pids: tuple[int, ...] = ()
    cgroup: str | None = None
    disk: str | None = None
    station: str | None = None
    cores: tuple[int, ...] = ()
    cgroups: tuple[str, ...] = ()

    def counters(self) -> list[Key]:
        """Where its busy time stands in the host samples."""
        found = [process(pid) for pid in self.pids] if self.cgroup is None else [group(self.cgroup)]
        found += [group(name) for name in self.cgroups]
        found += [disk(self.disk)] if self.disk is not None else []
        found += [station(self.station)] if self.station is not None else []
        return found + [_core(core, "utilisation") for core in self.cores]


def resource_rows(folder: RunFolder, resources: Mapping[str, MeasuredResource]) -> list[dict[str, Any]]:
    """Rows `utilisation` and `service_demand` of each resource of which something was recorded; of cores what of it were
    interrupts, too (`softirq_utilisation`, by ticks)."""
    per_s, throughput = busy_per_s(folder) | _of_cores(folder), completed_per_s(folder)
    rows = []
    for name, resource in resources.items():
        known = [per_s[key] for key in resource.counters() if key in per_s]
        if not known:
            continue
        rows.append(metrics_row("utilisation", sum(known) / resource.capacity, station=name, unit="1"))
        if throughput:
            rows.append(metrics_row("service_demand", sum(known) / throughput, station=name))
        soft = [per_s[key] for core in resource.cores if (key := _core(core, "softirq_utilisation")) in per_s]
        if soft:
            rows.append(metrics_row("softirq_utilisation", sum(soft) / resource.capacity, station=name, unit="1"))
    return rows


def _core(number: int, metric: str) -> Key:
    return "core", str(number), metric


def _of_cores(folder: RunFolder) -> dict[Key, float]:
    """Shares of each core's time, as the run's Metrics have them (runs/core_utilisation.py)."""
    frame = folder.frame("metrics")
    if frame is None:
        return {}
    rows = frame.filter(pl.col("station").str.starts_with("core "), pl.col("value").is_not_null())
    return {
        _core(int(name.removeprefix("core ")), metric): value
        for name, metric, value in rows.select("station", "metric", "value").iter_rows()
    }


def add_resources(
    folder: RunFolder,
    resources: Mapping[str, MeasuredResource],
    factors: Mapping[str, Any],
    more: Iterable[dict[str, Any]] = (),
) -> None:
    """Puts these rows, those that a system has beside them (`more`) and `factors`, which are all that the run has, into its
    metrics.parquet and its manifest."""
    folder.manifest["factors"] = dict(factors)
    folder.manifest["resources"] = {name: _said(resource) for name, resource in resources.items()}
    file = folder.path / "metrics.parquet"
    if file.exists():
        there = Metrics.read(file)
        source = "simulated" if folder.manifest.get("simulated") else "measured"
        rows = [{**one, "source": source} for one in (*resource_rows(folder, resources), *more)]
        plain = Metrics(there.frame.select(*COLUMNS), there.method)
        constants = {"run": folder.path.name, **factors}
        Metrics.concat([plain, Metrics.of(rows, source)]).with_factors(**constants).write(file)
    folder.save()


def _said(resource: MeasuredResource) -> dict[str, Any]:
    return {key: value for key, value in vars(resource).items() if value not in (None, ())}
