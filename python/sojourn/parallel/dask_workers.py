"""Workers of a dask cluster: dask places, repeats and moves tasks; here it is asked, and its silence is bounded."""

from __future__ import annotations

import importlib.metadata
import logging
import pickle
import time
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from distributed import Client

from sojourn.errors import WorkerError
from sojourn.parallel.dask_peers import check_peers, security
from sojourn.parallel.early_end import ask
from sojourn.parallel.workers import Done, Function, Piece, Tell, do, versions

CONNECT_S = 10.0


def connected(address: str, trusted: bool = False) -> DaskWorkers:
    """A scheduler's workers. `trusted`: the user trusts all who can reach them.

    Raises WorkerError where the scheduler does not answer within `CONNECT_S`, or where strangers can reach one of them, and
    InputError for TLS without certificates.
    """
    guard = security() if address.startswith("tls:") else None
    logging.getLogger("distributed.client").setLevel(
        logging.CRITICAL
    )  # what it would print of a lost scheduler is told here
    try:
        client = Client(address, timeout=CONNECT_S, set_as_default=False, security=guard)
    except (OSError, TimeoutError, ValueError) as error:
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise WorkerError(
            f"no answer from {address} ({why})", "--parallel", "start a scheduler there: dask scheduler"
        ) from None
    try:
        if not trusted:
            check_peers(client.scheduler_info(n_workers=0)["address"], client.nthreads())
        return DaskWorkers(client, own=True)
    except BaseException:
        client.close(timeout=1)
        raise


class DaskWorkers:
    """`own`: the client was made here, and is closed here."""

    def __init__(self, client: Client, own: bool = False) -> None:
        self.client, self.own = client, own
        self.tell: Tell | None = None
        self.wanted = versions()
        self.sent: dict[str, Any] = {}
        self.going: set[Future[Done]] = set()
        self.heard: dict[str, tuple[float, float]] = {}  # worker → its last sign of life, by two clocks
        self.slots = self._slots()
        self.executors: dict[str, Any] = {}

    def _slots(self) -> list[str]:
        """The address of a worker, once for each of its threads. Raises WorkerError for workers of another version."""
        address = self.client.scheduler_info(n_workers=0)["address"]
        threads = self.client.nthreads()
        if not threads:
            raise WorkerError(f"{address} has no workers", "--parallel", f"start some: dask worker {address}")
        found = self.client.run(importlib.metadata.version, "sojourn", on_error="return")
        wrong = [f"{name} has {_text(at)}" for name, at in found.items() if at != self.wanted["sojourn"]]
        if wrong:
            value = f"this is sojourn {self.wanted['sojourn']}, and {'; '.join(sorted(wrong))}"
            raise WorkerError(value, f"workers of {address}", "install the same version on every worker")
        return [name for name, own in sorted(threads.items()) for _ in range(own)]

    @property
    def count(self) -> int:
        return len(self.slots)

    def send(self, shared: Any) -> Any:
        # a task and not scattered data: dask can make it again where the worker that held it is lost
        content = pickle.dumps(shared, pickle.HIGHEST_PROTOCOL)
        return self.client.submit(pickle.loads, content, pure=False)

    def submit(self, slot: int, function: Function, handle: Any, pieces: Sequence[Piece]) -> Future[Done]:
        # else dask places the first tasks all where their input is
        at = self.slots[slot]
        if at not in self.executors:
            self.executors[at] = self.client.get_executor(pure=False, workers=[at], allow_other_workers=True)
        job: Future[Done] = self.executors[at].submit(do, self.wanted, function, handle, pieces)
        self.going.add(job)
        job.add_done_callback(self.going.discard)
        return job

    def drop(self, handle: Any) -> None:
        handle.release()

    def lost(self, slot: int, error: BaseException) -> WorkerError:
        gone = self.client.status != "running"
        value = "the scheduler is gone" if gone else f"dask abandoned a task: {type(error).__name__} {error}".rstrip()
        return WorkerError(
            value, "--parallel", "start it again, and run this again" if gone else "look at the log of its workers"
        )

    def silent(self, slots: set[int], for_s: float) -> list[str]:
        try:
            known = self._known()
        except Exception as error:  # whatever it is, the scheduler did not answer
            return [f"the scheduler ({type(error).__name__})"]
        # heartbeats come every few seconds, stamped by the scheduler's wall clock, which is not ours and may be set: stamps are compared
        # with each other, and how long one is the same is told by our own clock
        now, stamps = time.monotonic(), {name: float(told["last_seen"]) for name, told in known.items()}
        kept = {name: (at, since) for name, (at, since) in self.heard.items() if stamps.get(name) == at}
        self.heard = {name: kept.get(name, (at, now)) for name, at in stamps.items()}
        newest = max(stamps.values(), default=0.0)
        silent = [name for name, (at, since) in self.heard.items() if newest - at > for_s or now - since > for_s]
        return sorted(silent) if known else ["every worker"]

    def _known(self) -> dict[str, Any]:
        """The workers that the scheduler has now, by their addresses."""
        scheduler: Any = self.client.scheduler
        found: dict[str, Any] = self.client.sync(scheduler.identity, n_workers=-1, callback_timeout=CONNECT_S)[
            "workers"
        ]
        return found

    def place(self, slot: int) -> str:
        return self.slots[slot]

    def left(self, slots: set[int]) -> list[str]:
        try:
            known = self._known()
        except Exception as error:
            return [f"the scheduler ({type(error).__name__})"]
        return sorted({self.slots[slot] for slot in slots} - set(known))

    def end_early(self, name: str) -> None:
        with suppress(Exception):  # whoever does not hear it is waited for in vain, which the caller bounds
            self.client.sync(self.client._run, ask, name, on_error="return", callback_timeout=CONNECT_S)

    def stop(self) -> None:
        for job in tuple(self.going):
            job.cancel()

    def close(self) -> None:
        if self.own:
            self.client.close(timeout=5)


def _text(found: Any) -> str:
    return "no sojourn" if isinstance(found, BaseException) else f"sojourn {found}"
