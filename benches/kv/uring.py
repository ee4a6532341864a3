"""What io_uring could save a proxy: CPU time an operation of bare proxies, by epoll and by io_uring.

    python benches/kv/run.py uring

A bare proxy (benches/kv/uring) forwards whole requests and gives whole answers back, and does nothing else. Pinned: proxy on
core 1, memcached (one thread) and load on core 0; free: all where the kernel puts them. Each is in a session of its own, as
services are, so that none yields to another. Closed loops of 1, 8, 64 (pinned) and 16 connections (free), values of 1 KB; cells
alternate. Results go to benches/kv/uring/DATE.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from record import cpu_s

from sojourn_cases.common.memcached import Memcached, free_port, version

HERE = Path(__file__).resolve().parent
ROUNDS, SECONDS = 5, 0.5
Row = dict[str, float | str | int]
# How the proxy waits, receives and sends; and what it does before: yields, or has the ring wait at least so many microseconds.
WAYS = {
    "epoll": ["epoll", "yield"],
    "epoll, yield before sending": ["epoll", "early"],
    "io_uring": ["uring"],
    "io_uring, yield before sending": ["uring", "early"],
    "io_uring, yield before waiting": ["uring", "yield"],
    "io_uring, waits 50 us": ["uring", "50"],
    "multishot receive, send(2)": ["hybrid", "yield"],
}
CELLS = [("pinned", 1), ("pinned", 8), ("pinned", 64), ("free", 16)]


def build() -> str:
    target = HERE.parents[1] / "target" / "bare-proxy"
    command = ["cargo", "build", "--release", "--locked", "--quiet", "--target-dir", str(target)]
    subprocess.run([*command, "--manifest-path", str(HERE / "uring" / "Cargo.toml")], check=True)
    return str(target / "release" / "bare-proxy")


def on(place: str, core: int, command: list[str]) -> list[str]:
    return ["taskset", "-c", str(core), *command] if place == "pinned" else command


def idle_s() -> float:
    """Idle time of all cores since the machine started."""
    fields = Path("/proc/stat").read_text().splitlines()[0].split()
    return (int(fields[4]) + int(fields[5])) / os.sysconf("SC_CLK_TCK")


def run(program: str, server: Memcached, place: str, clients: int, operation: str, way: list[str]) -> Row:
    """One cell: `cpu_us` of the proxy an operation, and what all others took."""
    port = free_port("127.0.0.1")
    proxy = [program, "proxy", way[0], str(port), str(server.port), str(clients), operation, *way[1:]]
    with subprocess.Popen(on(place, 1, proxy), stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        server_s, idle, start = cpu_s(server.process.pid), idle_s(), time.monotonic()
        command = on(place, 0, [program, "load", str(port), str(clients), str(SECONDS), operation])
        said = subprocess.run(command, check=True, capture_output=True, timeout=20, start_new_session=True).stdout
        seen = json.loads(said)
        server_s, idle, lasted = cpu_s(server.process.pid) - server_s, idle_s() - idle, time.monotonic() - start
        row: Row = json.loads(process.communicate(timeout=5)[0])
    rest: Row = {"per_s": seen["per_s"], "memcached_us": 1e6 * server_s / seen["done"], "idle_cores": idle / lasted}
    cell: Row = {"place": place, "clients": clients, "operation": operation}
    return cell | row | rest


def measure() -> list[Row]:
    program = build()
    rows: list[Row] = []
    for place in ("pinned", "free"):
        server = Memcached(core=0 if place == "pinned" else None)
        try:
            populate = [program, "load", str(server.port), "64", "0.3", "set"]
            subprocess.run(populate, check=True, capture_output=True)
            for round_ in range(ROUNDS):
                for clients in (clients for where, clients in CELLS if where == place):
                    for operation in ("get", "set"):
                        for name, way in WAYS.items():
                            row = run(program, server, place, clients, operation, way)
                            first: Row = {"round": round_, "way": name}
                            rows.append(first | row)
                            print(rows[-1], file=sys.stderr, flush=True)
        finally:
            server.stop()
    return rows


def summary(rows: list[Row]) -> str:
    """Medians by cell; the ratio is the median of the rounds' ratios to epoll's."""
    lines = [
        f"# Bare proxies before {version()}", "",
        f"Medians of {ROUNDS} rounds of {SECONDS:g} s, alternated, values of 1 KB. `cpu_us` is CPU time of the proxy's process an "
        "operation; `ratio` to epoll's of the same round, with the smallest and the largest; `waits` and `calls` are waits and "
        "system calls an operation. raw.csv has each round.", "",
        "| place | connections | operation | way | cpu_us | ratio | per_s | waits | calls |", "|---|---|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    for place, clients in CELLS:
        for operation in ("get", "set"):
            cell = [r for r in rows if (r["place"], int(r["clients"]), r["operation"]) == (place, clients, operation)]
            for way in WAYS:
                lines += line(cell, way)
    return "\n".join([*lines, ""])


def line(cell: list[Row], way: str) -> list[str]:
    ours = [row for row in cell if row["way"] == way]
    if not ours:
        return []
    base = {row["round"]: float(row["cpu_us"]) for row in cell if row["way"] == "epoll"}
    ratios = sorted(float(row["cpu_us"]) / base[row["round"]] for row in ours)
    cpu, per_s, waits, calls = (
        statistics.median(float(r[f]) for r in ours) for f in ("cpu_us", "per_s", "waits", "calls")
    )
    return [
        f"| {ours[0]['place']} | {ours[0]['clients']} | {ours[0]['operation']} | {way} | {cpu:.2f} | "
        f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} … {ratios[-1]:.2f}) | {per_s:.0f} | {waits:.2f} | {calls:.2f} |"
    ]
