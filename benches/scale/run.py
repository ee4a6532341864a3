"""The bench of many cores: one worker beside two, the same pieces, equal results. `python benches/scale/run.py NAME…`

python benches/scale/run.py sweep plan          each with one worker, and with two; their starts and memory apart
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from pieces import JOBS

from sojourn.lab.cleanup_registry import only_one
from sojourn.parallel import open_workers, run_pieces

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))


def resident_mib(pid: int | str, peak: bool = False) -> float:
    name = "VmHWM:" if peak else "VmRSS:"
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith(name))
    return int(line.split()[1]) / 1024


def warmed(workers: Any) -> list[int]:
    return [slot.submit(_imports).result() for slot in workers.slots]


def _imports() -> int:
    import os

    import sojourn.fit.model_fit
    import sojourn.plan
    import sojourn.simulate
    import sojourn.solve  # noqa: F401

    return os.getpid()


def timed(run: Callable[[Any], Any], on: str) -> tuple[float, float, Any, list[float]]:
    """Seconds to start, seconds of work, the result, and the most memory of each worker (MiB)."""
    begun = time.monotonic()
    with open_workers(on) as workers:
        pids = warmed(workers)
        started = time.monotonic()
        found = run(workers)
        ended = time.monotonic()
        memory = [round(resident_mib(pid, peak=True)) for pid in pids]
    return started - begun, ended - started, found, memory


def spin(seconds: float, piece: int) -> int:
    """A piece of known CPU time."""
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass
    return piece


def overhead() -> dict[str, Any]:
    """20 pieces of 1 s of CPU on one worker, which has them one after another."""
    with open_workers("local:1") as workers:
        warmed(workers)
        started = time.monotonic()
        run_pieces(workers, spin, workers.send(1.0), list(range(20)))
        wall_s = time.monotonic() - started
    return {"job": "overhead", "count": 20, "wall_s": round(wall_s, 3), "overhead": round(wall_s / 20.0 - 1, 4)}


def memory_growth() -> dict[str, Any]:
    """Memory of a worker after 1 000 and after 20 000 pieces with an array of 1 MB each."""
    with open_workers("local:2") as workers:
        pids, seen = warmed(workers), []
        handle = workers.send(125_000)
        for count in (1000, 20_000):
            run_pieces(workers, total, handle, list(range(count)))
            seen.append([round(resident_mib(pid), 1) for pid in pids])
        parent = round(resident_mib("self"), 1)
    return {"job": "memory", "after_1000_mib": seen[0], "after_20000_mib": seen[1], "parent_mib": parent}


def total(size: int, piece: int) -> float:
    return float(np.random.default_rng(piece).random(size).sum())


def compared(name: str) -> dict[str, Any]:
    make, count = JOBS[name]
    make(max(count // 1000, 2)).run("local:1")  # what this process imports is not timed
    job = make(count)
    start1, one_s, first, memory1 = timed(job.run, "local:1")
    start2, two_s, second, memory2 = timed(job.run, "local:2")
    return {
        "job": name, "count": count, "start_1_s": round(start1, 2), "start_2_s": round(start2, 2), "one_s": round(one_s, 2),
        "two_s": round(two_s, 2), "speed_up": round(one_s / two_s, 3), "same": job.same(first, second),
        "peak_1_mib": memory1, "peak_2_mib": memory2, "parent_peak_mib": round(resident_mib("self", peak=True)),
    }  # fmt: skip


def main() -> None:
    from record import describe

    folder = HERE / time.strftime("%Y-%m-%d")
    describe(folder, {})
    with only_one("bench"), open(folder / "raw.ndjson", "a") as out:
        for name in sys.argv[1:] or [*JOBS, "overhead", "memory"]:
            row = {"overhead": overhead, "memory": memory_growth}.get(name, lambda name=name: compared(name))()
            out.write(json.dumps(row) + "\n")
            out.flush()
            print(row, flush=True)


if __name__ == "__main__":
    main()
