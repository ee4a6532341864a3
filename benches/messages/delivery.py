"""Delivery under faults: service and database killed, stopped, resumed, client connections cut, by seeds.

    python benches/messages/delivery.py --seeds 100 [--first 1] [--seconds 2] [--modes once,again,once-batch,…] [--slice-s 200]

Every mode has so many seeds. Fails (exit code 1) where the judge (sojourn_cases.messages.delivery) finds a fault in the
clients' logs, whose history is then kept. Results go to benches/messages/delivery/DATE: machine.json, raw.csv, summary.md.
A run that raw.csv has already is not repeated, and none begins after --slice-s: the same command goes on where the last one
ended. Processes with other seeds may write to the same folder side by side.
"""

from __future__ import annotations

import argparse
import csv
import fcntl
import json
import math
import os
import platform
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from delivery_clients import Client, drain
from delivery_faults import KINDS, Faults, Pair, schedule

from sojourn_cases.common.postgres import Postgres
from sojourn_cases.common.postgres_programs import programs, version
from sojourn_cases.messages.delivery import ClientOperation, DeliveryVerdict, judge

HERE = Path(__file__).resolve().parent
CLIENTS, REDELIVERY_S, TIMEOUT_S, REST_S = 6, 0.4, 0.3, 0.4
MODES: dict[str, dict[str, object]] = {
    "once": {},
    "again": {"redelivery_s": REDELIVERY_S},
    "once-threaded": {"design": "threaded"},
    "again-threaded": {"design": "threaded", "redelivery_s": REDELIVERY_S},
    "once-batch": {"batch": True},
    "again-batch": {"batch": True, "redelivery_s": REDELIVERY_S},
}


@dataclass
class Run:
    """What one seed came to."""

    verdict: DeliveryVerdict
    history: list[ClientOperation]
    faults: Counter[str]
    cuts: Counter[str]


def deliver(database: Postgres, seed: int, mode: str, seconds: float) -> Run:
    """One schedule: clients and faults for some seconds, then a drain when all is well; judged."""
    redelivery_s = REDELIVERY_S if "redelivery_s" in MODES[mode] else None
    database.run("DROP SCHEMA IF EXISTS sojourn CASCADE")
    pair = Pair(database, timeout_s=TIMEOUT_S, **MODES[mode])
    try:
        address, queue = pair.service.address, f"seed-{seed}"
        clients = [Client(f"c{k}", address, queue, seed, redelivery_s) for k in range(CLIENTS)]
        last = Client("drain", address, queue, seed, redelivery_s)
        last.talk.draw = None
        if not last.talk.connect() or (made := last.talk.call("PUT", f"/queues/{queue}")) is None or made.status != 201:
            raise AssertionError("no queue to begin with")
        last.talk.close()
        faults = Faults(pair, schedule(seed, seconds))
        for thread in (*clients, faults):
            thread.start()
        faults.join()
        for client in clients:
            client.halt.set()
        for client in clients:
            client.join(30.0)
        pair.again()
        drain(last, 0.0 if redelivery_s is None else redelivery_s + REST_S)
    finally:
        pair.close()
    history = [one for client in (*clients, last) for one in client.log]
    verdict = judge(history, redelivery_s=redelivery_s)
    verdict.faults += [failed for failed in (faults.failed, *(client.failed for client in clients)) if failed]
    verdict.faults += [f"{client.name} did not end" for client in clients if client.is_alive()]
    cuts = sum((client.talk.cuts for client in clients), Counter[str]())
    return Run(verdict, history, Counter(fault.kind for fault in faults.faults[: faults.done]), cuts)


def table(rows: list[dict[str, str]], modes: list[str]) -> list[str]:
    """Sums over the seeds of each mode."""
    names = [name for name in rows[0] if name not in ("mode", "seed", *KINDS)]
    sums = {
        mode: {name: sum(int(row[name]) for row in rows if row["mode"] == mode) for name in names} for mode in modes
    }
    return [
        f"| | {' | '.join(modes)} |", "|---|" + "---|" * len(modes),
        f"| seeds | {' | '.join(str(sum(row['mode'] == mode for row in rows)) for mode in modes)} |",
        *(f"| {name} | {' | '.join(str(sums[mode][name]) for mode in modes)} |" for name in names),
    ]  # fmt: skip


