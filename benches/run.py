"""Benchmarks on a quiet machine: each scenario into a folder with machine, raw data and summary.

    python benches/run.py [scenario …]

`load`       CPU time a request of our generator against wrk (Debian package `wrk`), closed loop, alternated
`open`       open loop at 5 000/s and 50 000/s: how late the generator itself was, and what it tells of the service
`start`      seconds until `sojourn --help` has ended, and from the start of `sojourn load` to its first request
`sessions`   10 000 and 35 000 users in sessions, think time 7 s, in one process: share of a core, memory
`collector`  share of a core that the host collector takes at 100 ms and at 10 ms
"""

from __future__ import annotations

import csv
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sojourn.lab.backends import LoopbackBackend
from sojourn.lab.cleanup_registry import only_one
from sojourn.lab.worker_process import WorkerProcess
from sojourn.load.http_load import http_load
from sojourn.load.session_load import session_load
from sojourn_cases.ntier.bulletin_server import BulletinOptions, BulletinService
from sojourn_cases.web.web_service import KnownDemand, WebOptions, WebTestbed

HERE = Path(__file__).resolve().parent
ROUNDS = 5
SECONDS = 5
USERS = 16
Row = dict[str, float | str | int]


@contextmanager
def shop() -> Iterator[str]:
    """The web shop without drawn demand, on one core."""
    place = LoopbackBackend([])
    options = WebOptions(port=18080, path="/health")
    service = WebTestbed.start(place, place.arrange(1, 1), options, KnownDemand(interrupt_s=0.0, page_s=0.0), 1, None)
    try:
        yield service.urls[0]
    finally:
        service.stop()


def load() -> list[Row]:
    """Closed loop of 16 connections: requests a second, and CPU time of the generator a request."""
    if not shutil.which("wrk"):
        sys.exit("benches: wrk is not installed; apt-get install wrk")
    rows: list[Row] = []
    with shop() as url:
        for round_ in range(ROUNDS):
            rows += [{"round": round_, **ours(url)}, {"round": round_, **wrk(url)}]
    return rows


def children_cpu_s() -> float:
    """CPU time of all ended child processes: start-up and book-keeping count for both tools."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def ours(url: str) -> Row:
    config = http_load([url], users=USERS, duration_s=SECONDS, connections=USERS)
    before = children_cpu_s()
    with tempfile.TemporaryDirectory() as out:
        worker = WorkerProcess("load", {"load": config, "out": out})
        summary = worker.finish(SECONDS + 30)["summary"]
        worker.process.wait()
        worker.close()
    used = children_cpu_s() - before
    return {
        "tool": "sojourn",
        "requests_per_s": summary["achieved_per_s"],
        "cpu_us_per_request": 1e6 * used / summary["ok"],
    }


def wrk(url: str) -> Row:
    before = children_cpu_s()
    command = ["wrk", "-t1", f"-c{USERS}", f"-d{SECONDS}s", url]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    done = int(next(line for line in text.splitlines() if "requests in" in line).split()[0])
    used = children_cpu_s() - before
    return {"tool": "wrk", "requests_per_s": done / SECONDS, "cpu_us_per_request": 1e6 * used / done}


def open_loop() -> list[Row]:
    """Own lateness and latency from intended, us, on one client thread."""
    rows: list[Row] = []
    with shop() as url:
        for round_ in range(ROUNDS):
            for rate in (5_000, 50_000):
                config = http_load([url], rate_per_s=rate, duration_s=3, connections=64)
                with tempfile.TemporaryDirectory() as out:
                    worker = WorkerProcess("load", {"load": config, "out": out})
                    told = worker.finish(SECONDS + 30)["summary"]
                    worker.close()
                figures = {"own": told["own_lateness"], "latency": told["latency"]["from_intended"]["to_received"]}
                row: Row = {f"{of}_{q}_us": 1e6 * figures[of][f"{q}_s"] for of in figures for q in ("p50", "p99")}
                share = {"cpu_share": told["lanes"][0]["cpu_s"] / told["lanes"][0]["wall_s"]}
                rows.append({"round": round_, "tool": f"{rate}/s", **row, **share, "per_s": told["achieved_per_s"]})
    return rows


def start() -> list[Row]:
    """Wall time of a command in a process of its own."""
    sojourn = [sys.executable, "-m", "sojourn"]
    rows: list[Row] = []
    with shop() as url, tempfile.TemporaryDirectory() as folder:
        for round_ in range(ROUNDS):
            began = time.monotonic()
            subprocess.run([*sojourn, "--help"], capture_output=True, check=True)
            rows.append({"round": round_, "tool": "sojourn --help", "wall_s": time.monotonic() - began})
            out, began = Path(folder, str(round_)), time.monotonic()
            command = [*sojourn, "load", url, "--rate", "100", "--duration", "1s", "--out", str(out)]
            subprocess.run(command, capture_output=True, check=False)
            first = json.loads((out / "manifest.json").read_text())["generator"]["start_s"]
            rows.append({"round": round_, "tool": "sojourn load, first request", "wall_s": first - began})
    return rows


def sessions() -> list[Row]:
    """The generator's thread and process; the service has its tables in memory and no work beside its pages."""
    rows: list[Row] = []
    service = BulletinService(BulletinOptions(listen="127.0.0.1:0", page_work_s=0.0, workers=2))
    try:
        for round_ in range(ROUNDS):
            for users in (10_000, 35_000):
                config = session_load(service.url, users=users, mix="readwrite", ramp_up_s=8.0, duration_s=10.0)
                with tempfile.TemporaryDirectory() as out:
                    worker = WorkerProcess("load", {"load": config, "out": out})
                    peaks: list[float] = []
                    status = Path(f"/proc/{worker.process.pid}/status")
                    told = worker.finish(60, lambda _, status=status, peaks=peaks: peaks.append(peak_mib(status)))[
                        "summary"
                    ]
                    worker.close()
                lane, seen = told["lanes"][0], told["sessions"]
                rows.append({
                    "round": round_, "tool": f"{users} users", "cpu_share": lane["cpu_s"] / lane["wall_s"], "memory_mib": peaks[-1],
                    "pages_per_s": seen["throughput_per_s"],
                    "response_ms": 1e3 * seen["response_s"], "answered_share": seen["ok"] / (seen["ok"] + seen["failed"]),
                    "interactive_law": seen["interactive_law"], "own_p99_us": 1e6 * told["own_lateness"]["p99_s"],
                    "connections": lane["connections_opened"],
                })  # fmt: skip
    finally:
        service.close()
    return rows


