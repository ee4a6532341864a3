"""iSCSI between the two guests of the storage study: a disk of the server as a SCSI disk of the client, by the kernel on both sides.

The server's kernel is the target (LIO): all of it is folders and files of configfs, so it needs no program
(Documentation/target/tcm_mod_builder.rst; targetcli makes the same ones). The disk is given out by its block layer (iblock), past the
server's page cache, to the client's name alone, without a password: nobody else is on the link. The client logs in once with
`iscsistart` of open-iscsi, which leaves the session to the kernel (iscsi_tcp) and ends.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from sojourn.lab import program_files
from sojourn_cases.common.ext4_image import SEARCHED

ISCSI = "iscsi"
TARGET, INITIATOR = "iqn.2026-11.example.sojourn:disk", "iqn.2026-11.example.sojourn:client"
PORT, GROUP = 3260, 1
MODULES = {
    "client": ("crc32c_generic", "iscsi_tcp", "sd_mod"),
    "server": ("configfs", "target_core_mod", "target_core_iblock", "iscsi_target_mod"),
}
LOGIN, LOGIN_PACKAGE = "iscsistart", "open-iscsi"
CONFIG = "/sys/kernel/config"
SERVERS_DISK, CLIENTS_DISK = "/dev/vdb", "/dev/sda"


def login_program() -> Path | None:
    """Where `iscsistart` is here, if it is installed."""
    found = shutil.which(LOGIN, path=SEARCHED)
    return Path(found) if found else None


def login_files() -> Mapping[str, tuple[bytes, int]]:
    """It and its libraries, as files of a guest.

    Raises:
        LabError: it lacks a library.
    """
    program = login_program()
    return program_files(program) if program else {}


def target_setup(address: str) -> list[str]:
    """Lines of the server's shell that give `SERVERS_DISK` out at `address`, to the client alone."""
    target = f"{CONFIG}/target"
    disk, group = f"{target}/core/iblock_0/disk", f"{target}/iscsi/{TARGET}/tpgt_{GROUP}"
    client = f"{group}/acls/{INITIATOR}"
    return [
        f"$b mount -t configfs configfs {CONFIG}",
        f"$b mkdir -p {disk}",
        f"echo udev_path={SERVERS_DISK} > {disk}/control",
        f"echo 1 > {disk}/enable",
        f"$b mkdir -p {group}/lun/lun_0",
        f"$b ln -s {disk} {group}/lun/lun_0/disk",
        f"$b mkdir {group}/np/{address}:{PORT}",
        f"echo 0 > {group}/attrib/authentication",
        f"$b mkdir -p {client}/lun_0",
        f"$b ln -s {group}/lun/lun_0 {client}/lun_0/disk",
        f"echo 1 > {group}/enable",
    ]


def login_words(address: str) -> list[str]:
    """The command of the client that makes `CLIENTS_DISK` of it."""
    program = str(login_program() or LOGIN)
    return [program, "-i", INITIATOR, "-t", TARGET, "-g", str(GROUP), "-a", address, "-p", str(PORT)]
