"""What agents of one load cost the process that asked: bytes, merging, clocks, and the draw of arrivals. `python benches/scale/agents.py`

One agent runs 10 s of a load on a service here; what it hands over is then merged as if N had sent it.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sojourn import _native
from sojourn.lab.cleanup_registry import only_one
from sojourn.lab.worker_process import WorkerProcess
from sojourn.measure.agents.agent_run import AgentProcess, AgentResult, AgentTask, run_agent
from sojourn.measure.agents.clock_offsets import clock_offset, read_clocks
from sojourn.parallel import open_workers, run_at_once

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
RATE_PER_S, SECONDS = 2000.0, 10.0
NUMBERS = (1, 10, 100, 1000)
REPEATS = 3


def median_s(run: Callable[[], Any], repeats: int = REPEATS) -> float:
    times = []
    for _ in range(repeats):
        begun = time.perf_counter()
        run()
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def one_agent(place: Path) -> AgentResult:
    """What one agent hands over after 10 s at 2 000/s."""
    service = WorkerProcess(
        "web", {"network": None, "web": {"listen": ["127.0.0.1:0"], "cores": [0], "leading": [0], "pinned": False}}
    )
    try:
        url = f"http://{service.ready()['addresses'][0]}/"
        words = ["load", url, "--rate", str(RATE_PER_S), "--duration", "1s", "--out", str(place / "run")]
        subprocess.run([sys.executable, "-m", "sojourn", *words], check=False, stdout=subprocess.DEVNULL)
        load = json.loads((place / "run/manifest.json").read_text())["load"] | {"duration_s": SECONDS}
        return run_agent({"load": load, "count": 1}, AgentTask(0, time.monotonic() + 3.0, AgentProcess.own()))
    finally:
        service.close()


def merging(one: AgentResult, place: Path) -> dict[str, Any]:
    counts = one.manifest["generator"]["counts"]
    row: dict[str, Any] = {
        "job": "agent", "rate_per_s": RATE_PER_S, "seconds": SECONDS, "bytes": {k: len(v) for k, v in one.files.items()},
        "counts_bytes": len(json.dumps(counts)), "manifest_bytes": len(json.dumps(one.manifest)), "merge_s": {}, "counts_s": {},
    }  # fmt: skip
    for number in NUMBERS:
        logs = []
        for k in range(number):
            (log := place / f"{k}.hlog").write_bytes(one.files["latency.hlog"])
            logs.append(str(log))
        text = json.dumps([counts] * number)
        row["merge_s"][number] = median_s(lambda logs=logs: _native.merge_interval_logs(logs, str(place / "all.hlog")))
        row["counts_s"][number] = median_s(lambda text=text: _native.merged_latency(text))
    return row


def arrivals() -> dict[str, Any]:
    """Every agent draws every arrival of the schedule, and keeps its own; here without the draw of whose it is."""
    count = 5_000_000
    process = json.dumps({"kind": "poisson", "rate_per_s": float(count)})
    spent_s = median_s(lambda: _native.schedule(process, 1, "lane 0 arrivals", 1.0))
    return {"job": "arrivals", "count": count, "each_ns": round(spent_s / count * 1e9, 2)}


def nothing(_shared: object, piece: int) -> int:
    return piece


def clocks_and_tasks() -> dict[str, Any]:
    """On a dask scheduler with two workers, each a process of this machine: a round trip, eight of which a clock takes, and a task."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with open_workers(f"dask://{cluster.scheduler_address.removeprefix('tcp://')}") as workers:
            handle = workers.send({})

            def ask() -> tuple[float, float]:
                return run_at_once(workers, read_clocks, handle, [None], [0], limit_s=10.0, still_s=10.0)[0]

            ask()
            offsets: list[float] = []
            clock_s = median_s(lambda: offsets.append(clock_offset(ask).bound_s), 5)
        with cluster.get_client() as client:
            client.gather(client.map(nothing, [None] * 200, range(200), pure=False))
            task_s = median_s(lambda: client.gather(client.map(nothing, [None] * 5000, range(5000), pure=False))) / 5000
    return {
        "job": "clocks",
        "clock_s": round(clock_s, 4),
        "bound_s": statistics.median(offsets),
        "task_s": round(task_s, 6),
    }


def main() -> None:
    from record import describe

    folder = HERE / time.strftime("%Y-%m-%d")
    describe(folder, {})
    with only_one("bench"), tempfile.TemporaryDirectory() as place, open(folder / "agents.ndjson", "w") as out:
        one = one_agent(Path(place))
        for row in (merging(one, Path(place)), arrivals(), clocks_and_tasks()):
            out.write(json.dumps(row) + "\n")
            print(row, flush=True)


if __name__ == "__main__":
    main()
