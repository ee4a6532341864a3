"""Requests that one worker of the staged proxy takes at once: each client gets its own answer, or is told why it has none."""

from __future__ import annotations

import contextlib
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from kv_cluster import Proxy, Talk
from machine import wait_for

pytestmark = pytest.mark.live

CLIENTS = 5
HELD = b"get held\r\n"


class ServerOfBatches:
    """A server that lets `get held` wait until `go`, and answers further gets only when `CLIENTS` of them are there.

    It answers as many as `answered`, then ends the connection where `ends`, else says nothing more.
    """

    def __init__(self, answered: int, ends: bool) -> None:
        self._answered, self._ends, self.go, self.seen = answered, ends, threading.Event(), threading.Event()
        self._door = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._door.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self._serve, args=(self._door.accept()[0],), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        waiting: list[bytes] = []
        with contextlib.suppress(OSError), client, client.makefile("rb") as lines:
            for line in lines:
                if line == b"version\r\n":
                    client.sendall(b"VERSION 1\r\n")
                elif line == HELD:
                    self.seen.set()
                    self.go.wait(10)
                    client.sendall(b"END\r\n")
                else:
                    waiting.append(line.split()[1])
                if len(waiting) == CLIENTS:
                    for key in waiting[: self._answered]:
                        client.sendall(b"VALUE %b 0 %d\r\n%b\r\nEND\r\n" % (key, len(key), key))
                    if self._ends:
                        return
                    waiting.clear()


def waiting(talk: Talk) -> int:
    talk.say(b"stats\r\n")
    return int(talk.until(b"END").split(b"STAT queue_length ")[1].split()[0])


def answers(server: ServerOfBatches, timeout_s: float) -> list[bytes]:
    """What clients are answered whose requests wait together for the only worker; each asks for a key of its own."""
    proxy = Proxy([server], design="staged", workers=1, timeout_s=timeout_s)
    try:
        with contextlib.ExitStack() as stack, ThreadPoolExecutor(CLIENTS + 1) as pool:
            watch = stack.enter_context(proxy.talk())
            talks = [stack.enter_context(proxy.talk()) for _ in range(CLIENTS + 1)]
            held = pool.submit(talks[0].ask, HELD)
            assert server.seen.wait(5)
            for number, talk in enumerate(talks[1:]):
                talk.say(b"get key-%d\r\n" % number)
            wait_for(lambda: waiting(watch) == CLIENTS)
            server.go.set()
            assert held.result(5) == b"END\r\n"
            return [talk.values(b"") for talk in talks[1:]]
    finally:
        proxy.close()


def value(number: int) -> bytes:
    return b"VALUE key-%d 0 5\r\nkey-%d\r\nEND\r\n" % (number, number)


def test_each_client_gets_its_own_answer() -> None:
    assert answers(ServerOfBatches(CLIENTS, ends=False), 5.0) == [value(number) for number in range(CLIENTS)]


@pytest.mark.parametrize("ends", [True, False], ids=["server ends", "server falls silent"])
def test_a_server_that_stops_among_them_takes_only_the_rest_with_it(ends: bool) -> None:
    server = ServerOfBatches(2, ends)
    why = b"closed the connection" if ends else b"timed out"
    line = b"SERVER_ERROR server %b %b\r\n" % (server.address.encode(), why)
    assert answers(server, 1.0) == [value(0), value(1), line, line, line]
