"""What a PostgreSQL server does beside its statements, during a run: checkpoints that are asked for, and what its sessions wait for.

Each has a session of its own with the database `postgres`, so that it counts in no other's transactions.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from sojourn.errors import ServiceError
from sojourn_cases.common.postgres import DATABASE, USER, Postgres
from sojourn_cases.common.postgres_protocol import PostgresSession

CHECKPOINT_S = 600.0  # that one may take on a slow disk
# classes of PostgreSQL, "Monitoring Database Activity", pg_stat_activity: Lock, LWLock, IO, Client …
WAITS = f"""SELECT coalesce(wait_event_type, 'none'), count(*) FROM pg_stat_activity
WHERE datname = '{DATABASE}' AND backend_type = 'client backend' AND state = 'active' GROUP BY 1"""


@dataclass
class Activity:
    """`checkpoints_s`: how long each took that was asked for. `waiting`: by class of what is waited for, the mean number of active sessions
    that did (`none`: they run, or want a core), in `samples` samples."""

    checkpoints_s: list[float] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    samples: int = 0

    @property
    def waiting(self) -> dict[str, float]:
        return {kind: count / self.samples for kind, count in sorted(self.counts.items())}

    @property
    def record(self) -> dict[str, Any]:
        """For a run's manifest."""
        return {"checkpoints_s": self.checkpoints_s, "waiting": self.waiting}


@contextmanager
def activity(server: Postgres, *, pause_s: float | None = None, interval_s: float | None = 0.1) -> Iterator[Activity]:
    """While the block lasts: CHECKPOINT again and again with `pause_s` between two (None: never), and what sessions wait for every
    `interval_s` (None: not looked at). Ends without an error where the server does."""
    found, over = Activity(), threading.Event()

    def checkpoint(session: PostgresSession) -> None:
        began_s = time.monotonic()
        session.run("CHECKPOINT")
        found.checkpoints_s.append(time.monotonic() - began_s)

    def look(session: PostgresSession) -> None:
        found.counts.update({str(kind): int(count or 0) for kind, count in session.run(WAITS)})
        found.samples += 1

    tasks = [(checkpoint, pause_s), (look, interval_s)]
    threads = [
        threading.Thread(target=_again, args=(server.socket, task, pause, over), daemon=True)
        for task, pause in tasks
        if pause is not None
    ]
    for thread in threads:
        thread.start()
    try:
        yield found
    finally:
        over.set()
        for thread in threads:
            thread.join()


def _again(socket: str, task: Callable[[PostgresSession], None], pause_s: float, over: threading.Event) -> None:
    with (
        suppress(OSError, ServiceError),
        PostgresSession(socket, user=USER, database="postgres", timeout_s=CHECKPOINT_S) as session,
    ):
        while not over.wait(pause_s):
            task(session)
