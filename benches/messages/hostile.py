"""What hostile clients cost others: the 99th percentile of a steady load beside them, against the same load alone.

    python benches/messages/hostile.py [--rounds 5] [--seconds 3] [--kinds slow,idle,…]

For each kind in turn: normal and beside, so many times, alternated; medians. Normal is the load alone, for `together` the
load beside as many good requests at the same instants. Fails (exit code 1) where an answer was wrong, on either side, or
the ratio is above 2. Results go to benches/messages/hostile/DATE: machine.json, raw.csv, summary.md; rows there of kinds
that were not asked for stay.
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import statistics
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from hostile_clients import Hostile, connect
from record import new_folder

from sojourn.lab.cleanup_registry import only_one
from sojourn.lab.worker_process import WorkerProcess
from sojourn.load.messages_load import messages_load
from sojourn_cases.common.postgres import Postgres
from sojourn_cases.common.postgres_programs import programs, version
from sojourn_cases.messages.message_server import MessageService, MessagesOptions

HERE = Path(__file__).resolve().parent
RATE_PER_S, CLIENTS, MOST = 300.0, 16, 2.0
# kind → connections or requests of one round, pause between rounds in s, what that is
KINDS: dict[str, tuple[int, float, str]] = {
    "idle": (10_000, 0.0, "10 000 connections that say nothing"),
    "half_open": (5_000, 0.0, "5000 connections with half a request"),
    "slow": (200, 0.0, "200 connections, a byte each per 5 to 50 ms, each at its own byte and pace"),
    "together": (200, 0.0, "200 connections at the same byte: 200 whole puts at one instant, each second"),
    "burst": (200, 0.0, "the same 200 puts at the same instants, each in one piece, from good clients"),
    "deaf": (1, 0.0, "1000 requests sent at once, their answers not taken"),
    "vanishing": (1, 0.005, "up to 200 connections/s that end with RST"),
    "malformed": (1, 0.005, "up to 200 mutated requests/s"),
    "oversize": (1, 0.05, "up to 20 requests/s of 1 MB"),
    "pipelined": (50, 0.5, "100 requests in one piece, twice a second"),
}
# kind → what it is compared with, where that is not the load alone
AGAINST = {"together": "burst"}
# Good clients: what they cost is said, and not judged.
GOOD = {"burst"}
Row = dict[str, float | str | int]


def p99_ms(service: MessageService, seconds: float, seed: int) -> float:
    """Of puts and takes in equal parts at a fixed rate, whose messages are compared."""
    config = messages_load(
        [service.url], clients=CLIENTS, rate_per_s=RATE_PER_S, duration_s=seconds, put_weight=1, take_weight=1,
        retry_delay_s=0.0, seed=seed, fresh=True,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as out:
        worker = WorkerProcess("load", {"load": config, "out": out})
        try:
            seen: dict[str, Any] = worker.finish(seconds + 60.0)["summary"]
        finally:
            worker.close()
    wrong = [seen["messages"][name] for name in ("wrong", "twice", "foreign", "unknown")]
    if seen["failures"] or any(wrong):
        raise AssertionError(f"the load was served wrongly: {seen['failures']}, {wrong}")
    p99_s: float = seen["latency"]["from_sent"]["to_received"]["p99_s"]
    return 1e3 * p99_s


def beside(service: MessageService, kind: str | None, seconds: float, seed: int) -> tuple[float, Hostile | None]:
    """The load's 99th percentile beside clients of a kind, ms."""
    if kind is None:
        return p99_ms(service, seconds, seed), None
    count, pause_s, _ = KINDS[kind]
    hostile = Hostile(service.address, kind, seed, count, pause_s)
    hostile.start()
    try:
        if not hostile.at_work.wait(60.0):
            raise AssertionError(f"{kind} has not begun: {hostile.faults}")
        return p99_ms(service, seconds, seed), hostile
    finally:
        hostile.stop()


