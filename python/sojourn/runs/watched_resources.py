"""What of the service's host belongs to the service, as its user says: processes, control groups, disks. What they were
busy with in a run, over the requests that were answered, is their demand a request: D = U / X (the utilisation law,
Lazowska et al., Quantitative System Performance (1984), chapter 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from sojourn.errors import InputError
from sojourn.runs.host_samples import counter_changes
from sojourn.runs.run_folder import RunFolder

Key = tuple[str, str, str]  # source, key and item of a counter of host.parquet
GROUPS = ("", "unified", "cpuacct", "cpu,cpuacct")


@dataclass(frozen=True)
class WatchedResources:
    """Process ids, control groups (paths below /sys/fs/cgroup), disks (names in /proc/diskstats)."""

    pids: tuple[int, ...] = ()
    cgroups: tuple[str, ...] = ()
    disks: tuple[str, ...] = ()

    def roles(self) -> dict[str, int]:
        """The processes as the manifest has them."""
        return {f"process {pid}": pid for pid in self.pids}


def watched(
    pids: str | None = None,
    cgroups: Sequence[str] | None = None,
    disks: Sequence[str] | None = None,
    proc: Path = Path("/proc"),
    groups: Path = Path("/sys/fs/cgroup"),
) -> WatchedResources:
    """`4711,4712`, names of control groups and of disks, all of which must be there.

    Raises:
        InputError: one is not.
    """
    try:
        ids = tuple(int(part) for part in (pids or "").split(",") if part.strip())
    except ValueError:
        raise InputError(repr(pids), "--service-pids", "give process ids like 4711,4712") from None
    for pid in ids:
        if pid < 1 or not (proc / str(pid)).is_dir():
            raise InputError(f"no process {pid}", "--service-pids", "give ids of processes that run here (pgrep NAME)")
    names = tuple(name.removeprefix(str(groups)).strip("/") for name in cgroups or ())
    for name in names:
        if not name or ".." in name or not any((groups / part / name).is_dir() for part in GROUPS):
            raise InputError(f"no control group {name}", "--service-cgroup", f"give its path below {groups}")
    known = [line.split()[2] for line in (proc / "diskstats").read_text().splitlines()] if disks else []
    for disk in disks or ():
        if disk not in known:
            raise InputError(
                f"no disk {disk}", "--service-disk", f"use one of {', '.join(known) or 'none: none exists'}"
            )
    return WatchedResources(ids, names, tuple(disks or ()))


def demands(folder: RunFolder, of: WatchedResources) -> dict[str, float]:
    """Seconds a successful request of the run's window: CPU time of `process N`, of all `processes`, of `cgroup NAME`; busy
    time of `disk NAME`. Empty without requests or host samples; what ended meanwhile is left out."""
    throughput, per_s = completed_per_s(folder), busy_per_s(folder)
    if not throughput:
        return {}
    wanted = {f"process {pid}": process(pid) for pid in of.pids}
    wanted |= {f"cgroup {name}": group(name) for name in of.cgroups}
    wanted |= {f"disk {name}": disk(name) for name in of.disks}
    found = {name: per_s[key] / throughput for name, key in wanted.items() if key in per_s}
    if len(of.pids) > 1:
        found["processes"] = sum(found.get(f"process {pid}", 0.0) for pid in of.pids)
    return found


def process(pid: int) -> Key:
    return "procs", str(pid), "run_s"


def group(name: str) -> Key:
    return "cgroups", name, "usage_s"


def group_name(path: Path) -> str:
    """Of the control group at `path`, as the collector has it: below the root of its hierarchy."""
    parts = path.relative_to("/sys/fs/cgroup").parts
    return str(Path(*parts[1:])) if parts[0] in GROUPS else str(Path(*parts))


def disk(name: str) -> Key:
    return "disks", name, "io_ms"


def station(name: str) -> Key:
    """Of a simulated run: busy time of all servers of a station."""
    return "station", name, "busy"


def completed_per_s(folder: RunFolder) -> float:
    """Successful requests a second of the window; 0 where there are none."""
    start_s, end_s = folder.manifest.get("window_s", (0.0, 0.0))
    if end_s <= start_s:
        return 0.0
    if (good := folder.answered) is None:
        parts = folder.parts("requests", ("intended_s", "failure"))
        counted = (pl.col("intended_s").is_between(start_s, end_s), pl.col("failure") == 0)
        good = sum(part.filter(*counted).height for part in parts)
    return good * folder.sample_every / float(end_s - start_s)


def busy_per_s(folder: RunFolder) -> dict[Key, float]:
    """Seconds busy a second of the window, of everything in the host samples that has such a counter."""
    host = folder.frame("host")
    if host is None:
        return {}
    sources = host.filter(pl.col("source").is_in(["procs", "cgroups", "disks", "station"]))
    grown = counter_changes(sources, *folder.manifest["window_s"])
    return {
        (source, key, item): change / over_s * (1e-3 if item == "io_ms" else 1.0)
        for source, key, item, change, over_s in grown.select("source", "key", "item", "change", "over_s").iter_rows()
    }
