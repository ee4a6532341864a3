"""Mutated requests by a seed, for a bounded time: at the service's reading alone, then at a live service in each mode.

    python benches/messages/fuzz.py --seconds 600 --seed 1 [--rest-while FILE]

A fifth of the time for the reading (the property tests of cases/crates/msgbroker, many cases), a fifth for each mode: with and
without --batch-commits, with and without --ack-timeout, each over a private PostgreSQL. Every answer of the live service is judged:
fuzz_reference.py says which are due, fuzz_model.py what they may say. Meanwhile a good client is answered rightly and the
memory of the service stays; at the end nothing is lost, the service's own counts are those of its clients, and its tables
are empty. While FILE exists nothing is sent, and the time does not count. Needs cargo. Fails (exit code 1) if a check
does. Results go to benches/messages/fuzz/DATE: machine.json, raw.json, memory-MODE.csv, summary.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))  # for record.py and memory.py

from fuzz_clients import Fuzzer  # noqa: E402
from hostile_clients import PATIENCE_S, Normal  # noqa: E402
from memory import RULE, Memory  # noqa: E402
from record import new_folder  # noqa: E402

from sojourn_cases.common.postgres import Postgres  # noqa: E402
from sojourn_cases.common.postgres_programs import programs, version  # noqa: E402
from sojourn_cases.messages.message_server import MessageService, MessagesOptions  # noqa: E402

LEAST_S, CLIENTS, MESSAGE_BYTES, REDELIVERY_S = 30, 4, 21_000, 2.0
# Of the property tests in one run, so that a rest is not long waited for.
CASES = 20_000
MODES: dict[str, dict[str, Any]] = {
    "plain": {},
    "batch": {"batch": True},
    "redelivery": {"redelivery_s": REDELIVERY_S},
    "batch-redelivery": {"batch": True, "redelivery_s": REDELIVERY_S},
}
Json = dict[str, Any]
Rests = Callable[[], bool]


def build() -> Path:
    """The crate's tests, optimised, but with the checks of arithmetic that a debug build has."""
    checked = [f"--config=profile.release.{name}=true" for name in ("overflow-checks", "debug-assertions")]
    command = ["cargo", "test", "--release", "--no-run", "-p", "sojourn-msgbroker", "--lib", "--message-format=json"]
    done = subprocess.run(
        [*command, *checked, "--target-dir", str(ROOT / "target/fuzz")], cwd=ROOT, check=True, stdout=subprocess.PIPE
    )
    found = [json.loads(line).get("executable") for line in done.stdout.splitlines()]
    return Path(next(name for name in found if name))


def read(program: Path, seconds: float, seed: int, rests: Rests) -> Json:
    """The property tests again and again, each run by a seed of its own."""
    runs, busy_s, fault = 0, 0.0, ""
    while busy_s < seconds and not fault:
        if rests():
            time.sleep(0.5)
            continue
        begun = time.monotonic()
        settings = {"PROPTEST_CASES": str(CASES), "PROPTEST_MAX_GLOBAL_REJECTS": "1000000",
                    "PROPTEST_RNG_SEED": str(1_000_003 * seed + runs), "PROPTEST_DISABLE_FAILURE_PERSISTENCE": "1"}  # fmt: skip
        done = subprocess.run(
            [program, "frame::", "request::", "text::"], capture_output=True, text=True, timeout=600, check=False,
            env={**os.environ, **settings}, cwd=ROOT / "cases/crates/msgbroker",
        )  # fmt: skip
        fault = done.stdout[-4000:] if done.returncode else ""
        runs, busy_s = runs + 1, busy_s + time.monotonic() - begun
    return {"fault": fault, "runs": runs, "cases_of_each_property": runs * CASES}


def live(database: Postgres, mode: str, seconds: float, seed: int, rests: Rests, folder: Path) -> Json:
    """A service under mutated requests, and a good client that knows its answers."""
    database.run("DROP SCHEMA IF EXISTS sojourn CASCADE")
    options = MODES[mode]
    service = MessageService(MessagesOptions(
        listen="127.0.0.1:0", database=database.url, workers=4, connections=4, message_bytes=MESSAGE_BYTES, **options
    ))  # fmt: skip
    try:
        again_s = options.get("redelivery_s")
        fuzzers = [Fuzzer(service.address, f"{mode} {seed} {k}", again_s, MESSAGE_BYTES, rests) for k in range(CLIENTS)]
        memory = Memory(service.pid)
        counts = beside(service, fuzzers, memory, seconds, seed, rests)
        database.run("DELETE FROM sojourn.queue WHERE name = 'normal'")
        empty = becomes_empty(database)
        memory.stop()
        memory.write(folder / f"memory-{mode}.csv", memory.samples[0][0])
        done = service.stop()
    finally:
        service.close()
    return counts | {
        "flat": memory.is_flat(), "memory": memory.told(), "tables_empty": empty,
        "counts_agree": {int(status): count for status, count in done["by_status"].items()} == counts["by_status"],
        "service_by_status": done["by_status"], "service_by_kind": done["by_kind"], "lost_sessions": done["sessions_lost"],
    }  # fmt: skip


