"""Every `sojourn serve`, with each of its processes killed: it is started again where that is safe, else the service ends at once, by one
error and exit code 5, and leaves nothing behind."""

from __future__ import annotations

import os
import re
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from kv_cluster import needs_memcached
from machine import Command, wait_for
from message_cluster import Client, needs_postgres

from sojourn.lab.process_tree import alive, children
from sojourn_cases.common.memcached import Memcached

pytestmark = pytest.mark.live
ENDED_S = 30.0  # it is looked for every 0.1 s; the rest is a database that shuts down, beside other tests


class ServeCommand(Command):
    """`sojourn serve …` in a folder of its own, once it says that it listens."""

    def __init__(self, folder: Path, *arguments: str | Path) -> None:
        super().__init__(folder, "serve", *arguments)
        try:
            self.wait_for(lambda: "Ctrl-C ends it" in self.answered() + self.said())
        except BaseException:
            self.close()
            raise

    @property
    def port(self) -> int:
        found = re.search(r"127\.0\.0\.1:(\d+)", self.answered() + self.said())
        assert found
        return int(found[1])

    def worker(self) -> int:
        """The native process."""
        (pid,) = [
            pid for pid in children(self.process.pid) if b"worker_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
        ]
        return pid

    def postmaster(self) -> int:
        (pid,) = [pid for pid in children(self.process.pid) if Path(f"/proc/{pid}/comm").read_text() == "postgres\n"]
        return pid

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def serve(open_folder: Path) -> Iterator[type[ServeCommand]]:
    """Starts one; it is gone at the end."""
    started: list[ServeCommand] = []

    class Started(ServeCommand):
        def __init__(self, *arguments: str | Path) -> None:
            super().__init__(open_folder, *arguments)
            started.append(self)

    yield Started  # type: ignore[misc]
    for one in started:
        one.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def ends_with_5(command: ServeCommand, killed: int) -> str:
    """Within a bound, by one error that names the process and what ended it; nothing is left. The error."""
    port = command.port
    code = command.end(ENDED_S)
    assert code == 5, (code, command.said())
    (error,) = [line for line in command.said().splitlines() if line.startswith("sojourn: ")]
    assert f"process {killed} was ended by SIGKILL" in error and "Traceback" not in command.said(), error
    assert command.left() == []
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(("127.0.0.1", port))
    return error


WITHOUT_A_DATABASE = {
    "web": ("web", "--port"),
    "kv": ("kv", "--port"),
    "nbd": ("nbd", "--ram-disk-size", "1m", "--port"),
    "bulletin": ("bulletin", "--in-memory", "--data-scale", "0.001", "--port"),
}


@pytest.mark.parametrize("verb", WITHOUT_A_DATABASE)
def test_kill_9_of_the_process_that_serves(serve: type[ServeCommand], verb: str) -> None:
    command = serve(*WITHOUT_A_DATABASE[verb], str(free_port()))
    killed = command.worker()
    os.kill(killed, signal.SIGKILL)
    error = ends_with_5(command, killed)
    assert "not known" in error and "0 reads" not in command.answered() and "served 0" not in command.answered()


@needs_postgres
def test_its_record_log_says_what_it_served_where_it_cannot(serve: type[ServeCommand], tmp_path: Path) -> None:
    """The clients' own count is the source: each of them has an answer."""
    command = serve("messages", "--listen", "127.0.0.1:0", "--request-log", tmp_path / "app.rec")
    with Client(f"127.0.0.1:{command.port}") as client:
        client.create("q")
        for _ in range(20):
            assert client.put("q", b"x").status == 201
        time.sleep(0.5)  # five periods of its log
    os.kill(command.worker(), signal.SIGKILL)
    assert command.end() == 5, command.said()
    assert f"{tmp_path}/app-levels.rec has 21 requests" in command.said(), command.said()
    assert command.left() == []


