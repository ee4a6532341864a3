"""The residual meter on made-up readings whose truth is known."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from sojourn.errors import InputError
from sojourn.lab.spinners import STRIDE_BYTES, WorkCounters
from sojourn.measure import cpu_residual
from sojourn.measure.cpu_residual import WINDOW_S, MeterReading, ResidualMeter, measure_command, welch_p
from sojourn.measure.process_times import most_used, process_times, used_between

WORK_PER_S = 75_000.0
CORES, COMMAND_S, USED_S, BACKGROUND, SCATTER = 2, 1.4, 0.31, 0.012, 0.005


def judged(random: np.random.Generator) -> Any:
    """A command that used `USED_S` on a machine whose background scatters from window to window."""
    meter: Any = SimpleNamespace(cores=[0, 1], used_s=lambda a, b: ResidualMeter.used_s(meter, a, b))
    rests = [[(float(w), 0.0, WORK_PER_S * (1 + float(random.normal(0, 0.01))))
              for w in random.normal(BACKGROUND, SCATTER, 10)] for _ in range(2)]  # fmt: skip
    background_s = WINDOW_S * random.normal(BACKGROUND, SCATTER, round(COMMAND_S / WINDOW_S)).sum()
    read = random.uniform(-0.004, 0, (CORES, 2)).sum(axis=0)  # run time is up to a tick old
    spun_s = CORES * COMMAND_S - USED_S - background_s + read[1] - read[0]
    # what the loops did is as much as at rest on the share that the command left, scattered as windows of 0.2 s are
    scatter = 1 + float(random.normal(0, 0.01)) * (WINDOW_S / COMMAND_S) ** 0.5
    work = round(WORK_PER_S * COMMAND_S * (1 - USED_S / (CORES * COMMAND_S)) * scatter)
    start = MeterReading(10.0, 5.0, 1.0, 0.0, work=700)
    end = MeterReading(10.0 + COMMAND_S, 5.0 + spun_s, 1.28, 0.014, work=700 + work)
    return cpu_residual._judged(meter, start, end, (rests[0], rests[1]), 0.3, 0)


def test_the_truth_lies_in_the_interval_as_often_as_said() -> None:
    random = np.random.default_rng(1)
    found = [judged(random) for _ in range(2000)]
    inside = sum(abs(one.cpu_s - USED_S) <= one.cpu_error_s for one in found)
    assert 0.94 <= inside / 2000 <= 0.985  # reading errors are bounded, not normal
    assert np.mean([one.cpu_s for one in found]) == pytest.approx(USED_S, abs=0.0005)
    by_work = sum(abs(one.cpu_by_lost_work_s - USED_S) <= one.cpu_by_lost_work_error_s for one in found)
    assert 0.93 <= by_work / 2000 <= 0.98  # 20 windows of rest, and a normal quantile
    assert np.mean([one.cpu_by_lost_work_s for one in found]) == pytest.approx(USED_S, abs=0.002)
    assert found[0].stolen_share == pytest.approx(0.005) and found[0].cpu_by_ticks_s == pytest.approx(0.28)


def test_drift_is_welchs_test() -> None:
    random = np.random.default_rng(2)
    a, b = random.normal(0, 1, 7), random.normal(0.5, 3, 12)
    assert welch_p(a, b) == pytest.approx(stats.ttest_ind(a, b, equal_var=False).pvalue, rel=1e-9)
    assert welch_p(np.ones(4), np.ones(4)) == 1.0


def test_ticks_of_these_cores_only(tmp_path: Path) -> None:
    (tmp_path / "stat").write_text("cpu 9 9 9 9 9 9 9 9\ncpu0 100 7 50 9 9 1 2 30 0 0\ncpu1 5 0 5 9 9 0 0 0 0 0\n")
    busy, stolen = cpu_residual._ticks(tmp_path / "stat", [0])
    assert (busy, stolen) == pytest.approx((1.53, 0.30))  # USER_HZ is 100


def test_a_rest_out_of_range_and_no_program() -> None:
    with pytest.raises(InputError, match=r"--idle-duration: 0\.1 s"):
        measure_command([sys.executable], 0.1)
    with pytest.raises(InputError, match="no-such-program"):
        cpu_residual._run(["no-such-program"])


def test_work_is_read_where_the_loops_write_it() -> None:
    counters = WorkCounters(2)
    with open(counters.path, "r+b") as loop:
        for place, work in ((0, 5), (STRIDE_BYTES, 37)):
            loop.seek(place)
            loop.write(work.to_bytes(8, sys.byteorder))
    assert counters.total == 42
    counters.close()


def test_who_used_cpu_with_those_that_began_and_ended_meanwhile(tmp_path: Path) -> None:
    """A shell's child that lived in between is in the shell's account alone; one that was there before had used some of it already."""
    tick_s = 1 / os.sysconf("SC_CLK_TCK")

    def process(pid: int, name: str, run_s: float, waited_s: float = 0.0, flags: int = 0) -> None:
        folder = tmp_path / str(pid) / "task" / str(pid)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "comm").write_text(f"{name}\n")
        (folder / "schedstat").write_text(f"{round(run_s * 1e9)} 0 1\n")
        waited = round(waited_s / tick_s)
        (tmp_path / str(pid) / "stat").write_text(f"{pid} ({name}) S 1 1 1 0 0 {flags} 0 0 0 0 0 0 {waited} 0 20 0 1\n")

    process(1, "shell", 1.0, 5.0)
    process(2, "make", 0.3)
    process(3, "kworker", 1.0, flags=0x200000)
    process(4, "ours", 1.0, 1.0)
    start = process_times(tmp_path)
    shutil.rmtree(tmp_path / "2")  # it used 0.1 more and ended; another child began, used 0.4 and ended
    process(1, "shell", 1.01, 5.8)
    process(3, "kworker", 1.2, flags=0x200000)
    process(4, "ours", 2.0, 3.0)
    process(5, "new", 0.25)
    end = process_times(tmp_path)
    found = used_between(start, end, {4})
    assert found == {"shell": pytest.approx(0.01), "new": pytest.approx(0.25), "children of shell": pytest.approx(0.5)}
    assert used_between(start, end, {4}, kernel=True)["kworker"] == pytest.approx(0.2)


def test_a_process_that_ends_while_its_threads_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its folder is there, and gone when it is read: as /proc/21744/task was in a search beside short-lived compilers."""
    for pid in (7, 8):
        folder = tmp_path / str(pid) / "task" / str(pid)
        folder.mkdir(parents=True)
        (folder / "comm").write_text("cc1\n")
        (folder / "schedstat").write_text("1000000000 0 1\n")

    def ended(function: Any) -> Any:
        def read(path: Any) -> Any:
            if Path(path) == tmp_path / "7/task":
                raise FileNotFoundError(path)
            return function(path)

        return read

    for name in ("listdir", "scandir"):  # of which pathlib uses one
        monkeypatch.setattr(os, name, ended(getattr(os, name)))
    assert process_times(tmp_path).threads == {(8, 8): ("cc1", 1.0)}


