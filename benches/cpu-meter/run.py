"""Loops that know their own CPU time, beside the residual meter and ticks: `python benches/cpu-meter/run.py` → CSV, in a minute.

12 windows at rest, then loops of 0.1, 0.5 and 1.0 of a core, 8 times each in a random order, then a load of 0.6 ms in step with a
tick of 250 Hz at four places. All in cores. Run it on a machine at rest. See README.md beside this file.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

import numpy as np

from sojourn.measure.cpu_residual import ResidualMeter, children_cpu_s, residual_meter
from sojourn.measure.known_cpu_time import IN_STEP, LOOP
from sojourn.measure.process_times import most_used, process_times, used_between

LENGTH_S = 1.4


def window(meter: ResidualMeter, kind: str, setting: float, program: str = "") -> None:
    """One line: used by the residual without the kernel's scanners, these, own account, ticks, stolen, strangers, and who of them most."""
    there = process_times()
    own_s, start = children_cpu_s(), meter.read()
    if program:
        subprocess.run([sys.executable, "-c", program, str(setting), str(LENGTH_S)], check=True)
    else:
        time.sleep(LENGTH_S)
    own_s, end = children_cpu_s() - own_s, meter.read()
    others = used_between(there, process_times(), {os.getpid(), meter.pid})
    wall_s = end.at_s - start.at_s
    seconds = (
        meter.used_s(start, end), end.scanned_s - start.scanned_s, own_s, end.ticks_s - start.ticks_s, end.stolen_s - start.stolen_s,
        sum(others.values()),
    )  # fmt: skip
    print(kind, setting, f"{wall_s:.4f}", *(f"{value / wall_s:.5f}" for value in seconds), end=",", sep=",")
    print(*(f"{name} {used_s / wall_s:.4f}" for name, used_s in most_used(others, 0.0)), sep="; ", flush=True)


def main() -> None:
    print("kind,setting,wall_s,used,scanned,own,ticks,stolen,strangers,others")
    with residual_meter() as meter:
        for _ in range(12):
            window(meter, "rest", 0.0)
        for share in np.random.default_rng(1).permutation(np.repeat([0.1, 0.5, 1.0], 8)):
            window(meter, "loop", float(share), LOOP)
        for phase_s in (0.0002, 0.0006, 0.0034, 0.0037):
            for _ in range(2):
                window(meter, "in step", phase_s, IN_STEP)


if __name__ == "__main__":
    main()
