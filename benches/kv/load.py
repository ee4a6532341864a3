"""CPU time an operation of our load on memcached, closed loop of 16 connections, on a quiet machine.

    python benches/kv/run.py load

Ours on the last core, memcached with one thread on the first; where memtier_benchmark is installed, the same with it,
alternated. Each tool's whole process is counted, its start and its end too. Results go to benches/kv/load/DATE.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from sojourn.lab.worker_process import WorkerProcess
from sojourn.load.kv_load import kv_load
from sojourn_cases.common.memcached import Memcached, version

HERE = Path(__file__).resolve().parent
ROUNDS = 5
SECONDS = 5
CONNECTIONS = 16
KEYS = 10_000
VALUE_BYTES = 1024
Row = dict[str, float | str | int]
# name → (weight of sets, of gets, keys of a get)
MIXES = {"1 set to 10 gets": (1, 10, 1), "gets": (0, 1, 1), "sets": (1, 0, 1), "gets of 6 keys": (0, 1, 6)}


def cpu_of(run: Callable[[], tuple[int, float]]) -> Row:
    """Operations a second, and CPU time an operation of all processes that `run` started and waited for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done, lane_s = run()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used_s = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return {
        "operations_per_s": done / SECONDS,
        "cpu_us_per_operation": 1e6 * used_s / done,
        "system_us_per_operation": 1e6 * (after.ru_stime - before.ru_stime) / done,
        "thread_us_per_operation": 1e6 * lane_s / done,
    }


def ours(server: Memcached, mix: str, verify: bool) -> tuple[int, float]:
    sets, gets, keys = MIXES[mix]
    config = kv_load(
        [server.url], connections=CONNECTIONS, duration_s=SECONDS, set_weight=sets, get_weight=gets, keys=KEYS,
        multi_get=keys if keys > 1 else None, value_bytes=VALUE_BYTES, verify=verify, cores=[last_core()],
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as out:
        worker = WorkerProcess("load", {"load": config, "out": out})
        summary = worker.finish(SECONDS + 60)["summary"]
        worker.process.wait()
        worker.close()
    assert summary["failures"] == {} and summary["kv"]["misses"] == summary["kv"]["wrong"] == 0, summary
    return summary["ok"], sum(lane["cpu_s"] for lane in summary["lanes"])


def memtier(server: Memcached, mix: str) -> tuple[int, float]:
    sets, gets, keys = MIXES[mix]
    with tempfile.TemporaryDirectory() as out:
        command = [
            "taskset", "-c", str(last_core()), "memtier_benchmark", "-s", "127.0.0.1", "-p", str(server.port), "-P",
            "memcache_text", "-t", "1", "-c", str(CONNECTIONS), f"--test-time={SECONDS}", f"--ratio={sets}:{gets}",
            f"--data-size={VALUE_BYTES}", f"--key-maximum={KEYS}", "--hide-histogram", f"--json-out-file={out}/j",
            *([f"--multi-key-get={keys}"] if keys > 1 else []),
        ]  # fmt: skip
        subprocess.run(command, capture_output=True, check=True)
        said = json.loads(Path(out, "j").read_text())["ALL STATS"]["Totals"]
    return round(said["Ops/sec"] * SECONDS), 0.0


def last_core() -> int:
    return max(os.sched_getaffinity(0))


def measure() -> list[Row]:
    tools: dict[str, Callable[[Memcached, str], tuple[int, float]]] = {
        "sojourn": lambda server, mix: ours(server, mix, True),
        "sojourn, values not compared": lambda server, mix: ours(server, mix, False),
    }
    if shutil.which("memtier_benchmark"):
        tools["memtier"] = memtier
    rows: list[Row] = []
    server = Memcached(core=min(os.sched_getaffinity(0)))
    try:
        for round_ in range(ROUNDS):
            for mix in MIXES:
                for name, run in tools.items():
                    row = cpu_of(lambda run=run, mix=mix: run(server, mix))  # type: ignore[misc]
                    rows.append({"round": round_, "mix": mix, "tool": name, **row})
                    print(rows[-1], flush=True)
    finally:
        server.stop()
    return rows


def summary(rows: list[Row]) -> str:
    """Medians by mix and tool."""
    figures = [key for key in rows[0] if key.endswith(("_s", "_operation"))]
    lines = [f"# Load on {version()}", "", f"Medians of {ROUNDS} rounds of {SECONDS} s, alternated; {CONNECTIONS} "
             f"connections, one thread, values of {VALUE_BYTES} bytes; raw.csv has each round.", "",
             "| mix | tool | " + " | ".join(figures) + " |", "|" + "---|" * (len(figures) + 2)]  # fmt: skip
    for mix in MIXES:
        for tool in dict.fromkeys(str(row["tool"]) for row in rows):
            chosen = [row for row in rows if (row["mix"], row["tool"]) == (mix, tool)]
            cells = [f"{statistics.median(float(row[figure]) for row in chosen):.4g}" for figure in figures]
            lines.append(f"| {mix} | {tool} | " + " | ".join(cells) + " |")
    if not shutil.which("memtier_benchmark"):
        lines += ["", "memtier_benchmark was not installed: no comparison."]
    load = os.getloadavg()
    return "\n".join(
        [*lines, "", f"Load average of the machine at the end: {load[0]:.1f} ({os.cpu_count()} cores).", ""]
    )
