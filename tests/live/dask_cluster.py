"""A dask scheduler and workers as processes of their own, each where and by which clock a test wants it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from distributed import Client

MAIN = "import sys; from distributed.cli import dask_{0}; sys.argv[0] = '{0}'; dask_{0}.main()"


class DaskCluster:
    """A scheduler on `host`, started behind the words `before`, and a worker behind each of `places`, whose folders are in `folder`."""

    def __init__(
        self, folder: Path, places: Sequence[Sequence[str]], before: Sequence[str] = (), host: str = "127.0.0.1",
        port: int = 8786, tls: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        """`tls`: dask's settings of certificates, as environment variables."""
        self.folder, self.url = folder, f"{'tls' if tls else 'tcp'}://{host}:{port}"
        self.tls = dict(tls or {})
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        kind = "tls" if tls else "dask" if host == "127.0.0.1" else "dask+insecure"
        self.address = f"{kind}://{host}:{port}"
        self.scheduler = self._start(before, "scheduler", "--host", f"{self.url}", "--no-dashboard")
        where = (
            "--nthreads",
            "1",
            "--no-nanny",
            "--no-dashboard",
            "--death-timeout",
            "60",
            "--local-directory",
            str(folder),
        )
        self.workers = [self._start(words, "worker", self.url, *where) for words in places]

    def _start(self, before: Sequence[str], what: str, *words: str) -> subprocess.Popen[bytes]:
        command = [*before, sys.executable, "-c", MAIN.format(what), *words]
        with open(self.folder / f"{what}.log", "ab") as log:
            return subprocess.Popen(command, stdout=log, stderr=log, env=self._environment())

    def _environment(self) -> dict[str, str]:
        path = os.pathsep.join(filter(None, sys.path))
        return {**os.environ, "PYTHONPATH": path, "TMPDIR": str(self.temporary), **self.tls}

    def left(self) -> list[Path]:
        """Temporary files of agents, whose place is on their workers' machines."""
        return list(self.temporary.glob("sojourn-*"))

    def wait(self, timeout_s: float = 120.0) -> None:
        """Until all workers are there; asked from this network namespace."""
        with Client(self.url, timeout=timeout_s) as client:
            client.wait_for_workers(len(self.workers), timeout=timeout_s)

    def end(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


def generators_below(pid: int) -> list[int]:
    """Processes of generators among those that a process has started."""
    found = []
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in map(int, children.read_text().split()):
                words = Path(f"/proc/{child}/cmdline").read_text().split("\0")
                found += [child] if "load" in words else generators_below(child)
    return found
