"""A file as a disk of its own: a loop device with direct I/O over it (losetup(8)), ext4 without a journal on it, mounted beside it.

All of it lies in one folder, so that the folder's name is all that must be written down to remove it.
"""

from __future__ import annotations

import mmap
import os
import re
import shutil
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sojourn.errors import LabError, PermissionLacking
from sojourn.lab.process_tree import GONE_S, wait_until

PREFIX = "sojourn-disk-"
PLACE = re.compile(rf"/(?:(?!\.\./)[^/]+/)*{PREFIX}[0-9a-f]{{6}}")
IMAGE, FILES = "image", "files"
WHAT = "slow disk"
PACKAGES = {"losetup": "mount", "mount": "mount", "umount": "mount", "mkfs.ext4": "e2fsprogs"}
SEARCHED = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
BLOCK, PAGE = 4 << 20, 4096
ROOM_BYTES = 256 << 20  # that stay free beside it
LIMIT_S = 60
UNMOUNT_S = 2.0  # for its last users to end


@dataclass(frozen=True)
class LoopDisk:
    """A mounted one. `files`: where files on it are; `device`: loop0; `below`: the disk that has the image, as 254:0;
    `below_bps`: what that wrote in bytes/s when the image was made."""

    files: Path
    device: str
    below: str
    below_bps: float


def check_machine(dev: Path = Path("/dev"), searched: str = SEARCHED) -> None:
    """LabError where this machine cannot have one: no right, a program that is missing, no loop devices."""
    if os.geteuid() != 0:
        raise PermissionLacking(f"user {os.geteuid()} may not mount", WHAT, "run as root")
    for program, package in PACKAGES.items():
        if shutil.which(program, path=searched) is None:
            raise LabError(f"{program}: no such command", WHAT, f"install the package {package}")
    if not (dev / "loop-control").exists():
        remedy = "run: modprobe loop (CONFIG_BLK_DEV_LOOP); a container must be given the loop devices"
        raise LabError("no loop devices", dev / "loop-control", remedy)


def disk_below(folder: Path, block: Path = Path("/sys/dev/block")) -> str:
    """The disk, `major:minor`, that has the files of a folder; of a partition the whole one, as control groups want it.

    Raises:
        LabError: they lie on no disk of this machine.
    """
    device = folder.stat().st_dev
    entry = block / f"{os.major(device)}:{os.minor(device)}"
    if not entry.exists():
        raise LabError(
            "it is on no disk (memory, an overlay, or over the network)", folder, "give --at a folder on a disk"
        )
    entry = entry.resolve()
    return ((entry.parent if (entry / "partition").exists() else entry) / "dev").read_text().strip()


def check_room(folder: Path, size_bytes: int) -> None:
    """LabError where the image would leave too little."""
    free = shutil.disk_usage(folder).free
    if free < size_bytes + ROOM_BYTES:
        found = (
            f"{size_bytes / 1e9:.3g} GB wanted, and {ROOM_BYTES / 1e9:.2g} GB beside it; {free / 1e9:.3g} GB are free"
        )
        raise LabError(found, folder, "give a smaller --size, or --at a folder with more room")


def make(place: Path, size_bytes: int) -> LoopDisk:
    """Makes it in `place`, a new folder, of which the caller has written down that it is to be removed.

    Raises:
        LabError: no room, no direct I/O there, or what losetup, mkfs or mount complain of.
    """
    below = disk_below(place.parent)
    check_room(place.parent, size_bytes)
    place.mkdir()
    place.chmod(0o755)  # a database runs as another user
    image, files = place / IMAGE, place / FILES
    below_bps = _fill(image, size_bytes)
    device = _run("losetup", "--find", "--show", "--direct-io=on", str(image))
    name = Path(device).name
    if Path(f"/sys/block/{name}/loop/dio").read_text().strip() != "1":
        raise LabError(
            "no direct I/O, so its busy time would be that of the page cache", place.parent, "give --at another folder"
        )
    # all tables are written now, none while somebody measures; freed blocks stay in the image
    _run("mkfs.ext4", "-q", "-F", "-O", "^has_journal", "-m", "0", "-E", "nodiscard,lazy_itable_init=0", device)
    files.mkdir()
    _run("mount", "-t", "ext4", "-o", "noatime", device, str(files))
    _run("losetup", "--detach", device)  # the kernel does so when it is unmounted, by whomever
    return LoopDisk(files, name, below, below_bps)


