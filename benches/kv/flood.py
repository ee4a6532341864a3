"""A polite client's p99 of a get beside one client that floods: on memcached itself and through the proxy.

    python benches/kv/run.py flood
    BEFORE=FOLDER python benches/kv/run.py flood     # also a package of before, in FOLDER/sojourn

The polite one asks for a small value every millisecond. All targets alternate within each round; medians of the rounds.
Results go to benches/kv/flood/DATE.
"""

from __future__ import annotations

import math
import os
import resource
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import flood_clients
from flood_clients import CONNECTIONS, FLOODS, SET, connect

from sojourn.lab.worker_process import WorkerProcess
from sojourn_cases.common.memcached import Memcached, version

ROUNDS, WARM_S, SECONDS, PAUSE_S = int(os.environ.get("ROUNDS", "5")), 0.2, 0.5, 0.001
SLACK_MS, GIVEN_UP_S = 2.0, 2.0
Row = dict[str, float | str | int]


def ask(client: socket.socket, request: bytes) -> bytes:
    client.sendall(request)
    heard = b""
    while not heard.endswith((b"END\r\n", b"STORED\r\n")) and not heard.startswith(b"SERVER_ERROR"):
        part = client.recv(65536)
        if not part:
            raise OSError("the connection has ended")
        heard += part
    return heard


def polite(address: str) -> list[float]:
    """Times of gets, ms; a client that waits for too long gives up, and what it waited counts."""
    client, times = connect(address), []
    client.settimeout(GIVEN_UP_S)
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        begun = time.perf_counter()
        try:
            ask(client, b"get k\r\n")
        except TimeoutError:
            return [*times, GIVEN_UP_S * 1e3]
        times.append((time.perf_counter() - begun) * 1e3)
        time.sleep(PAUSE_S)
    return times


def p99(times: list[float]) -> float:
    return sorted(times)[math.ceil(0.99 * len(times)) - 1]


def cell(address: str, name: str) -> Row:
    process = subprocess.Popen([sys.executable, flood_clients.__file__, address, name], stdout=subprocess.PIPE)
    try:
        assert process.stdout and process.stdout.readline() == b"begun\n"
        time.sleep(WARM_S)
        times = polite(address)
    finally:
        process.kill()
        process.communicate()
    return {"flood": name, "gets": len(times), "p50_ms": statistics.median(times), "p99_ms": p99(times)}


@contextmanager
def proxy(design: str, server: Memcached, package: str | None) -> Iterator[str]:
    """One with the package in `package`, else with this one."""
    path = os.environ.get("PYTHONPATH")
    if package:
        os.environ["PYTHONPATH"] = package
    try:
        config = {"listen": "127.0.0.1:0", "servers": [server.address], "design": design, "workers": 8}
        worker = WorkerProcess("kv-proxy", {"network": None, "kv-proxy": {**config, "connections": 2 * CONNECTIONS}})
    finally:
        if package and path is not None:
            os.environ["PYTHONPATH"] = path
        elif package:
            del os.environ["PYTHONPATH"]
    try:
        yield worker.ready()["address"]
    finally:
        worker.close()


def measure() -> list[Row]:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    rows: list[Row] = []
    before = os.environ.get("BEFORE")
    with ExitStack() as stack:
        server = Memcached(connections=4 * CONNECTIONS, memory_bytes=512 << 20, value_bytes=2 << 20)
        stack.callback(server.stop)
        targets = {"memcached": server.address}
        for design in ("direct", "staged"):
            targets[design] = stack.enter_context(proxy(design, server, None))
            if before:
                targets[f"{design} before"] = stack.enter_context(proxy(design, server, before))
        for address in targets.values():
            with connect(address) as client:
                ask(client, b"set k 0 0 1\r\nx\r\n")
                ask(client, SET.replace(b"big", b"large", 1))
        for round_ in range(ROUNDS):
            for name in FLOODS:
                for target, address in targets.items():
                    rows.append({"round": round_, "target": target, **cell(address, name)})
                    print(rows[-1], file=sys.stderr, flush=True)
    return rows


def summary(rows: list[Row]) -> str:
    """p99 by flood and target, and whether ours are within the goal."""
    targets = list(dict.fromkeys(str(row["target"]) for row in rows))

    def median(flood: str, target: str) -> float:
        found = (float(row["p99_ms"]) for row in rows if (row["flood"], row["target"]) == (flood, target))
        return statistics.median(found)

    lines = [
        f"# A polite client beside one that floods, before {version()}", "",
        f"p99 of a get, ms; medians of {ROUNDS} rounds of {SECONDS:g} s, alternated, {os.cpu_count()} cores for flood, "
        f"polite client, proxy and server. The goal of a proxy is twice memcached's own plus {SLACK_MS:g} ms; "
        "raw.csv has each round.", "",
        f"| flood | {' | '.join(targets)} | goal |", "|---|" + "---|" * (len(targets) + 1),
    ]  # fmt: skip
    for name in dict.fromkeys(str(row["flood"]) for row in rows):
        goal = 2 * median(name, "memcached") + SLACK_MS
        cells = [f"{median(name, target):.2f}" for target in targets]
        lines.append(f"| {name} | {' | '.join(cells)} | {goal:.2f} |")
    loads = os.getloadavg()
    return "\n".join([*lines, "", f"Load average at the end: {loads[0]:.1f}.", ""])
