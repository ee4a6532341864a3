"""The board's tables in a PostgreSQL cluster that is made and loaded once, and copies of it to run on.

Each run has a copy of its own: none inherits what another wrote, dead rows or statistics. The folders say whose they are, so that
the next start removes what a crash left.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.errors import FULL, InputError, ServiceError, SojournError, StorageFull
from sojourn.lab import make_owned_folder, stale_folders
from sojourn_cases.common.postgres import DATABASE, SOCKET_PORT, USER, Postgres
from sojourn_cases.common.postgres_folders import USUAL, enterable_parent, remove_stale
from sojourn_cases.common.postgres_programs import programs, runs_as, version
from sojourn_cases.common.postgres_protocol import PostgresSession
from sojourn_cases.ntier.bulletin_database import load_bulletin

PREFIX = "sojourn-bulletin-"
LOADED_S = 3600.0  # that one statement of the loading may take
SPARE_SESSIONS = 8
SESSIONS_S = 5.0  # until sessions that were closed are gone, and with them their last counts
# A run lasts minutes and begins with vacuumed tables; a vacuum in one run and not in the next is no treatment.
SETTINGS = {"autovacuum": "off"}
SESSIONS = f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{DATABASE}' AND backend_type = 'client backend'"
# The start of a session is a transaction too.
TRANSACTIONS = f"SELECT xact_commit + xact_rollback - sessions FROM pg_stat_database WHERE datname = '{DATABASE}'"


@dataclass(frozen=True)
class BulletinCluster:
    """A loaded cluster whose server is stopped, in `folder`. `rows` by table; `copies`: where its copies lie (None: the usual
    place of temporary files)."""

    folder: Path
    rows: Mapping[str, int]
    version: str
    copies: Path | None = None


@contextmanager
def bulletin_cluster(scale: float, seed: int, copies: Path | None = None) -> Iterator[BulletinCluster]:
    """Makes and loads it, and checks the plan of each statement; it is removed at the end.

    Raises:
        LabError: PostgreSQL is not installed. InputError: `scale`, `seed`, or there is no folder `copies`.
        ServiceError: it does not start, or a plan reads a large table whole. StorageFull: no room.
    """
    if copies and not copies.is_dir():
        raise InputError(str(copies), "database_folder", "give a folder that is there")
    told = version(programs(runs_as()))
    remove_stale()
    for stale in stale_folders(PREFIX, [USUAL, *([str(copies)] if copies else ())]):
        shutil.rmtree(stale, ignore_errors=True)
    folder = _own_folder(None)
    try:
        postgres = Postgres(folder, durable=False, keep=True, settings=SETTINGS)
        try:
            with PostgresSession(postgres.socket, user=USER, database=DATABASE, timeout_s=LOADED_S) as session:
                rows = load_bulletin(session, scale, seed)
            postgres.stop()
        finally:
            postgres.close()
        yield BulletinCluster(folder, rows, told, copies)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class BulletinDatabase:
    """A server on a copy of a cluster: where, which processes, how many transactions it carried out."""

    kind = "postgres"

    def __init__(
        self,
        cluster: BulletinCluster,
        *,
        sessions: int,
        settings: Mapping[str, str] | None = None,
        cores: Iterable[int] | None = None,
        cgroup: str | None = None,
        network: str | None = None,
        address: str | None = None,
    ) -> None:
        """Copies the cluster, and starts the server, for `sessions` of the application, with further `settings` of PostgreSQL. In the
        network namespace at `network` it listens at `address` too, for hosts of its network, with a password.

        Raises:
            ServiceError: it does not start; the reason is its own. StorageFull: no room for the copy. InputError: PostgreSQL's
            user cannot enter the folder for copies.
        """
        self._sessions, self._before = sessions, 0
        self._folder = _own_folder(cluster.copies)
        self._version, self._address = cluster.version, address
        try:
            copied(cluster.folder, self._folder)
            if address:
                with open(self._folder / "data/pg_hba.conf", "a") as rules:
                    rules.write(f"host all all {address}/24 scram-sha-256\n")
            listening = {"listen_addresses": address} if address else {}
            self.postgres = Postgres(
                self._folder, keep=True, cores=cores, cgroup=cgroup, connections=sessions + SPARE_SESSIONS,
                settings={**SETTINGS, **listening, **(settings or {})}, network=network,
            )  # fmt: skip
        except BaseException:
            self._remove()
            raise

    @property
    def url(self) -> str:
        """Of its Unix socket; where it has an address, over TCP."""
        if not self._address:
            return self.postgres.url
        secret = (self._folder / "password").read_text()
        return f"postgresql://{USER}:{secret}@{self._address}:{SOCKET_PORT}/{DATABASE}"

    @property
    def log(self) -> Path:
        return self.postgres.log

    @property
    def return_code(self) -> int | None:
        """Of its first process; None while that runs."""
        return self.postgres.return_code

    @property
    def pids(self) -> dict[str, int]:
        """All its processes at this moment: with the application's sessions, once that has opened them."""
        return self.postgres.pids

    def begin(self) -> None:
        """Transactions count from here on, where the application has opened its sessions."""
        self._before = self._counted(self._sessions) or 0

    def stop(self) -> dict[str, Any]:
        """Ends it, and says what it did, once the application's sessions are closed. The copy is thrown away."""
        after = None if self.postgres.ended else self._counted(0)
        self.close()
        transactions = None if after is None else after - self._before
        return {"kind": self.kind, "version": self._version, "transactions": transactions}

    def close(self) -> None:
        """Makes sure that nothing of it is left."""
        self.postgres.close()
        self._remove()

    def _counted(self, sessions: int) -> int | None:
        """Transactions in all, when there are so many sessions of the application; None where this server does not tell.

        A session tells its last counts at its end, or within seconds; of the same moment are those of its own start.
        """
        with suppress(OSError, SojournError, TypeError):
            deadline = time.monotonic() + SESSIONS_S
            while self._number(SESSIONS) != sessions and time.monotonic() < deadline:
                time.sleep(0.01)
            return self._number(TRANSACTIONS)
        return None

    def _number(self, sql: str) -> int:
        return int(self.postgres.run(sql, database="postgres")[0][0] or 0)

    def _remove(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)


def _own_folder(parent: Path | None) -> Path:
    """One that the server's user can enter, and nobody else can list."""
    folder = make_owned_folder(PREFIX, str(parent) if parent else enterable_parent(runs_as()))
    folder.chmod(0o711)
    return folder


def copied(source: Path, target: Path) -> None:
    """Copies the data of a cluster and its password, sharing the blocks where the file system can, and waits until the disk has them: the
    run would else wait."""
    for command in (
        ["cp", "-a", "--reflink=auto", f"{source}/data", f"{source}/password", str(target)],
        ["sync", "-f", str(target)],
    ):
        done = subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}, start_new_session=True
        )
        if done.returncode:
            why = done.stderr.strip()[-300:] or f"{command[0]} ended with {done.returncode}"
            full = any(text in why for text in FULL)
            raise (StorageFull if full else ServiceError)(why, str(target), "make room, or choose another folder")
