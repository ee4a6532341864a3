"""The private PostgreSQL of `sojourn serve`: made for a service, started again when it was killed, ended with it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn.errors import ServiceError
from sojourn.lab import how_ended, last_lines, owned_folder
from sojourn_cases.common.serve_lines import event

if TYPE_CHECKING:
    from sojourn_cases.common.postgres import Postgres

# A server that ends so often within so long has a reason that starting it again does not cure.
RESTARTS, WITHIN_S = 3, 60.0


@contextmanager
def a_database(database: str, folder: Path | None) -> Iterator[Postgres | None]:
    """A private cluster that ends with the service for `auto`; None for the URL of another."""
    if database != "auto":
        yield None
        return
    from sojourn_cases.common.postgres import Postgres

    with owned_folder("sojourn-messages-") as temporary:
        cluster = Postgres(folder or temporary, keep=folder is not None)
        try:
            yield cluster
        finally:
            cluster.stop()


def restarted(cluster: Postgres | None, name: str) -> Callable[[], None]:
    """What starts a private cluster again when its server has ended by itself; what was committed is there then. `name`: of the
    service; without a cluster it does nothing."""
    return ClusterRestarter(cluster, name).look if cluster else lambda: None


class ClusterRestarter:
    """Starts a private cluster again when its server has ended by itself."""

    def __init__(self, cluster: Postgres, name: str) -> None:
        self.cluster, self.name = cluster, name
        self._times: list[float] = []

    def look(self) -> None:
        """Sees after it, now.

        Raises:
            ServiceError: it ends again and again, or does not start.
        """
        if not self.cluster.ended:
            return
        now = time.monotonic()
        self._times = [at for at in self._times if now - at < WITHIN_S] + [now]
        if len(self._times) > RESTARTS:
            many = f"PostgreSQL ended {len(self._times)} times within {WITHIN_S:g} s"
            said = last_lines(self.cluster.log)  # the log may be removed with the cluster
            raise ServiceError(
                f"{many}; its last lines: {said}", self.name, "fix what the message says, and start it again"
            )
        event("error", "database_ended", pid=self.cluster.pid, how=how_ended(self.cluster.return_code or 0))
        self.cluster.start()
        event("info", "database_restarted", pid=self.cluster.pid)
