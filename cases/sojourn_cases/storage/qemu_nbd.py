"""The distribution's qemu-nbd: a file served as a block device over TCP on loopback, without a cache of its own or the kernel's.

`--cache=none --aio=native`: the file is opened O_DIRECT and read by the kernel's asynchronous I/O, so that what is measured is the path and
not memory (nbdkit's file plugin cannot do that).
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from sojourn.errors import ServiceError
from sojourn.lab import in_group

PROGRAM, PACKAGE = "qemu-nbd", "qemu-utils"
GREETING = b"NBDMAGIC"
STARTED_S, ENDED_S = 5.0, 5.0


def qemu_nbd_program() -> str:
    """Where it is; ServiceError where it is not installed."""
    program = shutil.which(PROGRAM)
    if program is None:
        raise ServiceError(f"{PROGRAM} is not installed", "lab", f"install the distribution's package {PACKAGE}")
    return program


class QemuNbd:
    """A running qemu-nbd on loopback: its URL, its process, how to stop it."""

    kind = "qemu-nbd"
    caching = "none: the server opens the file O_DIRECT (cache=none, aio=native)"

    def __init__(
        self, file: Path, *, cores: Iterable[int] | None = None, cgroup: str | None = None, port: int | None = None
    ) -> None:
        """Serves `file` at `port` of loopback (default: a free one), on `cores` and in the control group at `cgroup` where given.

        Raises:
            ServiceError: it is not installed, or does not start; the reason is its own.
        """
        program, self.port = qemu_nbd_program(), port or _free_port()
        command = [
            "setpriv", "--pdeathsig=KILL", program, "--format=raw", "--cache=none", "--aio=native", "--persistent", "--shared=64",
            "--bind=127.0.0.1", f"--port={self.port}", str(file),
        ]  # fmt: skip
        if cores:
            command = ["taskset", "--cpu-list", ",".join(map(str, cores)), *command]
        self.process = subprocess.Popen(
            in_group(cgroup, command) if cgroup else command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        try:
            self._wait(file)
        except BaseException:
            self.close()
            raise

    def _wait(self, file: Path) -> None:
        """Returns when it greets."""
        deadline = time.monotonic() + STARTED_S
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                assert self.process.stderr is not None
                said = self.process.stderr.read().decode(errors="replace").strip().splitlines()
                why = said[-1] if said else f"it ended with {self.process.returncode}"
                raise ServiceError(why, f"{PROGRAM} of {file}", "give a file on a disk that takes O_DIRECT")
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1.0) as talk:
                if talk.recv(8) == GREETING:
                    return
            time.sleep(0.005)
        raise ServiceError("it does not answer", f"{PROGRAM} of {file}", "try to start it by hand")

    @property
    def url(self) -> str:
        return f"nbd://127.0.0.1:{self.port}"

    @property
    def pids(self) -> dict[str, int]:
        return {self.kind: self.process.pid}

    def stop(self) -> dict[str, Any]:
        """Ends it; `died`: how it had ended before, None where it had not."""
        died = self.process.poll()
        if died is None:
            self.process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(ENDED_S)
        self.close()
        return {"kind": self.kind, "caching": self.caching, "died": died}

    def close(self) -> None:
        """Makes sure that the process is gone."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        if self.process.stderr:
            self.process.stderr.close()


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])
