"""A file as a disk of its own: a loop device with direct I/O over it (losetup(8)), ext4 without a journal on it, mounted beside it.

All of it lies in one folder, so that the folder's name is all that must be written down to remove it. Between the file and the loop
device is the same file at a chosen rate (slow_file.py).
"""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sojourn.errors import LabError, PermissionLacking
from sojourn.files.private_folder import what_is_wrong
from sojourn.lab.process_tree import GONE_S, wait_until
from sojourn.lab.worker_process import WorkerProcess

PREFIX = "sojourn-disk-"
PLACE = re.compile(rf"/(?:(?!\.\./)[^/]+/)*{PREFIX}[0-9a-f]{{6}}")
IMAGE, SLOW, RATE_FILE, FILES = "image", "slow", "rate", "files"
WHAT = "slow disk"
PACKAGES = {"losetup": "mount", "mount": "mount", "umount": "mount", "mkfs.ext4": "e2fsprogs"}
DEVICES = {"loop-control": "modprobe loop (CONFIG_BLK_DEV_LOOP)", "fuse": "modprobe fuse (CONFIG_FUSE_FS)"}
SEARCHED = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
PAGE = 4096
RATE = struct.Struct("=d")  # bytes/s, 0: none; what the rate's file has
ROOM_BYTES = 256 << 20  # that stay free beside it
LIMIT_S = 60
UNMOUNT_S = 2.0  # for its last users to end


@dataclass(frozen=True)
class LoopDisk:
    """A mounted one. `files`: where files on it are; `device`: loop0; `rate`: the file with its rate; `server`: who serves the image."""

    files: Path
    device: str
    rate: Path
    server: WorkerProcess


def check_machine(dev: Path = Path("/dev"), searched: str | None = None) -> None:
    """LabError where this machine cannot have one: no right, a program that is missing from `searched` [PATH], no loop devices, no FUSE."""
    if os.geteuid() != 0:
        raise PermissionLacking(f"user {os.geteuid()} may not mount", WHAT, "run as root")
    for program, package in PACKAGES.items():
        if shutil.which(program, path=SEARCHED if searched is None else searched) is None:
            raise LabError(f"{program}: no such command", WHAT, f"install the package {package}")
    for device, how in DEVICES.items():
        if not (dev / device).exists():
            raise LabError("no such device", dev / device, f"run: {how}; a container must be given the device")


def check_room(folder: Path, size_bytes: int) -> None:
    """LabError where the image would leave too little."""
    free = shutil.disk_usage(folder).free
    if free < size_bytes + ROOM_BYTES:
        found = f"{size_bytes / 1e9:.3g} GB are requested, and {ROOM_BYTES / 1e9:.2g} GB must stay free; {free / 1e9:.3g} GB are free"
        raise LabError(found, folder, "give a smaller --size, or an --image-folder with more room")


def make(place: Path, size_bytes: int) -> LoopDisk:
    """Makes one without a limit in `place`, a new folder, of which the caller has written down that it is to be removed.

    Raises:
        LabError: no room, no direct I/O, or what losetup, mkfs or mount complain of.
    """
    check_room(place.parent, size_bytes)
    place.mkdir()
    place.chmod(0o755)  # a database runs as another user
    _reserve(place / IMAGE, size_bytes - size_bytes % PAGE)
    (place / SLOW).touch(0o600)
    (place / RATE_FILE).write_bytes(RATE.pack(0.0))
    told = {"image": str(place / IMAGE), "at": str(place / SLOW), "rate": str(place / RATE_FILE)}
    server = WorkerProcess("slow-file", {"slow-file": told})
    try:
        server.ready()
        return LoopDisk(place / FILES, _mounted(place), place / RATE_FILE, server)
    except BaseException:
        remove(place)  # while somebody serves it
        server.close()
        raise


def _reserve(image: Path, size_bytes: int) -> None:
    file = os.open(image, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.posix_fallocate(file, 0, size_bytes)
    except OSError as error:
        raise LabError(
            f"{error.strerror}", image.parent.parent, "give a smaller --size, or another --image-folder"
        ) from None
    finally:
        os.close(file)


def _mounted(place: Path) -> str:
    """Makes the file system and mounts it; the name of its loop device."""
    device = _run("losetup", "--find", "--show", "--direct-io=on", str(place / SLOW))
    name = Path(device).name
    if Path(f"/sys/block/{name}/loop/dio").read_text().strip() != "1":
        raise LabError(
            "no direct I/O is possible, so the measured busy time would be that of the page cache",
            device,
            "use a newer kernel",
        )
    # all tables are written now, none while somebody measures; freed blocks stay in the image
    _run("mkfs.ext4", "-q", "-F", "-O", "^has_journal", "-m", "0", "-E", "nodiscard,lazy_itable_init=0", device)
    (place / FILES).mkdir()
    _run("mount", "-t", "ext4", "-o", "noatime", device, str(place / FILES))
    _run("losetup", "--detach", device)  # the kernel does so when it is unmounted, by whomever
    return name


def _run(program: str, *arguments: str) -> str:
    """Its output; its complaint becomes a LabError. In a session of its own: Ctrl-C must not end it half-way."""
    done = subprocess.run(
        [program, *arguments], capture_output=True, text=True, check=False, timeout=LIMIT_S, start_new_session=True,
        env={**os.environ, "PATH": SEARCHED, "LC_ALL": "C"},
    )  # fmt: skip
    if done.returncode:
        raise LabError(done.stderr.strip() or f"{program} ended with {done.returncode}", WHAT, "run: sojourn doctor")
    return done.stdout.strip()


def attached(file: Path, block: Path = Path("/sys/block")) -> list[str]:
    """The loop devices over a file, such as loop0."""
    found = []
    for path in block.glob("loop*/loop/backing_file"):
        with suppress(OSError):  # detached meanwhile
            if path.read_text().strip().removesuffix(" (deleted)") == str(file):
                found.append(path.parent.parent.name)
    return sorted(found)


def mounts(place: Path, table: Path = Path("/proc/self/mountinfo")) -> list[Path]:
    """What is mounted right in a folder, last first; also where its server is gone, so that nothing else tells."""
    points = [Path(line.split()[4]) for line in table.read_text().splitlines()]
    return [point for point in reversed(points) if point.parent == place and point.name in (FILES, SLOW)]


def is_there(place: Path) -> bool:
    """Whether there is a folder of this user; a link or another user's folder of that name is none of ours."""
    return not what_is_wrong(place, closed_to=0)


def remove(place: Path) -> bool:
    """Unmounts and removes one, finished or half-made; whether there was one and nothing of it is left."""
    if not is_there(place):
        return False
    with suppress(LabError, OSError, subprocess.TimeoutExpired):
        slow = place / SLOW
        for point in mounts(place):
            _unmount(point)
            for device in attached(slow):
                _run("losetup", "--detach", f"/dev/{device}")
            wait_until(lambda: not attached(slow), GONE_S)
        for name in (IMAGE, SLOW, RATE_FILE):
            (place / name).unlink(missing_ok=True)
        for folder in (place / FILES, place):
            if folder.exists():
                folder.rmdir()  # never what is in it: were it still mounted, those would be somebody's files
    return not place.exists()


def _unmount(point: Path) -> None:
    """When its last user has ended; one that does not end keeps files that nobody else sees."""

    def done() -> bool:
        with suppress(LabError):
            _run("umount", str(point))
            return True
        return False

    if not wait_until(done, UNMOUNT_S):
        _run("umount", "--lazy", str(point))
