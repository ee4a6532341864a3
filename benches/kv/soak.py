"""The proxy before three servers that stop, freeze and come back all the time, at 80 % of the load that it can take, or
another share of it.

    python benches/kv/run.py soak --seed 1 --seconds 600 --design direct

Fails (exit code 1) unless every judgement of the summary holds. Results go to benches/kv/soak/DATE-DESIGN: machine.json,
faults.csv, memory.csv, raw.json (the counts of both sides), summary.md.
"""

from __future__ import annotations

import argparse
import json
import socket
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from typing import Any

from faults import Faults, filler, schedule
from folder import new_folder
from memory import Memory
from probes import ANSWERED_S, Probe, Tally
from verdict import judgements, summary

from sojourn.lab.worker_process import WorkerProcess
from sojourn.load.kv_load import kv_load
from sojourn_cases.common.memcached import Memcached
from sojourn_cases.kv.middleware.kv_proxy import KvProxy, ProxyOptions

SERVERS, PROBES, CONNECTIONS, MOST_CONNECTIONS = 3, 2, 16, 64
CLOSED_S, TIMEOUT_S, LEAST_S = 3.0, 0.5, 15.0
KEYS: dict[str, Any] = {"keys": 5000, "value_bytes": "10:1,1000:8,20000:1"}
MIX: dict[str, Any] = {"set_weight": 1, "get_weight": 9, "multi_get": 6, "multi_get_share": 0.2}
Json = dict[str, Any]


def load(proxy: KvProxy, seconds: float, seed: int, rate_per_s: float | None) -> Json:
    """One load through the proxy, its values compared; the generator's summary."""
    config = kv_load(
        [proxy.url], connections=CONNECTIONS, duration_s=seconds, rate_per_s=rate_per_s, seed=seed, record_limit=10_000,
        populate=rate_per_s is None, **MIX, **KEYS,
    )  # fmt: skip
    for lane in config["lanes"]:  # a service that stands still for a moment is no reason for thousands of connections
        lane["connections_max"] = min(lane["connections_max"], MOST_CONNECTIONS)
    with tempfile.TemporaryDirectory() as out:
        worker = WorkerProcess("load", {"load": config, "out": out})
        try:
            return worker.finish(seconds + 60.0)["summary"]
        finally:
            worker.close()


def soak(seed: int, seconds: float, design: str, share: float) -> tuple[Json, list[Tally], Faults, Memory, float]:
    """Runs it all: the counts of all sides, what the probes saw, the faults, the memory, when it began."""
    with ExitStack() as stack:
        servers = [Memcached() for _ in range(SERVERS)]
        for server in servers:
            stack.callback(server.stop)
        options = ProxyOptions(
            listen="127.0.0.1:0", servers=tuple(server.address for server in servers), design=design, workers=32,
            sharded=True, timeout_s=TIMEOUT_S, connect_timeout_s=TIMEOUT_S,
        )  # fmt: skip
        proxy = KvProxy(options)
        stack.callback(proxy.close)
        closed = load(proxy, CLOSED_S, seed, None)
        faults = Faults(schedule(seed, seconds, SERVERS), servers, filler(**KEYS))
        probes = [Probe(proxy.address, k, seed, faults.disturbed, faults.emptied) for k in range(PROBES)]
        memory, start = Memory(proxy.pid), time.monotonic()
        for thread in (memory, faults, *probes):
            thread.start()
        opened = load(proxy, seconds, seed, share * closed["achieved_per_s"])
        tallies = [probe.stop() for probe in probes]
        memory.stop()
        left = last_look(proxy.address)
        faults.stop()
        raw: Json = {"closed": closed, "open": opened, "left": left, "proxy": proxy.stop()}
        raw["probes"] = [vars(tally) | {"said": Counter(said for _, said in tally.said)} for tally in tallies]
    return raw, tallies, faults, memory, start


def last_look(address: str) -> Json:
    """What is left in the proxy when its clients are gone, asked until nothing but the asking is, or for some seconds."""
    host, port = address.rsplit(":", 1)
    deadline, asked = time.monotonic() + ANSWERED_S, 0
    with socket.create_connection((host, int(port)), timeout=ANSWERED_S) as talk:
        heard = talk.makefile("rb")
        while True:
            talk.sendall(b"stats\r\n")
            asked += 1
            lines = [line.split() for line in iter(heard.readline, b"END\r\n")]
            left = {line[1].decode(): float(line[2]) for line in lines if line[1] in (b"connections", b"queue_length")}
            if (left["connections"] <= 1 and left["queue_length"] == 0) or time.monotonic() > deadline:
                return left | {"asked": asked}
            time.sleep(0.1)


def without_histograms(raw: Any) -> Any:
    """Counts alone: a record that can be read."""
    if isinstance(raw, list):
        return [without_histograms(one) for one in raw]
    if isinstance(raw, dict):
        return {name: without_histograms(one) for name, one in raw.items() if name not in ("histogram", "bins")}
    return raw


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="soak")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--design", choices=("direct", "staged"), default="direct")
    parser.add_argument(
        "--share", type=float, default=0.8, help="of what a closed loop reaches; less beside other work"
    )
    asked = parser.parse_args(arguments)
    if not 0.0 < asked.share < 1.0:
        parser.error(f"--share {asked.share:g}: give more than 0 and less than 1")
    if asked.seconds < LEAST_S:
        parser.error(f"--seconds {asked.seconds:g}: give at least {LEAST_S:g}")
    folder = new_folder("soak", f"-{asked.design}")
    raw, tallies, faults, memory, start = soak(asked.seed, asked.seconds, asked.design, asked.share)
    faults.write(folder / "faults.csv", start)
    memory.write(folder / "memory.csv", start)
    (folder / "raw.json").write_text(json.dumps(without_histograms(raw), indent=1) + "\n")
    judged = judgements(raw, tallies, faults, memory)
    text = summary(vars(asked), judged, raw, tallies, faults)
    (folder / "summary.md").write_text(text)
    print(text)
    return 0 if all(good for _, good, _ in judged) else 1
