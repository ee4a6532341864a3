"""Clients of the services, which write down what was acknowledged; an error or a silence acknowledges nothing."""

from __future__ import annotations

import http.client
import http.server
import socket
import struct
import threading
import time
from collections.abc import Callable
from contextlib import suppress

ANSWERED_S, PAUSE_S = 2.0, 0.005
BLOCK = 4096


def until(halt: threading.Event, ask: Callable[[int], None]) -> None:
    """Asks with growing numbers until it is to halt; what fails is asked no more."""
    number = 0
    while not halt.is_set():
        with suppress(OSError, http.client.HTTPException, ValueError, IndexError, struct.error):
            ask(number)
        number += 1
        halt.wait(PAUSE_S)


def asked(port: int, method: str, path: str, body: str = "") -> tuple[int, str]:
    """Status and body of an answer of its own connection."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWERED_S)
    try:
        connection.request(method, path, body or None)
        answer = connection.getresponse()
        return answer.status, answer.read().decode(errors="replace")
    finally:
        connection.close()


class NbdClient:
    """A client of a network block device (fixed newstyle, GO): writes one block at a time."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=ANSWERED_S)
        self._exactly(18)
        self.socket.sendall(struct.pack(">I", 3) + b"IHAVEOPT" + struct.pack(">II", 7, 6) + struct.pack(">IH", 0, 0))
        while True:
            _, _, kind, size = struct.unpack(">QIII", self._exactly(20))
            self._exactly(size)
            if kind != 3:
                break
        if kind != 1:
            raise ConnectionError(f"refused: {kind}")

    def write(self, block: int, data: bytes) -> None:
        """Returns where it was acknowledged."""
        self.socket.sendall(struct.pack(">IHHQQI", 0x25609513, 0, 1, block, block * BLOCK, len(data)) + data)
        _, error, handle = struct.unpack(">IIQ", self._exactly(16))
        if error or handle != block:
            raise ConnectionError(f"error {error}")

    def _exactly(self, size: int) -> bytes:
        found = b""
        while len(found) < size:
            more = self.socket.recv(size - len(found))
            if not more:
                raise ConnectionError("ended")
            found += more
        return found


class Site:
    """A service on loopback that answers `ok`, and counts."""

    def __init__(self) -> None:
        site = self
        self.answered = 0

        class Answer(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                site.answered += 1

            def log_message(self, *_: object) -> None:
                pass

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 256
            daemon_threads = True

            def handle_error(self, *_: object) -> None:
                pass

        self.server = Server(("127.0.0.1", 8480), Answer)
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def memcached_line(port: int, data: bytes) -> bytes:
    """One line of a memcached's answer."""
    with socket.create_connection(("127.0.0.1", port), timeout=ANSWERED_S) as talk:
        talk.sendall(data)
        return talk.makefile("rb").readline()


def listens(port: int, most_s: float = 10.0) -> bool:
    deadline = time.monotonic() + most_s
    while time.monotonic() < deadline:
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return True
        time.sleep(0.02)
    return False
