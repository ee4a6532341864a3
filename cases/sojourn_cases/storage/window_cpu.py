"""CPU time of the whole machine in one stretch of time, by who used it: parts of a service in control groups, strangers, the rest.

The machine's is the residual (`measure/cpu_residual.py`), or ticks where there are no idle-priority loops. A part is a control group, whose
time the kernel counts to the nanosecond. Strangers are processes that are neither ours nor in `ours`, and no threads of the kernel, which
work for whoever asked them to (`measure/process_times.py`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sojourn.errors import LabError
from sojourn.measure import MeterReading, ResidualMeter, most_used, process_times, tick_reading, used_between

USAGE = (("cpuacct.usage", 1e-9), ("cpu.stat", 1e-6))
LOOK_S = 0.03  # at threads, before the start


@dataclass(frozen=True)
class WindowCpu:
    """Mean numbers of cores busy over `window_s`: `cpu_cores` of the machine by `meter`, `ticks_cores` by ticks, `parts` by name,
    `foreign_cores` of strangers, the busiest of them `strangers`, `scanned_cores` of the kernel's scanners of memory (in none of the
    others); `steal`: share of the machine that its host took; `work_per_s`: turns that the loops did."""

    window_s: float
    meter: str
    cpu_cores: float
    ticks_cores: float
    parts: Mapping[str, float]
    foreign_cores: float
    strangers: tuple[tuple[str, float], ...]
    scanned_cores: float
    steal: float
    work_per_s: float


class WindowReader(threading.Thread):
    """Reads at both ends of [start_s, start_s + length_s] (CLOCK_MONOTONIC) while somebody else works; `cores` of the machine."""

    def __init__(
        self, meter: ResidualMeter | None, groups: Mapping[str, Path], cores: Collection[int], start_s: float, length_s: float
    ) -> None:  # fmt: skip
        super().__init__(daemon=True)
        self._meter, self._groups, self._cores = meter, dict(groups), list(cores)
        self._start_s, self._length_s = start_s, length_s
        self._failed: OSError | None = None
        self.start()

    def run(self) -> None:
        try:
            self._watch()
        except OSError as error:  # the loops are gone: who interrupts a run ends them under the window
            self._failed = error

    def _watch(self) -> None:
        _sleep_until(self._start_s - LOOK_S)
        self._threads = process_times()
        _sleep_until(self._start_s)
        self._begin = self._read()
        _sleep_until(self._start_s + self._length_s)
        self._end = self._read()
        self._threads_after = process_times()

    def _read(self) -> tuple[MeterReading, dict[str, float]]:
        # the machine in the middle of the parts would put these apart by their reading; it takes well below a millisecond
        reading = self._meter.read() if self._meter else tick_reading(self._cores)
        return reading, {name: group_s(group) for name, group in self._groups.items()}

    def result(self, ours: Collection[int]) -> WindowCpu:
        """After the window; `ours`: processes that are no strangers.

        Raises:
            LabError: the loops ended within it.
        """
        self.join()
        if self._failed:
            raise LabError(
                str(self._failed), "CPU meter", "its loops have ended: something stopped them; run again"
            ) from self._failed
        (a, parts), (b, parts_after) = self._begin, self._end
        length_s = b.at_s - a.at_s
        used_s = self._meter.used_s(a, b) if self._meter else b.ticks_s - a.ticks_s
        known = {*ours, *((self._meter.pid,) if self._meter else ())}
        used = used_between(self._threads, self._threads_after, known)
        return WindowCpu(
            length_s, "residual" if self._meter else "ticks", used_s / length_s, (b.ticks_s - a.ticks_s) / length_s,
            {name: (parts_after[name] - parts[name]) / length_s for name in parts}, sum(used.values()) / length_s,
            tuple((name, run_s / length_s) for name, run_s in most_used(used)), (b.scanned_s - a.scanned_s) / length_s,
            (b.stolen_s - a.stolen_s) / (length_s * len(self._cores)), (b.work - a.work) / length_s,
        )  # fmt: skip


def group_s(group: Path) -> float:
    """CPU time that a control group's members have used, s."""
    for name, scale in USAGE:
        with suppress(OSError):
            words = (group / name).read_text().split()
            return int(words[words.index("usage_usec") + 1] if "usage_usec" in words else words[0]) * scale
    return float("nan")


def _sleep_until(at_s: float) -> None:
    while (left_s := at_s - time.monotonic()) > 0:
        time.sleep(left_s)
