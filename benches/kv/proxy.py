"""CPU time an operation of the proxy's process, beside nutcracker doing what it can do of the same.

    python benches/kv/run.py proxy

Closed loop of 16 connections, values of 1 KB, each cell for some seconds, alternated, medians of 5 rounds. Each proxy
has one serving thread (staged: its network thread and 8 workers). Results go to benches/kv/proxy/DATE.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from record import cpu_s

from sojourn.lab.worker_process import WorkerProcess
from sojourn.load.kv_load import kv_load
from sojourn_cases.common.memcached import Memcached, free_port, version
from sojourn_cases.kv.middleware.kv_proxy import KvProxy, ProxyOptions

HERE = Path(__file__).resolve().parent
ROUNDS, SECONDS, CONNECTIONS, KEYS, VALUE_BYTES = 5, 2.0, 16, 1000, 1024
Row = dict[str, float | str | int]
# operation → weights of sets and gets, keys of a get
OPERATIONS = {"get": (0, 1, None), "set": (1, 0, None), "multi-get of 6": (0, 1, 6)}
CELLS = [
    ("nutcracker", 1, "get"),
    ("direct", 1, "get"),
    ("nutcracker", 1, "set"),
    ("direct", 1, "set"),
    ("direct", 3, "set"),
    ("direct", 3, "get"),
    ("nutcracker", 1, "multi-get of 6"),
    ("direct", 1, "multi-get of 6"),
    ("staged", 1, "get"),
    ("staged", 3, "set"),
]


@contextmanager
def nutcracker(server: Memcached, folder: Path) -> Iterator[tuple[str, int]]:
    port = free_port("127.0.0.1")
    text = f"""one:
  listen: 127.0.0.1:{port}
  hash: fnv1a_64
  distribution: ketama
  preconnect: true
  servers:
   - {server.address}:1
"""
    Path(folder, "nutcracker.yml").write_text(text)
    command = ["nutcracker", "-c", f"{folder}/nutcracker.yml", "-s", str(free_port("127.0.0.1")), "-o", f"{folder}/log"]
    process = subprocess.Popen(command)
    try:
        time.sleep(0.5)
        yield f"memcached://127.0.0.1:{port}", process.pid
    finally:
        process.terminate()
        process.wait()


@contextmanager
def ours(design: str, servers: list[Memcached]) -> Iterator[tuple[str, int]]:
    addresses = tuple(server.address for server in servers)
    proxy = KvProxy(ProxyOptions(listen="127.0.0.1:0", servers=addresses, design=design, workers=8))
    try:
        yield proxy.url, proxy.pid
        proxy.stop()
    finally:
        proxy.close()


def load(url: str, operation: str, seconds: float, populate: bool) -> dict[str, float]:
    sets, gets, multi = OPERATIONS[operation]
    config = kv_load(
        [url], connections=CONNECTIONS, duration_s=seconds, set_weight=sets, get_weight=gets, multi_get=multi,
        keys=KEYS, value_bytes=VALUE_BYTES, populate=populate, verify=False,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as out:
        worker = WorkerProcess("load", {"load": config, "out": out})
        summary = worker.finish(seconds + 60)["summary"]
        worker.close()
    assert summary["failures"] == {}, summary
    latency = summary["latency"]["from_sent"]["to_received"]
    return {"ok": summary["ok"], "p50_ms": 1e3 * latency["p50_s"], "p99_ms": 1e3 * latency["p99_s"]}


def measure() -> list[Row]:
    rows: list[Row] = []
    with ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        servers = [Memcached() for _ in range(3)]
        for server in servers:
            stack.callback(server.stop)
            load(f"memcached://{server.address}", "get", 0.1, True)
        proxies: dict[tuple[str, int], tuple[str, int]] = {}
        for count in (1, 3):
            for design in ("direct", "staged"):
                proxies[design, count] = stack.enter_context(ours(design, servers[:count]))
        if shutil.which("nutcracker"):
            proxies["nutcracker", 1] = stack.enter_context(nutcracker(servers[0], Path(folder)))
        for round_ in range(ROUNDS):
            for name, count, operation in CELLS:
                if (name, count) not in proxies:
                    continue
                url, pid = proxies[name, count]
                before = cpu_s(pid)
                seen = load(url, operation, SECONDS, False)
                used = cpu_s(pid) - before
                row: Row = {"round": round_, "proxy": name, "servers": count, "operation": operation}
                row |= {"cpu_us": 1e6 * used / seen["ok"], "per_s": seen["ok"] / SECONDS}
                rows.append(row | {"p50_ms": seen["p50_ms"], "p99_ms": seen["p99_ms"]})
                print(rows[-1], file=sys.stderr, flush=True)
    return rows


def summary(rows: list[Row]) -> str:
    """Medians by cell, and each against nutcracker's on one server."""
    figures = ("cpu_us", "per_s", "p50_ms", "p99_ms")
    medians = {
        cell: {
            f: statistics.median(float(r[f]) for r in rows if (r["proxy"], r["servers"], r["operation"]) == cell)
            for f in figures
        }
        for cell in CELLS
        if any((r["proxy"], r["servers"], r["operation"]) == cell for r in rows)
    }
    lines = [
        f"# Proxies before {version()}", "",
        f"Medians of {ROUNDS} rounds of {SECONDS:g} s, alternated; closed loop of {CONNECTIONS} connections, values of "
        f"{VALUE_BYTES} bytes. `cpu_us` is CPU time of the proxy's process an operation; the ratio is to nutcracker's on "
        "one server for the same operation. raw.csv has each round.", "",
        "| proxy | servers | operation | cpu_us | ratio | per_s | p50_ms | p99_ms |", "|---|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    for (name, count, operation), found in medians.items():
        base = medians.get(("nutcracker", 1, operation))
        ratio = f"{found['cpu_us'] / base['cpu_us']:.2f}" if base else "-"
        lines.append(
            f"| {name} | {count} | {operation} | {found['cpu_us']:.2f} | {ratio} | {found['per_s']:.0f} | "
            f"{found['p50_ms']:.3f} | {found['p99_ms']:.3f} |"
        )
    loads = os.getloadavg()
    return "\n".join([*lines, "", f"Load average at the end: {loads[0]:.1f} ({os.cpu_count()} cores).", ""])
