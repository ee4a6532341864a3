"""Servers that stop, freeze and come back, by a schedule drawn from a seed."""

from __future__ import annotations

import csv
import random
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from sojourn.errors import ServiceError
from sojourn.lab.worker_process import WorkerProcess
from sojourn.load.kv_load import kv_load
from sojourn_cases.common.memcached import Memcached

# Asked again after at most 2 s; then connected, and asked for its version.
RECOVERY_S = 3.5
LEAD_S, REST_S = 1.0, 5.0
GAP_S, HELD_S, SHORT_S = (2.0, 6.0), (0.2, 3.0), (0.02, 0.3)
RESTART_TRIES = 20
# kind → how often
KINDS = {
    "stop": 3,
    "stop, fill again": 2,
    "kill": 2,
    "freeze": 3,
    "freeze shortly": 2,
    "stop two": 1,
    "freeze and stop": 1,
}


@dataclass
class Fault:
    """One of the schedule, in s from its start; and when it really began and ended, on the monotonic clock."""

    at_s: float
    kind: str
    servers: tuple[int, ...]
    held_s: float
    begun_s: float = float("inf")
    dead_s: float = float("inf")
    ended_s: float = float("inf")

    @property
    def empties(self) -> bool:
        return self.kind not in ("freeze", "freeze shortly")


def schedule(seed: int, seconds: float, servers: int) -> list[Fault]:
    """One fault after the other; two servers at once only in those that say so. The last `REST_S` are quiet."""
    draw, found, at_s = random.Random(f"faults {seed}"), [], LEAD_S
    while True:
        kind = draw.choices(list(KINDS), list(KINDS.values()))[0]
        held_s = draw.uniform(*(SHORT_S if kind == "freeze shortly" else HELD_S))
        if at_s + held_s > seconds - REST_S:
            return found
        count = 2 if kind in ("stop two", "freeze and stop") else 1
        found.append(Fault(at_s, kind, tuple(draw.sample(range(servers), count)), held_s))
        at_s += held_s + draw.uniform(*GAP_S)


class Faults(threading.Thread):
    """Carries the schedule out."""

    def __init__(
        self, faults: Sequence[Fault], servers: Sequence[Memcached], fill: Callable[[Memcached], None]
    ) -> None:
        super().__init__(daemon=True)
        self.faults, self.servers, self.fill = faults, servers, fill
        self.halt, self.failed = threading.Event(), ""

    def disturbed(self, begin: float, end: float) -> bool:
        """Whether a server was not well between them, or not yet known to be."""
        return any(fault.begun_s <= end and begin <= fault.ended_s + RECOVERY_S for fault in self.faults)

    def emptied(self, begin: float, end: float) -> bool:
        """Whether a server lost its data between them."""
        return any(fault.empties and fault.begun_s <= end and begin <= fault.dead_s for fault in self.faults)

    def recovery_s(self, at: float) -> float:
        """Time since the last fault ended; 0 while one lasts, or before the first."""
        ended = [fault.ended_s for fault in self.faults if fault.begun_s <= at]
        return max(0.0, at - max(ended, default=at))

    def run(self) -> None:
        start = time.monotonic()
        try:
            for fault in self.faults:
                if self.halt.wait(max(0.0, start + fault.at_s - time.monotonic())):
                    return
                self._carry_out(fault)
            # A server that this thread has started ends with it.
            self.halt.wait()
        except Exception as error:
            self.failed = f"a fault could not be carried out: {error!r}"

    def _carry_out(self, fault: Fault) -> None:
        servers = [self.servers[index] for index in fault.servers]
        fault.begun_s = time.monotonic()
        frozen = servers[:1] if "freeze" in fault.kind else []
        ended = [server for server in servers if server not in frozen]
        for server in frozen:
            server.freeze()
        for server in ended:
            if fault.kind == "kill":
                server.process.send_signal(signal.SIGKILL)
            server.stop()
        fault.dead_s = time.monotonic()
        time.sleep(fault.held_s)
        for server in frozen:
            server.thaw()
        for server in ended:
            start_again(server)
        if fault.kind == "stop, fill again":
            for server in ended:
                self.fill(server)
        fault.ended_s = time.monotonic()

    def stop(self) -> None:
        self.halt.set()
        self.join(30)

    def write(self, path: Path, start: float) -> None:
        """The schedule with its real times, in s from `start`."""
        with open(path, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([field.name for field in fields(Fault)])
            for fault in self.faults:
                row = asdict(fault) | {"servers": " ".join(map(str, fault.servers))}
                row |= {name: row[name] - start for name in ("begun_s", "dead_s", "ended_s")}
                writer.writerow([f"{cell:.3f}" if isinstance(cell, float) else cell for cell in row.values()])


def start_again(server: Memcached) -> None:
    """At its port, which a client that is just asking for it may have for a moment."""
    for _ in range(RESTART_TRIES):
        with suppress(ServiceError):
            return server.start()
        time.sleep(0.1)
    server.start()


def filler(**keys: object) -> Callable[[Memcached], None]:
    """Stores all keys of a load at one server, past the proxy."""

    def fill(server: Memcached) -> None:
        config = kv_load([server.url], connections=1, duration_s=0.01, set_weight=0, populate=True, **keys)  # type: ignore[arg-type]
        with tempfile.TemporaryDirectory() as out:
            worker = WorkerProcess("load", {"load": config, "out": out})
            try:
                worker.finish(60.0)
            finally:
                worker.close()

    return fill
