"""Who used CPU between two moments: run times of all threads, and of processes that ended meanwhile by those who waited for them.

A thread's own is exact (/proc/PID/task/TID/schedstat, ns); that of a process that began and ended in between is in its parent's account of
children alone (proc_pid_stat(5): cutime, cstime, to 10 ms). What nobody waited for, and threads that ended in a process that lives, are
not seen.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sojourn.lab.process_tree import process_ids, quick_read, stats

SCANNERS = ("kdamond", "khugepaged", "ksmd", "kcompactd")  # the kernel's, of memory; by the beginning of their names
CHILDREN = slice(13, 15)  # columns of `stat`: cutime, cstime
KERNEL_THREAD, FLAGS = 0x200000, 6  # PF_KTHREAD (include/linux/sched.h), and its column of `stat`


@dataclass(frozen=True)
class ProcessTimes:
    """At a moment: (process, thread) → name and run time, s; process → what its ended children had used, s; threads of the kernel."""

    threads: Mapping[tuple[int, int], tuple[str, float]]
    waited_s: Mapping[int, float]
    kernel: Collection[int]


def process_times(proc: Path = Path("/proc")) -> ProcessTimes:
    """Now."""
    tick_s = 1 / os.sysconf("SC_CLK_TCK")
    columns = stats(proc)
    threads = {}
    for pid in process_ids(proc):
        with suppress(OSError), os.scandir(f"{proc}/{pid}/task") as every:
            for thread in every:
                with suppress(OSError, IndexError):
                    name = quick_read(f"{thread.path}/comm").strip()
                    threads[pid, int(thread.name)] = name, run_s(f"{thread.path}/schedstat")
    waited = {pid: sum(map(int, one[CHILDREN])) * tick_s for pid, one in columns.items()}
    return ProcessTimes(threads, waited, {pid for pid, one in columns.items() if int(one[FLAGS]) & KERNEL_THREAD})


def run_s(schedstat: Path | str) -> float:
    """Run time in such a file, s."""
    return int(quick_read(str(schedstat)).split()[0]) * 1e-9


def used_between(
    start: ProcessTimes, end: ProcessTimes, ours: Collection[int] = (), kernel: bool = False, each: bool = False
) -> dict[str, float]:
    """Name → s used between two moments, without the processes `ours` and what these waited for; with threads of the `kernel`, but never
    its scanners of memory. What had ended is told as `children of NAME`. `each`: process by process, as `NAME (4711)`."""
    used: Counter[str] = Counter()
    names = {pid: name for (pid, thread), (name, _) in end.threads.items() if not each or pid == thread}
    if each:
        names = {pid: f"{name} ({pid})" for pid, name in names.items()}
    for key, (name, spent_s) in end.threads.items():
        if key[0] not in ours and not name.startswith(SCANNERS) and (kernel or key[0] not in end.kernel):
            used[names.get(key[0], name) if each else name] += spent_s - start.threads.get(key, (name, 0.0))[1]  # type: ignore[assignment]
    gone = {pid for pid, _ in start.threads} - {pid for pid, _ in end.threads} - set(ours)
    before_s = sum(s for (pid, _), (_, s) in start.threads.items() if pid in gone)
    before_s += sum(start.waited_s.get(pid, 0.0) for pid in gone)
    ended = {pid: s - start.waited_s.get(pid, 0.0) for pid, s in end.waited_s.items() if pid not in ours}
    for pid, spent_s in sorted(ended.items(), key=lambda one: -one[1]):
        known_s = min(before_s, spent_s)  # what the ended had used before is in their parents' account, too
        before_s -= known_s
        if spent_s > known_s:
            used[f"children of {names.get(pid, pid)}"] += spent_s - known_s  # type: ignore[assignment]
    return dict(used)


def most_used(used: Mapping[str, float], least_s: float = 0.005, count: int = 3) -> tuple[tuple[str, float], ...]:
    """The greatest of these, with how much, s."""
    return tuple((name, s) for name, s in Counter(used).most_common(count) if s > least_s)
