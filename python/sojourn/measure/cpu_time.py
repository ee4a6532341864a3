"""CPU time of this process with all that it started, beside that of the machine: the difference is what others used.

For services whose processes come and go: the time of a child that ended and was waited for is in its parent's (proc_pid_stat(5):
utime, stime, cutime, cstime), so that the sum over a tree loses nothing as long as orphans come back to it (lab/supervisor.py).
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sojourn.lab.process_tree import PARENT, TIMES, stats
from sojourn.runs.watched_resources import GROUPS

PROC, CGROUPS = Path("/proc"), Path("/sys/fs/cgroup")
BUSY, NICE = (1, 2, 3, 6, 7), 2  # columns of a cpu line of /proc/stat: user, nice, system, irq, softirq


@dataclass(frozen=True)
class CpuTime:
    """Seconds since the start of the machine: `machine_s` busy on `cores`, but for what only gets what nobody else wants (control
    groups with `cpu.idle = 1`, as those of idle-priority spinners); `own_s` of the tree."""

    machine_s: float
    own_s: float
    cores: int


def cpu_time(
    roots: Iterable[int], cgroups: Iterable[str] = (), cores: Collection[int] | None = None, proc: Path = PROC,
    groups: Path = CGROUPS,
) -> CpuTime:  # fmt: skip
    """Now: of the processes `roots`, of those in `cgroups` (paths below /sys/fs/cgroup) and of all that these started, beside
    all that ran on `cores` (by default those that this process may use)."""
    used = os.sched_getaffinity(0) if cores is None else cores
    tick_s = 1 / os.sysconf("SC_CLK_TCK")
    lines = [line.split() for line in (proc / "stat").read_text().splitlines() if line.startswith("cpu")]
    counted = [line for line in lines if line[0].removeprefix("cpu") in set(map(str, used))]
    busy = sum(int(line[k]) for line in counted for k in BUSY)
    known = stats(proc)
    idle = sum(int(ticks) for pid in of_idle_groups(groups) if pid in known for ticks in known[pid][TIMES])
    busy -= min(idle, sum(int(line[NICE]) for line in counted))
    tree = own_tree(roots, cgroups, known)
    own = sum(int(ticks) for pid in tree for ticks in known[pid][TIMES])
    return CpuTime(busy * tick_s, own * tick_s, len(used))


def own_tree(roots: Iterable[int], cgroups: Iterable[str], known: Mapping[int, Sequence[str]]) -> set[int]:
    """Of the processes `known` (`process_tree.stats`) those in `roots` and `cgroups`, and all that these started."""
    children: dict[int, list[int]] = {}
    for pid, columns in known.items():
        children.setdefault(int(columns[PARENT]), []).append(pid)
    tree: set[int] = set()
    left = [*roots, *(pid for group in cgroups for pid in members(group))]
    while left:
        if (pid := left.pop()) in known and pid not in tree:
            tree.add(pid)
            left += children.get(pid, ())
    return tree


def core_times(proc: Path = PROC) -> dict[int, float]:
    """Core → s since the start of the machine in which it was busy, by ticks."""
    lines = [line.split() for line in (proc / "stat").read_text().splitlines() if line.startswith("cpu")]
    tick_s = 1 / os.sysconf("SC_CLK_TCK")
    return {int(line[0][3:]): sum(int(line[k]) for k in BUSY) * tick_s for line in lines if line[0] != "cpu"}


def members(group: str) -> list[int]:
    """The processes of a control group and of those below it."""
    files = [file for part in GROUPS for file in (CGROUPS / part / group).rglob("cgroup.procs")]
    found = []
    for file in files:
        try:
            found += [int(pid) for pid in file.read_text().split()]
        except OSError:
            continue
    return found


def of_idle_groups(groups: Path = CGROUPS) -> set[int]:
    """The processes of control groups with `cpu.idle = 1`."""
    found: set[int] = set()
    for file in groups.rglob("cpu.idle"):
        try:
            if file.read_text().strip() == "1":
                found |= {int(pid) for pid in (file.parent / "cgroup.procs").read_text().split()}
        except OSError:
            continue
    return found
