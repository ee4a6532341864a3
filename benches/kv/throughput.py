"""Requests a second through the proxy: in a closed loop, and of one client that pipelines all it can.

    python benches/kv/run.py throughput
    BEFORE=FOLDER python benches/kv/run.py throughput     # also a package of before, in FOLDER/sojourn

One server, one serving thread (staged: 8 workers). All targets alternate in each round; medians of the rounds. Results go to
benches/kv/throughput/DATE.
"""

from __future__ import annotations

import os
import statistics
import sys
import threading
import time
from contextlib import ExitStack, suppress

from flood import ask, proxy
from flood_clients import SET, VALUE_BYTES, connect
from proxy import load

from sojourn_cases.common.memcached import Memcached, version

ROUNDS, SECONDS, PIPED_S = int(os.environ.get("ROUNDS", "5")), 1.0, 0.5
Row = dict[str, float | str | int]
# what one client sends again and again → bytes of each answer
PIPED: dict[str, tuple[bytes, int]] = {
    "pipelined get": (b"get k\r\n" * 8000, len(b"VALUE k 0 1\r\nx\r\nEND\r\n")),
    "pipelined get of 100 keys": ((b"get" + b" k" * 100 + b"\r\n") * 300, 100 * len(b"VALUE k 0 1\r\nx\r\n") + 5),
    "pipelined set of 1 MB": (SET, len(b"STORED\r\n")),
    "pipelined get of 1 MB": (b"get large\r\n" * 20, VALUE_BYTES),
}


def piped(address: str, name: str) -> float:
    """Answers a second."""
    data, answer_bytes = PIPED[name]
    client, heard = connect(address), 0

    def read() -> None:
        nonlocal heard
        with suppress(OSError):
            while part := client.recv(1 << 18):
                heard += len(part)

    threading.Thread(target=read, daemon=True).start()
    begun = time.perf_counter()
    client.settimeout(PIPED_S)
    with suppress(TimeoutError):
        while time.perf_counter() - begun < PIPED_S:
            client.sendall(data)
    rate = heard / answer_bytes / (time.perf_counter() - begun)
    client.close()
    return rate


def measure() -> list[Row]:
    rows: list[Row] = []
    before = os.environ.get("BEFORE")
    with ExitStack() as stack:
        server = Memcached(memory_bytes=512 << 20, value_bytes=2 << 20)
        stack.callback(server.stop)
        load(f"memcached://{server.address}", "get", 0.1, True)
        targets = {"memcached": server.address}
        for design in ("direct", "staged"):
            targets[design] = stack.enter_context(proxy(design, server, None))
            if before:
                targets[f"{design} before"] = stack.enter_context(proxy(design, server, before))
        with connect(server.address) as client:
            ask(client, b"set k 0 0 1\r\nx\r\n")
            ask(client, SET.replace(b"big", b"large", 1))
        for round_ in range(ROUNDS):
            for name in ("get", "set", *PIPED):
                for target, address in targets.items():
                    per_s = (
                        piped(address, name)
                        if name in PIPED
                        else load(f"memcached://{address}", name, SECONDS, False)["ok"] / SECONDS
                    )
                    rows.append({"round": round_, "operation": name, "target": target, "per_s": per_s})
                    print(rows[-1], file=sys.stderr, flush=True)
    return rows


def summary(rows: list[Row]) -> str:
    """Medians by operation and target."""
    targets = list(dict.fromkeys(str(row["target"]) for row in rows))
    lines = [
        f"# Requests a second before {version()}", "",
        f"Medians of {ROUNDS} rounds, alternated, {os.cpu_count()} cores for client, proxy and server. `get` and `set`: "
        "closed loop of 16 connections, values of 1 KB. The others: one client that sends without waiting. raw.csv has each "
        "round.", "",
        f"| operation | {' | '.join(targets)} |", "|---|" + "---|" * len(targets),
    ]  # fmt: skip
    for name in dict.fromkeys(str(row["operation"]) for row in rows):
        cells = [
            statistics.median(float(r["per_s"]) for r in rows if (r["operation"], r["target"]) == (name, target))
            for target in targets
        ]
        lines.append(f"| {name} | {' | '.join(f'{cell:.0f}' for cell in cells)} |")
    return "\n".join([*lines, ""])
