"""Two running guests, the application's and the database's, joined by a link; and what a run counts of them."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from sojourn.errors import LabError
from sojourn.lab import (
    LINK,
    LISTENS,
    GuestDisk,
    GuestParts,
    GuestSamples,
    GuestShape,
    GuestWorker,
    guest_worker,
    merge_guests,
)
from sojourn_cases.ntier.bulletin_cluster import BulletinCluster
from sojourn_cases.ntier.bulletin_server import BulletinOptions
from sojourn_cases.ntier.guest_account import DATABASE, FRONT, GUESTS, THREADS
from sojourn_cases.ntier.guest_database import CALL as DATABASE_CALL
from sojourn_cases.ntier.guest_database import guest_database

FRONT_CALL, FRONT_PORT = "sojourn_cases.worker_kinds:bulletin", 80
LINKED = {FRONT: "10.0.100.2", DATABASE: "10.0.100.1"}
EVERY_S = 0.2
REST_S = 4.0


@dataclass
class GuestTiers:
    """`guests` by name; `port`: of the host, that leads to the application."""

    guests: dict[str, GuestWorker]
    cpus: int
    port: int | None = None
    # by guest, what its virtual CPUs ran without users, a share of their time
    at_rest: dict[str, float] = field(default_factory=dict)

    @classmethod
    @contextmanager
    def started(
        cls,
        parts: GuestParts,
        way: str,
        cluster: BulletinCluster,
        placed: Mapping[str, Sequence[int]],
        *,
        cpus: int,
        memory_mib: tuple[int, int],
        port: int | None,
        workers: int,
        pool: int,
        page_work_s: float,
        settings: Mapping[str, str],
        interval_s: float,
        disk: GuestDisk | None = None,
        database_cpus: Sequence[int] = (),
    ) -> Iterator[GuestTiers]:
        """The database first, since the application opens its sessions at its start. `port`: of the host, None: on a network of the
        lab. `disk`: what the database lies on, None: memory; `database_cpus`: virtual CPUs of its guest for it alone.

        Raises:
            LabError: a guest cannot be had, or did not become ready.
        """
        database = guest_database(cluster, LINKED[DATABASE], pool, settings, disk, database_cpus)
        last = cpus - 1  # takes the interrupts of the link, where there are several
        with guest_worker(
            parts, way, GuestShape(cpus, memory_mib[1], (), disks=(disk,) if disk else (), link=LISTENS), DATABASE_CALL, database.config,
            cores=placed[DATABASE], interrupt_cores=[last], setup=_linked(0, DATABASE), more_files=database.files,
            modules=("ext4",) if disk else (), real_time=False, interval_s=interval_s,
        ) as behind:  # fmt: skip
            application = BulletinOptions(
                listen=f"10.0.1.15:{FRONT_PORT}",
                database=database.url,
                workers=workers,
                pool=pool,
                page_work_s=page_work_s,
            )
            socket = str(behind.guest.console.parent / LINK)
            shape = GuestShape(cpus, memory_mib[0], (port,), FRONT_PORT, 0 if port else 1, link=socket)
            with guest_worker(
                parts, way, shape, FRONT_CALL, {"network": None, "bulletin": application.model_dump(mode="json")},
                cores=placed[FRONT], interrupt_cores=[0, last], setup=_linked(1, FRONT), real_time=False, interval_s=interval_s,
            ) as front:  # fmt: skip
                yield cls({FRONT: front, DATABASE: behind}, cpus, port)

    @property
    def kernel(self) -> str:
        """Its version, of both guests."""
        return self.guests[FRONT].guest.kernel

    @property
    def network(self) -> str | None:
        return self.guests[FRONT].guest.network

    @property
    def pids(self) -> dict[str, int]:
        return {name: one.guest.pid for name, one in self.guests.items()}

    def freeze(self) -> None:
        """They stand still, and use nothing, until `thaw`; their clocks go on."""
        self._send(signal.SIGSTOP)

    def thaw(self) -> None:
        self._send(signal.SIGCONT)

    def _send(self, number: int) -> None:
        for one in self.guests.values():
            os.kill(one.guest.pid, number)

    def move(self, placed: Mapping[str, Sequence[int]]) -> None:
        """Puts the virtual CPUs of each guest on these cores of the host."""
        for name, one in self.guests.items():
            if list(one.cores) != list(placed[name]):
                one.move(placed[name])


def _linked(nic: int, guest: str) -> str:
    return f"$b ifconfig eth{nic} {LINKED[guest]} netmask 255.255.255.0 up\n"


class CountedGuests:
    """The guests as the service of one run: while it lasts, the host's account of each thread of theirs is read; when it ends, the
    counters of both guests are put in the place of the host's."""

    def __init__(self, tiers: GuestTiers, run: Path) -> None:
        self._tiers, self._run = tiers, run
        self._samples: list[dict[str, Any]] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._summary: dict[str, Any] | None = None
        self._thread.start()

    @property
    def pids(self) -> dict[str, int]:
        return self._tiers.pids

    def _sample(self) -> None:
        due_s = time.monotonic()
        while not self._ended.is_set():
            with suppress(OSError):  # a guest is gone; the run says so
                self._samples.append(sampled(self._tiers.guests))
            due_s += EVERY_S
            self._ended.wait(max(0.0, due_s - time.monotonic()))

    def stop(self) -> dict[str, Any]:
        """The offset of each guest's clock to the host's and its error, s."""
        if self._summary is None:
            self._ended.set()
            self._thread.join()
            clocks = {name: one.clock_offset_s() for name, one in self._tiers.guests.items()}
            host = self._run / "host.ndjson"
            if host.exists():
                of = [
                    GuestSamples(one.samples, clocks[name][0], GUESTS.index(name) * self._tiers.cpus)
                    for name, one in self._tiers.guests.items()
                ]
                if not merge_guests(of, host, self._samples, host):
                    raise LabError("no samples of the guests in this run", "the guests", "see their consoles")
            self._summary = {
                name: {"clock_offset_s": offset_s, "clock_error_s": error_s}
                for name, (offset_s, error_s) in clocks.items()
            }
        return self._summary


def at_rest(guests: Mapping[str, GuestWorker], length_s: float = REST_S) -> dict[str, float]:
    """What the virtual CPUs of guests that nobody asks run, as a share of their time: the ticks of their kernels, and what samples them."""
    before = sampled(guests)
    time.sleep(length_s)
    after = sampled(guests)
    found: dict[str, list[float]] = {name: [] for name in guests}
    for thread, counted in after[THREADS].items():
        guest, _, kind = thread.partition(" ")
        if kind.startswith("CPU "):
            found[guest].append(counted["run_s"] - before[THREADS][thread]["run_s"])
    return {name: fmean(ran) / (after["t_s"] - before["t_s"]) for name, ran in found.items() if ran}


def sampled(guests: Mapping[str, GuestWorker]) -> dict[str, Any]:
    """One sample of the host's account of the threads of all guests: run time and time on a run queue, s."""
    threads: dict[str, dict[str, float]] = {}
    for name, one in guests.items():
        ran, waited = one.cpu_s(), one.wait_s()
        threads |= {f"{name} {thread}": {"run_s": ran[thread], "wait_s": waited.get(thread, 0.0)} for thread in ran}
    return {"t_s": time.monotonic(), THREADS: threads}
