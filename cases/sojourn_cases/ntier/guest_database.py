"""The board's database in a guest: a loaded cluster and PostgreSQL itself as files, and what the worker there is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.lab import folder_files, program_files
from sojourn_cases.common.postgres import DATABASE, SOCKET_PORT, USER
from sojourn_cases.common.postgres_programs import programs, runs_as
from sojourn_cases.ntier.bulletin_cluster import SETTINGS, SPARE_SESSIONS, BulletinCluster

CALL = "sojourn_cases.common.postgres_in_guest:serve"
DATA = Path("/board/data")
# What its own initdb wrote names time zones and files of the host.
OWN = {
    "dynamic_shared_memory_type": "mmap", "shared_buffers": "32MB", "unix_socket_directories": "", "logging_collector": "off",
    "jit": "off", "max_wal_size": "64MB",
}  # fmt: skip


@dataclass(frozen=True)
class GuestDatabase:
    """`files` for the guest, `config` of its worker, `url` for the application."""

    files: Mapping[str, tuple[bytes, int]]
    config: dict[str, Any]
    url: str


def guest_database(
    cluster: BulletinCluster, address: str, sessions: int, settings: Mapping[str, str] | None = None
) -> GuestDatabase:
    """A copy of `cluster` for a server at `address`, which all that reach it there may use with the cluster's password.

    Raises:
        LabError: PostgreSQL is not installed.
    """
    program = programs(runs_as(), "a study without guests") / "postgres"
    data, folders = folder_files(cluster.folder / "data", DATA)
    share, _ = folder_files(_share(program), _share(program))
    said = {
        **SETTINGS, **OWN, "listen_addresses": address, "port": str(SOCKET_PORT),
        "max_connections": str(sessions + SPARE_SESSIONS), **(settings or {}),
    }  # fmt: skip
    place = str(DATA).lstrip("/")
    own = {
        f"{place}/postgresql.conf": "".join(f"{name} = '{value}'\n" for name, value in said.items()),
        f"{place}/postgresql.auto.conf": "",
        f"{place}/pg_hba.conf": f"host {DATABASE} {USER} {address}/24 scram-sha-256\n",
    }
    files = {
        **program_files(program), **{name: (content, 0o644) for name, (content, _) in share.items()}, **data,
        **{name: (text.encode(), 0o600) for name, text in own.items()},
    }  # fmt: skip
    # it wants to see the folder of its modules, none of which is used
    folders = [*folders, str(program.resolve().parent.parent / "lib")]
    config = {"program": str(program), "data": str(DATA), "folders": folders, "address": f"{address}:{SOCKET_PORT}"}
    secret = (cluster.folder / "password").read_text()
    return GuestDatabase(files, config, f"postgresql://{USER}:{secret}@{address}:{SOCKET_PORT}/{DATABASE}")


def _share(program: Path) -> Path:
    """Where this server looks for its time zones: /usr/share/postgresql/15 of /usr/lib/postgresql/15/bin/postgres, as Debian has it."""
    version = program.resolve().parent.parent
    return Path("/usr/share/postgresql", version.name) if version.parent.name == "postgresql" else version / "share"
