"""The bench of many cores: one worker beside two, the same pieces, equal results. `python benches/scale/run.py NAME…`

python benches/scale/run.py sweep plan          each with one worker, and with two; their starts and memory apart
python benches/scale/run.py --dask sweep plan   the same by a dask scheduler with one and with two workers, processes of their own,
                                                and with one local worker
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from dask_processes import dask_processes
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
    if hasattr(workers, "client"):
        return sorted(workers.client.run(_imports).values())
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
    with _place(on) as place, open_workers(place) as workers:
        pids = warmed(workers)
        started = time.monotonic()
        found = run(workers)
        ended = time.monotonic()
        memory = [round(resident_mib(pid, peak=True)) for pid in pids]
    return started - begun, ended - started, found, memory


def _place(on: str) -> AbstractContextManager[str]:
    """Where `on` is: `dask:N` is started for it."""
    kind, _, count = on.partition(":")
    return dask_processes(int(count)) if kind == "dask" else nullcontext(on)


def spin(seconds: float, piece: int) -> int:
    """A piece of known CPU time."""
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass
    return piece


def overhead(kind: str) -> dict[str, Any]:
    """20 pieces of 1 s of CPU on one worker, which has them one after another."""
    with _place(f"{kind}:1") as place, open_workers(place) as workers:
        warmed(workers)
        started = time.monotonic()
        run_pieces(workers, spin, workers.send(1.0), list(range(20)))
        wall_s = time.monotonic() - started
    return {
        "job": "overhead",
        "on": kind,
        "count": 20,
        "wall_s": round(wall_s, 3),
        "overhead": round(wall_s / 20.0 - 1, 4),
    }


def memory_growth(kind: str) -> dict[str, Any]:
    """Memory of a worker after 1 000 and after 20 000 pieces with an array of 1 MB each."""
    with _place(f"{kind}:2") as place, open_workers(place) as workers:
        pids, seen = warmed(workers), []
        handle = workers.send(125_000)
        for count in (1000, 20_000):
            run_pieces(workers, total, handle, list(range(count)))
            seen.append([round(resident_mib(pid), 1) for pid in pids])
        parent = round(resident_mib("self"), 1)
    return {"job": "memory", "on": kind, "after_1000_mib": seen[0], "after_20000_mib": seen[1], "parent_mib": parent}


def total(size: int, piece: int) -> float:
    return float(np.random.default_rng(piece).random(size).sum())


def compared(name: str, kind: str) -> dict[str, Any]:
    make, count = JOBS[name]
    make(max(count // 1000, 2)).run("local:1")  # what this process imports is not timed
    job = make(count)
    start1, one_s, first, memory1 = timed(job.run, f"{kind}:1")
    start2, two_s, second, memory2 = timed(job.run, f"{kind}:2")
    row = {
        "job": name, "on": kind, "count": count, "start_1_s": round(start1, 2), "start_2_s": round(start2, 2),
        "one_s": round(one_s, 2), "two_s": round(two_s, 2), "speed_up": round(one_s / two_s, 3),
        "same": job.same(first, second), "peak_1_mib": memory1, "peak_2_mib": memory2,
    }  # fmt: skip
    if kind != "local":
        _, local_s, third, _ = timed(job.run, "local:1")
        row |= {"local_1_s": round(local_s, 2), "speed_up_of_local_1": round(local_s / two_s, 3)}
        row["same_as_local_1"] = job.same(second, third)
    return row | {"parent_peak_mib": round(resident_mib("self", peak=True))}


def main() -> None:
    from record import describe

    folder = HERE / time.strftime("%Y-%m-%d")
    describe(folder, {})
    with only_one("bench"), open(folder / "raw.ndjson", "a") as out:
        kind = "dask" if "--dask" in sys.argv else "local"
        names = [name for name in sys.argv[1:] if name != "--dask"]
        for name in names or [*JOBS, "overhead", "memory"]:
            alone = {"overhead": overhead, "memory": memory_growth}.get(name)
            row = alone(kind) if alone else compared(name, kind)
            out.write(json.dumps(row) + "\n")
            out.flush()
            print(row, flush=True)


if __name__ == "__main__":
    main()
