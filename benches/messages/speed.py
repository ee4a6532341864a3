"""Puts and takes of one message: the service beside pgbench with the same statements on the same server.

    python benches/messages/run.py speed
    BEFORE=FOLDER CONNECTIONS=10 python benches/messages/run.py speed   # also a version of before (record.version_of); those cells

One queue, messages of 200 bytes, puts and takes in equal parts, and enough messages before each run that no take finds
nothing. The service has as many workers and connections as pgbench has; its clients are as many, and once twice as many:
a connection of pgbench always has its next statement at hand, one of the service waits until a client has had its answer.

Two limits of batches: `bare batch` is `bare_batch.c`, which passes on HTTP to the statements for many messages and does nothing
else; and these statements alone, from one connection of pgbench with ten puts and ten takes a transaction.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from record import version_of
from service import BODY_BYTES, Row, Seen, bare_batch, fill, loaded, pgbench, relay, serving

from sojourn_cases.common.postgres import Postgres
from sojourn_cases.messages.disk_flush_time import flush_s

ROUNDS, SECONDS, STORED = int(os.environ.get("ROUNDS", "5")), int(os.environ.get("RUN_SECONDS", "3")), 5000
DURABILITY = ("full", "off")
# connections, tool, clients
EVENTS, THREADS, BATCH, RELAY = "event-driven", "threaded", "batch", "pgbench through a bare relay"
BARE_BATCH, STATEMENTS, STATEMENTS_BATCH = "bare batch", "pgbench, statements for many", 10
WITHOUT_SERVICE = ("pgbench", RELAY, BARE_BATCH, STATEMENTS)
BEFORE = ", before"
CELLS = (
    (1, "pgbench", 1), (1, EVENTS, 1), (1, EVENTS, 2), (10, "pgbench", 10), (10, RELAY, 10), (10, EVENTS, 10), (10, EVENTS, 20),
    (10, THREADS, 10), (10, THREADS, 20), (30, "pgbench", 30), (30, EVENTS, 30), (30, EVENTS, 60), (30, THREADS, 60),
    (10, BATCH, 20), (10, BARE_BATCH, 20), (10, STATEMENTS, 1), (30, BATCH, 30),
)  # fmt: skip
FIGURES = ("per_s", "p50_ms", "p99_ms", "service_us", "database_us", "client_us")


def run(database: Postgres, connections: int, tool: str, clients: int, durability: str) -> Seen:
    fill(database, STORED)
    if tool == "pgbench":
        return pgbench(database, connections, SECONDS, durability)
    if tool == STATEMENTS:
        return pgbench(database, 1, SECONDS, durability, batch=STATEMENTS_BATCH)
    if tool == BARE_BATCH:
        with bare_batch(database, durability) as bare:
            return loaded(database, bare, clients, SECONDS)
    if tool == RELAY:
        with relay(database) as through:
            return pgbench(database, connections, SECONDS, durability, through)
    name = tool.removesuffix(BEFORE)
    design: dict[str, Any] = {"batch": True} if name == BATCH else {"design": name}
    with ExitStack() as stack:
        with version_of(None if name == tool else os.environ["BEFORE"]):
            options = {"workers": connections, "connections": connections, "durability": durability, **design}
            service = stack.enter_context(serving(database, **options))
        return loaded(database, service, clients, SECONDS)


def chosen() -> list[tuple[int, str, int]]:
    """The cells, those of `CONNECTIONS` alone where it is said, each also of before where `BEFORE` says where that is."""
    wanted = os.environ.get("CONNECTIONS")
    cells = [cell for cell in CELLS if wanted in (None, str(cell[0]))]
    return [
        (connections, tool + version, clients)
        for connections, tool, clients in cells
        for version in ("", BEFORE)
        if not version or (os.environ.get("BEFORE") and tool not in WITHOUT_SERVICE)
    ]


def measure(cells: Sequence[tuple[int, str, int]] | None = None, durabilities: Sequence[str] = DURABILITY) -> list[Row]:
    """Rows of all rounds, the cells alternated."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        database = Postgres(folder)
        try:
            with serving(database):  # which makes the tables
                pass
            flush_us = 1e6 * flush_s(database.data)
            for round_ in range(ROUNDS):
                for durability in durabilities:
                    for connections, tool, clients in cells or chosen():
                        seen = run(database, connections, tool, clients, durability)
                        row: Row = {"round": round_, "durability": durability, "connections": connections}
                        row |= {"tool": tool, "clients": clients}
                        row |= {"per_s": seen.operations / SECONDS, "p50_ms": seen.p50_ms, "p99_ms": seen.p99_ms}
                        row["flush_us"] = flush_us
                        for part in ("service", "database", "client"):
                            row[f"{part}_us"] = 1e6 * getattr(seen, f"{part}_s") / seen.operations
                        rows.append(row)
                        print(rows[-1], file=sys.stderr, flush=True)
        finally:
            database.stop()
    return rows


def medians(rows: list[Row]) -> dict[tuple[str, int, str, int], dict[str, float]]:
    """By durability, connections, tool, clients."""
    cells: dict[tuple[str, int, str, int], list[Row]] = {}
    for row in rows:
        cell = (str(row["durability"]), int(row["connections"]), str(row["tool"]), int(row["clients"]))
        cells.setdefault(cell, []).append(row)
    return {
        cell: {figure: statistics.median(float(row[figure]) for row in of) for figure in FIGURES}
        for cell, of in cells.items()
    }


def summary(rows: list[Row]) -> str:
    """Medians by cell, each against pgbench's at the same durability and number of connections."""
    lines = [
        "# The message service beside pgbench", "",
        f"Medians of {ROUNDS} rounds of {SECONDS} s, alternated. One queue, {BODY_BYTES} bytes, puts and takes in equal "
        "parts; `per_s` counts both, so a message put and taken is two. pgbench: prepared, the service's own statements and "
        "session settings, one thread, the same socket; its time is that of a statement, the service's from a request's sending to its "
        "answer's arrival. `service_us`, `database_us`, `client_us`: CPU time an operation of the service's process, of all "
        "of PostgreSQL's, and of pgbench or the generator's thread, which share the cores. raw.csv has each round.", "",
        "| durability | connections | tool | clients | per_s | ratio | p50_ms | p99_ms | service_us | database_us | client_us |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    found = medians(rows)
    for (durability, connections, tool, clients), of in found.items():
        ratio = of["per_s"] / found[durability, connections, "pgbench", connections]["per_s"]
        lines.append(
            f"| {durability} | {connections} | {tool} | {clients} | {of['per_s']:.0f} | {ratio:.2f} | {of['p50_ms']:.3f} | "
            f"{of['p99_ms']:.3f} | {of['service_us']:.1f} | {of['database_us']:.1f} | {of['client_us']:.1f} |"
        )
    loads = os.getloadavg()
    lines += ["", f"A page of 8 KiB is on disk {float(rows[0]['flush_us']):.0f} µs after it was written (median)."]
    return "\n".join([*lines, "", f"Load average at the end: {loads[0]:.1f} ({os.cpu_count()} cores).", ""])
