"""A load whose bottleneck is known: `python alternating_load.py CPU|DISK|BOTH PHASE_S LENGTH_S SEED CORE FILE`.

Phases of gamma distributed length (shape 4) in turn: one core busy, then the disk behind FILE (four direct writers); of CPU or DISK alone
the other phases are idle.
"""

from __future__ import annotations

import mmap
import os
import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

BLOCK, BLOCKS, WRITERS, SHAPE = 4 << 20, 16, 4, 4.0


def main(kind: str, phase_s: float, length_s: float, seed: int, core: int, path: Path) -> None:
    os.sched_setaffinity(0, {core})
    chance = random.Random(seed)
    end_s = time.monotonic() + length_s
    with ThreadPoolExecutor(WRITERS) as pool, mmap.mmap(-1, BLOCK) as block:
        block.write(os.urandom(BLOCK))
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_DIRECT, 0o600)

        def write(place: int, until_s: float) -> None:
            while time.monotonic() < until_s:
                os.pwrite(file, block, place % BLOCKS * BLOCK)

        for turn in range(chance.randrange(2), sys.maxsize):
            until_s = min(time.monotonic() + chance.gammavariate(SHAPE, phase_s / SHAPE), end_s)
            if turn % 2 and kind != "CPU":
                list(pool.map(lambda place, until_s=until_s: write(place, until_s), range(WRITERS)))
            elif turn % 2 == 0 and kind != "DISK":
                compute(until_s)
            else:
                time.sleep(max(0.0, until_s - time.monotonic()))
            if until_s == end_s:
                break
        os.close(file)


def compute(until_s: float) -> None:
    value = 1
    while time.monotonic() < until_s:
        for _ in range(1000):
            value = value * 3 & 0xFFFF


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]), Path(sys.argv[6]))