@needs_memcached
def test_kill_9_of_the_proxy(serve: type[ServeCommand], tmp_path: Path) -> None:
    server = Memcached()
    try:
        command = serve(
            "kv-proxy",
            "--server",
            server.address,
            "--listen",
            "127.0.0.1:0",
            "--thread-log",
            tmp_path / "app.rec",
            "--log-period",
            "0.05",
        )
        with socket.create_connection(("127.0.0.1", command.port), timeout=5) as link:
            for _ in range(7):
                link.sendall(b"get x\r\n")
                assert link.recv(100) == b"END\r\n"
            time.sleep(0.3)
        killed = command.worker()
        os.kill(killed, signal.SIGKILL)
        assert f"{tmp_path}/app.rec has 7 requests" in ends_with_5(command, killed)
    finally:
        server.close()


@needs_postgres
@pytest.mark.parametrize("verb", ["messages", "bulletin"])
def test_kill_9_of_the_process_that_serves_before_a_database(serve: type[ServeCommand], verb: str) -> None:
    port = free_port()
    command = serve(*with_a_database(verb, port))
    killed = command.worker()
    os.kill(killed, signal.SIGKILL)
    assert "not known" in ends_with_5(command, killed)


def with_a_database(verb: str, port: int) -> tuple[str, ...]:
    if verb == "messages":
        return (verb, "--listen", f"127.0.0.1:{port}", "--worker-threads", "2", "--db-connections", "2")
    return (
        verb,
        "--postgresql-url",
        "auto",
        "--port",
        str(port),
        "--data-scale",
        "0.001",
        "--db-connections",
        "2",
        "--page-cpu-s",
        "0",
    )


@needs_postgres
def test_a_board_whose_database_is_killed_goes_on(serve: type[ServeCommand]) -> None:
    command = serve(*with_a_database("bulletin", free_port()))
    page = f"http://127.0.0.1:{command.port}/StoriesOfTheDay"
    assert urlopen(page, timeout=10).status == 200
    first = command.postmaster()
    os.kill(first, signal.SIGKILL)
    command.wait_for(lambda: " info database_restarted " in command.said())

    def answers() -> bool:
        try:
            return bool(urlopen(page, timeout=10).status == 200)
        except OSError:
            return False

    wait_for(answers)
    assert command.postmaster() != first and not alive(first)
    command.process.terminate()
    assert command.end() == 0, command.said()
    assert command.left() == []


@needs_postgres
@pytest.mark.parametrize("verb", ["messages", "bulletin"])
def test_a_database_that_is_killed_again_and_again_ends_the_service(serve: type[ServeCommand], verb: str) -> None:
    command = serve(*with_a_database(verb, free_port()))
    for restarts in range(1, 4):
        os.kill(command.postmaster(), signal.SIGKILL)
        command.wait_for(lambda restarts=restarts: command.said().count(" info database_restarted ") == restarts)
    os.kill(command.postmaster(), signal.SIGKILL)
    assert command.end(30) == 5, command.said()
    assert "PostgreSQL ended 4 times within 60 s; its last lines: " in command.said()
    assert " requests in " in command.answered(), "what it did is said"
    assert command.left() == []


def test_a_process_that_somebody_else_stops_in_good_order_is_an_error_too(serve: type[ServeCommand]) -> None:
    command = serve("nbd", "--ram-disk-size", "1m", "--port", str(free_port()))
    os.kill(command.worker(), signal.SIGTERM)
    assert command.end() == 5
    assert "ended unexpectedly" in command.said() and "0 reads" in command.answered()


@pytest.mark.parametrize("verb", WITHOUT_A_DATABASE)
def test_kill_9_of_the_command_itself_leaves_no_process(serve: type[ServeCommand], verb: str) -> None:
    command = serve(*WITHOUT_A_DATABASE[verb], str(free_port()))
    command.close()
    wait_for(lambda: not command.processes())
    assert command.left() == []


@needs_postgres
def test_kill_9_of_a_command_with_a_database_leaves_no_process(serve: type[ServeCommand]) -> None:
    """Its folders are removed by the next start (tests/live/test_postgres.py)."""
    command = serve(*with_a_database("bulletin", free_port()))
    command.close()
    wait_for(lambda: not command.processes())
