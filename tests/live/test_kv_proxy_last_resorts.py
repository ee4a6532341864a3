"""What the proxy does when a disk is full, a server drips, or its own time is over; and with HTTP requests."""

from __future__ import annotations

import contextlib
import resource
import socket
import threading
import time
from pathlib import Path

import pytest
from kv_cluster import Memcached, Proxy, Talk, needs_memcached
from machine import wait_for

pytestmark = pytest.mark.live


def limit_files(proxy: Proxy, most_bytes: int) -> None:
    """No file of the process grows beyond this: what a full disk is to it."""
    resource.prlimit(proxy.ready["pid"], resource.RLIMIT_FSIZE, (most_bytes, resource.RLIM_INFINITY))


@needs_memcached
@pytest.mark.parametrize("design", ["direct", "staged"])
def test_a_full_disk_ends_the_logs_and_not_the_service(design: str, tmp_path: Path) -> None:
    files = {name: str(tmp_path / name) for name in ("log", "bins", "histogram")}
    server, errors = Memcached(), tmp_path / "stderr"
    proxy = Proxy([server], errors, design=design, workers=2, period_s=0.05, **files)
    try:
        limit_files(proxy, 1000)
        with proxy.talk() as talk:
            assert talk.ask(b"get x\r\n") == b"END\r\n"
            wait_for(lambda: errors.read_text().count("error log_stopped") >= 1)
            time.sleep(0.2)
            assert talk.ask(b"get x\r\n") == b"END\r\n"
        limit_files(proxy, 100)
        summary = proxy.stop()
    finally:
        proxy.close()
        server.close()
    assert summary["completions"] == 2 and summary["lost_rows"] > 0
    for name in ("log", "histogram"):
        assert sum(f"{tmp_path / name}: " in why for why in summary["lost_logs"]) == 1, summary["lost_logs"]
    assert errors.read_text().count(f"{tmp_path / 'log'}: ") == 1


class Dripping:
    """A server that answers `version` and gives all else one value, `piece` bytes every 0.05 s."""

    def __init__(self, piece: int) -> None:
        self._piece = piece
        self._door = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._door.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self._serve, args=(self._door.accept()[0],), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while asked := client.recv(4096):
                if asked == b"version\r\n":
                    client.sendall(b"VERSION 1\r\n")
                    continue
                client.sendall(b"VALUE x 0 1000000\r\n")
                for _ in range(1_000_000 // self._piece):
                    time.sleep(0.05)
                    client.sendall(bytes(self._piece))

    def close(self) -> None:
        self._door.close()


@pytest.mark.parametrize("design", ["direct", "staged"])
def test_a_server_that_drips_is_given_up(design: str) -> None:
    server = Dripping(1)
    proxy = Proxy([server], design=design, workers=2, timeout_s=0.3)  # type: ignore[list-item]
    try:
        with proxy.talk() as talk:
            assert talk.ask(b"get x\r\n") == f"SERVER_ERROR server {server.address} timed out\r\n".encode()
    finally:
        proxy.close()
        server.close()


@pytest.mark.parametrize("design", ["direct", "staged"])
def test_who_still_waits_at_the_end_is_told(design: str) -> None:
    server = Dripping(1000)
    proxy = Proxy([server], design=design, workers=2, timeout_s=0.3)  # type: ignore[list-item]
    try:
        with proxy.talk() as talk:
            talk.say(b"get x\r\n")
            time.sleep(0.1)
            summary = proxy.stop()
            assert talk.line() == f"SERVER_ERROR server {server.address} timed out\r\n".encode()
            assert summary["errors"] == 1 and summary["abandoned"] == 0
    finally:
        proxy.close()
        server.close()


@needs_memcached
@pytest.mark.parametrize("design", ["direct", "staged"])
def test_an_http_request_is_no_row_of_commands(design: str) -> None:
    server = Memcached()
    proxy = Proxy([server], design=design, workers=2)
    try:
        with proxy.talk() as talk, Talk(proxy.address) as other:
            assert other.ask(b"set x 0 0 1\r\n1\r\n") == b"STORED\r\n"
            body = b"flush_all\r\n"
            talk.say(b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            assert talk.line() == b"ERROR\r\n"
            assert talk.is_over()
            assert other.values(b"get x\r\n") == b"VALUE x 0 1\r\n1\r\nEND\r\n"
    finally:
        proxy.close()
        server.close()