def one_round(service: MessageService, kind: str, seconds: float, k: int) -> Row:
    """Normal and beside, each the first of the two in turn."""
    seen = {name: beside(service, name, seconds, k) for name in (AGAINST.get(kind), kind)[:: 1 if k % 2 == 0 else -1]}
    (normal_ms, other), (beside_ms, hostile) = seen[AGAINST.get(kind)], seen[kind]
    assert hostile
    faults = hostile.faults + (other.faults if other else [])
    return {"kind": kind, "round": k, "seconds": seconds, "normal_p99_ms": normal_ms, "beside_p99_ms": beside_ms,
            "hostile_rounds": hostile.rounds, "hostile_answers": hostile.answers.total(),
            "faults": "; ".join(faults)}  # fmt: skip


def measure(database: Postgres, kind: str, rounds: int, seconds: float) -> list[Row]:
    options = MessagesOptions(listen="127.0.0.1:0", database=database.url)
    service = MessageService(options)
    try:
        with connect(service.address) as talk:
            talk.sendall(b"PUT /queues/hostile HTTP/1.1\r\nHost: x\r\n\r\n")
            talk.recv(100)
        p99_ms(service, 0.5, 0)
        rows = [one_round(service, kind, seconds, k) for k in range(rounds)]
        service.stop()
    finally:
        service.close()
    return rows


def medians(rows: list[Row], kind: str) -> tuple[float, float]:
    of_kind = [row for row in rows if row["kind"] == kind]
    normal, disturbed = (
        statistics.median(float(row[name]) for row in of_kind) for name in ("normal_p99_ms", "beside_p99_ms")
    )
    return normal, disturbed


def summary(rows: list[Row]) -> str:
    lengths = sorted({float(row["seconds"]) for row in rows})
    rounds = min(sum(row["kind"] == kind for row in rows) for kind in {row["kind"] for row in rows})
    lines = [
        f"# Hostile clients, {version(programs())}", "",
        f"Puts and takes at {RATE_PER_S:g}/s from {CLIENTS} clients, more where they wait; p99 in ms, medians of {rounds} "
        f"runs of {' or '.join(f'{length:g}' for length in lengths)} s, each first in turn. The hostile clients run on the "
        f"same {os.cpu_count()} cores. Normal is the load alone, for `together` the load beside `burst`, whose cost is a "
        f"load's and is not judged; others may have {MOST:g} times the normal p99.", "",
        "| kind | what | normal | beside | ratio | answers to it, a run | wrong |", "|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    for kind in KINDS:
        if not (of_kind := [row for row in rows if row["kind"] == kind]):
            continue
        normal, disturbed = medians(rows, kind)
        answers = statistics.median(int(row["hostile_answers"]) for row in of_kind)
        wrong = sum(bool(row["faults"]) for row in of_kind)
        figures = f"{normal:.2f} | {disturbed:.2f} | {disturbed / normal:.2f} | {answers:.0f} | {wrong}"
        lines.append(f"| {kind} | {KINDS[kind][2]} | {figures} |")
    return "\n".join([*lines, ""])


def is_good(rows: list[Row], kind: str) -> bool:
    normal, disturbed = medians(rows, kind)
    wrong = any(row["faults"] for row in rows if row["kind"] == kind)
    return not wrong and (kind in GOOD or disturbed <= MOST * normal)


def write(folder: Path, rows: list[Row]) -> str:
    """Adds the rows to those of other kinds that are there; the summary of all."""
    kinds = {row["kind"] for row in rows}
    raw = folder / "raw.csv"
    with open(raw, newline="") if raw.exists() else nullcontext([]) as file:
        rows = [*(row for row in csv.DictReader(file) if row["kind"] not in kinds), *rows]
    with open(raw, "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[-1]))
        writer.writeheader()
        writer.writerows(rows)
    text = summary(rows)
    (folder / "summary.md").write_text(text)
    return text


def main() -> int:
    parser = argparse.ArgumentParser(prog="hostile")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--kinds", default=",".join(KINDS))
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
    print(write(new_folder(HERE, "hostile", {"postgres": lambda: version(programs())}), rows))
    return int(not all(is_good(rows, kind) for kind in asked.kinds.split(",")))


if __name__ == "__main__":
    sys.exit(main())
