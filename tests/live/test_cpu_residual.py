"""Loops that know their own CPU time, beside what the machine's meter says; nothing spins when it is closed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sojourn.measure.cpu_residual import children_cpu_s, residual_meter
from sojourn.measure.known_cpu_time import IN_STEP, LOOP

pytestmark = [pytest.mark.live, pytest.mark.alone, pytest.mark.lab]
LENGTH_S = 1.4
ATTEMPTS = 3  # others may use the machine meanwhile
BOUND = 0.02  # of a core, beside the interval
COMMAND = [sys.executable, "-c", "from sojourn.cli import main; main()", "cpu"]


def measured(
    tmp_path: Path, *words: str, rest: str = "1s"
) -> tuple[dict[str, float], subprocess.CompletedProcess[str]]:
    out, options = tmp_path / "cpu.json", ["--idle-duration", rest]
    done = subprocess.run(
        [*COMMAND, *options, "--out", str(out), "--", *words], capture_output=True, text=True, timeout=60
    )
    assert out.exists(), done.stderr
    return json.loads(out.read_text()), done


@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
def test_planted_loops_are_read(share: float, tmp_path: Path) -> None:
    off = []
    for _ in range(ATTEMPTS):
        found, done = measured(tmp_path, sys.executable, "-c", LOOP, str(share), str(LENGTH_S))
        assert done.returncode == 0, done.stderr
        off.append((found["cpu_s"] - found["cpu_by_process_times_s"]) / found["wall_s"])
        if abs(off[-1]) <= BOUND + found["cpu_error_s"] / found["wall_s"]:
            break
    else:
        raise AssertionError(f"off by {off} cores")


def test_ticks_are_wrong_on_a_load_in_step_with_them_and_the_residual_is_not() -> None:
    """Somewhere between two ticks the load is missed, or nearly: its place is tried in steps of 1 ms, as other kernels tick elsewhere."""
    worst, off = 0.0, []
    with residual_meter() as meter:
        for phase_s in (0.0002, 0.0012, 0.0022, 0.0034):
            rest = meter.at_rest(1.0)
            start, own_s = meter.read(), children_cpu_s()
            subprocess.run([sys.executable, "-c", IN_STEP, str(phase_s), str(LENGTH_S)], check=True)
            end, own_s = meter.read(), children_cpu_s() - own_s
            used_s = meter.used_s(start, end) - sum(r[0] for r in rest) / len(rest) * (end.at_s - start.at_s)
            off.append((used_s - own_s) / LENGTH_S)
            worst = max(worst, abs(end.ticks_s - start.ticks_s - own_s) / LENGTH_S)
    assert worst > 0.05
    assert sorted(map(abs, off))[1] < 0.03, off  # others may run in some of them


def test_exit_code_and_output_are_the_commands(tmp_path: Path) -> None:
    found, done = measured(tmp_path, sys.executable, "-c", "print('out'); raise SystemExit(7)", rest="0.4s")
    assert (done.returncode, done.stdout, found["exit_code"]) == (7, "out\n", 7)
    assert "residual" in done.stderr and "its own account" in done.stderr
