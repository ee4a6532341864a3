"""What the lab itself uses at rest: a few seconds of host samples without any load."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np

from sojourn.lab import WorkerProcess
from sojourn.runs import read_samples, shares_by_spinner

LENGTH_S = 3.0
WINDOWS = 6


def at_rest(pids: dict[str, int], observer: int | None, folder: Path, length_s: float = LENGTH_S) -> dict[int, float]:
    """Busy share of each core with nothing running but spinners (in `pids`) and the collector, which is taken out. Without
    spinners nothing is measured: the meters by ticks and by run times of threads take nothing out."""
    if "spinners" not in pids:
        return {}
    path = folder / "at-rest.ndjson"
    worker = WorkerProcess("host", log=folder / "at-rest.log")
    watched = {**pids, "observer": worker.process.pid, "sojourn": os.getpid()}
    try:
        worker.begin({"host": {"proc_root": "/proc", "sys_root": "/sys", "interval_s": 0.1, "out": str(path),
                               "pids": list(watched.values()), "cpu": observer}})  # fmt: skip
        worker.ready()
        time.sleep(length_s)
        worker.result()
        host, _ = read_samples(path)
    finally:
        worker.close()
        path.unlink(missing_ok=True)
        (folder / "at-rest.log").unlink(missing_ok=True)
    times = host["t_s"].unique().sort()
    edges = np.linspace(times[min(2, len(times) - 2)], times[-1], WINDOWS + 1)
    busy = shares_by_spinner(host, {"pids": watched}, edges)
    # The quietest window: somebody else's work must not be taken for the lab's own.
    return {core: float(max(share.min(), 0.0)) for core, share in busy.items()}