def test_scanners_of_memory_are_taken_out_and_others_are_told(tmp_path: Path) -> None:
    """A kernel thread has no command line; a program of such a name has one, and counts."""

    def thread(pid: int, name: str, run_s: float, words: str = "") -> None:
        folder = tmp_path / str(pid) / "task" / str(pid)
        folder.mkdir(parents=True, exist_ok=True)
        (tmp_path / str(pid) / "cmdline").write_text(words)
        for place in (folder, tmp_path / str(pid)):
            (place / "comm").write_text(f"{name}\n")
            (place / "schedstat").write_text(f"{round(run_s * 1e9)} 0 1\n")

    def readings(*run_s: float) -> None:
        for pid, name, words in (
            (7, "kdamond.0", ""),
            (8, "kdamonds", "./kdamonds"),
            (9, "server", "server"),
            (3, "spin", ""),
        ):
            thread(pid, name, run_s[pid - 7] if pid != 3 else 0.0, words)

    (tmp_path / "stat").write_text("cpu0 0 0 0 0 0 0 0 0\n")
    readings(1.0, 2.0, 3.0)
    spinners: Any = SimpleNamespace(pid=3, threads={0: 3}, work=0)
    meter, before = ResidualMeter(spinners, [0], tmp_path), process_times(tmp_path)
    start = meter.read()
    readings(1.056, 2.5, 3.25)
    end = meter.read()
    assert end.scanned_s - start.scanned_s == pytest.approx(0.056)
    assert meter.used_s(start, end) == pytest.approx(end.at_s - start.at_s - 0.056)
    found = most_used(used_between(before, process_times(tmp_path), kernel=True))
    assert found == (("server", pytest.approx(0.25)),)
    (tmp_path / "7" / "schedstat").unlink()  # it has ended
    assert meter.read().scanned_s == pytest.approx(1.056)