def peak_mib(status: Path) -> float:
    """The most memory that a process has had."""
    return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")) / 1024


def collector() -> list[Row]:
    """The collector alone; its own thread's CPU time over the time it ran."""
    rows: list[Row] = []
    for round_ in range(ROUNDS):
        for interval_s in (0.1, 0.01):
            with tempfile.TemporaryDirectory() as out:
                config = {
                    "proc_root": "/proc",
                    "sys_root": "/sys",
                    "interval_s": interval_s,
                    "out": f"{out}/host.ndjson",
                }
                worker = WorkerProcess("host", {"host": config})
                worker.ready()
                time.sleep(SECONDS)
                share = (worker.stop() or {})["summary"]["own_share"]
            rows.append({"round": round_, "tool": f"every {interval_s:g} s", "share_of_core": share})
    return rows


SCENARIOS: dict[str, Callable[[], list[Row]]] = {
    "load": load, "open": open_loop, "start": start, "sessions": sessions, "collector": collector
}  # fmt: skip


def store(name: str, rows: list[Row]) -> str:
    """Writes machine, raw data and summary; returns the summary."""
    folder = HERE / name / time.strftime("%Y-%m-%d")
    folder.mkdir(parents=True, exist_ok=True)
    model = [
        line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line
    ]
    machine = {
        "kernel": platform.release(),
        "cores": os.cpu_count(),
        "processor": model[0] if model else platform.machine(),
    }
    (folder / "machine.json").write_text(json.dumps(machine, indent=1) + "\n")
    with open(folder / "raw.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    text = summary(name, rows)
    (folder / "summary.md").write_text(text)
    return text


def summary(name: str, rows: list[Row]) -> str:
    """Medians by tool, and the ratio to the first, which does not depend on the machine's speed of the day."""
    tools = list(dict.fromkeys(str(row["tool"]) for row in rows))
    figures = [key for key in rows[0] if key not in ("round", "tool")]
    lines = [f"# {name}", "", f"Medians of {ROUNDS} rounds, alternated; raw.csv has each round.", ""]
    for figure in figures:
        median = {t: statistics.median(float(row[figure]) for row in rows if row["tool"] == t) for t in tools}
        parts = [f"{t} {median[t]:.4g} (ratio {median[t] / median[tools[0]]:.2f})" for t in tools]
        lines.append(f"- {figure}: " + ", ".join(parts))
    return "\n".join(lines) + "\n"


def main() -> None:
    names = sys.argv[1:] or list(SCENARIOS)
    unknown = set(names) - set(SCENARIOS)
    if unknown:
        sys.exit(f"benches: no scenario {', '.join(sorted(unknown))}; there is {', '.join(SCENARIOS)}")
    with only_one("bench"):
        for name in names:
            print(store(name, SCENARIOS[name]()))


if __name__ == "__main__":
    main()
