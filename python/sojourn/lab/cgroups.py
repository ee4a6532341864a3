"""Control groups, most of the CPU: for what only gets what nobody else wants, and for a share of the cores.

A share is a quota in each period (kernel: Documentation/scheduler/sched-bwc.rst): who has used it up waits for the next
one. Periods are 10 ms, longer where the kernel's least quota of 1 ms would be too much: the stalls stay short.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sojourn.errors import LabError
from sojourn.lab.cleanup_registry import CleanupRegistry

PERIOD_US, LEAST_QUOTA_US, LONGEST_US = 10_000, 1_000, 1_000_000
LEAST_CORE_SHARE = LEAST_QUOTA_US / LONGEST_US
QUOTA_PERIODS, QUOTA_USED_UP = "nr_periods", "nr_throttled"


def make_group(
    registry: CleanupRegistry, name: str, prepare: Callable[[Path], None], what: str, controller: str = "cpu"
) -> Path:
    """Makes the control group `name` where `prepare`, which sets its files, can do so; written down first.

    Raises:
        LabError: `what` can be had nowhere.
    """
    for parent in group_parents(Path("/proc/self/cgroup").read_text(), controller):
        if not parent.is_dir():
            continue
        group = parent / name
        registry.add(cgroup=str(group))
        try:
            group.mkdir(exist_ok=True)
            prepare(group)
        except OSError:
            with suppress(OSError):
                group.rmdir()
            continue
        return group
    remedy = f"use a kernel with the {controller} controller, as root"
    raise LabError(f"no control group with {what}", "/sys/fs/cgroup", remedy)


def group_parents(listed: str, controller: str = "cpu") -> list[Path]:
    """Where a group may be made, best first: this process's own group (`listed`: /proc/self/cgroup), then the roots."""
    roots = {"v1": Path("/sys/fs/cgroup", controller), "v2": Path("/sys/fs/cgroup")}
    own = []
    for line in listed.splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(",") or not controllers:
            own.append(roots["v1" if controllers else "v2"] / path.strip("/"))
    return list(dict.fromkeys([*own, *roots.values()]))


def make_counted_group(registry: CleanupRegistry, name: str) -> Path | None:
    """Makes a group whose CPU time, with that of members which have ended, can be read; None where it cannot be had."""

    def prepare(group: Path) -> None:
        files = [group / name for name in ("cpuacct.usage", "cpu.stat") if (group / name).exists()]
        if not files or (files[0].name == "cpu.stat" and "usage_usec" not in files[0].read_text()):
            raise OSError("no CPU time there")

    try:
        return make_group(registry, name, prepare, "CPU time", "cpuacct")
    except LabError:
        return None


def in_group(group: Path | str, command: Sequence[str]) -> list[str]:
    """The command that begins in the group at the path `group`: moved there later, it may have started others meanwhile."""
    return ["sh", "-c", 'echo $$ > "$0" && exec "$@"', str(Path(group, "cgroup.procs")), *command]


def write(path: Path, text: str) -> None:
    """Writes to a file of the kernel: never makes one, where a mount of another kind would let it."""
    file = os.open(path, os.O_WRONLY)
    try:
        os.write(file, text.encode())
    finally:
        os.close(file)


def quota_us(cores: float) -> tuple[int, int]:
    """Quota and period of a share of `cores`, in microseconds."""
    period = min(max(PERIOD_US, round(LEAST_QUOTA_US / cores)), LONGEST_US)
    return max(round(cores * period), LEAST_QUOTA_US), period


def _set_quota(group: Path, cores: float) -> None:
    quota, period = quota_us(cores)
    if (group / "cpu.max").exists():
        write(group / "cpu.max", f"{quota} {period}")
        return
    write(group / "cpu.cfs_period_us", str(period))
    write(group / "cpu.cfs_quota_us", str(quota))


@dataclass(frozen=True)
class CpuShareCgroup:
    """A control group whose members together get `cores` cores at most, and can use them on any."""

    path: Path
    cores: float

    @classmethod
    def make(cls, registry: CleanupRegistry, name: str, cores: float) -> CpuShareCgroup:
        """Makes it; `registry` removes it.

        Raises:
            LabError: no control group with a quota can be made here.
        """

        return cls(
            make_group(registry, name, lambda group: _set_quota(group, cores), "a cpu quota (CONFIG_CFS_BANDWIDTH)"),
            cores,
        )

    @classmethod
    def of(cls, group: Path, cores: float) -> CpuShareCgroup | None:
        """A group that is there gets this share; None where its hierarchy has no quotas, as that of version 1 which counts CPU time."""
        try:
            _set_quota(group, cores)
        except OSError:
            return None
        return cls(group, cores)

    def add(self, pid: int) -> None:
        """Takes a process with all its threads."""
        write(self.path / "cgroup.procs", str(pid))

    def counter(self, name: str) -> float:
        """A counter of the group: PERIODS in which a member wanted to run, or those of them in which the share was USED_UP;
        NaN when the group is gone."""
        try:
            lines = (self.path / "cpu.stat").read_text().splitlines()
        except OSError:
            return float("nan")
        return float(dict(line.split() for line in lines)[name])
