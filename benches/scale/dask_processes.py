"""A dask scheduler and its workers on loopback, each a process of its own with one thread, ended with the block."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sojourn.parallel.local_workers import SINGLE

MAIN = "import sys; from distributed.cli import dask_{0}; sys.argv[0] = '{0}'; dask_{0}.main()"
WAIT_S = 60


@contextmanager
def dask_processes(count: int) -> Iterator[str]:
    """The address of a scheduler that has `count` workers, as `on` wants it."""
    from distributed import Client

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    going: list[subprocess.Popen[bytes]] = []
    with tempfile.TemporaryDirectory(prefix="bench-dask-") as folder:
        environment = {
            **os.environ,
            **dict.fromkeys(SINGLE, "1"),
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        }

        def start(what: str, *words: str) -> None:
            command = [sys.executable, "-c", MAIN.format(what), *words, "--no-dashboard"]
            going.append(subprocess.Popen(command, stdout=log, stderr=log, env=environment))

        with Path(folder, "log").open("ab") as log:
            try:
                start("scheduler", "--host", "127.0.0.1", "--port", port)
                at = f"tcp://127.0.0.1:{port}"
                for _ in range(count):
                    start("worker", at, "--nthreads", "1", "--no-nanny", "--local-directory", folder)
                with Client(at, timeout=WAIT_S, set_as_default=False) as client:
                    client.wait_for_workers(count, timeout=WAIT_S)
                yield f"dask://127.0.0.1:{port}"
            finally:
                for process in reversed(going):
                    process.kill()
                    process.wait()
