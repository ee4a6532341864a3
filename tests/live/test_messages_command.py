"""`sojourn serve messages` as an operator meets it: what it says, and what it does when its database goes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from threading import Thread

import pytest
from message_cluster import Client, needs_postgres

pytestmark = [pytest.mark.live, needs_postgres]


class Command:
    """The command in a process of its own, and the lines that it writes to standard error."""

    def __init__(self, *arguments: str) -> None:
        words = [
            sys.executable,
            "-c",
            "from sojourn.cli import main; main()",
            "serve",
            "messages",
            "--json",
            *arguments,
        ]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self._lines: Queue[str] = Queue()
        Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self._lines.put(line)

    def line(self, pattern: str) -> re.Match[str]:
        """Waits for a line with it."""
        while True:
            if found := re.search(pattern, self._lines.get(timeout=30)):
                return found

    def client(self) -> Client:
        return Client(self.line(r"http://([0-9.:]+)/queues")[1])

    def end(self) -> str:
        """Ends it in good order; what it printed."""
        self.process.send_signal(signal.SIGTERM)
        said, _ = self.process.communicate(timeout=60)
        assert self.process.returncode == 0
        return said


@contextmanager
def command(folder: Path) -> Iterator[Command]:
    one = Command("--folder", str(folder), "--listen", "127.0.0.1:0", "--workers", "2", "--connections", "2")
    try:
        yield one
    finally:
        one.process.kill()
        one.process.wait()


def test_a_server_that_was_killed_is_started_again(open_folder: Path) -> None:
    with command(open_folder) as service, service.client() as client:
        client.create("q")
        assert client.put("q", b"kept").status == 201
        os.kill(int((open_folder / "data" / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
        service.line(" error database_ended ")
        service.line(" info database_restarted ")
        deadline = time.monotonic() + 20
        while (taken := client.take("q")).status == 503:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert taken.body == b"kept"
        assert json.loads(service.end())["by_kind"]["take"] == 1


def test_a_server_that_cannot_start_again_ends_the_service(open_folder: Path) -> None:
    with command(open_folder) as service, service.client():
        (open_folder / "data" / "postgresql.conf").write_text("no_such_setting = 1\n")
        os.kill(int((open_folder / "data" / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
        assert "no_such_setting" in service.line("no_such_setting")[0]
        assert service.process.wait(30) == 5
