"""A file that is read and written at a chosen rate, one request at a time: what a slow disk is made of (loop_disk.py).

It is a file system of this process (FUSE; kernel: include/uapi/linux/fuse.h, Documentation/filesystems/fuse) whose root is one
regular file. A request takes bytes / rate, begins when the one before it has ended, and is answered then: a first-come-first-served
server, as a disk is. A limit of a control group is none: it lets a tenth of a second's bytes pass at once, so that a disk with 42 % of
its rate to do was busy in 10 % of the time (docs/howto/put-a-service-on-a-slow-disk.md).
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import select
import stat
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from sojourn import _native
from sojourn.lab.loop_disk import PAGE, RATE

HEAD, REPLY = struct.Struct("=IIQQIIIHH"), struct.Struct("=IiQ")
TRANSFER = struct.Struct("=QQIIQII")  # of READ and WRITE: handle, offset, size …
FORGET, GETATTR, OPEN, READ, WRITE, STATFS, RELEASE, FSYNC, FLUSH, INIT, INTERRUPT, DESTROY, BATCH_FORGET = (
    2, 3, 14, 15, 16, 17, 18, 20, 25, 26, 36, 38, 42,
)  # fmt: skip
UNANSWERED = {FORGET, INTERRUPT, BATCH_FORGET}
EMPTY = {RELEASE, FSYNC, FLUSH, DESTROY}
VERSION = 7, 31
ASYNC_READ, BIG_WRITES, ASYNC_DIRECT, MAX_PAGES = 1, 1 << 5, 1 << 15, 1 << 22
DIRECT, PARALLEL_WRITES = 1, 1 << 6  # of an open file
LARGEST = 1 << 20
IN_FLIGHT = 128
ROOM = LARGEST + (64 << 10)
LOOK_S = 0.05
PR_SET_TIMERSLACK, PR_SET_IO_FLUSHER = 29, 57
MS_NOSUID, MS_NODEV = 2, 4


def serve(config: dict[str, Any], emit: Callable[..., None]) -> dict[str, Any]:
    """Mounts `config["image"]` at the file `config["at"]` and serves it until it is unmounted or this process is told to stop; what it did.

    `config["rate"]`: a file of 8 bytes with the rate as a double, bytes/s; 0 is none. It may be rewritten at any time.

    Raises:
        OSError, RuntimeError: no FUSE, or it cannot be mounted.
    """
    _be_prompt()
    device = os.open("/dev/fuse", os.O_RDWR)
    image = os.open(config["image"], os.O_RDWR)
    _mount(device, config["at"])
    emit("ready")
    try:
        return SlowFile(device, image, Path(config["rate"])).serve()
    finally:
        os.close(device)
        os.close(image)


def _be_prompt() -> None:
    """Before all others that want a core, since a disk needs none; and never waiting for memory that it has to write out itself."""
    library = ctypes.CDLL(None)
    library.prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0)
    library.prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0)
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


def _mount(device: int, at: str) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    options = f"fd={device},rootmode={stat.S_IFREG:o},user_id=0,group_id=0,max_read={LARGEST}"
    if library.mount(b"sojourn", at.encode(), b"fuse", MS_NOSUID | MS_NODEV, options.encode()):
        said = os.strerror(ctypes.get_errno())
        raise RuntimeError(f"{said} at {at}; use a kernel with CONFIG_FUSE_FS, as root")


class SlowFile:
    """Answers the kernel's requests on `device`, one after the other."""

    def __init__(self, device: int, image: int, rate: Path) -> None:
        self._device, self._image = device, image
        self._size = os.fstat(image).st_size
        with open(rate, "r+b") as file:
            self._rate = mmap.mmap(file.fileno(), RATE.size)
        self._ready = select.poll()
        self._ready.register(device, select.POLLIN)
        self._free_s = 0.0
        self._requests, self._bytes, self._busy_s = 0, 0, 0.0

    def serve(self) -> dict[str, Any]:
        room = bytearray(ROOM)
        while not _native.stopped():
            waiting = bool(self._ready.poll(0))
            if not waiting and not self._ready.poll(1000 * LOOK_S):
                continue
            try:
                size = os.readv(self._device, [room])
            except OSError as error:
                if error.errno == errno.ENODEV:  # unmounted
                    break
                if error.errno in (errno.ENOENT, errno.EINTR, errno.EAGAIN):  # taken back meanwhile
                    continue
                raise
            # one that came while another was served begins when that had ended, however late this process woke up
            self._answer(memoryview(room)[:size], self._free_s if waiting else time.monotonic())
        return {"requests": self._requests, "bytes": self._bytes, "busy_s": self._busy_s}

    def _answer(self, message: memoryview, begin_s: float) -> None:
        _, code, unique, *_ = HEAD.unpack_from(message)
        if code in UNANSWERED:
            return
        fault, body = 0, b""
        try:
            body = self._done(code, message[HEAD.size :], begin_s)
        except OSError as error:
            fault = -(error.errno or errno.EIO)
        with suppress(OSError):  # taken back, or unmounted: the next read tells
            os.writev(self._device, [REPLY.pack(REPLY.size + len(body), fault, unique), body])

    def _done(self, code: int, body: memoryview, begin_s: float) -> bytes:
        """What is answered, when it is time."""
        if code in (READ, WRITE):
            _, offset, size, *_ = TRANSFER.unpack_from(body)
            if code == READ:
                answer = os.pread(self._image, size, offset)
            else:
                answer = struct.pack(
                    "=II", os.pwrite(self._image, body[TRANSFER.size : TRANSFER.size + size], offset), 0
                )
            self._take(size, begin_s)
            return answer
        if code == INIT:
            flags = ASYNC_READ | BIG_WRITES | ASYNC_DIRECT | MAX_PAGES
            sizes = (LARGEST, flags, IN_FLIGHT, IN_FLIGHT, LARGEST, 1, LARGEST // PAGE, 0)
            return struct.pack("=IIIIHHIIHH", *VERSION, *sizes) + bytes(32)
        if code == GETATTR:
            times_s, (links, *ids) = [0] * 6, (1, 0, 0, 0)
            own = (1, self._size, self._size // 512, *times_s, stat.S_IFREG | 0o600, links, *ids, PAGE, 0)
            return struct.pack("=QII6Q10I", 3600, 0, 0, *own)
        if code == OPEN:
            return struct.pack("=QIi", 0, DIRECT | PARALLEL_WRITES, 0)
        if code == STATFS:
            return struct.pack("=QQQQQIIII", self._size // PAGE, 0, 0, 1, 0, PAGE, 255, PAGE, 0) + bytes(24)
        if code in EMPTY:
            return b""
        raise OSError(errno.ENOSYS, "not known")

    def _take(self, size: int, begin_s: float) -> None:
        """Waits until a disk of this rate has done it; a new rate holds for what is left."""
        self._requests += 1
        self._bytes += size
        at_s, left = max(begin_s, self._free_s), float(size)
        while left > 0:
            rate = RATE.unpack_from(self._rate)[0]
            if rate <= 0:
                break
            step_s = min(left / rate, LOOK_S)
            at_s, left = at_s + step_s, left - step_s * rate
            self._busy_s += step_s
            if (wait_s := at_s - time.monotonic()) > 0:
                time.sleep(wait_s)
        self._free_s = at_s if left <= 0 else time.monotonic()
