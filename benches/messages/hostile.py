"""What hostile clients cost others: the 99th percentile of a steady load beside them, against the same load alone.

    python benches/messages/hostile.py [--rounds 5] [--seconds 2] [--kinds slow,idle,…]

For each kind in turn: alone and beside, so many times, alternated; medians. Fails (exit code 1) where an answer was wrong,
on either side, or the ratio is above 2. Results go to benches/messages/hostile/DATE: machine.json, raw.csv, summary.md.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from hostile_clients import Hostile, connect

from sojourn.lab.process import Worker
from sojourn.lab.registry import only_one
from sojourn.measure.messages_load import messages_load
from sojourn.testbed.messages import Messages, MessagesOptions
from sojourn.testbed.postgres import Postgres
from sojourn.testbed.postgres_programs import programs, version

HERE = Path(__file__).resolve().parent
RATE_PER_S, CLIENTS, MOST = 300.0, 16, 2.0
# kind → connections or requests of one round, pause between rounds in s, what that is
KINDS: dict[str, tuple[int, float, str]] = {
    "idle": (10_000, 0.0, "10 000 connections that say nothing"),
    "half_open": (5_000, 0.0, "5000 connections with half a request"),
    "slow": (200, 0.0, "200 connections, a byte each per 5 ms or more"),
    "deaf": (1, 0.0, "1000 requests sent at once, their answers not taken"),
    "vanishing": (1, 0.005, "up to 200 connections/s that end with RST"),
    "malformed": (1, 0.005, "up to 200 mutated requests/s"),
    "oversize": (1, 0.05, "up to 20 requests/s of 1 MB"),
    "pipelined": (50, 0.5, "100 requests in one piece, twice a second"),
}
Row = dict[str, float | str | int]


def p99_ms(service: Messages, seconds: float, seed: int) -> float:
    """Of puts and takes in equal parts at a fixed rate, whose messages are compared."""
    config = messages_load(
        [service.url], clients=CLIENTS, rate_per_s=RATE_PER_S, duration_s=seconds, put_weight=1, take_weight=1,
        retry_delay_s=0.0, seed=seed, fresh=True,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as out:
        worker = Worker("load", {"load": config, "out": out})
        try:
            seen: dict[str, Any] = worker.finish(seconds + 60.0)["summary"]
        finally:
            worker.close()
    wrong = [seen["messages"][name] for name in ("wrong", "twice", "foreign", "unknown")]
    if seen["failures"] or any(wrong):
        raise AssertionError(f"the load was served wrongly: {seen['failures']}, {wrong}")
    p99_s: float = seen["latency"]["from_sent"]["to_received"]["p99_s"]
    return 1e3 * p99_s


def beside(service: Messages, kind: str, seconds: float, seed: int) -> tuple[float, Hostile]:
    count, pause_s, _ = KINDS[kind]
    hostile = Hostile(service.address, kind, seed, count, pause_s)
    hostile.start()
    try:
        if not hostile.at_work.wait(60.0):
            raise AssertionError(f"{kind} has not begun: {hostile.faults}")
        return p99_ms(service, seconds, seed), hostile
    finally:
        hostile.stop()


def measure(database: Postgres, kind: str, rounds: int, seconds: float) -> list[Row]:
    rows: list[Row] = []
    options = MessagesOptions(listen="127.0.0.1:0", database=database.url)
    service = Messages(options)
    try:
        with connect(service.address) as talk:
            talk.sendall(b"PUT /queues/hostile HTTP/1.1\r\n\r\n")
            talk.recv(100)
        p99_ms(service, 0.5, 0)
        for k in range(rounds):
            # Each is the first of the two in turn.
            before = p99_ms(service, seconds, k) if k % 2 == 0 else None
            disturbed, hostile = beside(service, kind, seconds, k)
            alone = p99_ms(service, seconds, k) if before is None else before
            rows.append({"kind": kind, "round": k, "alone_p99_ms": alone, "beside_p99_ms": disturbed,
                         "hostile_rounds": hostile.rounds, "hostile_answers": hostile.answers.total(),
                         "faults": "; ".join(hostile.faults)})  # fmt: skip
        service.stop()
    finally:
        service.close()
    return rows


def medians(rows: list[Row], kind: str) -> tuple[float, float]:
    of_kind = [row for row in rows if row["kind"] == kind]
    alone, disturbed = (
        statistics.median(float(row[name]) for row in of_kind) for name in ("alone_p99_ms", "beside_p99_ms")
    )
    return alone, disturbed


def summary(rows: list[Row], rounds: int, seconds: float) -> str:
    lines = [
        f"# Hostile clients, {version(programs())}", "",
        f"Puts and takes at {RATE_PER_S:g}/s from {CLIENTS} clients, more where they wait; p99 in ms, medians of {rounds} "
        f"runs of {seconds:g} s, each first in turn. The hostile clients run on the same {os.cpu_count()} cores.", "",
        "| kind | what | alone | beside | ratio | answers to it, a run | wrong |", "|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    for kind in dict.fromkeys(str(row["kind"]) for row in rows):
        alone, disturbed = medians(rows, kind)
        answers = statistics.median(int(row["hostile_answers"]) for row in rows if row["kind"] == kind)
        wrong = sum(bool(row["faults"]) for row in rows if row["kind"] == kind)
        figures = f"{alone:.2f} | {disturbed:.2f} | {disturbed / alone:.2f} | {answers:.0f} | {wrong}"
        lines.append(f"| {kind} | {KINDS[kind][2]} | {figures} |")
    return "\n".join([*lines, ""])


def main() -> int:
    parser = argparse.ArgumentParser(prog="hostile")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--out", type=Path, default=HERE / "hostile" / time.strftime("%Y-%m-%d"))
    asked = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    rows: list[Row] = []
    with only_one("bench"), tempfile.TemporaryDirectory() as folder:
        database = Postgres(folder)
        try:
            for kind in asked.kinds.split(","):
                rows += measure(database, kind, asked.rounds, asked.seconds)
                print(kind, *medians(rows, kind), flush=True)
        finally:
            database.close()
    asked.out.mkdir(parents=True, exist_ok=True)
    machine = {
        "kernel": platform.release(),
        "cores": os.cpu_count(),
        "open files": most,
        "postgres": version(programs()),
    }
    (asked.out / "machine.json").write_text(json.dumps(machine, indent=1) + "\n")
    with open(asked.out / "raw.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    text = summary(rows, asked.rounds, asked.seconds)
    (asked.out / "summary.md").write_text(text)
    print(text)
    slow = [kind for kind in asked.kinds.split(",") if (pair := medians(rows, kind))[1] > MOST * pair[0]]
    return int(bool(slow) or any(row["faults"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
