"""The bench of many cores: one worker beside two, the same pieces, equal results. `python benches/scale/run.py NAME…`

python benches/scale/run.py sweep plan          each three times: in this process alone, with one worker, with two, in turn; medians
python benches/scale/run.py --dask sweep plan   the same by a dask scheduler with one and with two workers, processes of their own
python benches/scale/run.py --once fits         once each
python benches/scale/run.py ceiling             what two processes gain on this machine where they share nothing
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from dask_processes import dask_processes
from pieces import JOBS

from sojourn.lab.cleanup_registry import only_one
from sojourn.parallel import open_workers, run_pieces

HERE = Path(__file__).resolve().parent
TIMES = 1 if "--once" in sys.argv else 3
sys.path.insert(0, str(HERE.parent))


def resident_mib(pid: int | str, peak: bool = False) -> float:
    name = "VmHWM:" if peak else "VmRSS:"
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith(name))
    return int(line.split()[1]) / 1024


def warmed(workers: Any) -> list[int]:
    if hasattr(workers, "client"):
        workers.client.run_on_scheduler(_imports)  # it unpacks tasks, and imports what they are of
        return sorted(workers.client.run(_imports).values())
    return [slot.submit(_imports).result() for slot in workers.slots]


def _imports() -> int:
    import os

    import sojourn.fit.model_fit
    import sojourn.plan
    import sojourn.simulate
    import sojourn.solve  # noqa: F401
    from sojourn.parallel.workers import versions

    versions()
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


def arithmetic(_shared: None, piece: int) -> float:
    """About 0.2 s of work that is the same wherever it is done."""
    found = 0.0
    for i in range(3_000_000):
        found += i * 0.5 % 3
    return found + piece


def ceiling(kind: str) -> dict[str, Any]:
    """40 such pieces on one worker and on two, three times in turn."""
    walls: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(TIMES):
        for count in walls:
            with _place(f"{kind}:{count}") as place, open_workers(place) as workers:
                warmed(workers)
                started = time.monotonic()
                run_pieces(workers, arithmetic, workers.send(None), list(range(40)))
                walls[count].append(round(time.monotonic() - started, 2))
    return {"job": "ceiling", "on": kind, "one_s": walls[1], "two_s": walls[2], "speed_up": ratio(walls[1], walls[2])}


def ratio(slow: list[float], fast: list[float]) -> float:
    return round(median(slow) / median(fast), 3)


def compared(name: str, kind: str) -> dict[str, Any]:
    make, count = JOBS[name]
    make(max(count // 1000, 2)).run("local:1")  # what this process imports is not timed
    job = make(count)
    places = {"one": f"{kind}:1", "two": f"{kind}:2"}
    starts: dict[str, list[float]] = {where: [] for where in places}
    walls: dict[str, list[float]] = {where: [] for where in ("alone", *places)}
    memory: dict[str, list[float]] = {}
    first, same, same_alone = None, True, True
    for _ in range(TIMES):
        started = time.monotonic()
        alone = job.run(None)
        walls["alone"].append(round(time.monotonic() - started, 2))
        for where, place in places.items():
            start_s, work_s, found, memory[where] = timed(job.run, place)
            starts[where].append(round(start_s, 2))
            walls[where].append(round(work_s, 2))
            first = found if first is None else first
            same = same and job.same(first, found)
        same_alone = same_alone and job.same(first, alone)
        del alone, found
    return {
        "job": name, "on": kind, "count": count, **{f"{where}_s": each for where, each in walls.items()},
        **{f"start_{where}_s": each for where, each in starts.items()},
        "speed_up": ratio(walls["one"], walls["two"]), "speed_up_of_alone": ratio(walls["alone"], walls["two"]),
        "same": same, "same_alone": same_alone,
        **{f"peak_{where}_mib": each for where, each in memory.items()},
        "parent_peak_mib": round(resident_mib("self", peak=True)),
    }  # fmt: skip


def main() -> None:
    from record import describe

    folder = HERE / time.strftime("%Y-%m-%d")
    describe(folder, {})
    with only_one("bench"), open(folder / "raw.ndjson", "a") as out:
        kind = "dask" if "--dask" in sys.argv else "local"
        names = [name for name in sys.argv[1:] if not name.startswith("--")]
        for name in names or ["ceiling", *JOBS, "overhead", "memory"]:
            alone = {"overhead": overhead, "memory": memory_growth, "ceiling": ceiling}.get(name)
            row = alone(kind) if alone else compared(name, kind)
            out.write(json.dumps(row) + "\n")
            out.flush()
            print(row, flush=True)


if __name__ == "__main__":
    main()
