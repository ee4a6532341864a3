"""Pieces that must run at the same time, each on a slot of its own: all of them end, or there is one error.

For what `run_pieces` cannot do: there a slot may be anywhere, a piece may wait, and a lost one is done again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from sojourn.errors import SojournError, WorkerError
from sojourn.parallel.piece_list import known_error
from sojourn.parallel.workers import Done, Function, Piece, Workers

LOOK_S = 0.2
END_S = 40.0  # for pieces that were asked to end: a generator may take 10 s, and what it wrote is collected
ASK_S = 2.0  # between two looks at whether workers live


def run_at_once(
    workers: Workers, function: Function, handle: Any, pieces: Sequence[Piece], slots: Sequence[int], *,
    limit_s: float, still_s: float, tell: Callable[[], None] | None = None, end: Callable[[], None] | None = None,
) -> list[Any]:  # fmt: skip
    """`function(shared, piece)` of every piece, piece i on `slots[i]`, in order; `handle` as of `run_pieces`. `tell` is called
    several times a second. Where `end` is given, Ctrl-C calls it, which asks the pieces to end, and their results are waited for.

    Raises what `function` raises, and WorkerError, which names the slot's place, where a worker is lost, where it does not
    respond for `still_s`, or where not all have answered after `limit_s`. After an error the others are asked to stop.
    """
    going: dict[Future[Done], int] = {}
    try:
        for number, (piece, slot) in enumerate(zip(pieces, slots, strict=True)):
            going[workers.submit(slot, function, handle, [piece])] = number
        results: list[Any] = [None] * len(slots)
        left = dict(going)
        try:
            _all(workers, left, results, list(slots), limit_s, still_s, tell)
        except KeyboardInterrupt:
            if end is None:
                raise
            end()
            _all(workers, left, results, list(slots), END_S, still_s, None)
        return results
    except BaseException:
        workers.stop()
        raise
    finally:
        for job in going:
            job.cancel()


def _all(
    workers: Workers, left: dict[Future[Done], int], results: list[Any], slots: list[int], limit_s: float,
    still_s: float, tell: Callable[[], None] | None,
) -> None:  # fmt: skip
    """Moves what ends from `left` to `results`, until nothing is left."""
    started = asked = time.monotonic()
    silent_since: dict[str, float] = {}
    while left:
        for job in wait(left, LOOK_S, FIRST_COMPLETED).done:
            number = left[job]
            results[number] = _result(workers, job, slots[number])
            del left[job]
        if tell:
            tell()
        now = time.monotonic()
        waiting = {slots[number] for number in left.values()}
        places = ", ".join(workers.place(slot) for slot in sorted(waiting))
        if now - started > limit_s and left:
            raise WorkerError(
                f"no answer of {places} after {limit_s:.0f} s", "--parallel", "see whether it hangs; run it again"
            )
        if now - asked > ASK_S and left:
            asked = now
            if gone := workers.left(waiting):
                raise WorkerError(f"{', '.join(gone)} is gone", "--parallel", "find out why it ended, and run again")
            silent = workers.silent(waiting, still_s / 2)
            silent_since = {name: silent_since.get(name, now) for name in silent}
            if still := [name for name, since in silent_since.items() if now - since > still_s / 2]:
                raise WorkerError(
                    f"{', '.join(still)} does not respond",
                    "--parallel",
                    "check whether the process is stopped or its machine is gone",
                )


def _result(workers: Workers, job: Future[Done], slot: int) -> Any:
    try:
        return job.result()[1][0]
    except (BrokenProcessPool, CancelledError) as error:
        raise workers.lost(slot, error) from None
    except SojournError:
        raise
    except Exception as error:
        raise known_error(workers, slot, error) from error
