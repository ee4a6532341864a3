"""The detector on this machine's own counters, with a load whose bottleneck is known: `python benches/oscillation/live.py [FOLDER]`.

Each case 3 times, 16 s, sampled every 0.1 s by the collector that runs have; FOLDER: on the disk that is written to. Writes
DATE/live.md and the busy shares as DATE/live/*.csv beside this file. The load: alternating_load.py.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import sojourn as sj
from sojourn.lab.cleanup_registry import only_one
from sojourn.lab.worker_process import WorkerProcess
from sojourn.runs.busy_series import busy_series
from sojourn.runs.host_samples import read_samples
from sojourn.runs.record_logs import write_parquet

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from record import new_folder  # noqa: E402

LENGTH_S, SETTLE_S, REPETITIONS = 16.0, 1.0, 3
LOAD = HERE / "alternating_load.py"
# what runs together (kind, mean phase), and what is true
CASES = {
    "in turn, 0.3 s": ((("BOTH", 0.3),), "hidden"),
    "in turn, 1.2 s": ((("BOTH", 1.2),), "visible"),
    "each by itself, 0.3 s": ((("CPU", 0.3), ("DISK", 0.3)), "none"),
}


def disk_of(folder: Path) -> str:
    """The name of its device in /proc/diskstats."""
    device = folder.stat().st_dev
    rows = (line.split() for line in Path("/proc/diskstats").read_text().splitlines())
    return next(row[2] for row in rows if (int(row[0]), int(row[1])) == (os.major(device), os.minor(device)))


def busy(parts: tuple[tuple[str, float], ...], seed: int, folder: Path) -> tuple[np.ndarray, float]:
    """Busy shares of the loaded core and of the disk while the load lasts."""
    core = max(os.sched_getaffinity(0))
    samples, run = folder / "host.ndjson", folder / f"run-{seed}"
    worker = WorkerProcess("host", log=folder / "host.log")
    try:
        worker.begin({"host": {"proc_root": "/proc", "sys_root": "/sys", "interval_s": 0.1, "out": str(samples),
                               "pids": [], "cpu": None}})  # fmt: skip
        worker.ready()
        start_s = time.monotonic()
        loads = [
            subprocess.Popen(
                [sys.executable, LOAD, kind, str(phase_s), str(LENGTH_S + 2 * SETTLE_S), str(seed + 100 * number),
                 str(core - number), str(folder / f"{kind}-{number}")]
            )
            for number, (kind, phase_s) in enumerate(parts)
        ]  # fmt: skip
        for load in loads:
            load.wait()
        worker.result()
    finally:
        worker.close()
    manifest = {"window_s": [start_s + SETTLE_S, start_s + SETTLE_S + LENGTH_S], "status": "complete"}
    recorded = sj.RunFolder.create(run, manifest)
    write_parquet(read_samples(samples)[0], run / "host.parquet")
    samples.unlink()
    return busy_series(recorded, [f"cpu:{core}", f"disk:{disk_of(folder)}"])


def main(folder: Path) -> None:
    lines = [
        "# The detector on a machine's own counters\n",
        "`python benches/oscillation/live.py`: one core and a disk, 16 s, 3 times each.\n",
        "| load | truth | verdict | r | p | core, disk, either full | means over 1 s full | mean of core, disk |",
        "|---|---|---|---|---|---|---|---|",
    ]
    out = new_folder(HERE.parent, HERE.name, {})
    (out / "live").mkdir(exist_ok=True)
    with only_one("bench"), tempfile.TemporaryDirectory(dir=folder) as scratch:
        for seed, (name, (parts, truth)) in enumerate([case for case in CASES.items() for _ in range(REPETITIONS)]):
            shares, interval_s = busy(parts, seed, Path(scratch))
            found = sj.oscillation(shares[0], shares[1], interval_s, ("core", "disk"))
            rows = "".join(f"{k * interval_s:.2f},{a:.4f},{b:.4f}\n" for k, (a, b) in enumerate(shares.T))
            (out / "live" / f"{truth}-{seed % REPETITIONS + 1}.csv").write_text("t_s,core,disk\n" + rows)
            full = ", ".join(f"{share:.2f}" for share in found.share_of_samples_full)
            lines.append(
                f"| {name} | {truth} | {found.verdict} | {found.correlation:.2f} | {found.p_value:.2g} | {full} | "
                f"{found.share_of_seconds_full:.2f} | {found.mean_busy_share[0]:.2f}, {found.mean_busy_share[1]:.2f} |"
            )
    (out / "live.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path.cwd())
