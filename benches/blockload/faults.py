"""A server that is killed or frozen at a random time: does an I/O hang, is a block wrong, is anything left?

python benches/blockload/faults.py [qemu-nbd|embedded] > faults.csv      two faults, 20 seeds each: about two minutes for a server
"""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from sojourn.load.block_load import block_load
from sojourn.measure.execute_run import execute
from sojourn_cases.storage.nbd_server import EmbeddedNbd
from sojourn_cases.storage.qemu_nbd import QemuNbd

SEEDS = range(100, 120)
LEAD_S, LENGTH_S, LIMIT_S = 0.7, 1.2, 0.5  # before a run, of a run, of an I/O
BACK_S = (0.1, 0.3, 0.8)  # the last: longer than an I/O may take
SPAN_BYTES = 256 << 10
COLUMNS = (
    "server", "fault", "seed", "at_s", "back_s", "requested", "ok", "failed", "reconnects", "longest_s", "took_s", "verified", "wrong",
    "valid", "processes_left", "connections_left",
)  # fmt: skip


def started(kind: str, image: Path, port: int | None = None) -> Any:
    return QemuNbd(image, port=port) if kind == "qemu-nbd" else EmbeddedNbd(file=image, port=port)


def run(kind: str, fault: str, seed: int, folder: Path) -> dict[str, Any]:
    """One run with one fault, from start to what is left."""
    rng, image = random.Random(seed), folder / "img"
    image.write_bytes(bytes(SPAN_BYTES))
    at_s, back_s = rng.uniform(0.2, 0.8) * LENGTH_S, rng.choice(BACK_S)
    servers = [started(kind, image)]
    pid, port = next(iter(servers[0].pids.values())), servers[0].port
    begin_s = time.monotonic() + LEAD_S

    def make() -> None:
        time.sleep(max(begin_s + at_s - time.monotonic(), 0))
        os.kill(pid, signal.SIGSTOP if fault == "frozen" else signal.SIGKILL)
        time.sleep(back_s)
        if fault == "frozen":
            os.kill(pid, signal.SIGCONT)
        else:
            servers[0].close()
            servers.append(started(kind, image, port))
            over.wait()  # a server ends with the thread that started it

    over = threading.Event()
    thread = threading.Thread(target=make)
    thread.start()
    load = block_load(
        servers[0].url,
        iops=800,
        read=0.5,
        duration_s=LENGTH_S,
        seed=seed,
        timeout_s=LIMIT_S,
        verify=True,
        start_at_s=begin_s,
    )
    try:
        found = execute(folder / "run", load, what={"name": "run"})
        took_s = time.monotonic() - begin_s
    finally:
        over.set()
        thread.join()
        for server in servers:
            server.close()
    requests, generator, storage = found.frame("requests"), found.manifest["generator"], found.manifest["storage"]
    assert requests is not None
    return {
        "server": kind, "fault": fault, "seed": seed, "at_s": round(at_s, 2), "back_s": back_s, "requested": generator["requested"],
        "ok": generator["ok"], "failed": generator["failed"], "reconnects": storage["reconnects"],
        "longest_s": round(float((requests["done_s"] - requests["intended_s"]).max()), 4),  # type: ignore[arg-type]
        "took_s": round(took_s, 2), "verified": storage["verified"], "wrong": storage["wrong"], "valid": found.manifest["valid"],
        "processes_left": len(children()), "connections_left": connections(port),
    }  # fmt: skip


def children() -> list[str]:
    """Processes that this one has started, and that are there still."""
    return [pid for each in Path("/proc/self/task").glob("*/children") for pid in each.read_text().split()]


def connections(port: int) -> int:
    """Ends of connections to or from `port`, and its listeners; what is closed on both sides (TIME_WAIT) is none."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(words[3] != "06" and f":{port:04X}" in (words[1][8:], words[2][8:]) for words in lines)


def main() -> int:
    rows = defaultdict[tuple[str, str], list[dict[str, Any]]](list)
    print(",".join(COLUMNS))
    for kind in sys.argv[1:] or ("qemu-nbd", "embedded"):
        for fault in ("killed", "frozen"):
            for seed in SEEDS:
                with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
                    row = run(kind, fault, seed, Path(folder))
                rows[kind, fault].append(row)
                print(",".join(str(row[name]) for name in COLUMNS), flush=True)
    for (kind, fault), found in rows.items():
        told = {
            name: sum(row[name] for row in found) for name in ("requested", "failed", "reconnects", "verified", "wrong")
        }
        left = sum(row["processes_left"] + row["connections_left"] for row in found)
        unmarked = sum(row["failed"] > 0 and row["valid"] for row in found)
        longest_s, took_s = (max(row[name] for row in found) for name in ("longest_s", "took_s"))
        print(
            f"{kind} {fault}: {len(found)} runs, {told}, longest I/O {longest_s} s (limit {LIMIT_S}), longest run {took_s} s "
            f"(planned {LENGTH_S}), valid in spite of failures {unmarked}, left {left}", file=sys.stderr,
        )  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
