"""Pieces of work → results in their order, on workers, in tasks of about a second.

A piece is what a result depends on: a replication with its seed, a block of points. How many pieces make a task follows the time
that the first ones took, and decides only how often a worker is spoken to; so the answer is the same to the last bit for
any number of workers. At most `AHEAD` tasks wait at a worker, so that memory does not grow with their number. No task is
repeated here: dask repeats those of a worker that it has lost, and else its loss is an error.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from sojourn.errors import SojournError, WorkerError
from sojourn.parallel.workers import Done, Function, Piece, Workers

TASK_S = 1.0
AHEAD = 2  # tasks given to a slot: one that runs, one that waits
GROWTH = 8  # of a task over the largest that was measured
STILL_S = 60.0  # without any answer, and a worker without a sign of life: given up
LOOK_S = 0.2


def blocks(count: int, size: int) -> list[range]:
    """Stretches of `size` of 0 … count - 1, the last one shorter; they do not depend on the workers."""
    return [range(first, min(first + size, count)) for first in range(0, count, size)]


def run_pieces(
    workers: Workers, function: Function, handle: Any, pieces: Sequence[Piece], bound: bool = False,
    still_s: float = STILL_S, each: Callable[[int, Any], None] | None = None,
) -> list[Any]:  # fmt: skip
    """`function(shared, piece)` of every piece, in order; `handle` is what `workers.send(shared)` gave.

    `bound`: piece i always runs on slot i modulo their number, where it may find what it left there.
    `each(i, result)` hears of results as they come. Raises what `function`
    raises, and WorkerError where a worker is lost, or does not respond when none has answered for `still_s`. No task is begun
    after an error.
    """
    run = _PieceRun(workers, function, handle, pieces, bound, still_s, each)
    try:
        return run.all()
    except WorkerError:
        workers.stop()
        raise
    finally:
        for job in run.going:
            job.cancel()


class _PieceRun:
    def __init__(
        self, workers: Workers, function: Function, handle: Any, pieces: Sequence[Piece], bound: bool, still_s: float,
        each: Callable[[int, Any], None] | None,
    ) -> None:  # fmt: skip
        self.workers, self.function, self.handle, self.pieces, self.bound = workers, function, handle, pieces, bound
        self.slots = max(1, min(workers.count, len(pieces)))
        every = deque(range(len(pieces)))
        self.waiting = (
            [deque(range(s, len(pieces), self.slots)) for s in range(self.slots)] if bound else [every] * self.slots
        )
        self.results: list[Any] = [None] * len(pieces)
        self.done = 0
        self.spent_s, self.largest = 0.0, 1
        self.going: dict[Future[Done], tuple[int, list[int]]] = {}
        self.still_s, self.each = still_s, each
        self.started = self.heard = self.asked = time.monotonic()

    def all(self) -> list[Any]:
        for _ in range(AHEAD):
            for slot in range(self.slots):
                self._give(slot)
        while self.going:
            ready = wait(self.going, LOOK_S, FIRST_COMPLETED).done
            for job in [job for job in self.going if job in ready]:  # of two errors, the first piece's
                slot, numbers = self.going.pop(job)
                self._take(job, slot, numbers)
                self._give(slot)
            self._watch(bool(ready))
        return self.results

    def _give(self, slot: int) -> None:
        waiting = self.waiting[slot]
        numbers = [waiting.popleft() for _ in range(min(self._size(len(waiting)), len(waiting)))]
        if numbers:
            own = [self.pieces[i] for i in numbers]
            self.going[self.workers.submit(slot, self.function, self.handle, own)] = (slot, numbers)

    def _size(self, waiting: int) -> int:
        """Pieces of the next task: about a second of them, and towards the end so few that all workers end together."""
        if not self.done:
            return 1
        usual = TASK_S * self.done / max(self.spent_s, 1e-9)
        share = math.ceil(waiting / (AHEAD * (1 if self.bound else self.slots)))
        return int(max(1, min(usual, GROWTH * self.largest, share)))

    def _take(self, job: Future[Done], slot: int, numbers: list[int]) -> None:
        try:
            seconds, found = job.result()
        except (BrokenProcessPool, CancelledError) as error:
            raise self.workers.lost(slot, error) from None
        except SojournError:
            raise
        except Exception as error:
            raise known_error(self.workers, slot, error) from error
        for i, result in zip(numbers, found, strict=True):
            self.results[i] = result
            if self.each:
                self.each(i, result)
        self.done += len(numbers)
        self.spent_s += seconds
        self.largest = max(self.largest, len(numbers))

    def _watch(self, heard: bool) -> None:
        now = time.monotonic()
        if heard:
            self.heard = now
            if self.workers.tell:
                left = (now - self.started) * (len(self.pieces) - self.done) / self.done if self.done else None
                self.workers.tell(self.done, len(self.pieces), left)
        elif now - max(self.heard, self.asked) > self.still_s:
            self.asked = now
            if silent := self.workers.silent({slot for slot, _ in self.going.values()}, self.still_s):
                waits = f"no worker has answered for {now - self.heard:.0f} s, and {', '.join(silent)} does not respond"
                raise WorkerError(waits, "--parallel", "check whether the process is stopped or its machine is gone")


def known_error(workers: Workers, slot: int, error: Exception) -> Exception:
    """Errors of dask that mean a lost worker, by their names: dask need not be there."""
    lost = any(kind.__module__.startswith("distributed") for kind in type(error).__mro__)
    return workers.lost(slot, error) if lost else error