def beside(
    service: MessageService, fuzzers: list[Fuzzer], memory: Memory, seconds: float, seed: int, rests: Rests
) -> Json:
    """All clients at work for so long; what they saw."""
    normal = Good(service.address, seed, rests)
    for thread in (normal, memory, *fuzzers):
        thread.start()
    busy_s = 0.0
    while busy_s < seconds and not any(one.fault for one in fuzzers) and not normal.faults:
        time.sleep(0.25)
        busy_s += 0.0 if rests() else 0.25
    for one in fuzzers:
        one.halt.set()
    for one in fuzzers:
        one.join(4 * PATIENCE_S)
    normal.stop()
    by_status = sum((one.answers for one in (normal, *fuzzers)), Counter())
    kinds = sum((one.model.kinds for one in fuzzers), Counter())
    return {
        "fault": "\n".join(filter(None, (*(one.fault for one in fuzzers), *normal.faults))),
        "ended": not any(thread.is_alive() for thread in (normal, *fuzzers)),
        "connections": sum(one.connections for one in fuzzers), "streams": sum(one.streams for one in fuzzers),
        "bytes": sum(one.bytes for one in fuzzers), "good_rounds": normal.rounds,
        "by_status": dict(sorted(by_status.items())), "by_kind": dict(sorted(kinds.items())),
    }  # fmt: skip


class Good(Normal):
    """Rests when all do."""

    def __init__(self, address: str, seed: int, rests: Rests) -> None:
        super().__init__(address, seed)
        self.rests = rests

    def pause(self) -> None:
        time.sleep(0.005)
        while self.rests() and not self.halt.is_set():
            time.sleep(0.5)


def becomes_empty(database: Postgres) -> bool:
    """All queues were dropped: what was in them is deleted soon."""
    until = time.monotonic() + 20.0
    count = "SELECT (SELECT count(*) FROM sojourn.message) + (SELECT count(*) FROM sojourn.taken)"
    while (left := database.run(f"{count}, (SELECT count(*) FROM sojourn.queue)")[0]) != ("0", "0"):
        if time.monotonic() > until:
            print("left in the tables:", left, file=sys.stderr)
            return False
        time.sleep(0.2)
    return True


def is_good(found: Json) -> bool:
    checks = ("flat", "tables_empty", "counts_agree", "ended")
    return not found["fault"] and all(found.get(check, True) for check in checks) and not found.get("lost_sessions")


def summary(asked: argparse.Namespace, results: dict[str, Json]) -> str:
    lines = [
        f"# Fuzz of the message service, {version(programs())}", "",
        f"Seed {asked.seed}, {asked.seconds} s, a fifth for each part, by `python benches/messages/fuzz.py`, which says what is "
        f"checked. {CLIENTS} clients with mutated requests, a good one beside; messages up to {MESSAGE_BYTES} bytes"
        + (", with rests while others measured on the same machine." if asked.rest_while else "."), "",
        f"Memory of the service: {RULE}.", "", "| part | good | counts |", "|---|---|---|",
    ]  # fmt: skip
    for name, found in results.items():
        counts = {
            key: value for key, value in found.items() if key not in ("fault", "service_by_status", "service_by_kind")
        }
        told = "; ".join(f"{key} {value}" for key, value in counts.items())
        lines.append(f"| {name} | {'yes' if is_good(found) else 'NO'} | {told} |")
    faults = [f"{name}:\n\n    {found['fault']}" for name, found in results.items() if found["fault"]]
    return "\n".join([*lines, "", *faults])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rest-while", type=Path)
    asked = parser.parse_args()
    if asked.seconds < LEAST_S:
        parser.error(f"--seconds {asked.seconds}: give at least {LEAST_S}")

    def rests() -> bool:
        return asked.rest_while is not None and asked.rest_while.exists()

    part_s = asked.seconds / (1 + len(MODES))
    program, folder = build(), new_folder(HERE, "fuzz", {"postgres": lambda: version(programs())})
    results = {"reading": read(program, part_s, asked.seed, rests)}
    with tempfile.TemporaryDirectory() as place:
        database = Postgres(place)
        try:
            for mode in MODES:
                results[mode] = live(database, mode, part_s, asked.seed, rests, folder)
                print(mode, results[mode], flush=True)
        finally:
            database.close()
    (folder / "raw.json").write_text(json.dumps(results, indent=1) + "\n")
    text = summary(asked, results)
    (folder / "summary.md").write_text(text)
    print(text)
    return 0 if all(is_good(found) for found in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
