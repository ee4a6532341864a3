"""Counters of processes and of the machine while something runs, sampled with the clock that the records use."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import numpy as np

PERIOD_S = 0.1
MACHINE = "machine"
TICK_S = 1 / os.sysconf("SC_CLK_TCK")
PROC = Path("/proc")
SCHEDULER_CLOCK = 2  # CPUCLOCK_SCHED: what the scheduler counts, in the identifier of a process's clock
SENT_FIELD = 8  # of a line of net/dev, after the name: bytes sent


def used_s(pid: int) -> float:
    """CPU time of a process with all its threads, ended ones too, to the nanosecond: its clock (clock_getcpuclockid(3)),
    since /proc counts in ticks of 10 ms; NaN when it is gone, and waited for."""
    try:
        return time.clock_gettime(~pid << 3 | SCHEDULER_CLOCK)
    except OSError:
        return float("nan")


def all_used_s(pids: Iterable[int]) -> float:
    """CPU time of some processes together."""
    return sum(used_s(pid) for pid in pids)


def machine_s() -> float:
    """CPU time used on the whole machine since its start: all that is neither idle nor waiting for disks."""
    fields = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) * TICK_S


def sent_bytes(pid: int, interface: str, proc: Path = PROC) -> float:
    """Bytes sent by an interface of the network namespace that a process is in; NaN when there is none."""
    try:
        lines = (proc / str(pid) / "net/dev").read_text().splitlines()
    except OSError:
        return float("nan")
    for line in lines:
        name, _, fields = line.partition(":")
        if name.strip() == interface:
            return float(fields.split()[SENT_FIELD])
    return float("nan")


class Sampler:
    """Samples counters, and the CPU time of the `machine`, every 0.1 s in a thread of its own, between `with` and its
    end. A counter only grows, and is NaN while it is unknown."""

    def __init__(self, meters: Mapping[str, Callable[[], float]]) -> None:
        self._meters = {**meters, MACHINE: machine_s}
        self._at: list[float] = []
        self._read: dict[str, list[float]] = {name: [] for name in self._meters}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Sampler:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        while True:
            last = self._over.is_set()  # one more at the end: what happened since the last one counts
            self._at.append(time.monotonic())
            for name, meter in self._meters.items():
                self._read[name].append(meter())
            if last:
                return
            self._over.wait(PERIOD_S)

    def between(self, start_s: float, end_s: float) -> dict[str, float]:
        """By how much each grew between two times of CLOCK_MONOTONIC; straight between samples."""
        found = {}
        for name, read in self._read.items():
            at, values = np.array(self._at), np.array(read)
            known = np.isfinite(values)
            inside = np.interp((start_s, end_s), at[known], values[known]) if known.any() else (np.nan, np.nan)
            found[name] = float(inside[1] - inside[0])
        return found
