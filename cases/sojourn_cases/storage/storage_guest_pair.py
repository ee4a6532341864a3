"""Two guests for the storage study: a client, and a server whose kernel gives it a disk over a link of their own, by NFS and by iSCSI.

Each has a disk of its own (virtio-blk) with the same ext4 file system, whose one file is of bytes at random. The client mounts its own disk
and the server's export, and on the path iscsi a second disk of the server (iscsi_guests.py). There is no mountd: NFSv4 needs none, and
what the server's kernel would ask of it (whose address that is, what is exported to whom, and which folder a file handle is of) is
written into the kernel's caches before anybody asks
(Documentation/filesystems/nfs/rpc-cache.rst; fs/nfsd/export.c has the fields).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sojourn.errors import LabError
from sojourn.lab import (
    LINK,
    LISTENS,
    GuestParts,
    GuestShape,
    GuestWorker,
    guest_worker,
    lacking_modules,
    make_owned_folder,
    stale_folders,
)
from sojourn_cases.common.ext4_image import MAKER, MAKER_PACKAGE, SEARCHED, ext4_image
from sojourn_cases.storage import iscsi_guests
from sojourn_cases.storage.iscsi_guests import ISCSI

ANSWERS = "sojourn_cases.storage.storage_in_guest:answer"
LOCAL, NFS = "local", "nfs"
PATHS = (LOCAL, NFS)  # by default; ISCSI needs a program
FILE = "data"
SERVER_ADDRESS, CLIENT_ADDRESS = "10.0.9.1", "10.0.9.2"
EXPORT, PORT = "/export", 2049
MODULES = {"client": ("ext4", "nfsv4"), "server": ("ext4", "nfsd")}
PREFIX = "sojourn-storage-guests-"
KERNEL_PACKAGE = "linux-image-cloud-amd64"
CHUNK_BYTES, ROOM_BYTES, MOUNT_LIMIT_S = 4 << 20, 32 << 20, 120
NEVER = 2**31 - 1  # when an entry of a cache is too old, s since 1970
# fs/nfsd/export.h: any port of the client, no check of subtrees, and it has a number (fsid)
EXPORT_FLAGS = 0x0002 | 0x0400 | 0x2000
OPTIONS = f"vers=4.2,proto=tcp,addr={SERVER_ADDRESS},clientaddr={CLIENT_ADDRESS},sec=sys,hard"
COLLECTS_S = 10.0  # between two looks of the guests' own collectors, which nobody needs here
LEASE_S = 10  # the least: until a new server takes it that nobody had a file open


@dataclass(frozen=True)
class GuestPair:
    """Both running, everything mounted."""

    client: GuestWorker
    server: GuestWorker

    def file(self, path: str) -> str:
        """The URL of the path's file, in the client."""
        return f"file:/{path}/{FILE}"


def lacking(parts: GuestParts, way: str, paths: Collection[str] = PATHS) -> str:
    """What this machine has not for them, with the packages that have it; empty where nothing is missing."""
    packages = parts.missing(way)
    found = [f"no {package}" for package in packages]
    if not packages and (
        modules := lacking_modules(parts, sorted({*_modules("client", paths), *_modules("server", paths)}))
    ):
        found.append(f"the kernel of guests has no {', '.join(modules)}")
        packages.append(KERNEL_PACKAGE)
    if shutil.which(MAKER, path=SEARCHED) is None:
        found.append(f"no {MAKER}")
        packages.append(MAKER_PACKAGE)
    if ISCSI in paths and iscsi_guests.login_program() is None:
        found.append(f"no {iscsi_guests.LOGIN}")
        packages.append(iscsi_guests.LOGIN_PACKAGE)
    return f"{'; '.join(found)}; run: apt-get install --no-install-recommends {' '.join(packages)}" if found else ""


def _modules(side: str, paths: Collection[str]) -> tuple[str, ...]:
    return (*MODULES[side], *(iscsi_guests.MODULES[side] if ISCSI in paths else ()))


def server_setup(mtu: int, paths: Collection[str] = PATHS) -> str:
    """What the server's shell does: its end of the link, its disk, and the export of that to the client alone, by NFSv4; with the path
    iscsi its second disk, too, by iSCSI."""
    caches = {
        "auth.unix.ip": f"nfsd {CLIENT_ADDRESS} {NEVER} client",
        "nfsd.export": f"client {EXPORT} {NEVER} {EXPORT_FLAGS} 65534 65534 0",
        # the folder of file system 0, which is the root of all that is exported: kind 1 (a number), the number in hexadecimal digits
        "nfsd.fh": rf"client 1 \x00000000 {NEVER} {EXPORT}",
    }
    lines = [
        *_disk_and_link(SERVER_ADDRESS, mtu, EXPORT),
        "$b mount -t nfsd nfsd /proc/fs/nfsd",
        "echo '-3 +4' > /proc/fs/nfsd/versions",
        f"echo {LEASE_S} > /proc/fs/nfsd/nfsv4leasetime",
        f"echo {LEASE_S} > /proc/fs/nfsd/nfsv4gracetime",
        *(f"printf '%s\\n' '{line}' > /proc/net/rpc/{cache}/channel" for cache, line in caches.items()),
        f"echo 'tcp {PORT}' > /proc/fs/nfsd/portlist",
        "echo 4 > /proc/fs/nfsd/threads",
        "echo Y > /proc/fs/nfsd/v4_end_grace",
        *(iscsi_guests.target_setup(SERVER_ADDRESS) if ISCSI in paths else ()),
    ]
    return "".join(f"{line}\n" for line in lines)


def client_setup(mtu: int) -> str:
    """What the client's shell does: its end of the link, and its own disk."""
    return "".join(f"{line}\n" for line in _disk_and_link(CLIENT_ADDRESS, mtu, f"/{LOCAL}"))


