"""CPU time that a command made the whole machine use: what busy loops of idle priority on every core did not get (the residual).

A loop of SCHED_IDLE in a control group with `cpu.idle = 1` runs on a core whenever nothing else wants it (lab/spinners.py); used is the
time that passed less its run time (/proc/PID/task/TID/schedstat, ns). That has all of it: kernel threads, soft interrupts that come while
something else runs, children, and no ticks that a paced load could avoid. Not in it: an interrupt that hits the loop itself is charged to
the loop. Threads of the kernel that look through memory now and then (`SCANNERS`) come in bursts, 2 to 56 ms in 1.4 s seen, which no
rest before or after tells: their own run time is taken out. What else the machine uses by itself is measured at rest, and subtracted;
what other processes used while the command ran is told by name (`other_processes`), as it may be theirs or, of a server, the command's.

Letters: used in a window of rest w_i over its length, n windows of length h; their mean b, standard deviation s. Used by the command in
time T: U - b T, its variance s^2 h T (the background's own scatter, windows independent) + s^2 T^2/n (that of b) + `READING_S`^2 a core
(run time is brought up to date at a tick; uniform). 1.96 standard errors. By work: what the loops did fell short of as much as at rest, by
the share of the machine that the command took; its error is the scatter of the windows of rest.
"""

from __future__ import annotations

import math
import os
import resource
import secrets
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sojourn.errors import InputError
from sojourn.lab.cleanup_registry import CleanupRegistry, clean_stale
from sojourn.lab.spinners import Spinners
from sojourn.measure.process_times import SCANNERS, most_used, process_times, run_s, used_between
from sojourn.runs.host_samples import BUSY

REST_S, LEAST_REST_S, MOST_REST_S = 1.0, 0.4, 600.0
WINDOW_S = 0.2
NORMAL_975 = 1.959964
TICK_S = 0.004  # of most kernels; others are finer
READING_S = math.sqrt(2 / 12) * TICK_S  # two ends
STOLEN = 0.02  # share of the machine beyond which a host's other guests disturb


@dataclass(frozen=True)
class MeterReading:
    """At a moment: `spun_s` run time of the loops, `ticks_s` busy by ticks, both of all cores together; `stolen_s` by the host;
    `scanned_s` run time of the kernel's scanners of memory, on any core; `work`: turns that the loops did."""

    at_s: float
    spun_s: float
    ticks_s: float
    stolen_s: float
    scanned_s: float = 0.0
    work: int = 0


@dataclass(frozen=True)
class CpuUse:
    """Of a command, s of one core. `cpu_s` with its 95 % half-width `cpu_error_s`, the background taken out; `cpu_by_ticks_s` by ticks, the
    background of the same length taken out; `cpu_by_lost_work_s` by what the loops did, with `cpu_by_lost_work_error_s`;
    `cpu_by_process_times_s` what the command and its children say of themselves (user and system). `background_cores`, with its
    half-width; `background_drift_p_value`: of no difference between before and after; `memory_scanners_s` run time of the kernel's
    scanners of memory meanwhile, which is in neither; `other_processes`: who else used most meanwhile, by name, s."""

    wall_s: float
    cores: int
    exit_code: int
    cpu_s: float
    cpu_error_s: float
    cpu_by_ticks_s: float
    cpu_by_process_times_s: float
    background_cores: float
    background_error_cores: float
    background_drift_p_value: float
    stolen_share: float
    memory_scanners_s: float = 0.0
    other_processes: tuple[tuple[str, float], ...] = ()
    cpu_by_lost_work_s: float = 0.0
    cpu_by_lost_work_error_s: float = 0.0

    @property
    def mean_busy_cores(self) -> float:
        """Mean number of cores that the command kept busy."""
        return self.cpu_s / self.wall_s

    @property
    def record(self) -> dict[str, Any]:
        """All of it as plain values for JSON."""
        return {**vars(self), "mean_busy_cores": self.mean_busy_cores}


