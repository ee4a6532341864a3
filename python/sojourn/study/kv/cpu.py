"""CPU time of processes while something runs, sampled with the clock that the records use."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

PERIOD_S = 0.1
MACHINE = "machine"
TICK_S = 1 / os.sysconf("SC_CLK_TCK")


def used_s(pid: int) -> float:
    """CPU time of a process with all its threads, ended ones too; NaN when it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return float("nan")
    return (int(fields[11]) + int(fields[12])) * TICK_S


def machine_s() -> float:
    """CPU time used on the whole machine since its start: all that is neither idle nor waiting for disks."""
    fields = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) * TICK_S


class Sampler:
    """Samples groups of processes, and the `machine`, every 0.1 s in a thread of its own, between `with` and its end."""

    def __init__(self, groups: Mapping[str, list[int]]) -> None:
        self._groups = dict(groups)
        self._at: list[float] = []
        self._used: dict[str, list[float]] = {name: [] for name in (*groups, MACHINE)}
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
            self._at.append(time.monotonic())
            for name, pids in self._groups.items():
                self._used[name].append(sum(used_s(pid) for pid in pids))
            self._used[MACHINE].append(machine_s())
            if self._over.wait(PERIOD_S):
                return

    def between(self, start_s: float, end_s: float) -> dict[str, float]:
        """CPU seconds of each group between two times of CLOCK_MONOTONIC; straight between samples."""
        found = {}
        for name, used in self._used.items():
            at, values = np.array(self._at), np.array(used)
            known = np.isfinite(values)
            inside = np.interp((start_s, end_s), at[known], values[known]) if known.any() else (np.nan, np.nan)
            found[name] = float(inside[1] - inside[0])
        return found
