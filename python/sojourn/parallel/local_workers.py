"""Workers of this machine: processes of their own, each an executor of one process, so that a slot is a process.

They are started anew (`spawn`): forked ones would inherit threads of numpy and polars in the middle of their work. They
ignore Ctrl-C, which is their parent's to handle, and end by themselves when it is gone. Not dask's LocalCluster: the same two
workers start in 0.6 s instead of 1.5 s, take 86 MB each instead of 118 MB, and need no other package (decision 0026).
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from itertools import count
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

from sojourn.errors import WorkerError
from sojourn.parallel.early_end import EVERY, ask
from sojourn.parallel.workers import Done, Function, Piece, Tell, do, versions

_kept: dict[int, Any] = {}  # in a worker: handle → what was sent
END_S = 5.0
SINGLE = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "POLARS_MAX_THREADS", "RAYON_NUM_THREADS")


class LocalWorkers:
    """`count` processes."""

    def __init__(self, number: int) -> None:
        self.tell: Tell | None = None
        self.wanted = versions()
        self.handles = count()
        context = multiprocessing.get_context("spawn")
        with _single_threads(), _interrupt_later():
            self.slots = [ProcessPoolExecutor(1, context, initializer=_begin) for _ in range(number)]
            self.started = [slot.submit(os.getpid) for slot in self.slots]  # the process starts with the first task

    @property
    def count(self) -> int:
        return len(self.slots)

    def send(self, shared: Any) -> int:
        handle, content = next(self.handles), pickle.dumps(shared, pickle.HIGHEST_PROTOCOL)
        for slot in range(self.count):
            self._submit(slot, _keep, handle, content)
        return handle

    def submit(self, slot: int, function: Function, handle: int, pieces: Sequence[Piece]) -> Future[Done]:
        return self._submit(slot, _do_kept, self.wanted, function, handle, pieces)

    def _submit(self, slot: int, function: Callable[..., Any], *words: Any) -> Future[Any]:
        try:
            return self.slots[slot].submit(function, *words)
        except (BrokenProcessPool, RuntimeError) as error:  # it ended before this was asked, or all were ended
            raise self.lost(slot, error) from None

    def drop(self, handle: int) -> None:
        for slot in range(self.count):
            with suppress(WorkerError):
                self._submit(slot, _kept_no_more, handle)

    def lost(self, slot: int, error: BaseException) -> WorkerError:
        if not _has_begun(self.started[slot]):
            value = f"worker {slot + 1} of {self.count} ended before it began"
            remedy = "the workers import the script, so put its own code under `if __name__ == '__main__':`"
            return WorkerError(value, f"--parallel local:{self.count}", remedy)
        value = f"worker {slot + 1} of {self.count} ended before its task did"
        return WorkerError(
            value, f"--parallel local:{self.count}", "it was killed; check whether memory ran out, and run again"
        )

    def silent(self, slots: set[int], for_s: float) -> list[str]:
        stopped = {slot for slot in slots if any(map(_is_stopped, self.slots[slot]._processes or ()))}
        return [self.place(slot) for slot in sorted(stopped)]

    def place(self, slot: int) -> str:
        return f"process {slot + 1} of {self.count}"

    def left(self, slots: set[int]) -> list[str]:
        return []  # the executor of a process that ended tells

    def end_early(self, name: str) -> None:
        for slot in self.slots:
            for pid in tuple(slot._processes or ()):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGUSR1)

    def stop(self) -> None:
        self._end(0.0)

    def close(self) -> None:
        self._end(END_S)

    def _end(self, patience_s: float) -> None:
        """Processes that have not ended by themselves after `patience_s` are killed, stopped ones among them."""
        processes = [p for slot in self.slots for p in (slot._processes or {}).values()]
        managers: list[Any] = [slot._executor_manager_thread for slot in self.slots]
        for slot in self.slots:
            slot.shutdown(wait=False, cancel_futures=True)
        until = time.monotonic() + patience_s
        for process in processes:
            process.join(max(until - time.monotonic(), 0.0))
            if process.is_alive():
                process.kill()
                process.join(END_S)
        for manager in managers:  # else the interpreter's end may wake one through a pipe that it is closing
            if manager is not None:
                manager.join(END_S)


def _has_begun(started: Future[int]) -> bool:
    return started.done() and not started.cancelled() and started.exception() is None


class _single_threads:  # noqa: N801  (a context manager that reads as a phrase)
    """Processes that start inside take one thread each for their arrays, unless the user has said how many."""

    def __enter__(self) -> None:
        self.added = [name for name in SINGLE if name not in os.environ]
        os.environ.update(dict.fromkeys(self.added, "1"))

    def __exit__(self, *_: object) -> None:
        for name in self.added:
            os.environ.pop(name, None)


@contextmanager
def _interrupt_later() -> Iterator[None]:
    """Ctrl-C in here comes at the end of the block; to processes that start inside it does not come until they ignore it."""
    resource_tracker.ensure_running()  # which unblocks it when it starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _is_stopped(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "Tt"
    except OSError:
        return False  # it ended, which its executor tells


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    signal.signal(signal.SIGUSR1, lambda _number, _frame: ask(EVERY))
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _keep(handle: int, content: bytes) -> None:
    _kept[handle] = pickle.loads(content)


def _kept_no_more(handle: int) -> None:
    _kept.pop(handle, None)


def _do_kept(wanted: dict[str, str], function: Function, handle: int, pieces: Sequence[Piece]) -> Done:
    return do(wanted, function, _kept[handle], pieces)