class ResidualMeter:
    """Loops on all cores that this process may use; `residual_meter` makes one."""

    def __init__(self, spinners: Spinners, cores: Sequence[int], proc: Path = Path("/proc")) -> None:
        self.cores, self.pid, self._proc, self._spinners = list(cores), spinners.pid, proc, spinners
        self._threads = [proc / str(spinners.pid) / "task" / str(t) / "schedstat" for t in spinners.threads.values()]
        self._scanners = dict.fromkeys(_scanners(proc), 0.0)

    def read(self) -> MeterReading:
        """Now."""
        busy, stolen = _ticks(self._proc / "stat", self.cores)
        for path in self._scanners:
            with suppress(OSError):  # one that has ended keeps what it had used
                self._scanners[path] = run_s(path)
        spun_s = sum(run_s(path) for path in self._threads)
        scanned_s, work = sum(self._scanners.values()), self._spinners.work
        return MeterReading(time.monotonic(), spun_s, busy, stolen, scanned_s, work)

    def used_s(self, start: MeterReading, end: MeterReading) -> float:
        """What the loops did not get, without what the kernel's scanners of memory got."""
        not_spun_s = len(self.cores) * (end.at_s - start.at_s) - (end.spun_s - start.spun_s)
        return not_spun_s - (end.scanned_s - start.scanned_s)

    def at_rest(self, length_s: float) -> list[tuple[float, float, float]]:
        """Used by residual and by ticks, in cores, and turns a second that the loops did, in consecutive windows of about 0.2 s."""
        found = []
        for _ in range(max(round(length_s / WINDOW_S), 2)):
            start = self.read()
            time.sleep(WINDOW_S)
            end = self.read()
            length = end.at_s - start.at_s
            ticks_s, work = end.ticks_s - start.ticks_s, end.work - start.work
            found.append((self.used_s(start, end) / length, ticks_s / length, work / length))
        return found


def tick_reading(cores: Sequence[int], proc: Path = Path("/proc")) -> MeterReading:
    """Without loops: of ticks alone."""
    busy, stolen = _ticks(proc / "stat", cores)
    return MeterReading(time.monotonic(), 0.0, busy, stolen)


@contextmanager
def residual_meter() -> Iterator[ResidualMeter]:
    """A meter for as long as the block lasts; what a killed start left is removed first.

    Raises:
        LabError: no control group with `cpu.idle` can be made here, or the loops cost others more than 1 %.
    """
    clean_stale()
    token, cores = secrets.token_hex(3), sorted(os.sched_getaffinity(0))
    registry = CleanupRegistry(token)
    try:
        spinners = Spinners(registry, token, cores)
        try:
            yield ResidualMeter(spinners, cores)
        finally:
            spinners.close()
    finally:
        registry.close()


def measure_command(words: Sequence[str], rest_s: float = REST_S) -> CpuUse:
    """Runs a command to its end between two rests of `rest_s` each (s, 0.4 to 600).

    Raises:
        InputError: it cannot be started; a rest out of range. LabError: as `residual_meter`.
    """
    if not LEAST_REST_S <= rest_s <= MOST_REST_S:
        raise InputError(f"{rest_s:g} s", "--idle-duration", f"give {LEAST_REST_S:g} to {MOST_REST_S:g} s")
    with residual_meter() as meter:
        before = meter.at_rest(rest_s)
        there = process_times()
        children_s, start = children_cpu_s(), meter.read()
        exit_code = _run(words)
        end, own_s = meter.read(), children_cpu_s() - children_s
        others = most_used(used_between(there, process_times(), {os.getpid(), meter.pid}, kernel=True))
        found = _judged(meter, start, end, (before, meter.at_rest(rest_s)), own_s, exit_code)
        return replace(found, other_processes=others)


