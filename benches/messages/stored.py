"""How long a take lasts with ten million stored messages in a thousand queues, beside a nearly empty database.

    python benches/messages/run.py stored

Two clusters, each with its own service, one client, puts and takes in equal parts on queues at random, alternated.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack

from service import BODY_BYTES, Row, fill, loaded, serving

from sojourn_cases.common.postgres import Postgres
from sojourn_cases.messages.message_server import MessageService

ROUNDS, SECONDS, QUEUES = 5, 4, 1000
# Few, but so many that hardly a take finds nothing.
STORED = {"nearly empty": 50 * QUEUES, "ten million": 10_000_000}
FIGURES = ("per_s", "take_mean_ms", "take_p50_ms", "take_p99_ms")


def measure() -> list[Row]:
    rows: list[Row] = []
    with ExitStack() as stack:
        services: dict[str, tuple[Postgres, MessageService]] = {}
        for name, messages in STORED.items():
            folder = stack.enter_context(tempfile.TemporaryDirectory(dir="/var/tmp"))
            database = Postgres(folder, settings={"max_wal_size": "8GB"})  # to fill it without many checkpoints
            stack.callback(database.stop)
            with serving(database):  # which makes the tables
                pass
            began = time.monotonic()
            fill(database, messages, QUEUES)
            print(f"{name}: filled in {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
            services[name] = database, stack.enter_context(serving(database, workers=1, connections=1))
        for round_ in range(ROUNDS + 1):
            for name, (database, service) in services.items():
                seen = loaded(database, service, 1, SECONDS, queues=QUEUES)
                if round_ == 0:
                    continue  # pages come into memory
                row: Row = {"round": round_, "stored": name, "per_s": seen.operations / SECONDS}
                rows.append(row | {f"take_{key}_ms": value for key, value in seen.take_ms.items()})
                print(rows[-1], file=sys.stderr, flush=True)
    return rows


def summary(rows: list[Row]) -> str:
    """Medians, and the ratio of the two."""
    found = {
        name: {figure: statistics.median(float(r[figure]) for r in rows if r["stored"] == name) for figure in FIGURES}
        for name in STORED
    }
    lines = [
        "# Takes with many stored messages", "",
        f"Medians of {ROUNDS} rounds of {SECONDS} s, alternated; {QUEUES} queues, {BODY_BYTES} bytes, one client, puts and "
        "takes in equal parts; durable.", "",
        "| stored | " + " | ".join(FIGURES) + " |", "|" + "---|" * (len(FIGURES) + 1),
    ]  # fmt: skip
    few, many = STORED
    lines += [f"| {name} | " + " | ".join(f"{of[f]:.3f}" for f in FIGURES) + " |" for name, of in found.items()]
    lines.append("| ratio | " + " | ".join(f"{found[many][f] / found[few][f]:.2f}" for f in FIGURES) + " |")
    loads = os.getloadavg()
    return "\n".join([*lines, "", f"Load average at the end: {loads[0]:.1f} ({os.cpu_count()} cores).", ""])