def _fill(image: Path, size_bytes: int) -> float:
    """Writes all of the image, in whole pages as direct I/O wants it, so that no block is made while somebody measures; bytes/s."""
    size_bytes -= size_bytes % PAGE
    try:
        file = os.open(image, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_DIRECT, 0o600)
    except OSError as error:
        raise LabError(
            f"no direct I/O ({error.strerror})", image.parent.parent, "give --at a folder on a disk"
        ) from None
    try:
        with mmap.mmap(-1, BLOCK) as zeros:
            began_s = time.monotonic()
            os.posix_fallocate(file, 0, size_bytes)
            for start in range(0, size_bytes, BLOCK):
                os.pwrite(file, memoryview(zeros)[: min(BLOCK, size_bytes - start)], start)
            os.fsync(file)
            return size_bytes / (time.monotonic() - began_s)
    except OSError as error:
        raise LabError(
            f"{error.strerror}", image.parent.parent, "give a smaller --size, or --at another folder"
        ) from None
    finally:
        os.close(file)


def _run(program: str, *arguments: str) -> str:
    """Its output; its complaint becomes a LabError. In a session of its own: Ctrl-C must not end it half-way."""
    done = subprocess.run(
        [program, *arguments], capture_output=True, text=True, check=False, timeout=LIMIT_S, start_new_session=True,
        env={**os.environ, "PATH": SEARCHED, "LC_ALL": "C"},
    )  # fmt: skip
    if done.returncode:
        raise LabError(
            done.stderr.strip() or f"{program} ended with {done.returncode}", WHAT, "run: sojourn lab doctor"
        )
    return done.stdout.strip()


def attached(image: Path, block: Path = Path("/sys/block")) -> list[str]:
    """The loop devices over a file, such as loop0."""
    found = []
    for path in block.glob("loop*/loop/backing_file"):
        with suppress(OSError):  # detached meanwhile
            if path.read_text().strip().removesuffix(" (deleted)") == str(image):
                found.append(path.parent.parent.name)
    return sorted(found)


def remove(place: Path) -> bool:
    """Unmounts and removes one, finished or half-made; whether there was one and nothing of it is left."""
    if not place.is_dir():
        return False
    image, files = place / IMAGE, place / FILES
    with suppress(LabError, OSError, subprocess.TimeoutExpired):
        if _mounted(files, image):
            _unmount(files)
        for device in attached(image):
            _run("losetup", "--detach", f"/dev/{device}")
        wait_until(lambda: not attached(image), GONE_S)
        image.unlink(missing_ok=True)
        for folder in (files, place):
            if folder.exists():
                folder.rmdir()  # never what is in it: were it still mounted, those would be somebody's files
    return not place.exists()


def _mounted(files: Path, image: Path) -> bool:
    """Whether it is this image that is mounted there."""
    if not os.path.ismount(files):
        return False
    device = files.stat().st_dev
    numbers = f"{os.major(device)}:{os.minor(device)}"
    return any(Path("/sys/block", name, "dev").read_text().strip() == numbers for name in attached(image))


def _unmount(files: Path) -> None:
    """When its last user has ended; one that does not end keeps files that nobody else sees."""

    def done() -> bool:
        with suppress(LabError):
            _run("umount", str(files))
            return True
        return False

    if not wait_until(done, UNMOUNT_S):
        _run("umount", "--lazy", str(files))