def _judged(
    meter: ResidualMeter, start: MeterReading, end: MeterReading,
    rests: tuple[list[tuple[float, float, float]], list[tuple[float, float, float]]], own_s: float, exit_code: int,
) -> CpuUse:  # fmt: skip
    before, after = (np.array(rest) for rest in rests)
    both = np.vstack([before, after])
    background, by_ticks, work_per_s = both.mean(axis=0)
    s, n, wall_s, cores = float(both[:, 0].std(ddof=1)), len(both), end.at_s - start.at_s, len(meter.cores)
    variance = s * s * (WINDOW_S * wall_s + wall_s * wall_s / n) + cores * READING_S**2
    lost = 1 - (end.work - start.work) / (work_per_s * wall_s)
    of_work = NORMAL_975 * float(both[:, 2].std(ddof=1)) / work_per_s * math.sqrt(WINDOW_S / wall_s + 1 / n)
    return CpuUse(
        wall_s, cores, exit_code,
        meter.used_s(start, end) - float(background) * wall_s, NORMAL_975 * math.sqrt(variance),
        end.ticks_s - start.ticks_s - float(by_ticks) * wall_s, own_s,
        float(background), NORMAL_975 * s / math.sqrt(n), welch_p(before[:, 0], after[:, 0]),
        (end.stolen_s - start.stolen_s) / (wall_s * cores), end.scanned_s - start.scanned_s,
        cpu_by_lost_work_s=float(lost) * cores * wall_s, cpu_by_lost_work_error_s=of_work * cores * wall_s,
    )  # fmt: skip


def welch_p(a: np.ndarray, b: np.ndarray) -> float:
    """Two-sided p-value of equal means, variances not assumed to be equal (B. L. Welch, Biometrika 34 (1947), 28-35)."""
    from scipy.special import stdtr  # slow to import

    errors = a.var(ddof=1) / len(a), b.var(ddof=1) / len(b)
    total = float(sum(errors))
    if total == 0:
        return 1.0
    degrees = total**2 / sum(e**2 / (len(x) - 1) for e, x in zip(errors, (a, b), strict=True))
    return float(2 * stdtr(degrees, -abs(float(a.mean() - b.mean())) / math.sqrt(total)))


def _run(words: Sequence[str]) -> int:
    """Its exit code; of a signal 128 + its number."""
    try:
        process = subprocess.Popen(words)
    except OSError as error:
        raise InputError(f"{words[0]}: {error.strerror}", "cpu", "give a program that runs here") from None
    try:
        code = process.wait()
    except KeyboardInterrupt:  # it has heard it, too
        with suppress(subprocess.TimeoutExpired):
            return 128 - process.wait(5.0)
        process.kill()
        raise
    return code if code >= 0 else 128 - code


def children_cpu_s() -> float:
    """User and system time of the children that have ended, s."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)  # to the microsecond: os.times counts in 10 ms
    return used.ru_utime + used.ru_stime


def _scanners(proc: Path) -> list[Path]:
    """The kernel's threads that are `SCANNERS`: a kernel thread has no command line."""
    found = []
    for folder in proc.glob("[0-9]*"):
        with suppress(OSError):
            if (folder / "comm").read_text().startswith(SCANNERS) and not (folder / "cmdline").read_bytes():
                found.append(folder / "schedstat")
    return found


def _ticks(stat: Path, cores: Sequence[int]) -> tuple[float, float]:
    """Busy and stolen on these cores, s, without what runs with a nice value, as the loops do."""
    names, tick_s = {f"cpu{core}" for core in cores}, 1 / os.sysconf("SC_CLK_TCK")
    columns = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
    busy = stolen = 0
    for line in stat.read_text().splitlines():
        name, *counts = line.split()
        if name in names:
            told = dict(zip(columns, map(int, counts), strict=False))
            busy += sum(told[state] for state in BUSY)
            stolen += told.get("steal", 0)
    return busy * tick_s, stolen * tick_s
