"""The board's database in a guest: a loaded cluster and PostgreSQL itself as files, and what the worker there is told."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.lab import GuestDisk, folder_files, owned_folder, program_files
from sojourn_cases.common.ext4_image import ext4_image
from sojourn_cases.common.postgres import DATABASE, SOCKET_PORT, USER
from sojourn_cases.common.postgres_programs import programs, runs_as
from sojourn_cases.ntier.bulletin_cluster import SETTINGS, SPARE_SESSIONS, BulletinCluster

CALL = "sojourn_cases.common.postgres_in_guest:serve"
DATA = Path("/board/data")
SPARE, ROOM_BYTES = 1.5, 160 << 20  # of an image, for what a run writes and the logs of database and file system
# What its own initdb wrote names time zones and files of the host.
OWN = {
    "dynamic_shared_memory_type": "mmap", "shared_buffers": "32MB", "unix_socket_directories": "", "logging_collector": "off",
    "jit": "off", "max_wal_size": "64MB",
}  # fmt: skip


@dataclass(frozen=True)
class GuestDatabase:
    """`files` for the guest, `config` of its worker, `url` for the application; `disk`: what the cluster lies on, None: memory."""

    files: Mapping[str, tuple[bytes, int]]
    config: dict[str, Any]
    url: str
    disk: GuestDisk | None = None


def guest_database(
    cluster: BulletinCluster,
    address: str,
    sessions: int,
    settings: Mapping[str, str] | None = None,
    disk: GuestDisk | None = None,
    cpus: Sequence[int] = (),
) -> GuestDatabase:
    """A copy of `cluster` for a server at `address`, which all that reach it there may use with the cluster's password: in memory, or on
    `disk`, whose image is made. `cpus`: virtual ones for the server alone, all where none is given.

    Raises:
        LabError: PostgreSQL is not installed, or the image cannot be made.
    """
    program = programs(runs_as(), "a study without guests") / "postgres"
    share, _ = folder_files(_share(program), _share(program))
    said = {
        **SETTINGS, **OWN, "listen_addresses": address, "port": str(SOCKET_PORT),
        "max_connections": str(sessions + SPARE_SESSIONS), **(settings or {}),
    }  # fmt: skip
    own = {
        "postgresql.conf": "".join(f"{name} = '{value}'\n" for name, value in said.items()),
        "postgresql.auto.conf": "",
        "pg_hba.conf": f"host {DATABASE} {USER} {address}/24 scram-sha-256\n",
    }
    # it wants to see the folder of its modules, none of which is used
    folders = [str(program.resolve().parent.parent / "lib")]
    files = {**program_files(program), **{name: (content, 0o644) for name, (content, _) in share.items()}}
    config: dict[str, Any] = {"program": str(program), "data": str(DATA), "address": f"{address}:{SOCKET_PORT}"}
    config |= {"cpus": list(cpus)}
    if disk:
        make_disk(cluster.folder / "data", own, Path(disk.path))
        config |= {"mounts": [["/dev/vda", str(DATA.parent), "ext4"]]}
    else:
        data, empty = folder_files(cluster.folder / "data", DATA)
        folders += empty
        files |= {**data, **{f"{DATA}/{name}".lstrip("/"): (text.encode(), 0o600) for name, text in own.items()}}
    config |= {"folders": folders}
    secret = (cluster.folder / "password").read_text()
    return GuestDatabase(files, config, f"postgresql://{USER}:{secret}@{address}:{SOCKET_PORT}/{DATABASE}", disk)


def make_disk(data: Path, own: Mapping[str, str], image: Path) -> None:
    """An image with an ext4 file system that has a copy of the cluster, with `own` files in the place of its.

    Raises:
        LabError: e2fsprogs is not installed, or there is no room.
    """
    with owned_folder("sojourn-board-") as folder:
        copy = folder / "content" / DATA.name
        shutil.copytree(data, copy)
        for name, text in own.items():
            (copy / name).write_text(text)
        size = sum(path.stat().st_size for path in copy.rglob("*") if path.is_file())
        ext4_image(copy.parent, image, int(SPARE * size) + ROOM_BYTES, "make room")


def _share(program: Path) -> Path:
    """Where this server looks for its time zones: /usr/share/postgresql/15 of /usr/lib/postgresql/15/bin/postgres, as Debian has it."""
    version = program.resolve().parent.parent
    return Path("/usr/share/postgresql", version.name) if version.parent.name == "postgresql" else version / "share"
