"""The load on a function of a user's own: calls at stated times (open loop) or by users (closed loop), each timed.

Response time runs from when a call was due, as everywhere here: a call that had to wait for a free thread waited. Threads share
Python's lock: a function that waits (a socket, a disk) or works outside of Python (hashing, compression) can be called thousands
of times a second, one that works in Python is its own bottleneck.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from sojourn.load.credentials import without_secrets
from sojourn.runs.record_logs import write_parquet
from sojourn.runs.request_rows import FAILURES, request_frame
from sojourn.runs.run_folder import RunFolder

Call = Callable[[], object]
KINDS = [*FAILURES, "exception"]
EXCEPTION = len(KINDS) - 1
MOST_SAID, MOST_MESSAGES = 160, 8  # characters of a failure's message; messages that are told apart
PAUSE_S = 0.01  # after a call that failed: nobody asks again at once, and the records stay few
LATE_S = 0.05  # before the first call, so that all threads are there


@dataclass
class CallGenerator:
    """Calls `call` for `duration_s` with Poisson arrivals of `rate_per_s`, at most `threads` at a time, or by `users` who wait
    `think_s` (exponential) between calls. A call that raises an exception is a failure."""

    call: Call
    duration_s: float
    rate_per_s: float | None = None
    users: int | None = None
    think_s: float = 0.0
    threads: int = 64
    seed: int = 1
    _rows: list[tuple[float, float, float, int]] = field(default_factory=list)
    _errors: dict[str, int] = field(default_factory=dict)

    def __call__(self, folder: RunFolder) -> dict[str, Any]:
        """Runs the load; its records go into the folder. What was recorded is kept where it is interrupted."""
        start = time.monotonic() + LATE_S
        try:
            self._closed(start) if self.users else self._open(start)
        finally:
            summary = self._keep(folder, start)
        return summary

    def _open(self, start_s: float) -> None:
        random = np.random.default_rng(self.seed)
        assert self.rate_per_s is not None
        gaps = random.exponential(1 / self.rate_per_s, int(self.rate_per_s * self.duration_s * 1.5) + 100)
        due = start_s + np.cumsum(gaps)
        waiting: queue.SimpleQueue[float | None] = queue.SimpleQueue()
        threads = [threading.Thread(target=self._serve, args=(waiting,), daemon=True) for _ in range(self.threads)]
        for thread in threads:
            thread.start()
        try:
            for at in due[due < start_s + self.duration_s]:
                _until(float(at))
                waiting.put(float(at))
        finally:
            for _ in threads:
                waiting.put(None)
        for thread in threads:
            thread.join()

    def _serve(self, waiting: queue.SimpleQueue[float | None]) -> None:
        while (due := waiting.get()) is not None:
            self._one(due)

    def _closed(self, start_s: float) -> None:
        assert self.users is not None
        threads = [threading.Thread(target=self._user, args=(k, start_s), daemon=True) for k in range(self.users)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _user(self, number: int, start_s: float) -> None:
        random = np.random.default_rng((self.seed, number))
        due = start_s + (float(random.exponential(self.think_s)) if self.think_s else 0.0)
        while due < start_s + self.duration_s:
            _until(due)
            due = max(self._one(due), due) + (float(random.exponential(self.think_s)) if self.think_s else 0.0)

    def _one(self, due_s: float) -> float:
        sent, failure = time.monotonic(), 0
        try:
            self.call()
        except Exception as error:
            failure = EXCEPTION
            self._note(error)
        done = time.monotonic()
        self._rows.append((due_s, sent, done, failure))
        if failure:
            time.sleep(PAUSE_S)
        return done

    def _note(self, error: Exception) -> None:
        """Counts it by type and message; of messages that all differ the later ones by type alone."""
        kind, message = type(error).__name__, " ".join(without_secrets(str(error)).split())
        said = f"{kind}: {message}" if message else kind
        said = said if len(said) <= MOST_SAID else f"{said[: MOST_SAID - 1]}…"
        if said not in self._errors and len(self._errors) >= MOST_MESSAGES:
            said = f"{kind} with other messages"
        self._errors[said] = self._errors.get(said, 0) + 1

    def _keep(self, folder: RunFolder, start_s: float) -> dict[str, Any]:
        columns = np.array(list(self._rows), float).reshape(-1, 4)
        names = ("intended_s", "sent_s", "done_s", "failure")
        frame = request_frame({name: columns[:, k] for k, name in enumerate(names)})
        write_parquet(frame, folder.path / "requests.parquet")
        meta = {"classes": ["request"], "failures": KINDS, "sample_every": 1, "no_user": 2**32 - 1}
        folder.manifest.setdefault("records", {})["requests"] = meta
        failed = frame.filter(pl.col("failure") > 0).height
        return {
            "start_s": start_s, "end_s": start_s + self.duration_s, "sent": frame.height, "ok": frame.height - failed,
            "failures": self._errors, "lanes": [], "sample_every": 1,
        }  # fmt: skip


def _until(at_s: float) -> None:
    left = at_s - time.monotonic()
    if left > 0:
        time.sleep(left)
