"""A message service in memory, with the HTTP of the real one as far as the load uses it: for tests of the load."""

from __future__ import annotations

import threading
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class StandIn:
    """Listens on a free port of loopback from its making to `close`."""

    def __init__(self, token: str | None = None) -> None:
        self.queues: dict[str, deque[bytes]] = {}
        self.token = token
        self.puts = self.takes = 0
        stand_in = self

        class Handler(_Handler):
            service = stand_in

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.lock = threading.Lock()
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()
        self.url = f"messages://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    service: StandIn

    def do_PUT(self) -> None:
        with self.service.lock:
            status = 200 if self._name in self.service.queues else 201
            self.service.queues.setdefault(self._name, deque())
        self._say(status)

    def do_DELETE(self) -> None:
        with self.service.lock:
            found = self.service.queues.pop(self._name, None)
        self._say(404 if found is None else 204)

    @property
    def _name(self) -> str:
        return self.path.split("/")[2]

    def do_POST(self) -> None:
        service = self.service
        body = self.rfile.read(int(self.headers["Content-Length"]))
        _, _, name, what = self.path.split("/")
        with service.lock:
            queue = service.queues.get(name)
            if queue is None:
                return self._say(404)
            if what == "messages":
                queue.append(body)
                service.puts += 1
                return self._say(201, {"X-Message-Id": str(service.puts)})
            if not queue:
                return self._say(204)
            service.takes += 1
            return self._say(200, {"X-Message-Id": "1"}, queue.popleft())

    def _say(self, status: int, headers: dict[str, str] | None = None, body: bytes = b"") -> None:
        if self.service.token and self.headers["Authorization"] != f"Bearer {self.service.token}":
            status, headers, body = 401, {}, b'{"error": "no token", "remedy": "give it"}'
        lines = [f"HTTP/1.1 {status} Said", *(f"{name}: {value}" for name, value in (headers or {}).items())]
        lines += [] if status == 204 else [f"Content-Length: {len(body)}"]
        self.wfile.write("\r\n".join([*lines, "", ""]).encode() + body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: a test's output is for its failures."""
