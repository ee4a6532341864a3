"""What one client leaves waiting: how it is timed, what it may cost others, what it may hold; both designs."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from kv_cluster import Memcached, Proxy, needs_memcached

pytestmark = pytest.mark.live

Start = Callable[..., Proxy]


@pytest.fixture(params=["direct", "staged"])
def start(request: pytest.FixtureRequest) -> Iterator[Start]:
    proxies: list[Proxy] = []

    def begin(servers: list[Any], **settings: Any) -> Proxy:
        proxies.append(Proxy(servers, design=request.param, workers=2, **settings))
        return proxies[-1]

    yield begin
    for proxy in proxies:
        proxy.close()


@pytest.fixture
def server() -> Iterator[Memcached]:
    started = Memcached()
    yield started
    started.close()


def resident_bytes(proxy: Proxy, what: str = "VmRSS") -> int:
    status = Path(f"/proc/{proxy.worker.process.pid}/status").read_text()
    return int(status.split(f"{what}:")[1].split()[0]) * 1024


class SlowServer:
    """Answers `END` to one line after the other, each after a while; `version` at once."""

    def __init__(self, delay_s: float) -> None:
        self._delay_s, self._listener = delay_s, socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            for line in client.makefile("rb"):
                if line == b"version\r\n":
                    client.sendall(b"VERSION 1\r\n")
                else:
                    time.sleep(self._delay_s)
                    client.sendall(b"END\r\n")
        except OSError:
            pass

    def close(self) -> None:
        self._listener.close()


def test_a_server_that_goes_on_answering_is_not_down(start: Start) -> None:
    """40 requests of one client take it 2 s, the time limit is 0.5 s."""
    slow = SlowServer(0.05)
    proxy = start([slow], timeout_s=0.5)
    with proxy.talk() as talk:
        talk.say(b"get x\r\n" * 40)
        assert [talk.line() for _ in range(40)] == [b"END\r\n"] * 40
    assert proxy.stop()["servers"][0]["errors"] == 0
    slow.close()


@needs_memcached
def test_the_response_time_ends_when_the_answer_is_written(start: Start, server: Memcached) -> None:
    """A client takes nothing for half a second: what does not fit in the socket is written after it."""
    proxy, value = start([server]), bytes(1_000_000)
    with proxy.talk() as talk:
        assert talk.ask(b"set big 0 0 1000000\r\n" + value + b"\r\n") == b"STORED\r\n"
        talk.say(b"get big\r\n" * 12)
        time.sleep(0.5)
        heard = 0
        while heard < 12 * 1_000_000:
            heard += len(talk.socket.recv(1 << 20))
        time.sleep(0.1)
    response = proxy.stop()["response"]
    assert response["count"] == 13 and response["max_s"] > 0.4


def test_one_clients_requests_do_not_fill_the_connection_to_a_server(start: Start) -> None:
    """A server answers one request a millisecond; who asks once is not behind all that another asked before."""
    slow = SlowServer(0.001)
    proxy = start([slow])
    with proxy.talk() as flood, proxy.talk() as polite:
        flood.say(b"get x\r\n" * 1000)
        assert flood.line() == b"END\r\n"
        assert polite.ask(b"get x\r\n") == b"END\r\n"
        flood.socket.setblocking(False)
        heard = flood.heard
        with suppress(BlockingIOError):  # it has none of them yet
            heard += flood.socket.recv(1 << 20)
        assert heard.count(b"END") < 300
    slow.close()


LIMIT, SLACK = 64 << 20, 40 << 20


@needs_memcached
def test_answers_that_nobody_takes_stay_within_the_limit(start: Start) -> None:
    """From three servers, so that most come out of their order."""
    servers = [Memcached() for _ in range(3)]
    proxy = start(servers, memory_bytes=LIMIT)
    with proxy.talk() as talk:
        assert talk.ask(b"set big 0 0 1000000\r\n" + bytes(1_000_000) + b"\r\n") == b"STORED\r\n"
        before = resident_bytes(proxy)
        talk.say(b"get big\r\n" * 1000)
        time.sleep(1.0)
        assert resident_bytes(proxy, "VmHWM") - before < LIMIT + SLACK
    for server in servers:
        server.close()


@needs_memcached
def test_requests_that_wait_stay_within_the_limit(start: Start, server: Memcached) -> None:
    """Sets of 1 MB to a server that takes none."""
    proxy = start([server], memory_bytes=LIMIT, timeout_s=30.0)
    before = resident_bytes(proxy)
    with proxy.talk() as talk:
        server.freeze()
        talk.socket.settimeout(1.0)
        with suppress(TimeoutError):
            for _ in range(200):
                talk.say(b"set big 0 0 1000000\r\n" + bytes(1_000_000) + b"\r\n")
        assert resident_bytes(proxy, "VmHWM") - before < LIMIT + SLACK
        server.thaw()
