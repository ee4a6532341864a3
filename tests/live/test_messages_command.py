"""`sojourn serve messages` as an operator meets it: what it says, and what it does when its database goes."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from machine import Command, wait_for
from message_cluster import Client, needs_postgres

pytestmark = [pytest.mark.live, needs_postgres]


class ServeMessagesCommand(Command):
    """The command, its data in a folder."""

    def __init__(self, folder: Path) -> None:
        listening = ("--listen", "127.0.0.1:0", "--worker-threads", "2", "--db-connections", "2")
        super().__init__(folder, "serve", "messages", "--json", "--database-folder", folder, *listening)

    def line(self, pattern: str) -> re.Match[str]:
        """Waits until it has said something like it on standard error."""
        wait_for(lambda: re.search(pattern, self.said()))
        found = re.search(pattern, self.said())
        assert found
        return found

    def client(self) -> Client:
        return Client(self.line(r"http://([0-9.:]+)/queues")[1])

    def summary(self) -> Any:
        """Ends it in good order; what it printed."""
        self.process.send_signal(signal.SIGTERM)
        assert self.end() == 0, self.said()
        return json.loads(self.answered())


@contextmanager
def command(folder: Path) -> Iterator[ServeMessagesCommand]:
    one = ServeMessagesCommand(folder)
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
        assert service.summary()["by_kind"]["take_of_message"] == 1


def test_a_server_that_cannot_start_again_ends_the_service(open_folder: Path) -> None:
    with command(open_folder) as service, service.client():
        (open_folder / "data" / "postgresql.conf").write_text("no_such_setting = 1\n")
        os.kill(int((open_folder / "data" / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
        assert "no_such_setting" in service.line("no_such_setting")[0]
        assert service.process.wait(30) == 5
