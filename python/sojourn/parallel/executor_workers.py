"""Any Executor of a user's own: threads, processes, or one of another library."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor, Future
from os import cpu_count
from typing import Any

from sojourn.errors import WorkerError
from sojourn.parallel.workers import Done, Function, Piece, Tell, do, versions


class ExecutorWorkers:
    """What is shared goes with each task, because an Executor has no other way; it is not shut down here."""

    def __init__(self, executor: Executor) -> None:
        self.executor = executor
        self.tell: Tell | None = None
        self.wanted = versions()
        self.given: set[Future[Done]] = set()

    @property
    def count(self) -> int:
        return int(getattr(self.executor, "_max_workers", None) or cpu_count() or 1)

    def send(self, shared: Any) -> Any:
        return shared

    def submit(self, slot: int, function: Function, handle: Any, pieces: Sequence[Piece]) -> Future[Done]:
        job = self.executor.submit(do, self.wanted, function, handle, pieces)
        self.given.add(job)
        job.add_done_callback(self.given.discard)
        return job

    def drop(self, handle: Any) -> None:
        pass

    def lost(self, slot: int, error: BaseException) -> WorkerError:
        return WorkerError(
            f"the executor lost a task ({error})", "on", "use an executor whose workers are alive; see their memory"
        )

    def silent(self, slots: set[int], for_s: float) -> list[str]:
        return []  # an Executor does not tell

    def place(self, slot: int) -> str:
        return f"thread or process {slot + 1} of {self.count}"

    def left(self, slots: set[int]) -> list[str]:
        return []

    def end_early(self, name: str) -> None:
        pass  # there is no way into a task that runs

    def stop(self) -> None:
        for job in tuple(self.given):
            job.cancel()

    def close(self) -> None:
        pass