def summary(rows: list[dict[str, str]], seconds: float) -> str:
    """What was done and what was found."""
    kinds = ", ".join(f"{sum(int(row[kind]) for row in rows)} {kind}" for kind in KINDS)
    seeds, modes = (
        [int(row["seed"]) for row in rows],
        [mode for mode in MODES if any(row["mode"] == mode for row in rows)],
    )
    return "\n".join([
        f"# Delivery of messages under faults, {version(programs())}", "",
        f"Seeds {min(seeds)} to {max(seeds)}, {CLIENTS} clients, about {seconds:g} s of faults each. `again` is "
        f"--ack-timeout {REDELIVERY_S:g}; --db-timeout {TIMEOUT_S:g}, full durability.", "",
        f"Faults: {kinds}. Connections that clients cut: {sum(int(row['cut, whole']) for row in rows)} behind a whole request, "
        f"{sum(int(row['cut, part']) for row in rows)} within one.", "",
        *table(rows, modes), "",
        "`broken promises` is the verdict of sojourn_cases.messages.delivery on the clients' own logs. Without redelivery `in a take "
        "without an answer` messages are gone, and never more than `take unknown`.", "",
    ])  # fmt: skip


COUNTS = (
    "put done", "put unknown", "put refused", "take done", "take empty", "take unknown", "take refused",
    "acknowledge done", "acknowledge unknown", "acknowledge gone", "acknowledge refused", "taken again",
    "in a take without an answer",
)  # fmt: skip


def row(seed: int, mode: str, run: Run) -> dict[str, str | int]:
    counts = {name: run.verdict.counts[name] for name in COUNTS}
    cuts = {f"cut, {name}": run.cuts[name] for name in ("whole", "part")}
    kinds = {kind: run.faults[kind] for kind in KINDS}
    return {"mode": mode, "seed": seed, **kinds, **cuts, **counts, "broken promises": len(run.verdict.faults)}


def main() -> int:
    parser = argparse.ArgumentParser(prog="delivery")
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--slice-s", type=float, default=math.inf)
    parser.add_argument("--modes", default="once,again,once-batch,again-batch")
    parser.add_argument("--out", type=Path, default=HERE / "delivery" / time.strftime("%Y-%m-%d"))
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    run_all(asked)
    machine = {"kernel": platform.release(), "cores": os.cpu_count(), "postgres": version(programs())}
    (asked.out / "machine.json").write_text(json.dumps(machine, indent=1) + "\n")
    text = summary(rows := present(asked.out), asked.seconds)
    (asked.out / "summary.md").write_text(text)
    print(text)
    return int(any(int(one["broken promises"]) for one in rows))


def run_all(asked: argparse.Namespace) -> None:
    """What was asked for and is not there, until the time is up."""
    end_s = time.monotonic() + asked.slice_s
    done = {(one["mode"], int(one["seed"])) for one in present(asked.out)}
    with tempfile.TemporaryDirectory() as folder:
        database = Postgres(folder)
        try:
            for seed in range(asked.first, asked.first + asked.seeds):
                for mode in asked.modes.split(","):
                    if (mode, seed) in done or time.monotonic() > end_s:
                        continue
                    run = deliver(database, seed, mode, asked.seconds)
                    append(asked.out, row(seed, mode, run))
                    if not run.verdict.holds:
                        keep(asked.out / f"{mode}-{seed}.json", run)
                    took_s = run.history[-1].end_s - run.history[0].start_s
                    print(f"seed {seed} {mode}: {took_s:.1f} s; {run.verdict.faults[:2] or 'kept'}", flush=True)
        finally:
            database.close()


def keep(path: Path, run: Run) -> None:
    """A history that breaks a promise, in the order of starts."""
    history = [asdict(one) for one in sorted(run.history, key=lambda one: one.start_s)]
    path.write_text(json.dumps({"faults": run.verdict.faults, "history": history}, indent=1) + "\n")


def append(folder: Path, row: dict[str, str | int]) -> None:
    """A line behind those that this process and others have written; the first has the names before it."""
    with open(folder / "raw.csv", "a", newline="") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        writer = csv.DictWriter(file, list(row))
        if not os.fstat(file.fileno()).st_size:
            writer.writeheader()
        writer.writerow(row)
        file.flush()


def present(folder: Path) -> list[dict[str, str]]:
    """The runs that are recorded, by seed and mode."""
    if not (path := folder / "raw.csv").exists():
        return []
    with open(path, newline="") as file:
        order = list(MODES)
        return sorted(csv.DictReader(file), key=lambda one: (int(one["seed"]), order.index(one["mode"])))


if __name__ == "__main__":
    sys.exit(main())