def _disk_and_link(address: str, mtu: int, folder: str) -> list[str]:
    return [
        f"$b ifconfig eth0 {address} netmask 255.255.255.0 mtu {mtu} up",
        f"$b mkdir -p {folder}",
        f"$b mount -t ext4 -o noatime /dev/vda {folder}",
    ]


@contextmanager
def guest_pair(
    parts: GuestParts, way: str, disks: Path, *, memory_mib: int, mtu: int, cores: list[int],
    paths: Collection[str] = PATHS,
) -> Iterator[GuestPair]:  # fmt: skip
    """Both guests, of the disks in the folder `disks`. The client's processor has the first of the host's `cores` for itself; the server's
    and all that QEMU does for both have the others.

    Raises:
        LabError: packages are missing, one does not boot, or the export or the disk cannot be mounted.
    """
    if found := lacking(parts, way, paths):
        what, _, remedy = found.rpartition("; ")
        raise LabError(what, "guests with storage", remedy)
    first, rest = cores[:1], cores[1:] or cores
    common = {"interrupt_cores": (), "other_cores": rest, "answers": ANSWERS, "interval_s": COLLECTS_S}
    shape = GuestShape(1, memory_mib, (), disks=_server_disks(disks, paths), link=LISTENS)
    with guest_worker(
        parts,
        way,
        shape,
        None,
        {},
        cores=rest[:1],
        setup=server_setup(mtu, paths),
        modules=_modules("server", paths),
        **common,  # type: ignore[arg-type]
    ) as server:
        link = str(server.guest.console.parent / LINK)
        shape = GuestShape(1, memory_mib, (), disks=(str(disks / "client"),), link=link)
        with guest_worker(
            parts,
            way,
            shape,
            None,
            {},
            cores=first,
            setup=client_setup(mtu),
            modules=_modules("client", paths),
            more_files=iscsi_guests.login_files() if ISCSI in paths else None,
            **common,  # type: ignore[arg-type]
        ) as client:
            _mounted(client, server, paths)
            yield GuestPair(client, server)


def _mounted(client: GuestWorker, server: GuestWorker, paths: Collection[str]) -> None:
    orders: dict[str, dict[str, list[str]]] = {}
    if NFS in paths:
        orders["NFS"] = {"mount": [f"{SERVER_ADDRESS}:/", f"/{NFS}", "nfs4", OPTIONS]}
    if ISCSI in paths:
        orders["iSCSI"] = {
            "attach": iscsi_guests.login_words(SERVER_ADDRESS),
            "mount": [iscsi_guests.CLIENTS_DISK, f"/{ISCSI}", "ext4", ""],
        }
    for name, order in orders.items():
        try:
            client.do(order, MOUNT_LIMIT_S)
        except LabError as error:
            raise LabError(
                f"{error.value}; the server said: {_last(server)}", f"{name} between guests", error.remedy
            ) from None


def _server_disks(disks: Path, paths: Collection[str]) -> tuple[str, ...]:
    return tuple(str(disks / name) for name in disk_names(paths) if name != "client")


def disk_names(paths: Collection[str]) -> tuple[str, ...]:
    """Of the disks of both guests: that of the client, that which the server exports, that which it gives out by iSCSI."""
    return ("client", "server", *(["target"] if ISCSI in paths else []))


def _last(worker: GuestWorker, lines: int = 3) -> str:
    return " / ".join(worker.guest.console.read_text(errors="replace").splitlines()[-lines:])


@contextmanager
def guest_disks(folder: Path, size_bytes: int, paths: Collection[str] = PATHS) -> Iterator[Path]:
    """A folder below `folder` with the disks of both guests (`disk_names`): ext4 with one file of `size_bytes` at random; gone at the end,
    as are those of killed starts.

    Raises:
        LabError: no such folder, no room, no O_DIRECT, or mkfs fails.
    """
    for stale in stale_folders(PREFIX, [str(folder)]):
        shutil.rmtree(stale, ignore_errors=True)
    made: Path | None = None
    names = disk_names(paths)
    try:
        free, wanted = shutil.disk_usage(folder).free, (len(names) + 1) * size_bytes + 2 * len(names) * ROOM_BYTES
        if free < wanted:
            raise LabError(
                f"{free >> 20} MiB are free",
                str(folder),
                f"give a smaller size (now {wanted >> 20} MiB), or another folder",
            )
        made = make_owned_folder(PREFIX, str(folder))
        _make_disks(made, size_bytes, names)
    except OSError as error:
        _remove(made)
        raise LabError(
            error.strerror or str(error), str(folder), "give an existing folder on a disk that takes O_DIRECT"
        ) from None
    except BaseException:
        _remove(made)
        raise
    try:
        yield made
    finally:
        _remove(made)


def _remove(made: Path | None) -> None:
    if made is not None:
        shutil.rmtree(made, ignore_errors=True)


def _make_disks(made: Path, size_bytes: int, names: Sequence[str]) -> None:
    content = made / "content"
    content.mkdir()
    with open(content / FILE, "wb") as out:
        for start in range(0, size_bytes, CHUNK_BYTES):
            out.write(os.urandom(min(CHUNK_BYTES, size_bytes - start)))
    first, *others = [made / name for name in names]
    ext4_image(content, first, size_bytes + ROOM_BYTES, "give another folder")
    shutil.rmtree(content)
    for disk in others:
        shutil.copyfile(first, disk)
    for disk in (first, *others):
        file = os.open(disk, os.O_RDWR | os.O_DIRECT)
        try:
            os.fsync(file)
            with suppress(OSError):
                os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(file)
